package dev.apportion.allocation;

import static dev.apportion.allocation.PoliciesTest.byName;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class GlobalQueueTest {

    /** Requests are served in 10 ms; up to 8 of them away from home; none is to wait for longer than 2 ms. */
    private static final GlobalQueue POLICY = new GlobalQueue(true, 8, 0.002, 0.01);

    /** A replica that serves ten requests at once. */
    private static Replica replica(String name, String site) {
        return new Replica(name, site, 1000, 10, Sample.NONE);
    }

    private static Stream stream(String name, String home, double rate, int k) {
        return new Stream(name, rate, k, Set.of(), Optional.of(home), 15);
    }

    private static final List<Replica> FIVE_SITES =
            List.of(replica("a1", "a"), replica("b1", "b"), replica("c1", "c"), replica("d1", "d"), replica("e1", "e"));

    /** The rate of streams that is served at a site other than their home. */
    private static double away(Problem problem, Allocation allocation) {
        double away = 0;
        for (int j = 0; j < problem.streams().size(); j++) {
            Stream stream = problem.streams().get(j);
            for (Piece piece : allocation.streams().get(j)) {
                String site = problem.replicas().get(piece.replica()).site();
                away += stream.home().isPresent() && !stream.home().get().equals(site)
                        ? piece.share() * stream.rate()
                        : 0;
            }
        }
        return away;
    }

    private static double rateOf(Problem problem, Allocation allocation, String site) {
        double rate = 0;
        for (int j = 0; j < problem.streams().size(); j++) {
            for (Piece piece : allocation.streams().get(j)) {
                if (problem.replicas().get(piece.replica()).site().equals(site)) {
                    rate += piece.share() * problem.streams().get(j).rate();
                }
            }
        }
        return rate;
    }

    @Test
    void whatMeetsTheTargetStaysAtHome() {
        // c = 10 at 79 %: 1.9 ms
        Problem problem = new Problem(FIVE_SITES, List.of(stream("s", "a", 790, 5), stream("t", "b", 100, 5)));
        Allocation allocation = POLICY.allocate(problem);
        assertThat(byName(problem, allocation)).isEqualTo(Map.of("s", Map.of("a1", 1.0), "t", Map.of("b1", 1.0)));
        assertThat(allocation.because().getFirst())
                .isEqualTo("10 slots in a: with its own streams at home a wait of 1.84 ms");
    }

    @Test
    void whatExceedsTheTargetGoesToTheMostIdleSites() {
        Problem problem = new Problem(
                FIVE_SITES,
                List.of(
                        stream("s", "a", 900, 3),
                        stream("t", "b", 100, 3),
                        stream("u", "c", 110, 3),
                        stream("v", "d", 500, 3),
                        stream("w", "e", 500, 3)));
        Allocation allocation = POLICY.allocate(problem);
        double kept = ErlangC.rateAt(10, 0.01, 0.002);
        assertThat(rateOf(problem, allocation, "a")).isCloseTo(kept, within(1e-6));
        // b and c take it all, and are level then
        assertThat(rateOf(problem, allocation, "b")).isCloseTo((1110 - kept) / 2, within(1e-3));
        assertThat(rateOf(problem, allocation, "c")).isCloseTo((1110 - kept) / 2, within(1e-3));
        assertThat(rateOf(problem, allocation, "d")).isEqualTo(500);
        assertThat(allocation.because().getFirst())
                .isEqualTo("10 slots in a: with its own streams at home a wait of 6.69 ms, so 102 requests/s of them"
                        + " are served elsewhere; now 80 % busy, a wait of 2.00 ms");
        assertThat(allocation.because().get(1))
                .isEqualTo("10 slots in b: with its own streams at home a wait of 0.00 ms; 56.1 requests/s come from"
                        + " elsewhere; now 16 % busy, a wait of 0.00 ms");
    }

    @Test
    void theLinkLimitsWhatIsAwayAtOnce() {
        Problem problem = new Problem(FIVE_SITES, List.of(stream("s", "a", 2000, 5)));
        for (double budget : new double[] {0, 0.5, 2, 8}) {
            Allocation allocation = new GlobalQueue(true, budget, 0.002, 0.01).allocate(problem);
            // Little: requests at once = rate × service time
            assertThat(away(problem, allocation) * 0.01).isCloseTo(budget, within(1e-9));
        }
    }

    @Test
    void severalSitesShareTheLinkByWhatTheyHaveTooMuch() {
        Problem problem = new Problem(FIVE_SITES, List.of(stream("s", "a", 2000, 5), stream("t", "b", 1400, 5)));
        Allocation allocation = new GlobalQueue(true, 4, 0.002, 0.01).allocate(problem);
        double kept = ErlangC.rateAt(10, 0.01, 0.002);
        assertThat(away(problem, allocation) * 0.01).isCloseTo(4, within(1e-9));
        assertThat((2000 - rateOf(problem, allocation, "a")) / (1400 - rateOf(problem, allocation, "b")))
                .isCloseTo((2000 - kept) / (1400 - kept), within(1e-6));
    }

    /** With no limit and no wait that is accepted, five sites are like one: all have the same wait. */
    @Test
    void withoutLimitsTheSitesAreLikeOne() {
        Problem problem = new Problem(FIVE_SITES, List.of(stream("s", "a", 3900, 5), stream("t", "b", 100, 5)));
        Allocation allocation = new GlobalQueue(true, 1000, 0, 0.01).allocate(problem);
        for (String site : List.of("a", "c", "d", "e")) {
            assertThat(rateOf(problem, allocation, site)).isCloseTo(800, within(1e-3));
        }
    }

    @Test
    void whereAllAreOverloadedOnlyIdleSlotsAreUsed() {
        Problem problem = new Problem(
                List.of(replica("a1", "a"), replica("b1", "b")),
                List.of(stream("s", "a", 5000, 5), stream("t", "b", 900, 5)));
        Allocation allocation = new GlobalQueue(true, 1000, 0.002, 0.01).allocate(problem);
        assertThat(rateOf(problem, allocation, "b")).isCloseTo(1000.0, within(1.0));
        assertThat(rateOf(problem, allocation, "a")).isCloseTo(4900.0, within(1.0));
    }

    @Test
    void withoutReclaimHomeIsRelievedToHalfTheTarget() {
        GlobalQueue keeps = new GlobalQueue(false, 100, 0.002, 0.01);
        Problem over = new Problem(FIVE_SITES, List.of(stream("s", "a", 900, 5)));
        assertThat(rateOf(over, keeps.allocate(over), "a")).isCloseTo(ErlangC.rateAt(10, 0.01, 0.001), within(1e-6));
        Problem under = new Problem(FIVE_SITES, List.of(stream("s", "a", 790, 5)));
        assertThat(away(under, keeps.allocate(under))).isZero();
    }

    @Test
    void theLargestStreamOverflowsAndTheOthersKeepTheirAnswers() {
        Problem problem = new Problem(
                FIVE_SITES,
                List.of(stream("small", "a", 100, 2), stream("large", "a", 600, 2), stream("middle", "a", 200, 2)));
        Map<String, Map<String, Double>> shares = byName(problem, POLICY.allocate(problem));
        assertThat(shares.get("small")).isEqualTo(Map.of("a1", 1.0));
        assertThat(shares.get("middle")).isEqualTo(Map.of("a1", 1.0));
        assertThat(shares.get("large")).containsOnlyKeys("a1", "b1");
    }

    @Test
    void aStreamWithOneRecordStaysOrGoesAsAWhole() {
        Problem problem = new Problem(
                FIVE_SITES,
                List.of(stream("large", "a", 800, 1), stream("small", "a", 60, 1), stream("tiny", "a", 1, 1)));
        assertThat(byName(problem, POLICY.allocate(problem)))
                .isEqualTo(Map.of("large", Map.of("a1", 1.0), "small", Map.of("b1", 1.0), "tiny", Map.of("c1", 1.0)));
    }

    @Test
    void aStreamWithoutHomeUsesAllSitesAndFillsWhatOthersLeave() {
        Problem problem =
                new Problem(FIVE_SITES, List.of(stream("s", "a", 700, 5), new Stream("anywhere", 1800, 5, Set.of())));
        Allocation allocation = POLICY.allocate(problem);
        for (String site : List.of("a", "b", "c", "d", "e")) {
            assertThat(rateOf(problem, allocation, site)).isCloseTo(site.equals("a") ? 700 : 450, within(1e-6));
        }
    }

    @Test
    void aStreamWhoseHomeIsGoneUsesTheOtherSitesThatItMay() {
        Problem problem = new Problem(
                List.of(replica("b1", "b"), replica("c1", "c"), replica("d1", "d")),
                List.of(new Stream("s", 900, 5, Set.of("a", "b", "c"), Optional.of("a"), 15)));
        assertThat(byName(problem, POLICY.allocate(problem))).isEqualTo(Map.of("s", Map.of("b1", 0.5, "c1", 0.5)));
    }

    @Test
    void overflowKeepsToTheSitesThatMayServeTheStream() {
        Problem problem =
                new Problem(FIVE_SITES, List.of(new Stream("s", 900, 5, Set.of("a", "e"), Optional.of("a"), 15)));
        assertThat(byName(problem, POLICY.allocate(problem)).get("s")).containsOnlyKeys("a1", "e1");
        Problem bound = new Problem(FIVE_SITES, List.of(new Stream("s", 900, 5, Set.of("a"), Optional.of("a"), 15)));
        assertThat(byName(bound, POLICY.allocate(bound)).get("s")).isEqualTo(Map.of("a1", 1.0));
    }

    @Test
    void manyReplicasOfASiteAreOneQueue() {
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            replicas.add(replica("a" + i, "a"));
            replicas.add(replica("b" + i, "b"));
        }
        // 50 slots at 90 % wait for 0.73 ms, where 10 would wait for 6.7
        Problem problem = new Problem(replicas, List.of(stream("s", "a", 4500, 10)));
        assertThat(away(problem, POLICY.allocate(problem))).isZero();
    }

    @Provide
    Arbitrary<Problem> problems() {
        Arbitrary<String> site = Arbitraries.of("a", "b", "c", "d");
        Arbitrary<List<Replica>> replicas = Combinators.combine(
                        site, Arbitraries.of(1, 1, 4, 10, 100_000), Arbitraries.of(1e-6, 1.0, 100.0, 1e12))
                .as((where, slots, capacity) -> new Replica("", where, capacity, slots, Sample.NONE))
                .list()
                .ofMaxSize(8)
                .map(list -> {
                    List<Replica> named = new ArrayList<>();
                    for (Replica r : list) {
                        named.add(
                                new Replica("r" + named.size(), r.site(), r.capacity(), r.concurrency(), Sample.NONE));
                    }
                    return named;
                });
        Arbitrary<List<Stream>> streams = Combinators.combine(
                        Arbitraries.of(0.0, 1.0, 50.0, 90.0, 300.0, 1e-9, 1e9, 1234.5),
                        Arbitraries.integers().between(1, 6),
                        site.set().ofMaxSize(2),
                        site.optional())
                .as((rate, k, sites, home) -> new Stream("", rate, k, sites, home, 15))
                .list()
                .ofMaxSize(8)
                .map(list -> {
                    List<Stream> named = new ArrayList<>();
                    for (Stream s : list) {
                        named.add(new Stream("s" + named.size(), s.rate(), s.maxReplicas(), s.sites(), s.home(), 15));
                    }
                    return named;
                });
        return Combinators.combine(replicas, streams).as(Problem::new);
    }

    @Property(tries = 2000)
    void homesAreServedWithinTheLimits(@ForAll("problems") Problem problem, @ForAll boolean reclaim) {
        GlobalQueue policy = new GlobalQueue(reclaim, 3, 0.005, 0.01);
        Allocation allocation = policy.allocate(problem);
        Set<String> present = new HashSet<>();
        problem.replicas().forEach(replica -> present.add(replica.site()));
        double away = 0;
        for (int j = 0; j < problem.streams().size(); j++) {
            Stream stream = problem.streams().get(j);
            List<Piece> pieces = allocation.streams().get(j);
            Set<String> eligible = new HashSet<>(present);
            if (!stream.sites().isEmpty()) {
                eligible.retainAll(stream.sites());
            }
            assertThat(pieces.isEmpty()).isEqualTo(eligible.isEmpty());
            if (pieces.isEmpty()) {
                continue;
            }
            assertThat(pieces).hasSizeLessThanOrEqualTo(stream.maxReplicas());
            assertThat(pieces.stream().map(Piece::replica).distinct().count()).isEqualTo(pieces.size());
            assertThat(pieces.stream().mapToDouble(Piece::share).sum()).isCloseTo(1, within(1e-9));
            for (Piece piece : pieces) {
                String site = problem.replicas().get(piece.replica()).site();
                assertThat(piece.share()).isPositive();
                assertThat(eligible).contains(site);
                if (stream.home().filter(eligible::contains).isPresent()
                        && !stream.home().get().equals(site)) {
                    away += piece.share() * stream.rate();
                }
            }
        }
        assertThat(away * 0.01).isLessThanOrEqualTo(3 * (1 + 1e-6));
        assertThat(allocation.because()).hasSameSizeAs(problem.replicas());

        List<Replica> replicas = new ArrayList<>(problem.replicas());
        List<Stream> streams = new ArrayList<>(problem.streams());
        Collections.shuffle(replicas, new Random(1));
        Collections.shuffle(streams, new Random(2));
        Problem shuffled = new Problem(replicas, streams);
        assertThat(byName(shuffled, policy.allocate(shuffled))).isEqualTo(byName(problem, allocation));
    }
}
