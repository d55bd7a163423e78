package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** What every policy promises, on problems of all shapes: capacities from 1e-6 to 1e12, sites, k below and above m. */
class PoliciesTest {

    private static final List<Policy> POLICIES = List.of(
            new RoundRobin(),
            new WeightedRoundRobin(),
            new KSplittable(),
            new KSplittable(KSplittable.Split.EQUAL_RANDOM, 1),
            new KSplittable(KSplittable.Split.EQUAL_SCHEDULED, 1),
            new ZipfZones(ZipfZones.Zones.Three, 5, 1),
            new ZipfZones(ZipfZones.Zones.Continuous, 5, 1),
            new GlobalQueue(true, 8, 0.1, 0.01));

    @Provide
    Arbitrary<Problem> problems() {
        Arbitrary<Double> capacity = Arbitraries.of(1.0, 1.0, 1.0, 2.0, 3.0, 7.5, 100.0, 1e-6, 1e12);
        Arbitrary<Double> rate =
                Arbitraries.oneOf(Arbitraries.of(0.0, 0.0, 1.0, 1.0, 2.0, 50.0, 1e-9, 1e9), ratesBetween(0, 100));
        Arbitrary<String> site = Arbitraries.of("a", "b", "c");
        Arbitrary<Set<String>> sites = Arbitraries.oneOf(
                Arbitraries.just(Set.of()),
                Arbitraries.of("a", "b", "c", "nowhere").set().ofMinSize(1).ofMaxSize(2));
        Arbitrary<List<Replica>> replicas = Combinators.combine(
                        capacity.list().ofMaxSize(12), site.list().ofSize(12))
                .as((capacities, places) -> {
                    List<Replica> list = new ArrayList<>();
                    for (int i = 0; i < capacities.size(); i++) {
                        list.add(replica("r" + i, places.get(i), capacities.get(i)));
                    }
                    return list;
                });
        Arbitrary<Stream> stream = Combinators.combine(
                        rate, Arbitraries.integers().between(1, 14), sites)
                .as((r, k, where) -> new Stream("", r, k, where));
        Arbitrary<List<Stream>> streams = stream.list().ofMaxSize(15).map(list -> {
            List<Stream> named = new ArrayList<>();
            for (Stream s : list) {
                named.add(new Stream("s" + named.size(), s.rate(), s.maxReplicas(), s.sites()));
            }
            return named;
        });
        return Combinators.combine(replicas, streams).as(Problem::new);
    }

    private static Arbitrary<Double> ratesBetween(double from, double to) {
        return Arbitraries.doubles().between(from, to).ofScale(3);
    }

    @Property(tries = 2000)
    void everyStreamIsSharedOutWithinItsLimits(@ForAll("problems") Problem problem) {
        for (Policy policy : POLICIES) {
            Allocation allocation = policy.allocate(problem);
            Wholeness.check(policy.toString(), problem, allocation);
            assertThat(allocation.levels()).allMatch(level -> level >= 0 && level < Double.POSITIVE_INFINITY);
            assertThat(allocation.lowerBound()).isNotNegative().isFinite();
        }
    }

    @Property(tries = 2000)
    void noMakespanIsBelowTheBoundAndNothingIsNotANumber(@ForAll("problems") Problem problem) {
        for (Policy policy : POLICIES) {
            Allocation allocation = policy.allocate(problem);
            Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
            assertThat(assessment.makespan()).isFinite().isGreaterThanOrEqualTo(allocation.lowerBound() * (1 - 1e-9));
            assertThat(assessment.average()).isFinite().isNotNegative();
            assertThat(assessment.optimalityGap()).isFinite().isNotNegative();
            assertThat(assessment.worstOverLevel()).isFinite().isNotNegative();
            assertThat(assessment.loads()).allMatch(load -> load >= 0 && load < Double.POSITIVE_INFINITY);
        }
    }

    @Property(tries = 1000)
    void theOrderOfListingDoesNotMatter(@ForAll("problems") Problem problem, @ForAll long seed) {
        List<Replica> replicas = new ArrayList<>(problem.replicas());
        List<Stream> streams = new ArrayList<>(problem.streams());
        Random random = new Random(seed);
        Collections.shuffle(replicas, random);
        Collections.shuffle(streams, random);
        Problem shuffled = new Problem(replicas, streams);
        for (Policy policy : POLICIES) {
            assertThat(byName(shuffled, policy.allocate(shuffled)))
                    .isEqualTo(byName(problem, policy.allocate(problem)));
        }
    }

    @Property(tries = 500)
    void theUnitOfMeasurementDoesNotMatter(
            @ForAll("problems") Problem problem,
            @ForAll @IntRange(min = -20, max = 20) int ratePower,
            @ForAll @IntRange(min = -20, max = 20) int capacityPower) {
        Problem scaled = new Problem(
                problem.replicas().stream()
                        .map(r -> new Replica(r.name(), r.site(), Math.scalb(r.capacity(), capacityPower)))
                        .toList(),
                problem.streams().stream()
                        .map(s -> new Stream(s.name(), Math.scalb(s.rate(), ratePower), s.maxReplicas(), s.sites()))
                        .toList());
        for (Policy policy : POLICIES) {
            Allocation expected = policy.allocate(problem);
            Allocation actual = policy.allocate(scaled);
            assertThat(actual.streams()).isEqualTo(expected.streams());
            assertThat(actual.lowerBound()).isEqualTo(Math.scalb(expected.lowerBound(), ratePower - capacityPower));
        }
    }

    @Property(tries = 500)
    void theMeasureIsThatOfTheProblem(@ForAll("problems") Problem problem) {
        Allocation expected = new KSplittable().allocate(problem);
        for (Policy policy : POLICIES) {
            Allocation allocation = policy.allocate(problem);
            assertThat(allocation.levels()).isEqualTo(expected.levels());
            assertThat(allocation.lowerBound()).isEqualTo(expected.lowerBound());
        }
    }

    @Property(tries = 5000)
    void theSplitKeepsItsOwnLevels(@ForAll("problems") Problem problem) {
        Allocation allocation = new KSplittable().allocate(problem);
        Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
        assertThat(assessment.worstOverLevel()).isLessThan(1 + 1e-6);
    }

    @Test
    void nothingComesOfNothing() {
        for (Policy policy : POLICIES) {
            Allocation none = policy.allocate(new Problem(List.of(), List.of()));
            assertThat(none).isEqualTo(new Allocation(List.of(), List.of(), 0));
            Problem idle = new Problem(Problems.identical(2), List.of());
            assertThat(policy.allocate(idle)).isEqualTo(new Allocation(List.of(), List.of(0.0, 0.0), 0));
            Problem unserved = new Problem(List.of(), Problems.zipf(2, 1, 3));
            Allocation allocation = policy.allocate(unserved);
            assertThat(allocation).isEqualTo(new Allocation(List.of(List.of(), List.of()), List.of(), 0));
            assertThat(Assessment.of(unserved, allocation.streams(), allocation))
                    .isEqualTo(new Assessment(List.of(), 0, 0, 0, 0, 0));
        }
    }

    @Test
    void aStreamWithoutEligibleReplicaHasNoPiecesAndNoSay() {
        Problem problem = new Problem(
                List.of(replica("r0", "a", 1), replica("r1", "b", 1)),
                List.of(stream("lost", 1000, 2, "c"), stream("served", 3, 2, "b")));
        for (Policy policy : POLICIES) {
            Allocation allocation = policy.allocate(problem);
            assertThat(allocation.streams()).isEqualTo(List.of(List.of(), List.of(new Piece(1, 1))));
            assertThat(allocation.levels()).isEqualTo(List.of(0.0, 3.0));
            Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
            assertThat(assessment).isEqualTo(new Assessment(List.of(0.0, 3.0), 3, 3, 3, 0, 1));
        }
    }

    @Test
    void twentyReplicasOneStreamAllAreUsed() {
        Problem problem = new Problem(Problems.identical(20), List.of(stream("everyone", 1, 20)));
        for (Policy policy : POLICIES) {
            assertThat(policy.allocate(problem).streams().getFirst())
                    .hasSize(20)
                    .allMatch(piece -> piece.share() == 0.05);
        }
    }

    @Test
    void roundRobinIgnoresCapacityAndWeightedRoundRobinFollowsIt() {
        Problem problem =
                new Problem(List.of(replica("r0", 1), replica("r1", 3)), List.of(stream("a", 8, 2), stream("b", 4, 2)));
        assertThat(new RoundRobin().allocate(problem).streams())
                .isEqualTo(Collections.nCopies(2, List.of(new Piece(0, 0.5), new Piece(1, 0.5))));
        assertThat(new WeightedRoundRobin().allocate(problem).streams())
                .isEqualTo(Collections.nCopies(2, List.of(new Piece(0, 0.25), new Piece(1, 0.75))));
    }

    @Test
    void withFewerThanAllReplicasTheRoundRobinsTakeTheLeastLoaded() {
        Problem problem = new Problem(
                Problems.identical(4),
                List.of(stream("a", 1, 2), stream("b", 5, 2), stream("c", 1, 2), stream("d", 4, 2)));
        for (Policy policy : List.of(new RoundRobin(), new WeightedRoundRobin())) {
            // b first; d on the other two, at 2 each; then a on those; now all are at 2.5, and c takes the first by
            // name
            // at 2.5
            assertThat(byName(problem, policy.allocate(problem)))
                    .isEqualTo(Map.of(
                            "a", Map.of("r00002", 0.5, "r00003", 0.5),
                            "b", Map.of("r00000", 0.5, "r00001", 0.5),
                            "c", Map.of("r00000", 0.5, "r00001", 0.5),
                            "d", Map.of("r00002", 0.5, "r00003", 0.5)));
        }
    }

    @Test
    void streamsWithoutRateSpreadEvenly() {
        Problem problem = new Problem(Problems.identical(10), Problems.streams(1000, 3, rank -> 0));
        for (Policy policy : POLICIES) {
            if (policy instanceof KSplittable(KSplittable.Split split, long seed)
                    && split == KSplittable.Split.EQUAL_RANDOM) {
                continue;
            }
            int[] uses = new int[10];
            for (List<Piece> pieces : policy.allocate(problem).streams()) {
                assertThat(pieces).hasSize(3);
                pieces.forEach(piece -> uses[piece.replica()]++);
            }
            assertThat(Arrays.stream(uses).boxed().toList()).containsOnly(300);
        }
    }

    @Test
    void streamsWithoutRateShareByCapacity() {
        Problem problem = new Problem(
                List.of(replica("r0", 1), replica("r1", 3), replica("r2", 4)),
                List.of(stream("all", 0, 9), stream("two", 0, 2)));
        assertThat(byName(problem, new KSplittable().allocate(problem)))
                .isEqualTo(Map.of(
                        "all", Map.of("r0", 0.125, "r1", 0.375, "r2", 0.5), "two", Map.of("r0", 0.25, "r1", 0.75)));
    }

    @Test
    void capacitiesOfEverySpreadStandSideBySide() {
        Problem problem = new Problem(
                List.of(replica("small", 1e-6), replica("large", 1e12), replica("medium", 1)),
                List.of(stream("free", 5e11, 3), stream("a", 1e11, 2), stream("b", 1e-7, 1), stream("c", 0.2, 2)));
        for (Policy policy : POLICIES) {
            Allocation allocation = policy.allocate(problem);
            Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
            assertThat(assessment.makespan()).isFinite().isGreaterThanOrEqualTo(allocation.lowerBound() * (1 - 1e-12));
            assertThat(allocation.lowerBound()).isCloseTo(0.6, within(1e-9));
        }
        Allocation split = new KSplittable().allocate(problem);
        assertThat(Assessment.of(problem, split.streams(), split).optimalityGap())
                .isLessThan(1e-9);
    }

    /** Shares by the names of streams and replicas. */
    static Map<String, Map<String, Double>> byName(Problem problem, Allocation allocation) {
        Map<String, Map<String, Double>> byName = new TreeMap<>();
        for (int j = 0; j < problem.streams().size(); j++) {
            Map<String, Double> shares = new TreeMap<>();
            for (Piece piece : allocation.streams().get(j)) {
                shares.put(problem.replicas().get(piece.replica()).name(), piece.share());
            }
            byName.put(problem.streams().get(j).name(), shares);
        }
        return byName;
    }
}
