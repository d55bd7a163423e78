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
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What {@link AllocationBenchmark} has JMH measure. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AllocationTimings {

    /** Streams in random order, with replicas. */
    record Case(int n, int m, int k, double exponent, boolean identical) {

        String rates() {
            return exponent == 0 ? "uniform" : "Zipf " + exponent;
        }

        String capacities() {
            return identical ? "identical" : "1-8";
        }

        Problem problem() {
            List<Replica> replicas = identical ? Problems.identical(m) : Problems.upToEightfold(m, 1);
            List<Stream> streams =
                    new ArrayList<>(exponent == 0 ? Problems.uniform(n, k, 2) : Problems.zipf(n, exponent, k));
            Collections.shuffle(streams, new Random(3));
            return new Problem(replicas, streams);
        }
    }

    /** The allocation that runs, and the rates of a later time: every one is off by up to a fifth. */
    record Drift(Problem later, Running running) {

        static final Tolerance TOLERANCE = new Tolerance(0.1, 0.05, 1);

        static Drift of(Problem problem) {
            SplittableRandom random = new SplittableRandom(4);
            Problem later = new Problem(
                    problem.replicas(),
                    problem.streams().stream()
                            .map(s -> new Stream(
                                    s.name(), s.rate() * (0.8 + 0.4 * random.nextDouble()), s.maxReplicas(), s.sites()))
                            .toList());
            return new Drift(later, new Running(PoliciesTest.byName(problem, new KSplittable().allocate(problem))));
        }

        Change repair(Allocation anew) {
            return LeastChange.of(later, running, anew, new KSplittable().aim(), TOLERANCE, Occasion.DRIFT);
        }
    }

    /** A problem, as JMH makes it of its parameters. */
    @State(Scope.Benchmark)
    public static class Given {

        @Param("1000")
        public int n;

        @Param("100")
        public int m;

        @Param("4")
        public int k;

        /** Zero means rates drawn evenly. */
        @Param("0.8")
        public double exponent;

        @Param("true")
        public boolean identical;

        Problem problem = new Problem(List.of(), List.of());
        double[] rates = {};

        @Setup
        public void generate() {
            problem = new Case(n, m, k, exponent, identical).problem();
            rates = problem.streams().stream().mapToDouble(Stream::rate).toArray();
        }
    }

    /** A running allocation of it, and what the policy would make of the rates of a later time. */
    @State(Scope.Benchmark)
    public static class Drifted {

        private @Nullable Drift drift;
        private @Nullable Allocation anew;

        @Setup
        public void drift(Given given) {
            drift = Drift.of(given.problem);
            anew = new KSplittable().allocate(drift.later());
        }
    }

    /** Counts the processor time of the runs, which, unlike the time that passes, does not depend on what else runs. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Processor {

        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        public long nanos;
        public long runs;

        <T> T time(Supplier<T> work) {
            long start = THREADS.getCurrentThreadCpuTime();
            T result = work.get();
            nanos += THREADS.getCurrentThreadCpuTime() - start;
            runs++;
            return result;
        }
    }

    @Benchmark
    public Allocation allocate(Given given, Processor processor) {
        return processor.time(() -> new KSplittable().allocate(given.problem));
    }

    @Benchmark
    public List<Stream> sortStreams(Given given, Processor processor) {
        return processor.time(() -> {
            List<Stream> sorted = new ArrayList<>(given.problem.streams());
            sorted.sort(Comparator.comparingDouble(Stream::rate).reversed().thenComparing(Stream::name));
            return sorted;
        });
    }

    @Benchmark
    public double[] sortRates(Given given, Processor processor) {
        return processor.time(() -> {
            double[] sorted = given.rates.clone();
            Arrays.sort(sorted);
            return sorted;
        });
    }

    @Benchmark
    public Change repair(Drifted drifted, Processor processor) {
        Drift drift = Objects.requireNonNull(drifted.drift);
        Allocation anew = Objects.requireNonNull(drifted.anew);
        return processor.time(() -> drift.repair(anew));
    }
}
