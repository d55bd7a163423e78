package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.connections;
import static dev.apportion.allocation.Problems.loadAverage;
import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static dev.apportion.allocation.Problems.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RatingTest {

    private static final Policy BEST = new Rating(Rating.Mode.BEST, 100, 3, 200);
    private static final Policy WEIGHTED = new Rating(Rating.Mode.WEIGHTED, 100, 3, 200);
    private static final Stream EVERYONE = stream("everyone", 1, 9);

    private static Sample sample(OptionalDouble users, OptionalDouble uniqueUsers, OptionalDouble loadAverage) {
        return new Sample(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                users,
                uniqueUsers,
                loadAverage);
    }

    /** A sample that is rated so. */
    private static Sample rated(double rating) {
        return users(0, 0, rating / 300);
    }

    private static List<Replica> ofThePaper() {
        return List.of(
                replica("r0", 1, rated(4774)),
                replica("r1", 1, rated(3610)),
                replica("r2", 1, Sample.NONE),
                replica("r3", 1, Sample.NONE));
    }

    private static List<String> because(Sample... samples) {
        List<Replica> replicas = IntStream.range(0, samples.length)
                .mapToObj(i -> replica("r" + i, 1, samples[i]))
                .toList();
        return WEIGHTED.allocate(new Problem(replicas, List.of(EVERYONE))).because();
    }

    @Test
    void ratesUsersAndLoad() {
        assertThat(because(users(5, 3, 2.5))).containsExactly("rating 1090: 5 users, 3 distinct, load average 2.5");
    }

    @Test
    void ratesWhatThereIs() {
        assertThat(because(connections(4))).containsExactly("rating 400: 4 connections");
        assertThat(because(loadAverage(0.5))).containsExactly("rating 150: load average 0.5");
        assertThat(because(sample(OptionalDouble.of(7), OptionalDouble.empty(), OptionalDouble.empty())))
                .containsExactly("rating 700: 7 users");
        assertThat(because(sample(OptionalDouble.empty(), OptionalDouble.of(2), OptionalDouble.empty())))
                .containsExactly("rating 200: 2 distinct");
        // more distinct users than users cannot be
        assertThat(because(users(1, 3, 0))).containsExactly("rating 300: 1 users, 3 distinct, load average 0");
    }

    @Test
    void whatOthersHaveAndAReplicaLacksMakesItSilent() {
        assertThat(because(users(5, 3, 2.5), connections(1), loadAverage(1), Sample.NONE))
                .containsExactly(
                        "rating 1090: 5 users, 3 distinct, load average 2.5",
                        "rating 10000: silent, load average not measured",
                        "rating 10000: silent, users not measured",
                        "rating 10000: silent, users and load average not measured");
        assertThat(because(Sample.NONE)).containsExactly("rating 10000: silent, users and load average not measured");
    }

    @Test
    void theBestIsTheLowestRating() {
        Problem problem = new Problem(ofThePaper(), List.of(EVERYONE));

        assertThat(BEST.allocate(problem).streams()).isEqualTo(List.of(List.of(new Piece(1, 1))));
        assertThat(BEST.allocate(problem).because().get(1)).startsWith("rating 3610:");
    }

    @Test
    void weightsAreTheInverseOfTheRatingAfterTheAnswer() {
        Map<String, Double> shares = PoliciesTest.byName(
                        new Problem(ofThePaper(), List.of(EVERYONE)),
                        WEIGHTED.allocate(new Problem(ofThePaper(), List.of(EVERYONE))))
                .getOrDefault("everyone", Map.of());
        double sum = 1 / 4974.0 + 1 / 3810.0 + 2 / 10200.0;

        assertThat(shares.get("r0")).isCloseTo(1 / 4974.0 / sum, within(1e-12));
        assertThat(shares.get("r1")).isCloseTo(1 / 3810.0 / sum, within(1e-12));
        assertThat(shares.get("r2")).isCloseTo(1 / 10200.0 / sum, within(1e-12)).isEqualTo(shares.get("r3"));
    }

    @Test
    void everyAnswerBurdensTheBest() {
        // 3610 + 6 · 200 exceeds 4774, so the seventh answer goes to the first, and so does none before
        List<Stream> streams =
                IntStream.range(0, 8).mapToObj(j -> stream("s" + j, 8 - j, 4)).toList();
        Allocation allocation = BEST.allocate(new Problem(ofThePaper(), streams));

        assertThat(allocation.streams().stream().map(pieces -> pieces.getFirst().replica()))
                .containsExactly(1, 1, 1, 1, 1, 1, 0, 1);
        Policy stormed = new Rating(Rating.Mode.BEST, 100, 3, 0);
        assertThat(stormed.allocate(new Problem(ofThePaper(), streams)).streams())
                .containsOnly(List.of(new Piece(1, 1)));
    }

    @Test
    void streamsThatMayUseFewUseTheBest() {
        List<Replica> replicas = IntStream.range(0, 6)
                .mapToObj(i -> replica("r" + i, 1, rated(100 * (6 - i))))
                .toList();
        Problem problem = new Problem(replicas, List.of(stream("three", 1, 3)));

        assertThat(WEIGHTED.allocate(problem).streams().getFirst())
                .extracting(Piece::replica)
                .containsExactly(3, 4, 5);
    }

    @Test
    void idleReplicasShareEquallyWhateverThePenalty() {
        for (double penalty : new double[] {0, 200}) {
            Policy policy = new Rating(Rating.Mode.WEIGHTED, 100, 3, penalty);
            Problem problem =
                    new Problem(List.of(replica("a", 1, rated(0)), replica("b", 99, rated(0))), List.of(EVERYONE));
            assertThat(policy.allocate(problem).streams())
                    .isEqualTo(List.of(List.of(new Piece(0, 0.5), new Piece(1, 0.5))));
        }
    }

    @Test
    void loadAverageSharesByItsInverseAndIgnoresCapacity() {
        Problem problem = new Problem(
                List.of(
                        replica("a", 100, loadAverage(2)),
                        replica("b", 1, loadAverage(0.5)),
                        replica("c", 1, loadAverage(1)),
                        replica("idle", 1, loadAverage(0.02)),
                        replica("unknown", 1, Sample.NONE)),
                List.of(EVERYONE));
        Allocation allocation = new LoadAverage().allocate(problem);
        double mean = (2 + 0.5 + 1 + 0.1) / 4;
        double sum = 0.5 + 2 + 1 + 10 + 1 / mean;

        assertThat(allocation.streams().getFirst().stream().map(Piece::share).toList())
                .usingElementComparator((a, b) -> Math.abs(a - b) < 1e-12 ? 0 : Double.compare(a, b))
                .containsExactly(0.5 / sum, 2 / sum, 1 / sum, 10 / sum, 1 / mean / sum);
        assertThat(allocation.because())
                .containsExactly(
                        "load average 2",
                        "load average 0.5",
                        "load average 1",
                        "load average 0.02, counts as 0.1",
                        "load average not measured: counts as the mean, 0.9");
    }

    @Test
    void withoutAnyLoadAverageSharesAreEqual() {
        Problem problem = new Problem(List.of(replica("a", 1), replica("b", 7)), List.of(EVERYONE));
        Allocation allocation = new LoadAverage().allocate(problem);

        assertThat(allocation.streams()).isEqualTo(List.of(List.of(new Piece(0, 0.5), new Piece(1, 0.5))));
        assertThat(allocation.because()).containsOnly("no load average was measured of any replica");
    }

    @Test
    void streamsThatMayUseFewTakeTurnsWhereLoadAveragesAreEqual() {
        List<Replica> replicas = IntStream.range(0, 4)
                .mapToObj(i -> replica("r" + i, 1, loadAverage(1)))
                .toList();
        List<Stream> streams =
                IntStream.range(0, 6).mapToObj(j -> stream("s" + j, 10, 2)).toList();
        int[] uses = new int[4];
        new LoadAverage()
                .allocate(new Problem(replicas, streams))
                .streams()
                .forEach(pieces -> pieces.forEach(piece -> uses[piece.replica()]++));

        assertThat(uses).containsOnly(3);
    }
}
