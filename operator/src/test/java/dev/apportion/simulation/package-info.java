/** Tests of the simulation. */
@NullMarked
package dev.apportion.simulation;

import org.jspecify.annotations.NullMarked;
