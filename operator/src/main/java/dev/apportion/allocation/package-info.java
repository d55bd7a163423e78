/** The science: a problem becomes an allocation. Knows the JDK only. */
@NullMarked
package dev.apportion.allocation;

import org.jspecify.annotations.NullMarked;
