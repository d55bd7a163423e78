/** Weighted records by way of ExternalDNS: the endpoints of each dialect, and the one place that writes them. */
@NullMarked
package dev.apportion.dns.externaldns;

import org.jspecify.annotations.NullMarked;
