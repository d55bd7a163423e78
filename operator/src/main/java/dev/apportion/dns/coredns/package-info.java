/** Records as the configuration of CoreDNS: rendered, checked, and written by compare-and-set. */
@NullMarked
package dev.apportion.dns.coredns;

import org.jspecify.annotations.NullMarked;
