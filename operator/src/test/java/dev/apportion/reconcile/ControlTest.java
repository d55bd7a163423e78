package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.RoundRobin;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.load.Quantity;
import dev.apportion.load.Reading;
import dev.apportion.load.Series;
import dev.apportion.load.Track;
import dev.apportion.records.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The loop of one pool, look by look. */
class ControlTest {

    private static final Duration TTL = Duration.ofSeconds(15);
    private static final Duration CYCLE = Duration.ofSeconds(30);

    private Control control = Control.NEW;
    private final Map<String, Track.Load> loads = new HashMap<>();
    private final Map<String, List<Answer>> published = new HashMap<>();
    private final Map<String, OptionalDouble> queried = new HashMap<>();
    private Optional<String> doubt = Optional.empty();

    static AdmittedPool pool(Policy policy, Tolerance tolerance, boolean measured) {
        return pool(
                policy,
                tolerance,
                measured
                        ? Optional.of(new Series(Map.of(Quantity.REQUESTS, "r_total", Quantity.IN_FLIGHT, "f")))
                        : Optional.empty());
    }

    /** @param measured what is read of each process every ten seconds, and counts for a minute */
    static AdmittedPool pool(Policy policy, Tolerance tolerance, Optional<Series> measured) {
        return new AdmittedPool(
                new Ref("web", "shop"),
                List.of(new AdmittedPool.Site("main", 0, 1, 1, new AdmittedPool.Source.Fixed(List.of()))),
                policy,
                "Test",
                false,
                new AdmittedPool.Behavior(tolerance, OptionalInt.empty()),
                measured.map(series -> new AdmittedPool.Load(
                        new AdmittedPool.From.Scrape("80", "/", series),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60))));
    }

    static AdmittedPool measuredPool() {
        return pool(new KSplittable(), AdmittedPool.Behavior.DEFAULT.tolerance(), true);
    }

    private static List<Member> members(String... names) {
        List<Member> members = new ArrayList<>();
        for (String name : names) {
            members.add(EstimatesTest.member(name, 100, name.charAt(0)));
        }
        return members;
    }

    private PoolPlan look(AdmittedPool pool, List<Member> members, List<Demand> demands, long second) {
        Function<Member.Server, Track.Load> known =
                process -> loads.getOrDefault(process.name(), new Track.Load.Missing("no connection"));
        control = control.next(new Control.Seen(
                pool,
                members,
                demands,
                TTL,
                published,
                false,
                known,
                queried,
                doubt,
                CYCLE,
                Duration.ofSeconds(second).toNanos()));
        return control.plan().orElseThrow();
    }

    private void measured(String name, double requests, double inFlight, long second) {
        loads.put(
                name,
                new Track.Load.Measured(new Reading(
                        new Sample(
                                OptionalDouble.of(requests),
                                OptionalDouble.of(inFlight),
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.empty()),
                        Duration.ofSeconds(second).toNanos())));
    }

    private static Map<String, Double> given(PoolPlan plan) {
        return plan.streams().getFirst().given();
    }

    private static final List<Demand> ONE = List.of(EstimatesTest.demand("", 1, false));

    @Test
    void whoVanishesWhileThereAreDoubtsStaysForACycleAndThenLeaves() {
        AdmittedPool pool = pool(new KSplittable(), AdmittedPool.Behavior.DEFAULT.tolerance(), false);
        PoolPlan before = look(pool, members("a", "b", "c", "d"), ONE, 0);
        doubt = Optional.of("the API server does not answer");
        PoolPlan held = look(pool, members("a"), ONE, 100);

        assertThat(held.answers()).isEqualTo(before.answers());
        Finding said = Findings.allocated(held);
        assertThat(said.reason()).isEqualTo("RemovalHeld");
        assertThat(said.isTrue()).isTrue();
        assertThat(said.message())
                .startsWith("3 of 4 replicas vanished at once, and the API server does not answer;"
                        + " they are kept for a cycle");
        assertThat(control.again(pool, TTL, CYCLE, Duration.ofSeconds(100).toNanos())
                        .orElseThrow())
                .isBetween(CYCLE, CYCLE.plusMillis(100));

        PoolPlan after = look(pool, members("a"), ONE, 131);
        assertThat(given(after)).containsOnlyKeys("a");
        assertThat(Findings.allocated(after).reason()).isEqualTo("Allocated");
    }

    @Test
    void whoIsDeadLeavesAtOnceWhileOthersAreHeld() {
        AdmittedPool pool = pool(new KSplittable(), AdmittedPool.Behavior.DEFAULT.tolerance(), false);
        look(pool, members("a", "b", "c", "d", "e"), ONE, 0);
        doubt = Optional.of("the API server does not answer");
        List<Member> left = new ArrayList<>(members("a"));
        left.add(new Member("b", "main", 100, 1, Sample.NONE, List.of(), Member.State.NotReady, List.of()));

        assertThat(given(look(pool, left, ONE, 100))).containsOnlyKeys("a", "c", "d", "e");
    }

    @Test
    void whoTakesSitesAwayMeansIt() {
        AdmittedPool pool = pool(new KSplittable(), AdmittedPool.Behavior.DEFAULT.tolerance(), false);
        look(pool, members("a", "b", "c"), ONE, 0);
        doubt = Optional.of("the API server does not answer");
        AdmittedPool other = new AdmittedPool(
                pool.ref(),
                List.of(new AdmittedPool.Site("main", 1, 1, 1, new AdmittedPool.Source.Fixed(List.of()))),
                pool.policy(),
                pool.policyName(),
                false,
                pool.behavior());

        assertThat(given(look(other, members("a"), ONE, 100))).containsOnlyKeys("a");
    }

    /** Two replicas of 100 requests/s each, one with three times as many requests in flight. */
    private PoolPlan lookAtTwo(double requests, long second) {
        measured("a", requests, 8, second);
        measured("b", requests, 24, second);
        return look(measuredPool(), members("a", "b"), ONE, second);
    }

    @Test
    void whereAllAreHotCapacityDecides() {
        for (long second = 0; second < 300; second += 10) {
            lookAtTwo(80, second);
        }
        PoolPlan warm = control.plan().orElseThrow();
        assertThat(given(warm).get("b")).isLessThan(0.36);
        assertThat(Findings.allocated(warm).reason()).isEqualTo("Allocated");

        for (long second = 300; second < 900; second += 10) {
            lookAtTwo(120, second);
        }
        PoolPlan hot = control.plan().orElseThrow();
        assertThat(Findings.allocated(hot).reason()).isEqualTo("AllHot");
        assertThat(Findings.allocated(hot).message()).startsWith("each of 2 ready replicas has all that it bears");
        assertThat(given(hot).get("b")).isCloseTo(0.5, within(0.01));
        assertThat(hot.replicas().getFirst().member().because())
                .endsWith("all replicas are hot: what is declared counts");
        assertThat(hot.replicas().getFirst().member().measured().inFlight()).hasValue(8);
        assertThat(Findings.of(hot).getFirst().reason()).isEqualTo("Measured");

        // A little less is no cooling.
        for (long second = 900; second < 1500; second += 10) {
            lookAtTwo(95, second);
        }
        assertThat(Findings.allocated(control.plan().orElseThrow()).reason()).isEqualTo("AllHot");
        for (long second = 1500; second < 2100; second += 10) {
            lookAtTwo(80, second);
        }
        PoolPlan cool = control.plan().orElseThrow();
        assertThat(Findings.allocated(cool).reason()).isEqualTo("Allocated");
        assertThat(given(cool).get("b")).isLessThan(0.36);
    }

    /** Has learned that one of two is slow; returns when it looked last. */
    private long learn() {
        long second = 0;
        for (; second < 600; second += 10) {
            lookAtTwo(80, second);
        }
        assertThat(given(control.plan().orElseThrow()).get("b")).isLessThan(0.36);
        return second;
    }

    /** Another operator begins: it knows what is published, and nothing that was measured. */
    private void restart() {
        PoolPlan plan = control.plan().orElseThrow();
        plan.streams()
                .forEach(stream -> published.put(
                        stream.demand().key(),
                        stream.answers().stream()
                                .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                                .toList()));
        control = Control.NEW;
        loads.clear();
    }

    @Test
    void aRestartKeepsTheAnswersAndWhatWasLearned() {
        long second = learn();
        Map<String, List<PoolPlan.Row>> before = control.plan().orElseThrow().answers();
        restart();
        // Nothing is measured yet, then little is.
        assertThat(look(measuredPool(), members("a", "b"), ONE, second).answers())
                .isEqualTo(before);
        for (long end = second + 60; second < end; second += 10) {
            lookAtTwo(80, second);
            assertThat(control.plan().orElseThrow().answers()).isEqualTo(before);
        }
        assertThat(control.plan()
                        .orElseThrow()
                        .replicas()
                        .getLast()
                        .member()
                        .because()
                        .getLast())
                .contains("of 100 declared, from what was published before");
        for (long end = second + 1800; second < end; second += 10) {
            lookAtTwo(80, second);
            assertThat(given(control.plan().orElseThrow()).get("b")).isBetween(0.2, 0.36);
        }
        // And it learns on: they are alike again.
        for (long end = second + 3600; second < end; second += 10) {
            measured("a", 80, 8, second);
            measured("b", 80, 8, second);
            look(measuredPool(), members("a", "b"), ONE, second);
        }
        assertThat(given(control.plan().orElseThrow()).get("b")).isBetween(0.45, 0.55);
    }

    @Test
    void aReplicaThatIsDeadLeavesAtOnceAfterARestartToo() {
        long second = learn();
        restart();
        look(measuredPool(), members("a", "b"), ONE, second);
        List<Member> left = new ArrayList<>(members("a"));
        left.add(new Member("b", "main", 100, 1, Sample.NONE, List.of(), Member.State.NotReady, List.of()));

        assertThat(given(look(measuredPool(), left, ONE, second + 5))).containsOnlyKeys("a");
    }

    /** As where the lease could not be renewed for a while. */
    @Test
    void whoRestsKeepsWhatItHasLearned() {
        long second = learn();
        Map<String, List<PoolPlan.Row>> before = control.plan().orElseThrow().answers();
        control = control.rested();
        loads.clear();
        assertThat(look(measuredPool(), members("a", "b"), ONE, second).answers())
                .isEqualTo(before);
        for (long end = second + 1800; second < end; second += 10) {
            lookAtTwo(80, second);
            assertThat(given(control.plan().orElseThrow()).get("b")).isBetween(0.2, 0.36);
        }
    }

    /** Shares of a policy that does not make them of capacities tell nothing of these. */
    @Test
    void whatDoesNotTellOfSpeedIsNotTakenForIt() {
        Map<String, List<Answer>> shares = Map.of(
                ONE.getFirst().key(),
                List.of(
                        new Answer(EstimatesTest.address("10.0.0.97"), "a", 192),
                        new Answer(EstimatesTest.address("10.0.0.98"), "b", 64)));
        List<Member> members = members("a", "b");

        assertThat(Legacy.factors(measuredPool(), members, ONE, shares)).isEqualTo(Map.of("a", 1.5, "b", 0.5));
        assertThat(Legacy.factors(
                        pool(new RoundRobin(), AdmittedPool.Behavior.DEFAULT.tolerance(), true), members, ONE, shares))
                .isEmpty();
        assertThat(Legacy.factors(EstimatesTest.pool(), members, ONE, shares))
                .as("requests in flight are not measured")
                .isEmpty();
        List<Demand> two = List.of(ONE.getFirst(), EstimatesTest.demand("other", 1, false));
        Map<String, List<Answer>> parts = new HashMap<>(shares);
        parts.put(two.getLast().key(), List.of(new Answer(EstimatesTest.address("10.0.0.97"), "a", 256)));
        assertThat(Legacy.factors(measuredPool(), members, two, parts))
                .as("a stream that may not use all")
                .isEmpty();
        assertThat(Legacy.factors(measuredPool(), members, ONE, Map.of())).isEmpty();
    }

    @Test
    void whereOneIsNotMeasuredOrNothingIsDeclaredNotAllAreHot() {
        measured("a", 500, 8, 0);
        assertThat(Findings.allocated(look(measuredPool(), members("a", "b"), ONE, 0))
                        .reason())
                .isEqualTo("Allocated");
        measured("b", 500, 8, 10);
        List<Member> relative = List.of(EstimatesTest.member("a", 1, 1), EstimatesTest.member("b", 1, 2));
        assertThat(Findings.allocated(look(measuredPool(), relative, ONE, 10)).reason())
                .isEqualTo("Allocated");
    }
}
