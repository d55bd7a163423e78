package dev.apportion.simulation;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What the runs of one point measured.
 *
 * @param outcomes by seed; seeds whose runs did not end are absent
 */
public record Row(Point point, SortedMap<Long, Outcome> outcomes) {

    public Row {
        outcomes = new TreeMap<>(outcomes);
    }

    /** The value that each seed gave, in the order of the seeds; NaN where it is not known. */
    public double[] values(Metric metric) {
        return outcomes.values().stream()
                .mapToDouble(outcome -> outcome.values().getOrDefault(metric, Double.NaN))
                .toArray();
    }

    public Interval interval(Metric metric) {
        return Interval.of(values(metric));
    }

    /** What each server did, on the mean of all seeds. */
    public List<Outcome.Serving> servers() {
        if (outcomes.isEmpty()) {
            return List.of();
        }
        List<Outcome.Serving> first = outcomes.values().iterator().next().servers();
        return IntStream.range(0, first.size())
                .mapToObj(i -> new Outcome.Serving(
                        first.get(i).server(),
                        mean(i, Outcome.Serving::share),
                        mean(i, Outcome.Serving::utilisation),
                        mean(i, Outcome.Serving::delay)))
                .toList();
    }

    private double mean(int server, ToDoubleFunction<Outcome.Serving> what) {
        return Interval.of(outcomes.values().stream()
                        .mapToDouble(
                                outcome -> what.applyAsDouble(outcome.servers().get(server)))
                        .toArray())
                .mean();
    }
}
