package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the closed loop does when something happens, with the default behavior: how far shares go beyond what is right, how long
 * until they stay near it, how often answers change, and whether shares swing. The figures are printed.
 */
class StabilityTest {

    private static final int REPLICAS = 10;
    private static final int[] TTLS = {5, 30, 60, 300};

    /** The rate over the capacity after what happens. */
    private static final double[] LOADS = {0.6, 0.8};

    /** Shares this near to what is right are right: what is asked for where a replica is slow. */
    private static final double NEAR = 0.2;

    /** A swing goes from so far above what is right to so far below. */
    private static final double SWING = 0.1;

    private static final double LOOK = 10;
    private static final double HOUR = 3600;

    /** What happens. */
    enum Happening {
        RATE_DOUBLES(0.5, 0),
        HALF_IS_LOST(0.5, 0),
        ONE_COMES(1, 0),
        NOISE(1, 0.5),
        ONE_IS_SLOW(1, 0);

        /** The rate before it, as a part of that after it. */
        private final double before;

        /** The standard deviation of the logarithm of what each measurement is off. */
        private final double noise;

        Happening(double before, double noise) {
            this.before = before;
            this.noise = noise;
        }

        private void to(ClosedLoop loop) {
            switch (this) {
                case RATE_DOUBLES -> loop.rate *= 2;
                case HALF_IS_LOST -> {
                    loop.replicas().subList(0, REPLICAS / 2).forEach(replica -> replica.alive = false);
                    loop.look();
                }
                case ONE_COMES -> {
                    loop.add();
                    loop.look();
                }
                case NOISE -> {}
                case ONE_IS_SLOW -> loop.replicas().getFirst().speed = 0.5;
            }
        }
    }

    /**
     * What was seen.
     *
     * @param overshoot how far a share went beyond what is right, coming from the other side or from there, as a part of it
     * @param near when all shares came near to what is right for good, in seconds
     * @param changes of answers, in an hour
     * @param late the mean distance from what is right in the second half, as a part of it
     * @param swings of a replica in an hour of the second half
     */
    private record Seen(double overshoot, double near, double changes, double late, double swings) {}

    private static Seen see(Happening happening, int ttl, double load, long seed) {
        ClosedLoop loop = new ClosedLoop(ttl, REPLICAS, load * happening.before * REPLICAS * ClosedLoop.CAPACITY, seed);
        loop.noise = happening.noise;
        loop.run(Math.max(1200, 6 * ttl));
        Map<String, Double> before = loop.shares();
        happening.to(loop);
        Map<String, Double> right = right(loop);
        int published = loop.published();
        int looks = (int) (Math.max(HOUR, 40 * ttl) / LOOK);
        double overshoot = 0;
        double near = 0;
        double late = 0;
        int swings = 0;
        Map<String, Integer> sides = new HashMap<>();
        for (int look = 1; look <= looks; look++) {
            loop.run(LOOK);
            for (Map.Entry<String, Double> entry : right.entrySet()) {
                double off = loop.shares().getOrDefault(entry.getKey(), 0.0) / entry.getValue() - 1;
                double came = before.getOrDefault(entry.getKey(), 0.0) / entry.getValue() - 1;
                overshoot = Math.max(overshoot, came > NEAR ? -off : came < -NEAR ? off : Math.abs(off));
                near = Math.abs(off) > NEAR ? look * LOOK : near;
                if (look > looks / 2) {
                    late += Math.abs(off) / right.size() / (looks - looks / 2);
                    int side = off > SWING ? 1 : off < -SWING ? -1 : 0;
                    Integer last = side == 0 ? null : sides.put(entry.getKey(), side);
                    swings += last != null && last != side ? 1 : 0;
                }
            }
        }
        double hours = looks * LOOK / HOUR;
        return new Seen(
                overshoot, near, (loop.published() - published) / hours, late, 2 * swings / hours / right.size());
    }

    /** Shares by speed. */
    private static Map<String, Double> right(ClosedLoop loop) {
        Map<String, Double> right = new HashMap<>();
        loop.replicas().stream()
                .filter(replica -> replica.alive)
                .forEach(replica -> right.put(replica.name, replica.speed));
        double sum = right.values().stream().mapToDouble(Double::doubleValue).sum();
        right.replaceAll((name, speed) -> speed / sum);
        return right;
    }

    @ParameterizedTest
    @EnumSource
    void nothingSwings(Happening happening) {
        for (double load : LOADS) {
            for (int ttl : TTLS) {
                Seen seen = see(happening, ttl, load, 1);
                System.out.printf(
                        Locale.ROOT,
                        "%-12s load %.1f, TTL %3d s: overshoot %2.0f %%, near after %5.0f s, %4.1f changes/h,"
                                + " later off by %4.1f %%, %.2f swings/h%n",
                        happening,
                        load,
                        ttl,
                        100 * seen.overshoot(),
                        seen.near(),
                        seen.changes(),
                        100 * seen.late(),
                        seen.swings());
                String where = "%s, load %.1f, TTL %d s".formatted(happening, load, ttl);
                assertThat(seen.overshoot()).as(where).isLessThan(load < 0.7 ? 0.3 : 0.6);
                assertThat(seen.late()).as(where).isLessThan(load < 0.7 ? 0.06 : 0.12);
                assertThat(seen.swings()).as(where).isLessThan(load < 0.7 ? 0.2 : 3);
                assertThat(seen.changes()).as(where).isLessThan(load < 0.7 ? 6 : 40);
            }
        }
    }

    /** It is not that nothing is done: the slow one is found, whatever the time to live. */
    @Test
    void theSlowOneHasItsPart() {
        for (int ttl : TTLS) {
            ClosedLoop loop = new ClosedLoop(ttl, REPLICAS, 0.6 * REPLICAS * ClosedLoop.CAPACITY, 2);
            loop.run(1200);
            loop.replicas().getFirst().speed = 0.5;
            loop.run(Math.max(1200, 10 * ttl));
            Map<String, Double> shares = loop.shares();
            double others = (1 - shares.getOrDefault("r00", 0.0)) / (REPLICAS - 1);

            assertThat(shares.getOrDefault("r00", 0.0) / others)
                    .as("TTL %d s", ttl)
                    .isBetween(0.5 * (1 - NEAR), 0.5 * (1 + NEAR));
        }
    }

    /** What was learned is in what is published, so another operator keeps it, and goes on from there. */
    @ParameterizedTest
    @CsvSource({"2, 0.7", "3, 0.6", "10, 0.6"})
    void anotherOperatorForgetsNothing(int count, double most) {
        for (int ttl : new int[] {5, 60}) {
            ClosedLoop loop = new ClosedLoop(ttl, count, 0.6 * count * ClosedLoop.CAPACITY, 4);
            loop.replicas().getFirst().speed = 0.5;
            loop.run(1800);
            Map<String, Double> before = loop.shares();
            String where = "%d replicas, TTL %d s, before %s".formatted(count, ttl, before);
            loop.restart();
            loop.run(50);
            assertThat(loop.shares()).as(where).isEqualTo(before);
            double from = ratio(loop);
            double to = from;
            int published = loop.published();
            for (int look = 0; look < HOUR / LOOK; look++) {
                loop.run(LOOK);
                from = Math.min(from, ratio(loop));
                to = Math.max(to, ratio(loop));
            }
            System.out.printf(
                    Locale.ROOT,
                    "a restart, %2d replicas, TTL %2d s: the slow one had %.2f of the others', and has %.2f to %.2f in"
                            + " the hour after it; %d changes%n",
                    count,
                    ttl,
                    before.getOrDefault("r00", 0.0) / (1 - before.getOrDefault("r00", 0.0)) * (count - 1),
                    from,
                    to,
                    loop.published() - published);
            // Equal shares would be 1.
            assertThat(to).as(where).isLessThan(most);
            assertThat(from).as(where).isGreaterThan(0.2);
        }
    }

    /** The share of the first replica over the mean of the others. */
    private static double ratio(ClosedLoop loop) {
        double share = loop.shares().getOrDefault("r00", 0.0);
        return share / ((1 - share) / (loop.replicas().size() - 1));
    }

    /** The same beginnings give the same course. */
    @Test
    void itRepeats() {
        assertThat(see(Happening.NOISE, 30, 0.8, 3)).isEqualTo(see(Happening.NOISE, 30, 0.8, 3));
    }
}
