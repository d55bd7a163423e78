package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KSplittableTest {

    /** A makespan this close to the bound, relatively, meets it. */
    private static final double CERTAIN = 1e-9;

    private final KSplittable policy = new KSplittable();

    private Assessment assess(Problem problem) {
        Allocation allocation = policy.allocate(problem);
        return Assessment.of(problem, allocation.streams(), allocation);
    }

    @ParameterizedTest
    @CsvSource({
        "50, 10, 0.8, 2, 1.00",
        "50, 10, 0.8, 3, 1.00",
        "50, 10, 0.8, 4, 1.00",
        "100, 20, 1.0, 2, 1.93",
        "100, 20, 1.0, 3, 1.29",
        "100, 20, 1.0, 4, 1.00"
    })
    void theYardstickOfZipfRates(int n, int m, double exponent, int k, double makespanOverAverage) {
        Assessment assessment = assess(new Problem(Problems.identical(m), Problems.zipf(n, exponent, k)));
        assertThat(assessment.makespan() / assessment.average()).isCloseTo(makespanOverAverage, within(0.005));
        assertThat(assessment.optimalityGap()).isLessThan(CERTAIN);
    }

    @Test
    void everyZipfInstanceIsProvenOptimal() {
        int instances = 0;
        for (int n : new int[] {20, 50, 100, 200}) {
            for (int m : new int[] {10, 20, 50}) {
                for (int k = 2; k <= 4; k++) {
                    for (double exponent : new double[] {0.6, 0.8, 1.0, 1.2, 1.5}) {
                        List<Stream> streams = Problems.zipf(n, exponent, k);
                        for (List<Replica> replicas :
                                List.of(Problems.identical(m), Problems.upToEightfold(m, 31L * n + m))) {
                            Assessment assessment = assess(new Problem(replicas, streams));
                            assertThat(assessment.optimalityGap())
                                    .as("n %d, m %d, k %d, exponent %s", n, m, k, exponent)
                                    .isLessThan(CERTAIN);
                            instances++;
                        }
                    }
                }
            }
        }
        assertThat(instances).isEqualTo(360);
    }

    @ParameterizedTest
    @CsvSource({"100000, 10000, 0.8", "1000, 100, 1.0"})
    void whatIsNotInABottleneckIsLevel(int n, int m, double exponent) {
        for (List<Replica> replicas : List.of(Problems.identical(m), Problems.upToEightfold(m, 1))) {
            Problem problem = new Problem(replicas, Problems.zipf(n, exponent, 4));
            Allocation allocation = policy.allocate(problem);
            Assessment assessment = Assessment.of(problem, allocation.streams(), allocation);
            assertThat(assessment.optimalityGap()).isLessThan(CERTAIN);
            assertThat(Splitting.of(new Instance(problem)).raised()).isLessThan(1.02);
            for (int i = 0; i < m; i++) {
                double level = allocation.levels().get(i);
                assertThat(assessment.loads().get(i)).isBetween(level * 0.98, level * 1.02);
            }
        }
    }

    /** Five equal streams, in two pieces each, on seven replicas: the best is three of them on four, and two on three. */
    @Test
    void theBoundSeesThatPiecesOfBulkyStreamsMustBePackedLikeBins() {
        Allocation allocation = policy.allocate(new Problem(Problems.identical(7), Problems.streams(5, 2, rank -> 1)));
        assertThat(allocation.lowerBound()).isCloseTo(0.75, within(1e-9));
    }

    @Test
    void equalStreamsOnIdenticalReplicasAreProvenOptimal() {
        for (int n = 1; n <= 24; n++) {
            for (int m = 1; m <= 30; m++) {
                for (int k = 1; k <= 4; k++) {
                    Assessment assessment =
                            assess(new Problem(Problems.identical(m), Problems.streams(n, k, rank -> 3)));
                    assertThat(assessment.optimalityGap())
                            .as("%d %d %d", n, m, k)
                            .isLessThan(CERTAIN);
                }
            }
        }
    }

    @Test
    void aGiantStreamTakesReplicasForItselfAndTheOthersShareTheRest() {
        Problem problem = new Problem(
                Problems.identical(10), List.of(stream("giant", 100, 2), stream("a", 4, 2), stream("b", 4, 2)));
        Allocation allocation = policy.allocate(problem);
        assertThat(allocation.lowerBound()).isEqualTo(50);
        assertThat(allocation.levels()).isEqualTo(List.of(50.0, 50.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0));
        assertThat(allocation.streams())
                .isEqualTo(List.of(
                        List.of(new Piece(0, 0.5), new Piece(1, 0.5)),
                        List.of(new Piece(2, 0.5), new Piece(3, 0.5)),
                        List.of(new Piece(4, 0.5), new Piece(5, 0.5))));
    }

    /** McNaughton's wrap-around shows that the average load can be had. */
    @Property(tries = 500)
    void smallStreamsOnIdenticalReplicasReachTheAverage(
            @ForAll @IntRange(min = 2, max = 30) int m,
            @ForAll @IntRange(min = 2, max = 5) int k,
            @ForAll @Size(min = 1, max = 60) List<@DoubleRange(min = 0.01, max = 1) Double> rates) {
        double total = rates.stream().mapToDouble(d -> d).sum();
        double largest = rates.stream().mapToDouble(d -> d).max().orElseThrow();
        List<Stream> streams = Problems.streams(rates.size(), k, rank -> rates.get((int) rank - 1));
        // makes the largest stream small enough
        double missing = largest * m / (k - 1) - total;
        for (int more = 0; missing > 0; more++) {
            streams.add(stream("more" + more, Math.min(missing, largest), k));
            missing -= largest;
        }
        Assessment assessment = assess(new Problem(Problems.identical(m), streams));
        assertThat(assessment.makespan()).isCloseTo(assessment.average(), within(CERTAIN * assessment.average()));
    }

    @Property(tries = 2000)
    void neverWorseThanOneAndOneKthOfTheBound(
            @ForAll @IntRange(min = 1, max = 6) int k,
            @ForAll("capacities") List<Double> capacities,
            @ForAll("rates") List<Double> rates) {
        List<Replica> replicas = new ArrayList<>();
        for (double capacity : capacities) {
            replicas.add(replica("r" + replicas.size(), capacity));
        }
        List<Stream> streams = Problems.streams(rates.size(), k, rank -> rates.get((int) rank - 1));
        Assessment assessment = assess(new Problem(replicas, streams));
        assertThat(assessment.makespan()).isLessThanOrEqualTo(assessment.lowerBound() * (1 + 1.0 / k) * (1 + CERTAIN));
    }

    @Provide
    Arbitrary<List<Double>> capacities() {
        return numbers().list().ofMinSize(1).ofMaxSize(25);
    }

    @Provide
    Arbitrary<List<Double>> rates() {
        return numbers().list().ofMinSize(1).ofMaxSize(25);
    }

    private static Arbitrary<Double> numbers() {
        return Arbitraries.oneOf(
                Arbitraries.of(1.0, 2.0, 3.0, 5.0),
                Arbitraries.doubles().between(0.5, 8),
                Arbitraries.doubles().between(-6, 9).map(e -> Math.pow(10, e)));
    }

    @Provide
    Arbitrary<Problem> tiny() {
        Arbitrary<Replica> replica = Combinators.combine(
                        Arbitraries.oneOf(
                                Arbitraries.of(1.0, 2.0), Arbitraries.doubles().between(0.5, 8)),
                        Arbitraries.of("a", "b"))
                .as((capacity, site) -> replica("", site, capacity));
        Arbitrary<Stream> stream = Combinators.combine(
                        Arbitraries.oneOf(
                                Arbitraries.of(0.0, 1.0, 2.0),
                                Arbitraries.doubles().between(0.1, 5)),
                        Arbitraries.integers().between(1, 4),
                        Arbitraries.of("", "", "a", "b"))
                .as((rate, k, site) -> site.isEmpty() ? stream("", rate, k) : stream("", rate, k, site));
        return Combinators.combine(
                        replica.list().ofMinSize(1).ofMaxSize(4),
                        stream.list().ofMinSize(1).ofMaxSize(3))
                .as((replicas, streams) -> {
                    List<Replica> named = new ArrayList<>();
                    replicas.forEach(r -> named.add(replica("r" + named.size(), r.site(), r.capacity())));
                    List<Stream> called = new ArrayList<>();
                    streams.forEach(
                            s -> called.add(new Stream("s" + called.size(), s.rate(), s.maxReplicas(), s.sites())));
                    return new Problem(named, called);
                });
    }

    @Property(tries = 3000)
    void tinyProblemsAreSolvedExactlyAndNeverBoundedAboveTheOptimum(@ForAll("tiny") Problem problem) {
        Assessment assessment = assess(problem);
        double optimum = Optimum.makespan(problem);
        assertThat(assessment.lowerBound()).isLessThanOrEqualTo(optimum * (1 + 1e-12));
        assertThat(assessment.makespan()).isGreaterThanOrEqualTo(optimum * (1 - CERTAIN));
        assertThat(assessment.makespan()).isLessThanOrEqualTo(optimum * (1 + 1e-8));
    }

    /** Here the bound counts bins, and has to stay below the optimum. */
    @Property(tries = 1000)
    void bulkyStreamsOnIdenticalReplicasAreSolvedExactly(
            @ForAll @IntRange(min = 3, max = 6) int m,
            @ForAll @IntRange(min = 1, max = 3) int k,
            @ForAll @Size(min = 2, max = 4) List<@DoubleRange(min = 0.4, max = 1) Double> rates) {
        Problem problem = new Problem(
                Problems.identical(m), Problems.streams(rates.size(), k, rank -> rates.get((int) rank - 1)));
        Assessment assessment = assess(problem);
        double optimum = Optimum.makespan(problem);
        assertThat(assessment.lowerBound()).isLessThanOrEqualTo(optimum * (1 + 1e-12));
        assertThat(assessment.makespan()).isBetween(optimum * (1 - CERTAIN), optimum * (1 + 1e-8));
    }

    @Property(tries = 300)
    void withoutSitesTinyProblemsAreProvenOptimal(@ForAll("tiny") Problem problem) {
        List<Stream> everywhere = problem.streams().stream()
                .map(s -> stream(s.name(), s.rate(), s.maxReplicas()))
                .toList();
        assertThat(assess(new Problem(problem.replicas(), everywhere)).optimalityGap())
                .isLessThan(CERTAIN);
    }
}
