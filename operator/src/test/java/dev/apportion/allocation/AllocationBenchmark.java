package dev.apportion.allocation;

import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Prints how long an allocation takes beside sorting the same streams by rate and name, and beside sorting their bare rates
 * as an array; how close it is to the bound; how far the worst replica is above its level; how long a repair of it takes when
 * every rate is off by up to a fifth, and what moves by it, or would by the new allocation; and the exact solver beside it.
 * The streams are listed in random order. Every time is the median of several runs, in processor time of the thread, so that
 * a busy machine matters little.
 *
 * <p>Not a test by its name, so it runs when it is asked for.
 */
final class AllocationBenchmark {

    private static final int WARM_UP = 15;
    private static final int RUNS = 9;
    private static final double PERCENT = 100;

    /** A repair of more streams is run once, warmed up by those of fewer. */
    private static final int MOST_REPEATED = 10_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Test
    void allocateAndRepair() {
        System.out.printf(
                "%7s %6s %2s %-9s %-9s %9s %9s %6s %9s %9s %9s %10s %9s %9s%n",
                "n",
                "m",
                "k",
                "rates",
                "capacity",
                "alloc ms",
                "sort ms",
                "ratio",
                "array ms",
                "gap",
                "over",
                "repair ms",
                "moves %",
                "anew %");
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
        Problem later = off(problem);
        Running running = new Running(PoliciesTest.byName(problem, allocation));
        Allocation anew = policy.allocate(later);
        Tolerance tolerance = new Tolerance(0.1, 0.05, 1);
        Change change = LeastChange.of(later, running, anew, policy.aim(), tolerance, Occasion.DRIFT);
        double repair = problem.streams().size() > MOST_REPEATED
                ? millis(() -> LeastChange.of(later, running, anew, policy.aim(), tolerance, Occasion.DRIFT)
                        .effect()
                        .moved())
                : median(() -> LeastChange.of(later, running, anew, policy.aim(), tolerance, Occasion.DRIFT)
                        .effect()
                        .moved());
        System.out.printf(
                Locale.ROOT,
                "%7d %6d %2d %-9s %-9s %9.3f %9.3f %6.2f %9.3f %9.2e %9.6f %10.3f %9.2f %9.2f%n",
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
                Splitting.of(new Instance(problem)).raised(),
                repair,
                PERCENT * change.effect().moved(),
                PERCENT * movedAnew(later, running, anew));
    }

    private static Problem off(Problem problem) {
        SplittableRandom random = new SplittableRandom(4);
        return new Problem(
                problem.replicas(),
                problem.streams().stream()
                        .map(s -> new Stream(
                                s.name(), s.rate() * (0.8 + 0.4 * random.nextDouble()), s.maxReplicas(), s.sites()))
                        .toList());
    }

    private static double movedAnew(Problem problem, Running running, Allocation anew) {
        Instance in = new Instance(problem);
        Shares before = Shares.of(in, running);
        Shares after = Shares.of(in, anew);
        double moved = 0;
        double all = 0;
        for (int j = 0; j < in.n; j++) {
            moved += in.rate[j] * (1 - after.common(j, before));
            all += in.rate[j];
        }
        return moved / all;
    }

    @Test
    void exact() {
        System.out.printf(
                "%4s %4s %2s %-9s %9s %9s %9s %9s %6s%n",
                "n", "m", "k", "capacity", "alloc ms", "exact s", "over best", "over bnd", "proven");
        for (int[] size : new int[][] {{6, 6}, {8, 6}, {9, 6}, {12, 8}, {20, 10}, {50, 15}}) {
            for (int k : new int[] {2, 3}) {
                for (boolean identical : new boolean[] {true, false}) {
                    List<Replica> replicas =
                            identical ? Problems.identical(size[1]) : Problems.upToEightfold(size[1], 1);
                    Problem problem = new Problem(replicas, Problems.uniform(size[0], k, 2));
                    KSplittable policy = new KSplittable();
                    Allocation allocation = policy.allocate(problem);
                    double makespan = Assessment.of(problem, allocation.streams(), allocation)
                            .makespan();
                    double allocate = median(() -> policy.allocate(problem).lowerBound());
                    long start = System.nanoTime();
                    MixedInteger.Solution solution = MixedInteger.solve(problem, makespan, Duration.ofSeconds(10));
                    System.out.printf(
                            Locale.ROOT,
                            "%4d %4d %2d %-9s %9.3f %9.2f %9.2e %9.2e %6s%n",
                            size[0],
                            size[1],
                            k,
                            identical ? "identical" : "1-8",
                            allocate,
                            (System.nanoTime() - start) / 1e9,
                            makespan / solution.makespan() - 1,
                            makespan / solution.bound() - 1,
                            solution.proven());
                }
            }
        }
    }

    private static double millis(Work work) {
        long start = THREADS.getCurrentThreadCpuTime();
        if (Double.isNaN(work.run())) {
            throw new IllegalStateException("not a number");
        }
        return (THREADS.getCurrentThreadCpuTime() - start) / 1e6;
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
