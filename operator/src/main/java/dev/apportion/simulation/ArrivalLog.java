package dev.apportion.simulation;

import java.util.Arrays;
import java.util.List;

/** Requests that came once, to be played again: when each came, and from which population. */
public final class ArrivalLog {

    private final List<String> populations;
    private final double[] times;
    private final int[] from;
    private final long[] counts;

    /**
     * @param populations their unique names
     * @param times seconds after the first request, in their order
     * @param from the number of each request's population; as many as there are times, at least one. Neither is copied, for
     *     there may be millions: they must not be changed
     */
    public ArrivalLog(List<String> populations, double[] times, int[] from) {
        if (times.length == 0 || times.length != from.length) {
            throw new IllegalArgumentException("%d times of %d requests: a log has at least one, and a time for each"
                    .formatted(times.length, from.length));
        }
        this.populations = List.copyOf(populations);
        this.times = times;
        this.from = from;
        counts = new long[populations.size()];
        for (int population : from) {
            counts[population]++;
        }
    }

    public List<String> populations() {
        return populations;
    }

    public int requests() {
        return times.length;
    }

    /** The whole seconds that the log spans, at least one. */
    public double seconds() {
        return Math.floor(times[times.length - 1]) + 1;
    }

    /** The requests/s of a population, on the mean. */
    public double rate(int population) {
        return counts[population] / seconds();
    }

    double time(int request) {
        return times[request];
    }

    int population(int request) {
        return from[request];
    }

    @Override
    public String toString() {
        return "%d requests of %s in %s s, the first ones at %s"
                .formatted(
                        times.length,
                        populations,
                        seconds(),
                        Arrays.toString(Arrays.copyOf(times, Math.min(times.length, 3))));
    }
}
