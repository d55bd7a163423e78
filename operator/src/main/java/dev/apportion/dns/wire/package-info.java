/** DNS messages: servers are asked and judged, and records are answered without any other server. */
@NullMarked
package dev.apportion.dns.wire;

import org.jspecify.annotations.NullMarked;
