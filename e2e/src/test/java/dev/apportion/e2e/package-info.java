/** Tests of Apportion on real servers: a Kubernetes API server and CoreDNS, as processes of this machine. */
@NullMarked
package dev.apportion.e2e;

import org.jspecify.annotations.NullMarked;
