package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.simulation.Capacity.Arrangement;
import dev.apportion.simulation.Capacity.Site;
import dev.apportion.simulation.Capacity.Target;
import dev.apportion.simulation.Capacity.Waiting;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values of Erlang's C formula that stand in tables, and what an earlier and independent program simulated. */
class CapacityTest {

    private static final List<Site> FIVE =
            IntStream.range(0, 5).mapToObj(s -> new Site("site-" + s, 10, 8)).toList();

    private static Capacity capacity(double wait, double part, double budget, boolean reclaim) {
        return new Capacity(
                1,
                new Law.Exponential(1),
                budget,
                reclaim,
                new Target(wait, part == 0 ? OptionalDouble.empty() : OptionalDouble.of(part)));
    }

    @ParameterizedTest
    @CsvSource({
        // servers, offered load, wait in times of service
        "1, 0.5, 1",
        "2, 1, 0.3333",
        "10, 8, 0.2046",
        "10, 9, 0.6687",
        "50, 40, 0.0087"
    })
    void meanWaits(int servers, double rate, double wait) {
        Waiting waiting = capacity(1, 0, 0, false).alone(new Site("a", servers, rate));

        assertThat(waiting.mean()).isCloseTo(wait, within(1e-4));
        assertThat(waiting.half()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"8, 0.205, 0, 10", "8, 0.2, 0, 11", "8, 0.5, 0.84, 10", "8, 0.5, 0.85, 11", "0.5, 1, 0, 1", "0, 1, 0, 0"
    })
    void replicasThatATargetNeeds(double rate, double wait, double part, int needed) {
        assertThat(capacity(wait, part, 0, false).needed(Arrangement.ISOLATED, List.of(new Site("a", 1, rate))))
                .containsExactly(needed);
    }

    @Test
    void constantTimesOfServiceHalveTheWait() {
        Capacity fixed = new Capacity(1, new Law.Fixed(1), 0, false, new Target(0.1, OptionalDouble.empty()));

        assertThat(fixed.alone(new Site("a", 10, 8)).mean()).isCloseTo(0.1023, within(1e-4));
        assertThat(fixed.alone(new Site("a", 1, 0.5)).mean()).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void severalSlotsOfAReplicaAreSoManyServers() {
        Capacity ten = new Capacity(10, new Law.Exponential(1), 0, false, new Target(0.205, OptionalDouble.empty()));

        assertThat(ten.alone(new Site("a", 1, 8)).mean()).isCloseTo(0.2046, within(1e-4));
        assertThat(ten.needed(Arrangement.ISOLATED, List.of(new Site("a", 9, 8))))
                .containsExactly(1);
    }

    /** One queue needs least, isolated ones most; sites that lend are between. */
    @Test
    void sitesThatLendNeedFewerReplicas() {
        Capacity capacity = capacity(0.1, 0, 8, true);

        int alone = sum(capacity.needed(Arrangement.ISOLATED, FIVE));
        int shared = sum(capacity.needed(Arrangement.SHARED, FIVE));
        int central = sum(capacity.needed(Arrangement.CENTRAL, FIVE));

        assertThat(alone).isEqualTo(5 * 11);
        assertThat(central).isBetween(44, 46);
        assertThat(shared).isBetween(central, 49);
        assertThat(capacity.waiting(Arrangement.SHARED, FIVE).mean()).isCloseTo(0.0096, within(0.0025));
        assertThat(capacity.waiting(Arrangement.ISOLATED, FIVE).mean()).isCloseTo(0.2046, within(1e-4));
        assertThat(capacity.waiting(Arrangement.CENTRAL, FIVE).mean()).isCloseTo(0.0087, within(1e-4));
    }

    private static int sum(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).sum();
    }

    @Test
    void whatIsLostHasToBeServedElsewhere() {
        Capacity little = capacity(0.1, 0, 8, true);
        Capacity enough = capacity(0.1, 0, 20, true);
        List<Site> roomy = FIVE.stream()
                .map(site -> new Site(site.name(), 14, site.rate()))
                .toList();
        List<Site> four = Capacity.without(roomy, 2);

        assertThat(little.waiting(Arrangement.ISOLATED, four).mean()).isInfinite();
        assertThat(little.waiting(Arrangement.ISOLATED, four).longer()).isBetween(0.2, 0.25);
        assertThat(little.waiting(Arrangement.SHARED, four))
                .as("the link carries 8")
                .isEqualTo(Waiting.ENDLESS);
        assertThat(enough.waiting(Arrangement.SHARED, four).mean()).isLessThan(0.1);
        assertThat(enough.waiting(Arrangement.SHARED, Capacity.without(FIVE, 0)))
                .as("40 requests on 40 slots")
                .isEqualTo(Waiting.ENDLESS);
        assertThat(Capacity.withoutOneReplica(FIVE, 1).get(1).replicas()).isEqualTo(9);
        assertThat(enough.waiting(Arrangement.CENTRAL, four).mean()).isLessThan(0.01);
    }

    @Test
    void aSiteThatNobodyCallsHomeHelps() {
        List<Site> sites = List.of(new Site("a", 8, 8), new Site("spare", 4, 0));

        assertThat(capacity(0.5, 0, 4, true).waiting(Arrangement.SHARED, sites).mean())
                .isBetween(0.01, 0.3);
        assertThat(capacity(0.5, 0, 4, true).waiting(Arrangement.ISOLATED, sites))
                .isEqualTo(Waiting.ENDLESS);
    }
}
