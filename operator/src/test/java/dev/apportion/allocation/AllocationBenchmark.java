package dev.apportion.allocation;

import dev.apportion.allocation.AllocationTimings.Case;
import dev.apportion.allocation.AllocationTimings.Drift;
import dev.apportion.allocation.Problem.Replica;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Prints how long an allocation takes beside sorting the same streams by rate and name, and beside sorting their bare rates
 * as an array; how close it is to the bound; how far the worst replica is above its level; how long a repair of it takes when
 * every rate is off by up to a fifth, and what moves by it, or would by the new allocation; and the exact solver beside it.
 * The streams are listed in random order. JMH takes the times, each in a JVM of its own; they are processor time of the
 * thread, so that a busy machine matters little.
 *
 * <p>Not a test by its name, so it runs when it is asked for: all of it, or with {@code -Dapportion.benchmark=small} a part.
 */
final class AllocationBenchmark {

    private static final boolean SMALL = "small".equals(System.getProperty("apportion.benchmark"));
    private static final int[][] SIZES = SMALL
            ? new int[][] {{1_000, 100}, {10_000, 1_000}}
            : new int[][] {{1_000, 100}, {10_000, 1_000}, {100_000, 10_000}};
    private static final int[] MOST = SMALL ? new int[] {4} : new int[] {2, 4, 8};
    private static final double[] EXPONENTS = SMALL ? new double[] {0, 0.8} : new double[] {0, 0.8, 1.0, 1.2};

    /** What JMH says. */
    private static final Path LOG = Path.of("target", "jmh.log");

    private static final double PERCENT = 100;
    private static final double NANOS = 1e6;

    /** A repair of more streams takes seconds, and is run twice: the first time warms up. */
    private static final int MOST_REPEATED = 10_000;

    @Test
    void allocateAndRepair() throws Exception {
        Files.createDirectories(LOG.getParent());
        System.out.printf(
                "%7s %6s %2s %-9s %-9s %9s %9s %6s %9s %6s %9s %9s %10s %9s %9s%n",
                "n",
                "m",
                "k",
                "rates",
                "capacity",
                "alloc ms",
                "sort ms",
                "ratio",
                "array ms",
                "ratio",
                "gap",
                "over",
                "repair ms",
                "moves %",
                "anew %");
        for (int[] size : SIZES) {
            for (double exponent : EXPONENTS) {
                Case sorted = new Case(size[0], size[1], MOST[0], exponent, true);
                double sort = millis("sortStreams", sorted);
                double array = millis("sortRates", sorted);
                for (int k : MOST) {
                    for (boolean identical : new boolean[] {true, false}) {
                        print(new Case(size[0], size[1], k, exponent, identical), sort, array);
                    }
                }
            }
        }
    }

    private static void print(Case given, double sort, double array) throws RunnerException {
        double allocate = millis("allocate", given);
        double repair = millis("repair", given);
        Problem problem = given.problem();
        KSplittable policy = new KSplittable();
        Allocation allocation = policy.allocate(problem);
        Drift drift = Drift.of(problem);
        Allocation anew = policy.allocate(drift.later());
        System.out.printf(
                Locale.ROOT,
                "%7d %6d %2d %-9s %-9s %9.3f %9.3f %6.2f %9.3f %6.2f %9.2e %9.6f %10.3f %9.2f %9.2f%n",
                given.n(),
                given.m(),
                given.k(),
                given.rates(),
                given.capacities(),
                allocate,
                sort,
                allocate / sort,
                array,
                allocate / array,
                Assessment.of(problem, allocation.streams(), allocation).optimalityGap(),
                Splitting.of(new Instance(problem)).raised(),
                repair,
                PERCENT * drift.repair(anew).effect().moved(),
                PERCENT * movedAnew(drift.later(), drift.running(), anew));
    }

    private static double millis(String benchmark, Case given) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(AllocationTimings.class.getName() + "\\." + benchmark + "$")
                .param("n", Integer.toString(given.n()))
                .param("m", Integer.toString(given.m()))
                .param("k", Integer.toString(given.k()))
                .param("exponent", Double.toString(given.exponent()))
                .param("identical", Boolean.toString(given.identical()))
                .forks(1)
                .jvmArgs("-Xms1g", "-Xmx1g")
                .shouldFailOnError(true)
                .output(LOG.toString());
        if (benchmark.equals("repair") && given.n() > MOST_REPEATED) {
            options.warmupIterations(1)
                    .warmupTime(TimeValue.milliseconds(1))
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(1));
        } else {
            options.warmupIterations(2)
                    .warmupTime(TimeValue.seconds(given.n() > MOST_REPEATED ? 4 : 1))
                    .measurementIterations(1)
                    .measurementTime(TimeValue.seconds(1));
        }
        RunResult counted = new Runner(options.build()).runSingle();
        return score(counted, "nanos") / score(counted, "runs") / NANOS;
    }

    private static double score(RunResult counted, String name) {
        return Objects.requireNonNull(counted.getSecondaryResults().get(name), name)
                .getScore();
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
                    double allocate = median(() -> policy.allocate(problem));
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

    /** Milliseconds; the median. */
    private static double median(Runnable work) {
        double[] millis = new double[9];
        for (int i = -15; i < millis.length; i++) {
            long start = System.nanoTime();
            work.run();
            millis[Math.max(0, i)] = (System.nanoTime() - start) / 1e6;
        }
        Arrays.sort(millis);
        return millis[millis.length / 2];
    }
}
