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
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the k-splittable policy deals with streams that may use some sites only. */
class SitesTest {

    private final KSplittable policy = new KSplittable();

    @Test
    void sitesThatHaveNothingInCommonAreProblemsOfTheirOwn() {
        Problem problem = new Problem(
                List.of(replica("a0", "a", 1), replica("a1", "a", 1), replica("b0", "b", 1), replica("b1", "b", 3)),
                List.of(stream("busy", 40, 2, "a"), stream("quiet", 4, 2, "b")));
        Allocation allocation = policy.allocate(problem);
        assertThat(allocation.levels()).isEqualTo(List.of(20.0, 20.0, 1.0, 1.0));
        assertThat(allocation.streams())
                .isEqualTo(List.of(
                        List.of(new Piece(0, 0.5), new Piece(1, 0.5)),
                        List.of(new Piece(2, 0.25), new Piece(3, 0.75))));
    }

    @Test
    void streamsThatMayGoElsewhereLeaveABusySiteAlone() {
        Problem problem = new Problem(
                List.of(replica("a0", "a", 1), replica("a1", "a", 1), replica("b0", "b", 1), replica("b1", "b", 1)),
                List.of(stream("bound", 10, 9, "a"), stream("roaming", 6, 9)));
        Allocation allocation = policy.allocate(problem);
        assertThat(allocation.lowerBound()).isEqualTo(5);
        assertThat(allocation.levels()).isEqualTo(List.of(5.0, 5.0, 3.0, 3.0));
        assertThat(PoliciesTest.byName(problem, allocation))
                .isEqualTo(Map.of("bound", Map.of("a0", 0.5, "a1", 0.5), "roaming", Map.of("b0", 0.5, "b1", 0.5)));
    }

    @Test
    void roamingStreamsFillUpAQuietSite() {
        Problem problem = new Problem(
                List.of(replica("a0", "a", 1), replica("b0", "b", 1), replica("b1", "b", 2)),
                List.of(stream("bound", 2, 1, "a"), stream("roaming", 14, 3)));
        Assessment assessment = assess(problem);
        assertThat(assessment.loads()).allSatisfy(load -> assertThat(load).isCloseTo(4, within(1e-9)));
    }

    @Test
    void aSiteThatDoesNotExistRestrictsToTheOthers() {
        Problem problem = new Problem(
                List.of(replica("a0", "a", 1), replica("b0", "b", 1)), List.of(stream("s", 1, 2, "a", "z")));
        assertThat(policy.allocate(problem).streams()).isEqualTo(List.of(List.of(new Piece(0, 1))));
    }

    @Test
    void freeStreamsOfOneClassHaveTheSameSharesWhateverTheirRates() {
        List<Replica> replicas =
                List.of(replica("a0", "a", 1), replica("a1", "a", 2), replica("b0", "b", 1), replica("b1", "b", 4));
        for (double rate : new double[] {0.001, 1, 17, 1e6}) {
            Problem problem =
                    new Problem(replicas, List.of(stream("x", rate, 4), stream("y", 3, 8), stream("z", 0, 9)));
            List<Piece> byCapacity =
                    List.of(new Piece(0, 0.125), new Piece(1, 0.25), new Piece(2, 0.125), new Piece(3, 0.5));
            for (List<Piece> pieces : policy.allocate(problem).streams()) {
                assertThat(pieces).hasSameSizeAs(byCapacity);
                for (int i = 0; i < pieces.size(); i++) {
                    assertThat(pieces.get(i).replica())
                            .isEqualTo(byCapacity.get(i).replica());
                    assertThat(pieces.get(i).share())
                            .isCloseTo(byCapacity.get(i).share(), within(1e-15));
                }
            }
        }
    }

    @Test
    void freeStreamsArePouredIntoWhatTheOthersLeave() {
        Problem problem = new Problem(
                Problems.identical(4), List.of(stream("limited", 6, 1), stream("p", 3, 4), stream("q", 3, 5)));
        Allocation allocation = policy.allocate(problem);
        assertThat(allocation.levels()).isEqualTo(List.of(6.0, 2.0, 2.0, 2.0));
        Map<String, Double> rest = Map.of("r00001", 1.0 / 3, "r00002", 1.0 / 3, "r00003", 1.0 / 3);
        assertThat(PoliciesTest.byName(problem, allocation))
                .isEqualTo(Map.of("limited", Map.of("r00000", 1.0), "p", rest, "q", rest));
    }

    /** Rings of sites, each stream in two neighbouring ones or everywhere, with and without free streams among them. */
    @ParameterizedTest
    @CsvSource({
        "20000, 2000, 0.3, false, 0",
        "20000, 2000, 0.8, false, 0",
        "20000, 2000, 1.0, true, 0",
        "2000, 1000, 0.8, false, 0.3",
        "2000, 1000, 1.0, true, 0.3",
        "300, 100, 0.8, true, 0.2"
    })
    void overlappingSitesMeetTheBoundAndAreLevel(int n, int m, double exponent, boolean eightfold, double free) {
        SplittableRandom random = new SplittableRandom(n + m);
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < m; i++) {
            double capacity = eightfold ? 1 + 7 * random.nextDouble() : 1;
            replicas.add(replica("r%05d".formatted(i), "s" + i % 8, capacity));
        }
        List<Stream> streams = new ArrayList<>();
        for (int j = 0; j < n; j++) {
            int k = random.nextDouble() < free ? m : 4;
            double rate = 1000 * Math.pow(j + 1, -exponent);
            int site = random.nextInt(9);
            String name = "t%06d".formatted(j);
            streams.add(site == 8 ? stream(name, rate, k) : stream(name, rate, k, "s" + site, "s" + (site + 1) % 8));
        }
        Problem problem = new Problem(replicas, streams);
        Assessment assessment = assess(problem);
        assertThat(assessment.optimalityGap()).isLessThan(1e-9);
        assertThat(assessment.worstOverLevel()).isLessThan(1 + 1e-6);
        assertThat(Splitting.of(new Instance(problem)).raised()).isLessThan(1.03);
    }

    private Assessment assess(Problem problem) {
        Allocation allocation = policy.allocate(problem);
        return Assessment.of(problem, allocation.streams(), allocation);
    }
}
