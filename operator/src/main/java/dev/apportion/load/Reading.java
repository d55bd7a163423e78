package dev.apportion.load;

import dev.apportion.allocation.Sample;
import java.util.OptionalDouble;

/**
 * What is known of a replica's load at one moment.
 *
 * @param sample the quantities, counters made rates
 * @param utilisation the use of a resource over what is requested of it; empty when it was not measured
 * @param takenNanos when it held, in nanoseconds of the monotonic clock
 */
public record Reading(Sample sample, OptionalDouble utilisation, long takenNanos) {}
