/** The embedded answers beside those of the real CoreDNS. */
@NullMarked
package dev.apportion.dns.wire;

import org.jspecify.annotations.NullMarked;
