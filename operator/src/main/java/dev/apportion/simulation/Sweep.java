package dev.apportion.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleConsumer;

/** Runs all points with all seeds, on several threads; which thread runs what changes nothing. */
public final class Sweep {

    private Sweep() {}

    /**
     * Runs.
     *
     * @param threads how many runs there are at once
     * @param stop asked now and then; true ends what is running, and nothing more begins
     * @param done told the requests of each run that has ended, by any thread
     * @return a row for each point, in their order; without the runs that did not end
     */
    public static List<Row> run(
            List<Point> points, List<Long> seeds, int threads, BooleanSupplier stop, DoubleConsumer done)
            throws InterruptedException {
        List<List<Future<Optional<Outcome>>>> runs = new ArrayList<>();
        try (ExecutorService workers = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().daemon().factory())) {
            for (Point point : points) {
                List<Future<Optional<Outcome>>> ofPoint = new ArrayList<>();
                for (long seed : seeds) {
                    ofPoint.add(workers.submit(() -> {
                        if (stop.getAsBoolean()) {
                            return Optional.empty();
                        }
                        Optional<Outcome> outcome = Replication.run(point.setting(), seed, stop);
                        done.accept(point.setting().requests());
                        return outcome;
                    }));
                }
                runs.add(ofPoint);
            }
            List<Row> rows = new ArrayList<>();
            for (int p = 0; p < points.size(); p++) {
                SortedMap<Long, Outcome> outcomes = new TreeMap<>();
                for (int s = 0; s < seeds.size(); s++) {
                    long seed = seeds.get(s);
                    result(runs.get(p).get(s)).ifPresent(outcome -> outcomes.put(seed, outcome));
                }
                rows.add(new Row(points.get(p), outcomes));
            }
            return rows;
        }
    }

    private static Optional<Outcome> result(Future<Optional<Outcome>> run) throws InterruptedException {
        try {
            return run.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case Error error -> throw error;
                case RuntimeException bug -> throw bug;
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }
}
