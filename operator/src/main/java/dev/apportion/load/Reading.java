package dev.apportion.load;

import dev.apportion.allocation.Sample;
import java.util.OptionalDouble;

/**
 * What is known of a replica's load at one moment.
 *
 * @param sample the quantities, counters made rates
 * @param takenNanos when it held, in nanoseconds of the monotonic clock
 */
public record Reading(Sample sample, long takenNanos) {

    /** The part of one of several that share it evenly. How busy the machine is, is the same for all of them. */
    public Reading part(int sharers) {
        return sharers == 1
                ? this
                : new Reading(
                        new Sample(
                                over(sample.requests(), sharers),
                                over(sample.inFlight(), sharers),
                                over(sample.connections(), sharers),
                                over(sample.users(), sharers),
                                over(sample.uniqueUsers(), sharers),
                                sample.loadAverage(),
                                sample.utilisation()),
                        takenNanos);
    }

    private static OptionalDouble over(OptionalDouble value, int sharers) {
        return value.isPresent() ? OptionalDouble.of(value.getAsDouble() / sharers) : value;
    }
}
