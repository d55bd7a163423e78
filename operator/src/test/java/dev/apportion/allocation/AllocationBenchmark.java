package dev.apportion.allocation;

import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Prints how long an allocation takes beside sorting the same streams by rate and name, and beside sorting their bare rates
 * as an array; how close it is to the bound; and how far the worst replica is above its level. The streams are listed in
 * random order. Every time is the median of several runs, in processor time of the thread, so that a busy machine matters
 * little.
 */
final class AllocationBenchmark {

    private static final int WARM_UP = 15;
    private static final int RUNS = 9;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private AllocationBenchmark() {}

    public static void main(String[] arguments) {
        System.out.printf(
                "%7s %6s %2s %-9s %-9s %9s %9s %6s %9s %9s %9s%n",
                "n", "m", "k", "rates", "capacity", "alloc ms", "sort ms", "ratio", "array ms", "gap", "over");
        for (int[] size : new int[][] {{1_000, 100}, {10_000, 1_000}, {100_000, 10_000}}) {
            for (int k : new int[] {2, 4, 8}) {
                for (double exponent : new double[] {0, 0.8, 1.0, 1.2}) {
                    for (boolean identical : new boolean[] {true, false}) {
                        List<Replica> replicas =
                                identical ? Problems.identical(size[1]) : Problems.upToEightfold(size[1], 1);
                        List<Stream> streams = new ArrayList<>(
                                exponent == 0 ? Problems.uniform(size[0], k, 2) : Problems.zipf(size[0], exponent, k));
                        Collections.shuffle(streams, new Random(3));
                        print(new Problem(replicas, streams), k, exponent, identical);
                    }
                }
            }
        }
    }

    private static void print(Problem problem, int k, double exponent, boolean identical) {
        KSplittable policy = new KSplittable();
        Allocation allocation = policy.allocate(problem);
        Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
        double allocate = median(() -> policy.allocate(problem).lowerBound());
        double sort = median(() -> {
            List<Stream> sorted = new ArrayList<>(problem.streams());
            sorted.sort(Comparator.comparingDouble(Stream::rate).reversed().thenComparing(Stream::name));
            return sorted.getFirst().rate();
        });
        double[] rates = problem.streams().stream().mapToDouble(Stream::rate).toArray();
        double array = median(() -> {
            double[] sorted = rates.clone();
            Arrays.sort(sorted);
            return sorted[0];
        });
        System.out.printf(
                Locale.ROOT,
                "%7d %6d %2d %-9s %-9s %9.3f %9.3f %6.2f %9.3f %9.2e %9.6f%n",
                problem.streams().size(),
                problem.replicas().size(),
                k,
                exponent == 0 ? "uniform" : "Zipf " + exponent,
                identical ? "identical" : "1-8",
                allocate,
                sort,
                allocate / sort,
                array,
                assessment.optimalityGap(),
                Splitting.of(new Instance(problem)).raised());
    }

    private interface Work {
        double run();
    }

    /** Milliseconds. */
    private static double median(Work work) {
        double[] millis = new double[RUNS];
        double seen = 0;
        for (int i = -WARM_UP; i < RUNS; i++) {
            long start = THREADS.getCurrentThreadCpuTime();
            seen += work.run();
            millis[Math.max(0, i)] = (THREADS.getCurrentThreadCpuTime() - start) / 1e6;
        }
        if (Double.isNaN(seen)) {
            throw new IllegalStateException("not a number");
        }
        Arrays.sort(millis);
        return millis[RUNS / 2];
    }
}
