package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.LeastConnectionsRun.Round;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeastConnectionsRunTest {

    /** Three replicas with 300 connections each, and one that has just come. */
    private static final double[] BUSY_AND_NEW = {300, 300, 300, 0};

    private static final int NEWCOMER = 3;
    private static final double[] ALIKE = {1, 1, 1, 1};

    private static LeastConnectionsRun run(OptionalInt most, Round round) {
        return new LeastConnectionsRun(ALIKE, BUSY_AND_NEW, most, round);
    }

    /** Has one of the open connections end, in equal parts of each: a population that stays as large as it is. */
    private static void endOne(LeastConnectionsRun run) {
        double all = 0;
        for (int i = 0; i < ALIKE.length; i++) {
            all += run.connections(i);
        }
        for (int i = 0; i < ALIKE.length; i++) {
            run.close(i, run.connections(i) / all);
        }
    }

    private static int longestRun(List<Integer> picks, int replica) {
        int longest = 0;
        int length = 0;
        for (int pick : picks) {
            length = pick == replica ? length + 1 : 0;
            longest = Math.max(longest, length);
        }
        return longest;
    }

    private static List<Integer> picksInAStationaryPopulation(LeastConnectionsRun run, int requests) {
        List<Integer> picks = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            endOne(run);
            picks.add(run.allocate());
        }
        return picks;
    }

    /**
     * While 900 connections are open and one ends with each request, the old replicas have 300 e^(−t/900) each after t
     * requests, and the newcomer 900 (1 − e^(−t/900)): it is level after 900 ln(4/3) = 258.9 requests, 258 whole ones.
     */
    @Test
    void withoutALimitANewcomerIsGivenEverythingUntilItIsLevel() {
        List<Integer> picks = picksInAStationaryPopulation(run(OptionalInt.empty(), Round.ALLOCATION), 2000);

        assertThat((int) (900 * Math.log(4.0 / 3))).isEqualTo(258);
        assertThat(longestRun(picks, NEWCOMER)).isBetween(258, 259);
        assertThat(picks.subList(0, 258)).containsOnly(NEWCOMER);
    }

    /** The same with chance: the connection that ends is drawn. The old replicas differ, and the least of them counts. */
    @Test
    void chanceEndsTheRunALittleEarlier() {
        double sum = 0;
        int rounds = 200;
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
        for (int round = 0; round < rounds; round++) {
            LeastConnectionsRun run = run(OptionalInt.empty(), Round.ALLOCATION);
            List<Integer> picks = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                double at = random.nextDouble(900);
                int ends = 0;
                while (at >= run.connections(ends)) {
                    at -= run.connections(ends++);
                }
                run.close(ends, 1);
                picks.add(run.allocate());
            }
            sum += longestRun(picks, NEWCOMER);
        }
        assertThat(sum / rounds).isBetween(249.0, 256.0);
    }

    @ParameterizedTest
    @CsvSource({"5, ALLOCATION", "5, CYCLE", "2, ALLOCATION", "20, CYCLE", "258, ALLOCATION"})
    void withALimitNoRunOfTheNewcomerIsLonger(int most, Round round) {
        List<Integer> picks = picksInAStationaryPopulation(run(OptionalInt.of(most), round), 2000);

        assertThat(longestRun(picks, NEWCOMER)).isEqualTo(most);
    }

    @Test
    void withoutEndingConnectionsTheRunIsAsLongAsTheOthersHaveConnections() {
        LeastConnectionsRun run = run(OptionalInt.empty(), Round.ALLOCATION);
        List<Integer> picks = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            picks.add(run.allocate());
        }

        assertThat(longestRun(picks, NEWCOMER)).isEqualTo(300);
        assertThat(picks.subList(300, 308)).containsExactly(0, 1, 2, 3, 0, 1, 2, 3);
    }

    /** While the newcomer is far from level it is given L requests, then passed over for L − 1 rounds. */
    @ParameterizedTest
    @CsvSource({"2, ALLOCATION", "5, ALLOCATION", "50, ALLOCATION", "2, CYCLE", "5, CYCLE", "50, CYCLE"})
    void theNewcomersShare(int most, Round round) {
        LeastConnectionsRun run =
                new LeastConnectionsRun(ALIKE, new double[] {1e9, 1e9, 1e9, 0}, OptionalInt.of(most), round);
        int requests = 100_000;
        int newcomers = 0;
        for (int i = 0; i < requests; i++) {
            newcomers += run.allocate() == NEWCOMER ? 1 : 0;
        }
        double expected = switch (round) {
            case ALLOCATION -> most / (2.0 * most - 1);
            case CYCLE -> most / (most + 3.0 * (most - 1));
        };

        assertThat((double) newcomers / requests).isCloseTo(expected, within(0.002));
        assertThat(expected).isGreaterThan(round == Round.CYCLE ? 0.25 : 0.5).isLessThan(0.67);
        assertThat(run.hasNew()).isTrue();
    }

    @Test
    void aNewcomerThatHasCaughtUpIsLimitedNoLonger() {
        LeastConnectionsRun run =
                new LeastConnectionsRun(new double[] {1, 1}, new double[] {20, 0}, OptionalInt.of(3), Round.ALLOCATION);
        while (run.hasNew()) {
            run.allocate();
        }
        assertThat(run.connections(1)).isGreaterThanOrEqualTo(run.connections(0));
        run.close(1, run.connections(1));
        for (int i = 0; i < 10; i++) {
            assertThat(run.allocate()).isEqualTo(1);
        }
    }

    @Test
    void aSingleReplicaIsNeverPassedOverAndTwoNewcomersTakeTurns() {
        LeastConnectionsRun alone =
                new LeastConnectionsRun(new double[] {1}, new double[] {0}, OptionalInt.of(2), Round.CYCLE);
        assertThat(List.of(alone.allocate(), alone.allocate(), alone.allocate()))
                .containsOnly(0);

        // two newcomers take turns, and the busy one is given nothing
        LeastConnectionsRun run = new LeastConnectionsRun(
                new double[] {1, 1, 1}, new double[] {0, 10, 1000}, OptionalInt.of(2), Round.CYCLE);
        List<Integer> picks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            picks.add(run.allocate());
        }
        assertThat(picks).containsExactly(0, 0, 1, 1, 0, 0, 1, 1);
    }

    @Test
    void aLimitOfOneIsNone() {
        LeastConnectionsRun one = run(OptionalInt.of(1), Round.ALLOCATION);
        for (int i = 0; i < 300; i++) {
            assertThat(one.allocate()).isEqualTo(NEWCOMER);
        }
    }

    @Property(tries = 300)
    void theClosedFormIsTheRunUpToOneRequestForEachReplica(
            @ForAll @Size(min = 1, max = 8) List<@DoubleRange(min = 0.5, max = 4) Double> weights,
            @ForAll @Size(value = 8) List<@IntRange(max = 200) Integer> open,
            @ForAll @IntRange(min = 1, max = 2000) int requests) {
        double[] weight = weights.stream().mapToDouble(w -> w).toArray();
        double[] connections =
                open.stream().limit(weight.length).mapToDouble(c -> c).toArray();
        LeastConnectionsRun run = new LeastConnectionsRun(weight, connections, OptionalInt.empty(), Round.ALLOCATION);
        double[] given = new double[weight.length];
        for (int i = 0; i < requests; i++) {
            given[run.allocate()]++;
        }
        double[] poured = ConnectionSpread.poured(weight, connections, requests);

        assertThat(Arrays.stream(poured).sum()).isCloseTo(requests, within(1e-9 * requests));
        double heaviest = Arrays.stream(weight).max().orElseThrow();
        double lightest = Arrays.stream(weight).min().orElseThrow();
        for (int i = 0; i < given.length; i++) {
            assertThat(given[i]).isCloseTo(poured[i], within(weight.length * heaviest / lightest));
        }
    }

    /** The scheduler by its definition: it looks at every replica for each request. */
    private static final class Looking {

        private final double[] weights;
        private final double[] connections;
        private final int most;
        private final long away;
        private final boolean[] isNew;
        private final long[] until;
        private long allocations;
        private int last = -1;
        private int inARow;

        Looking(double[] weights, double[] connections, int most, Round round) {
            this.weights = weights;
            this.connections = connections.clone();
            this.most = most;
            away = (most - 1L) * (round == Round.CYCLE ? Math.max(1, weights.length - 1) : 1);
            until = new long[weights.length];
            isNew = new boolean[weights.length];
            for (int i = 0; i < weights.length; i++) {
                isNew[i] = connections[i] < 0.95 * due(i);
            }
        }

        private double due(int replica) {
            return Arrays.stream(connections).sum()
                    * (weights[replica] / Arrays.stream(weights).sum());
        }

        int allocate() {
            int chosen = -1;
            boolean all = IntStream.range(0, weights.length).allMatch(i -> until[i] > allocations);
            for (int i = 0; i < weights.length; i++) {
                boolean takesPart = all || until[i] <= allocations;
                if (takesPart && (chosen < 0 || connections[i] / weights[i] < connections[chosen] / weights[chosen])) {
                    chosen = i;
                }
            }
            connections[chosen]++;
            allocations++;
            inARow = chosen == last ? inARow + 1 : 1;
            last = chosen;
            isNew[chosen] &= connections[chosen] < due(chosen);
            if (isNew[chosen] && inARow >= most) {
                until[chosen] = allocations + away;
            }
            return chosen;
        }

        void close(int replica) {
            connections[replica] = Math.max(0, connections[replica] - 1);
        }
    }

    @Property(tries = 500)
    void itAllocatesAsIfItLookedAtEveryReplica(
            @ForAll @Size(min = 1, max = 9) List<@IntRange(min = 1, max = 4) Integer> weights,
            @ForAll @Size(value = 9) List<@IntRange(max = 60) Integer> open,
            @ForAll @IntRange(min = 1, max = 6) int most,
            @ForAll Round round,
            @ForAll long seed) {
        double[] weight = weights.stream().mapToDouble(w -> w).toArray();
        double[] connections =
                open.stream().limit(weight.length).mapToDouble(c -> c).toArray();
        LeastConnectionsRun run = new LeastConnectionsRun(weight, connections, OptionalInt.of(most), round);
        Looking looking = new Looking(weight, connections, most, round);
        SplittableRandom random = new SplittableRandom(seed);
        for (int request = 0; request < 300; request++) {
            if (random.nextInt(3) == 0) {
                int ends = random.nextInt(weight.length);
                run.close(ends, 1);
                looking.close(ends);
            }
            assertThat(run.allocate()).isEqualTo(looking.allocate());
        }
    }
}
