/** What a real API server makes of the writes. */
@NullMarked
package dev.apportion.dns.coredns;

import org.jspecify.annotations.NullMarked;
