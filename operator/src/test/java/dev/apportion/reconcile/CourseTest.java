package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.RoundRobin;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What becomes of a plan that is in force, or of answers that are published, when a pool is planned again. */
class CourseTest {

    private static final Ref SERVICE = new Ref("web", "shop");
    private static final AdmittedPool POOL = pool(new KSplittable(), new Tolerance(0.1, 0.02, 1));

    private static AdmittedPool pool(Policy policy, Tolerance tolerance) {
        return new AdmittedPool(
                new Ref("web", "shop"),
                List.of(new AdmittedPool.Site("main", 0, 1, 1, new AdmittedPool.Source.Fixed(List.of()))),
                policy,
                "KSplittable",
                false,
                new AdmittedPool.Behavior(tolerance, OptionalInt.empty()));
    }

    private static Member member(String name, double capacity, Member.State state, String... addresses) {
        return new Member(
                name,
                "main",
                capacity,
                1,
                Sample.NONE,
                Arrays.stream(addresses).map(CourseTest::address).toList(),
                state,
                List.of());
    }

    private static Member member(int number, double capacity) {
        return member("r" + number, capacity, Member.State.Ready, "192.0.2." + number);
    }

    private static IPAddress address(String text) {
        return switch (Addresses.parse(text)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> address;
            case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
        };
    }

    private static Demand demand(String stream, double rate, int k) {
        return new Demand(
                SERVICE,
                stream,
                "",
                "shop.example.org",
                rate,
                k == 0 ? OptionalInt.empty() : OptionalInt.of(k),
                Answers.Single,
                15,
                Set.of(),
                Optional.empty(),
                List.of());
    }

    private static List<Member> members(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> member(i, 100)).toList();
    }

    private static List<Demand> demands(int count, int k, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return IntStream.range(0, count)
                .mapToObj(j -> demand("s%03d".formatted(j), 1 + 9 * random.nextDouble(), k))
                .toList();
    }

    private static List<Demand> noisy(List<Demand> demands, double noise, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return demands.stream()
                .map(d -> demand(
                        d.stream(),
                        d.rate() * (1 + noise * (2 * random.nextDouble() - 1)),
                        d.maxReplicas().orElse(0)))
                .toList();
    }

    private static PoolPlan next(PoolPlan before, AdmittedPool pool, List<Member> members, List<Demand> demands) {
        return PoolPlanner.plan(pool, members, demands, new Past(Optional.of(before), Map.of(), false));
    }

    /** As after a start: of the plan nothing is known but the answers. */
    private static Past published(PoolPlan plan) {
        Map<String, List<Answer>> answers = new HashMap<>();
        plan.streams()
                .forEach(stream -> answers.put(
                        stream.demand().key(),
                        stream.answers().stream()
                                .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                                .toList()));
        return new Past(Optional.empty(), answers, false);
    }

    private static List<List<PoolPlan.Row>> rows(PoolPlan plan) {
        return plan.streams().stream().map(PoolPlan.Stream::answers).toList();
    }

    private static double movedPercent(PoolPlan before, PoolPlan after) {
        return PlanChange.between(before, after, Instant.EPOCH).movedPercent();
    }

    @Test
    void theFirstPlanSaysNothingOfChange() {
        PoolPlan plan = PoolPlanner.plan(POOL, members(3), demands(5, 2, 1));
        assertThat(plan.course()).isEqualTo(PoolPlan.Course.NEW);
        assertThat(Findings.allocated(plan).message()).isEqualTo("5 streams over 3 replicas");
    }

    @Test
    void whereNothingChangedThePlanIsTheSame() {
        PoolPlan before = PoolPlanner.plan(POOL, members(3), demands(5, 2, 1));
        assertThat(next(before, POOL, members(3).reversed(), demands(5, 2, 1).reversed()))
                .isSameAs(before);
    }

    @Test
    void ratesThatStayWithinTheToleranceKeepTheIntegers() {
        List<Demand> demands = demands(100, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(10), demands);
        PoolPlan after = next(before, POOL, members(10), noisy(demands, 0.05, 2));
        assertThat(rows(after)).isEqualTo(rows(before));
        assertThat(after.makespan()).isNotEqualTo(before.makespan());
        assertThat(Findings.allocated(after).message())
                .matches("100 streams over 10 replicas; kept: worst load 1\\.0\\d of its level, acts above 1\\.10");
    }

    @Test
    void ratesThatLeaveTheToleranceAreRepaired() {
        List<Demand> demands = demands(200, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(10), demands);
        PoolPlan after = next(before, POOL, members(10), noisy(demands, 0.9, 3));
        assertThat(after.course().what())
                .matches("repaired: moved \\d\\.\\d% of the traffic, \\d\\.\\d% had to; worst load 1\\.02 of its level,"
                        + " to 1\\.02");
        assertThat(after.worstOverLevel()).isLessThan(1.05);
        assertThat(movedPercent(before, after)).isBetween(0.5, 15.0);
        PlanChange change = PlanChange.between(before, after, Instant.EPOCH);
        assertThat(change.reason()).isEqualTo("RatesChanged");
        long kept = IntStream.range(0, 200)
                .filter(s -> rows(after).get(s).equals(rows(before).get(s)))
                .count();
        assertThat(kept).isGreaterThan(150);
    }

    @Test
    void afterAStartWhatIsPublishedIsKept() {
        List<Demand> demands = demands(100, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(10), demands);
        PoolPlan changed = next(before, POOL, members(10), noisy(demands, 0.9, 3));
        PoolPlan again = PoolPlanner.plan(POOL, members(10), noisy(demands, 0.9, 3), published(changed));
        assertThat(rows(again)).isEqualTo(rows(changed));
        PoolPlan drifted = PoolPlanner.plan(POOL, members(10), noisy(demands, 0.01, 4), published(before));
        assertThat(rows(drifted)).isEqualTo(rows(before));
    }

    @Test
    void aChangeThatWasDeclaredBeforeAStartIsNotLost() {
        List<Demand> demands = List.of(demand("", 1, 0));
        PoolPlan before = PoolPlanner.plan(POOL, members(2), demands);
        PoolPlan after = PoolPlanner.plan(POOL, List.of(member(1, 104), member(2, 100)), demands, published(before));
        assertThat(after.streams().getFirst().answers().getFirst().share()).isCloseTo(104 / 204.0, within(1.0 / 512));
    }

    /** A stream that comes at the same time could take what moves, and the others would keep odd shares. */
    @Test
    void streamsThatUseEveryReplicaHaveExactShares() {
        PoolPlan before = PoolPlanner.plan(POOL, members(3), List.of(demand("a", 1, 0), demand("b", 1, 0)));
        List<Member> members = List.of(member(1, 300), member(2, 100), member(4, 100));
        List<Demand> demands = List.of(demand("a", 1, 0), demand("b", 1, 0), demand("c", 1, 0));
        for (PoolPlan after : List.of(
                PoolPlanner.plan(POOL, members, demands, published(before)), next(before, POOL, members, demands))) {
            assertThat(rows(after))
                    .hasSize(3)
                    .allSatisfy(rows ->
                            assertThat(rows).extracting(PoolPlan.Row::weight).containsExactly(154, 51, 51));
        }
    }

    @Test
    void integersAreNoReasonToMoveAtAStart() {
        for (int seed = 0; seed < 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            List<Member> members = IntStream.rangeClosed(1, 3 + random.nextInt(20))
                    .mapToObj(i -> member(i, 100 * (1 + random.nextInt(8))))
                    .toList();
            int k = random.nextInt(5);
            double exponent = random.nextDouble();
            List<Demand> demands = IntStream.rangeClosed(1, 1 + random.nextInt(60))
                    .mapToObj(j -> demand("s%03d".formatted(j), 1000 * Math.pow(j, -exponent), k))
                    .toList();
            PoolPlan before = PoolPlanner.plan(POOL, members, demands);
            assertThat(rows(PoolPlanner.plan(POOL, members, demands, published(before))))
                    .as("seed %d", seed)
                    .isEqualTo(rows(before));
        }
    }

    @Test
    void everyKindOfAddressSurvivesAStart() {
        List<Member> members = List.of(
                member("both", 100, Member.State.Ready, "192.0.2.1", "2001:db8::1"),
                member("four", 170, Member.State.Ready, "192.0.2.2"),
                member("six", 300, Member.State.Ready, "2001:db8::3"),
                member("shared-a", 90, Member.State.Ready, "192.0.2.7"),
                member("shared-b", 80, Member.State.Ready, "192.0.2.7"),
                member("two", 110, Member.State.Ready, "192.0.2.8", "192.0.2.9"));
        List<Demand> demands = List.of(demand("a", 100, 0), demand("b", 50, 0));
        PoolPlan before = PoolPlanner.plan(POOL, members, demands);
        assertThat(rows(PoolPlanner.plan(POOL, members, demands, published(before))))
                .isEqualTo(rows(before));
        // and with a plan in force, rates that wander do not make answers wander
        assertThat(rows(next(before, POOL, members, List.of(demand("a", 70, 0), demand("b", 80, 0)))))
                .isEqualTo(rows(before));
    }

    @Test
    void whatTheOwnerDeclaresTakesEffectAtOnceAndExactly() {
        List<Demand> demands = List.of(demand("", 1, 0));
        List<Member> members = members(2);
        PoolPlan before = PoolPlanner.plan(POOL, members, demands);
        Past cooling = new Past(Optional.of(before), Map.of(), true);
        // 104 to 100 is far below the tolerance
        for (double capacity : new double[] {300, 104}) {
            PoolPlan after = PoolPlanner.plan(POOL, List.of(member(1, capacity), member(2, 100)), demands, cooling);
            assertThat(after.streams().getFirst().answers().getFirst().share())
                    .isCloseTo(capacity / (capacity + 100), within(1.0 / 512));
            assertThat(after.course().isUnfinished()).isFalse();
        }
    }

    @Test
    void whileItIsTooSoonRatesWaitAndReplicasDoNot() {
        List<Demand> demands = demands(100, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(10), demands);
        List<Demand> others = noisy(demands, 0.9, 3);
        PoolPlan waiting = PoolPlanner.plan(POOL, members(10), others, new Past(Optional.of(before), Map.of(), true));
        assertThat(rows(waiting)).isEqualTo(rows(before));
        assertThat(waiting.course().waits()).isTrue();
        assertThat(waiting.course().what()).endsWith("too soon after the last change");

        PoolPlan later = next(waiting, POOL, members(10), others);
        assertThat(later.course().what()).startsWith("repaired");
        assertThat(later.course().isUnfinished()).isFalse();

        List<Member> without = new ArrayList<>(members(10));
        without.set(3, member("r4", 100, Member.State.Draining, "192.0.2.4"));
        PoolPlan drained = PoolPlanner.plan(POOL, without, others, new Past(Optional.of(waiting), Map.of(), true));
        assertThat(rows(drained).stream().flatMap(List::stream).map(PoolPlan.Row::replica))
                .doesNotContain("r4");
        assertThat(drained.course().isUnfinished()).isFalse();
    }

    @Test
    void whatIsNotThereAnyMoreKeepsNothingAfterAStart() {
        List<Demand> demands = demands(50, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(5), demands);
        PoolPlan after = PoolPlanner.plan(POOL, members(5).subList(0, 4), demands, published(before));
        assertThat(rows(after).stream().flatMap(List::stream).map(PoolPlan.Row::replica))
                .doesNotContain("r5");
        assertThat(movedPercent(before, after)).isBetween(15.0, 40.0);
    }

    @Test
    void aReplicaWithAnotherAddressIsAnsweredByIt() {
        List<Demand> demands = List.of(demand("", 1, 0));
        PoolPlan before = PoolPlanner.plan(POOL, members(3), demands);
        List<Member> moved = new ArrayList<>(members(3));
        moved.set(0, member("r1", 100, Member.State.Ready, "192.0.2.99"));
        PoolPlan after = next(before, POOL, moved, demands);
        assertThat(rows(after).getFirst())
                .extracting(row -> row.address().toCanonicalString())
                .containsExactlyInAnyOrder("192.0.2.2", "192.0.2.3", "192.0.2.99");
    }

    @Test
    void noMoreThanMayMovesAtATimeAndTheRestFollows() {
        AdmittedPool slow = pool(new KSplittable(), new Tolerance(0.1, 0.02, 0.1));
        List<Demand> demands = List.of(demand("", 1, 0));
        PoolPlan plan = PoolPlanner.plan(slow, members(2), demands);
        List<Member> members = List.of(member(1, 300), member(2, 100));
        double[] expected = {0.6, 0.7, 0.75};
        for (double share : expected) {
            plan = next(plan, slow, members, demands);
            assertThat(plan.streams().getFirst().answers().getFirst().share()).isCloseTo(share, within(1.0 / 256));
            assertThat(plan.course().goesOn()).isEqualTo(share < 0.75);
        }
        assertThat(next(plan, slow, members, demands)).isSameAs(plan);
    }

    @Test
    void moreThanMayMoveGoesOnAfterRatesChangedMeanwhile() {
        AdmittedPool slow = pool(new KSplittable(), new Tolerance(0.1, 0.02, 0.1));
        List<Member> members = List.of(member(1, 300), member(2, 100));
        PoolPlan plan = PoolPlanner.plan(slow, members(2), List.of(demand("", 1, 0)));
        plan = next(plan, slow, members, List.of(demand("", 1, 0)));
        plan = PoolPlanner.plan(slow, members, List.of(demand("", 2, 0)), new Past(Optional.of(plan), Map.of(), true));
        assertThat(plan.streams().getFirst().answers().getFirst().share()).isCloseTo(0.6, within(1.0 / 256));
        assertThat(plan.course().isUnfinished()).isTrue();
        plan = next(plan, slow, members, List.of(demand("", 2, 0)));
        assertThat(plan.streams().getFirst().answers().getFirst().share()).isCloseTo(0.7, within(1.0 / 256));
    }

    @Test
    void anotherPolicyIsIntent() {
        List<Member> members = List.of(member(1, 300), member(2, 100));
        List<Demand> demands = List.of(demand("", 1, 0));
        PoolPlan before = PoolPlanner.plan(POOL, members, demands);
        PoolPlan after = next(before, pool(new RoundRobin(), POOL.behavior().tolerance()), members, demands);
        assertThat(rows(after).getFirst()).extracting(PoolPlan.Row::weight).containsExactly(128, 128);
    }

    @Test
    void aStreamThatComesMovesNoOther() {
        List<Demand> demands = demands(100, 2, 1);
        PoolPlan before = PoolPlanner.plan(POOL, members(10), demands);
        List<Demand> more = new ArrayList<>(demands);
        more.add(demand("z", 3, 2));
        PoolPlan after = next(before, POOL, members(10), more);
        assertThat(movedPercent(before, after)).isLessThan(0.5);
        assertThat(Objects.requireNonNull(rows(after).getLast())).isNotEmpty();
        assertThat(PlanChange.between(before, after, Instant.EPOCH).reason()).isEqualTo("StreamsChanged");
    }

    @Test
    void theCooldownIsTheLongestTtlAndAReloadOrWhatIsDeclared() {
        AdmittedPool.Behavior usual = POOL.behavior();
        assertThat(usual.cooldown(Duration.ofSeconds(15), Duration.ZERO)).isEqualTo(Duration.ofSeconds(17));
        assertThat(usual.cooldown(Duration.ofSeconds(15), Duration.ofSeconds(10)))
                .isEqualTo(Duration.ofSeconds(27));
        assertThat(new AdmittedPool.Behavior(usual.tolerance(), OptionalInt.of(5))
                        .cooldown(Duration.ofSeconds(15), Duration.ofSeconds(10)))
                .isEqualTo(Duration.ofSeconds(5));
        Setting setting = Setting.of(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}")
                        .replace(
                                "spec: {",
                                "spec: {behavior: {actAbovePercent: 30, repairToPercent: 5, cooldownSeconds: 7,"
                                        + " maxShiftPercent: 40}, "),
                Setting.service("shop", "shop.example.org"));
        assertThat(setting.onlyPool().behavior())
                .isEqualTo(new AdmittedPool.Behavior(new Tolerance(0.3, 0.05, 0.4), OptionalInt.of(7)));
        assertThat(Demands.longestTtl(new Ref("web", "shop"), setting.admission()))
                .isEqualTo(Duration.ofSeconds(15));
    }
}
