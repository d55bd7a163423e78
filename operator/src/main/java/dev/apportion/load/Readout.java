package dev.apportion.load;

import java.util.Map;

/** What one attempt to read the load of a replica gave. */
public sealed interface Readout {

    /**
     * Raw values.
     *
     * @param values as they were told, counters not yet made rates
     * @param takenNanos when they held, in nanoseconds of the monotonic clock: when they arrived, less the age that their server
     *     gives them
     * @param stampMillis when they held by the clock that orders the samples of their source, in milliseconds: counters are
     *     compared by it, and equal stamps are one sample
     */
    record Values(Map<Quantity, Double> values, long takenNanos, long stampMillis) implements Readout {

        public Values {
            values = Map.copyOf(values);
        }
    }

    /**
     * Nothing that counts.
     *
     * @param reason for people
     */
    record Failed(Gap gap, String reason) implements Readout {}
}
