package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/**
 * What every policy of the package promises, on problems of all shapes: capacities from 1e-6 to 1e12, samples or none, sites,
 * k below and above m. A new policy is one more row.
 */
class PolicyPropertiesTest {

    /** What the rate of streams is compared with. */
    private enum Rates {
        /** With each other: their unit does not matter. */
        RELATIVE,
        /** With the connections that are open: scaling both alike changes nothing. */
        BESIDE_CONNECTIONS,
        /** With the time that serving one takes: they are what they are. */
        ABSOLUTE
    }

    /** Whether a replica's share may grow when it alone is measured to be busier, in a problem of one stream. */
    private enum Busier {
        NEVER_MORE,
        /**
         * Not if the stream may use every replica. With fewer, the replicas beside it may become slower ones, because those
         * without a sample count as busier, too.
         */
        NEVER_MORE_OF_ALL,
        UNMEASURED
    }

    private record Row(Policy policy, Rates rates, Busier busier) {}

    private static final List<Row> ROWS = List.of(
            new Row(new RoundRobin(), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new WeightedRoundRobin(), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new KSplittable(), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new KSplittable(KSplittable.Split.EQUAL_RANDOM, 1), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new KSplittable(KSplittable.Split.EQUAL_SCHEDULED, 1), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new ZipfZones(ZipfZones.Zones.Three, 5, 1), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new ZipfZones(ZipfZones.Zones.Continuous, 5, 1), Rates.RELATIVE, Busier.UNMEASURED),
            new Row(new GlobalQueue(true, 8, 0.1, 0.01), Rates.ABSOLUTE, Busier.UNMEASURED),
            new Row(new GlobalQueue(false, 8, 0.1, 0.01), Rates.ABSOLUTE, Busier.UNMEASURED),
            new Row(new LeastConnections(), Rates.BESIDE_CONNECTIONS, Busier.NEVER_MORE),
            new Row(leastConnections(0, Round.ALLOCATION), Rates.BESIDE_CONNECTIONS, Busier.NEVER_MORE_OF_ALL),
            // within a limit, who is new decides: more connections may mean that a replica is limited no longer
            new Row(leastConnections(5, Round.ALLOCATION), Rates.BESIDE_CONNECTIONS, Busier.UNMEASURED),
            new Row(leastConnections(3, Round.CYCLE), Rates.BESIDE_CONNECTIONS, Busier.UNMEASURED),
            new Row(new LoadAverage(), Rates.RELATIVE, Busier.NEVER_MORE),
            new Row(new Rating(Rating.Mode.WEIGHTED, 100, 3, 200), Rates.RELATIVE, Busier.NEVER_MORE),
            new Row(new Rating(Rating.Mode.WEIGHTED, 0, 0, 0), Rates.RELATIVE, Busier.NEVER_MORE),
            new Row(new Rating(Rating.Mode.BEST, 100, 3, 200), Rates.RELATIVE, Busier.NEVER_MORE));

    /** Beside 10¹² connections, which are counted to a ten-thousandth, 300 requests are shared out no more exactly. */
    private static final double ROUNDING = 1e-5;

    private static Policy leastConnections(int most, Round round) {
        return new WeightedLeastConnections(most == 0 ? OptionalInt.empty() : OptionalInt.of(most), round);
    }

    private static Arbitrary<OptionalDouble> measured(Double... values) {
        return Arbitraries.oneOf(
                Arbitraries.just(OptionalDouble.empty()),
                Arbitraries.of(values).map(OptionalDouble::of),
                Arbitraries.doubles().between(0, 500).ofScale(2).map(OptionalDouble::of));
    }

    private static Arbitrary<Sample> samples() {
        Arbitrary<Sample> sampled = Combinators.combine(
                        measured(0.0, 1.0, 80.0),
                        measured(0.0, 3.0, 1e9),
                        measured(0.0, 0.0, 300.0, 1e12),
                        measured(0.0, 5.0),
                        measured(0.0, 3.0),
                        measured(0.0, 0.01, 2.5, 1e6))
                .as(Sample::new);
        return Arbitraries.oneOf(Arbitraries.just(Sample.NONE), sampled, sampled);
    }

    @Provide
    Arbitrary<Problem> problems() {
        Arbitrary<Double> capacity = Arbitraries.of(1.0, 1.0, 1.0, 2.0, 3.0, 7.5, 100.0, 1e-6, 1e12);
        Arbitrary<String> site = Arbitraries.of("a", "b", "c");
        Arbitrary<List<Replica>> replicas = Combinators.combine(
                        capacity.list().ofMaxSize(10),
                        site.list().ofSize(10),
                        Arbitraries.integers().between(1, 20).list().ofSize(10),
                        Arbitraries.oneOf(
                                Arbitraries.just(Sample.NONE).list().ofSize(10),
                                samples().list().ofSize(10)))
                .as((capacities, places, concurrencies, samples) -> {
                    List<Replica> list = new ArrayList<>();
                    for (int i = 0; i < capacities.size(); i++) {
                        list.add(new Replica(
                                "r" + i, places.get(i), capacities.get(i), concurrencies.get(i), samples.get(i)));
                    }
                    return list;
                });
        return Combinators.combine(replicas, streams()).as(Problem::new);
    }

    private static Arbitrary<List<Stream>> streams() {
        Arbitrary<Double> rate = Arbitraries.oneOf(
                Arbitraries.of(0.0, 0.0, 1.0, 1.0, 2.0, 50.0, 1e-9, 1e9),
                Arbitraries.doubles().between(0, 100).ofScale(3));
        Arbitrary<Set<String>> sites = Arbitraries.oneOf(
                Arbitraries.just(Set.of()),
                Arbitraries.of("a", "b", "c", "nowhere").set().ofMinSize(1).ofMaxSize(2));
        Arbitrary<Stream> stream = Combinators.combine(
                        rate,
                        Arbitraries.integers().between(1, 12),
                        sites,
                        Arbitraries.of("a", "b", "")
                                .map(home -> Optional.of(home).filter(h -> !h.isEmpty())),
                        Arbitraries.of(15.0, 15.0, 1.0, 86_400.0))
                .as((r, k, where, home, ttl) -> new Stream("", r, k, where, home, ttl));
        return stream.list().ofMaxSize(10).map(list -> {
            List<Stream> named = new ArrayList<>();
            for (Stream s : list) {
                named.add(
                        new Stream("s" + named.size(), s.rate(), s.maxReplicas(), s.sites(), s.home(), s.ttlSeconds()));
            }
            return named;
        });
    }

    @Property(tries = 500)
    void everyStreamIsSharedOutOverNoMoreThanKReplicasThatMayServeIt(@ForAll("problems") Problem problem) {
        for (Row row : ROWS) {
            holds(row.policy(), problem);
        }
    }

    private static void holds(Policy policy, Problem problem) {
        Allocation allocation = policy.allocate(problem);
        Wholeness.check(policy.toString(), problem, allocation);
        assertThat(allocation.because()).hasSameSizeAs(problem.replicas());
    }

    @Property(tries = 400)
    void noMakespanIsBelowTheBound(@ForAll("problems") Problem problem) {
        for (Row row : ROWS) {
            Allocation allocation = row.policy().allocate(problem);
            Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
            assertThat(assessment.makespan())
                    .as(row.toString())
                    .isFinite()
                    .isGreaterThanOrEqualTo(allocation.lowerBound() * (1 - 1e-9));
            assertThat(assessment.optimalityGap()).isFinite().isNotNegative();
            assertThat(assessment.worstOverLevel()).isFinite().isNotNegative();
        }
    }

    @Property(tries = 300)
    void equalInputInAnyOrderGivesEqualOutput(@ForAll("problems") Problem problem, @ForAll long seed) {
        List<Replica> replicas = new ArrayList<>(problem.replicas());
        List<Stream> streams = new ArrayList<>(problem.streams());
        Random random = new Random(seed);
        Collections.shuffle(replicas, random);
        Collections.shuffle(streams, random);
        Problem shuffled = new Problem(replicas, streams);
        for (Row row : ROWS) {
            Allocation allocation = row.policy().allocate(problem);
            assertThat(row.policy().allocate(problem)).isEqualTo(allocation);
            Allocation other = row.policy().allocate(shuffled);
            assertThat(PoliciesTest.byName(shuffled, other))
                    .as(row.toString())
                    .isEqualTo(PoliciesTest.byName(problem, allocation));
            assertThat(because(shuffled, other)).isEqualTo(because(problem, allocation));
        }
    }

    private static Map<String, String> because(Problem problem, Allocation allocation) {
        Map<String, String> because = new TreeMap<>();
        for (int i = 0; i < problem.replicas().size(); i++) {
            because.put(problem.replicas().get(i).name(), allocation.because().get(i));
        }
        return because;
    }

    @Property(tries = 300)
    void theUnitsOfRatesAndCapacitiesDoNotMatter(
            @ForAll("problems") Problem problem,
            @ForAll @IntRange(min = -20, max = 20) int ratePower,
            @ForAll @IntRange(min = -20, max = 20) int capacityPower) {
        for (Row row : ROWS) {
            UnaryOperator<Sample> sample = switch (row.rates()) {
                case RELATIVE, ABSOLUTE -> s -> s;
                case BESIDE_CONNECTIONS -> s -> scaledConnections(s, ratePower);
            };
            int power = row.rates() == Rates.ABSOLUTE ? 0 : ratePower;
            Problem scaled = new Problem(
                    problem.replicas().stream()
                            .map(r -> new Replica(
                                    r.name(),
                                    r.site(),
                                    Math.scalb(r.capacity(), capacityPower),
                                    r.concurrency(),
                                    sample.apply(r.measured())))
                            .toList(),
                    problem.streams().stream()
                            .map(s -> new Stream(
                                    s.name(),
                                    Math.scalb(s.rate(), power),
                                    s.maxReplicas(),
                                    s.sites(),
                                    s.home(),
                                    s.ttlSeconds()))
                            .toList());
            assertThat(row.policy().allocate(scaled).streams())
                    .as(row.toString())
                    .isEqualTo(row.policy().allocate(problem).streams());
        }
    }

    private static Sample scaledConnections(Sample sample, int power) {
        return new Sample(
                sample.requests(),
                scaled(sample.inFlight(), power),
                scaled(sample.connections(), power),
                sample.users(),
                sample.uniqueUsers(),
                sample.loadAverage());
    }

    private static OptionalDouble scaled(OptionalDouble value, int power) {
        return value.isEmpty() ? value : OptionalDouble.of(Math.scalb(value.getAsDouble(), power));
    }

    /** With a factor that is no power of two results differ by rounding alone. */
    @Property(tries = 200)
    void whereNothingIsMeasuredNoFactorMatters(
            @ForAll @DoubleRange(min = 0.01, max = 1000) double factor, @ForAll @IntRange(min = 1, max = 9) int m) {
        List<Replica> replicas = new ArrayList<>();
        List<Replica> scaled = new ArrayList<>();
        for (int i = 1; i <= m; i++) {
            replicas.add(replica("r" + i, i));
            scaled.add(replica("r" + i, i * factor));
        }
        for (Row row : ROWS) {
            List<Piece> expected = row.policy()
                    .allocate(new Problem(replicas, List.of(stream("s", 5, 9))))
                    .streams()
                    .getFirst();
            List<Piece> actual = row.policy()
                    .allocate(new Problem(scaled, List.of(stream("s", 5 * factor, 9))))
                    .streams()
                    .getFirst();
            assertThat(actual).as(row.toString()).hasSameSizeAs(expected);
            for (int p = 0; p < actual.size(); p++) {
                assertThat(actual.get(p).replica()).isEqualTo(expected.get(p).replica());
                assertThat(actual.get(p).share()).isCloseTo(expected.get(p).share(), within(1e-9));
            }
        }
    }

    @Property(tries = 1000)
    void aBusierReplicaGetsNoMore(
            @ForAll("problems") Problem problem,
            @ForAll @IntRange(max = 9) int which,
            @ForAll @DoubleRange(min = 0, max = 1000) double more,
            @ForAll @IntRange(min = 1, max = 12) int k) {
        if (which >= problem.replicas().size()) {
            return;
        }
        List<Replica> busier = new ArrayList<>(problem.replicas());
        Replica r = busier.get(which);
        busier.set(which, new Replica(r.name(), r.site(), r.capacity(), r.concurrency(), plus(r.measured(), more)));
        for (Row row : ROWS) {
            if (row.busier() != Busier.UNMEASURED) {
                int replicas = row.busier() == Busier.NEVER_MORE
                        ? k
                        : problem.replicas().size();
                List<Stream> one = List.of(stream("everyone", 20, replicas));
                double before = share(row.policy().allocate(new Problem(problem.replicas(), one)), which);
                double after = share(row.policy().allocate(new Problem(busier, one)), which);
                assertThat(after).as(row.toString()).isLessThanOrEqualTo(before + ROUNDING);
            }
        }
    }

    private static double share(Allocation allocation, int replica) {
        return allocation.streams().getFirst().stream()
                .filter(piece -> piece.replica() == replica)
                .mapToDouble(Piece::share)
                .sum();
    }

    private static Sample plus(Sample sample, double more) {
        return new Sample(
                plus(sample.requests(), more),
                plus(sample.inFlight(), more),
                plus(sample.connections(), more),
                plus(sample.users(), more),
                plus(sample.uniqueUsers(), more),
                plus(sample.loadAverage(), more));
    }

    private static OptionalDouble plus(OptionalDouble value, double more) {
        return value.isEmpty() ? value : OptionalDouble.of(value.getAsDouble() + more);
    }

    @Test
    void everyKindOfPolicyHasARow() {
        assertThat(ROWS.stream().map(row -> (Object) row.policy().getClass()).distinct())
                .containsExactlyInAnyOrder((Object[]) Policy.class.getPermittedSubclasses());
    }

    @Test
    void extremesHoldToo() {
        double[] extremes = {0, Double.MIN_VALUE, 1e-6, 1, 1e12, Double.MAX_VALUE};
        List<Replica> replicas = new ArrayList<>();
        for (double extreme : extremes) {
            OptionalDouble all = OptionalDouble.of(extreme);
            replicas.add(new Replica(
                    "r" + replicas.size(),
                    "main",
                    Math.clamp(extreme, 1e-6, 1e12),
                    1,
                    new Sample(all, all, all, all, all, all)));
        }
        List<Stream> streams = new ArrayList<>();
        for (double rate : new double[] {0, 0, 1e-12, 1, 1e12}) {
            for (int k : new int[] {1, 2, 6, 1000}) {
                streams.add(stream("s%02d".formatted(streams.size()), rate, k));
            }
        }
        List<Problem> problems = List.of(
                new Problem(replicas, streams),
                new Problem(replicas, List.of()),
                new Problem(List.of(), streams),
                new Problem(List.of(), List.of()),
                new Problem(replicas.subList(5, 6), streams),
                new Problem(replicas.subList(0, 1), streams.subList(0, 4)));
        for (Row row : ROWS) {
            problems.forEach(problem -> holds(row.policy(), problem));
        }
    }

    @Test
    void streamsThatKLimitDoNotAllUseTheSameReplicas() {
        for (double rate : new double[] {0, 3}) {
            Problem problem = new Problem(Problems.identical(10), Problems.streams(1000, 3, rank -> rate));
            for (Row row : ROWS) {
                int[] uses = new int[10];
                for (List<Piece> pieces : row.policy().allocate(problem).streams()) {
                    pieces.forEach(piece -> uses[piece.replica()]++);
                }
                assertThat((double) Arrays.stream(uses).max().orElseThrow())
                        .as(row.toString())
                        .isLessThan(1.2 * Arrays.stream(uses).average().orElseThrow());
            }
        }
    }
}
