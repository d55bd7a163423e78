package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.connections;
import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeastConnectionsTest {

    private static final Policy PLAIN = new WeightedLeastConnections(OptionalInt.empty(), Round.ALLOCATION);

    private static Policy limited(int most, Round round) {
        return new WeightedLeastConnections(OptionalInt.of(most), round);
    }

    private static List<Double> shares(Policy policy, Problem problem) {
        return policy.allocate(problem).streams().getFirst().stream()
                .map(Piece::share)
                .toList();
    }

    private static List<Replica> threeBusyOneNew() {
        return IntStream.range(0, 4)
                .mapToObj(i -> replica("r" + i, 10, connections(i < 3 ? 300 : 0)))
                .toList();
    }

    /** The default time to live is 15 s. */
    private static Stream bringing(double requests) {
        return stream("everyone", requests / Stream.DEFAULT_TTL_SECONDS, 9);
    }

    @Test
    void aNewcomerGetsEverythingUntilItIsLevel() {
        List<Replica> replicas = threeBusyOneNew();
        assertThat(PLAIN.allocate(new Problem(replicas, List.of(bringing(300)))).streams())
                .isEqualTo(List.of(List.of(new Piece(3, 1))));
        // 300 to catch up, then a quarter of 300
        assertThat(shares(PLAIN, new Problem(replicas, List.of(bringing(600)))))
                .containsExactly(0.125, 0.125, 0.125, 0.625);
        assertThat(shares(PLAIN, new Problem(replicas, List.of(bringing(3e9)))))
                .allSatisfy(share -> assertThat(share).isCloseTo(0.25, within(1e-6)));
    }

    @ParameterizedTest
    @CsvSource({"5, ALLOCATION, 0.5556", "2, ALLOCATION, 0.6667", "5, CYCLE, 0.2941", "50, CYCLE, 0.2538"})
    void theLimitLeavesANewcomerAShare(int most, Round round, double share) {
        List<Double> shares = shares(limited(most, round), new Problem(threeBusyOneNew(), List.of(bringing(200))));

        assertThat(shares.getLast()).isCloseTo(share, within(0.03));
        assertThat(shares.subList(0, 3))
                .allSatisfy(other -> assertThat(other).isCloseTo((1 - shares.getLast()) / 3, within(0.01)));
    }

    @Test
    void theLimitEndsOnceTheNewcomerIsWarm() {
        Problem problem = new Problem(threeBusyOneNew(), List.of(bringing(100_000)));
        for (Round round : Round.values()) {
            assertThat(shares(limited(5, round), problem)).isEqualTo(shares(PLAIN, problem));
        }
    }

    @Test
    void weightsAreCapacitiesAndLeastConnectionsHasNone() {
        Problem problem = new Problem(
                List.of(replica("large", 300, connections(0)), replica("small", 100, connections(0))),
                List.of(bringing(80)));
        assertThat(PoliciesTest.byName(problem, PLAIN.allocate(problem)))
                .isEqualTo(Map.of("everyone", Map.of("large", 0.75, "small", 0.25)));
        assertThat(PoliciesTest.byName(problem, new LeastConnections().allocate(problem)))
                .isEqualTo(Map.of("everyone", Map.of("large", 0.5, "small", 0.5)));
    }

    @Test
    void theTimeToLiveDecidesHowManyRequestsAreComing() {
        List<Replica> replicas = List.of(replica("a", 1, connections(20)), replica("b", 1, connections(0)));
        for (double ttl : new double[] {1, 4}) {
            Stream stream = new Stream("s", 10, 2, Set.of(), Optional.empty(), ttl);
            assertThat(shares(PLAIN, new Problem(replicas, List.of(stream))).getLast())
                    .isEqualTo(ttl == 1 ? 1 : 0.75);
        }
    }

    @Test
    void streamsWithFewerReplicasFindWhatTheOthersLeft() {
        Problem problem = new Problem(
                List.of(
                        replica("a", 1, connections(0)),
                        replica("b", 1, connections(30)),
                        replica("c", 1, connections(0)),
                        replica("d", 1, connections(75))),
                List.of(stream("x", 4, 2), stream("y", 3, 2), stream("z", 1, 1)));

        // x: 60 requests on a and c, 30 each. y: a and b have 30, c too; a and b by name; 45 requests. z: c alone has
        // 30.
        assertThat(PoliciesTest.byName(problem, PLAIN.allocate(problem)))
                .isEqualTo(Map.of(
                        "x", Map.of("a", 0.5, "c", 0.5), "y", Map.of("a", 0.5, "b", 0.5), "z", Map.of("c", 1.0)));
    }

    @Test
    void aReplicaWithoutASampleCountsAsTheOthersDo() {
        Problem problem = new Problem(
                List.of(
                        replica("a", 10, connections(10)),
                        replica("b", 30, connections(50)),
                        replica("unknown", 20, Sample.NONE)),
                List.of(bringing(300)));
        Allocation allocation = PLAIN.allocate(problem);

        // 60 connections on a capacity of 40: 30 on 20. All are level at 390 / 60.
        assertThat(shares(PLAIN, problem).get(2)).isCloseTo((6.5 * 20 - 30) / 300, within(1e-12));
        assertThat(allocation.because())
                .containsExactly(
                        "10 connections",
                        "50 connections",
                        "connections not measured: counts as if it had 30, as many as the others");
        assertThat(limited(5, Round.CYCLE).allocate(problem).because())
                .startsWith("10 connections, new: at most 5 requests in a row", "50 connections");
    }

    @Test
    void requestsInFlightStandForConnectionsWhereNoneAreKnown() {
        Sample busy = new Sample(
                OptionalDouble.empty(),
                OptionalDouble.of(7.5),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty());
        Problem problem = new Problem(List.of(replica("a", 1, busy), replica("b", 1)), List.of(bringing(1)));

        assertThat(PLAIN.allocate(problem).because())
                .containsExactly(
                        "7.5 requests in flight",
                        "requests in flight not measured: counts as if it had 7.5, as many as the others");
        Problem unknown = new Problem(List.of(replica("a", 1), replica("b", 3)), List.of(bringing(1)));
        assertThat(PLAIN.allocate(unknown).because()).containsOnly("no connections were measured of any replica");
        assertThat(shares(PLAIN, unknown)).containsExactly(0.25, 0.75);
    }

    @Test
    void aFewRequestsBesideManyConnectionsAreNotLostInRounding() {
        Problem problem = new Problem(
                List.of(replica("a", 1, connections(1e12)), replica("b", 1, connections(1e12 + 1))),
                List.of(bringing(1e-9)));
        assertThat(PLAIN.allocate(problem).streams()).isEqualTo(List.of(List.of(new Piece(0, 1))));
    }

    @Test
    void manyReplicasHaveFineShares() {
        List<Replica> replicas = IntStream.range(0, 1000)
                .mapToObj(i -> replica("r%04d".formatted(i), 1, connections(i == 0 ? 0 : 50)))
                .toList();
        List<Double> shares =
                shares(limited(5, Round.CYCLE), new Problem(replicas, List.of(stream("everyone", 1, 1000))));

        assertThat(shares).hasSize(1000);
        assertThat(shares.getFirst()).isCloseTo(0.0015, within(0.0006));
        assertThat(shares.subList(1, 1000))
                .allSatisfy(share -> assertThat(share).isCloseTo(0.001, within(0.00003)));
    }
}
