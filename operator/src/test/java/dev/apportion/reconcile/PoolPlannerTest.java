package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.Sample;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answers;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolPlannerTest {

    private static final Ref SERVICE = new Ref("web", "shop");

    private static Member member(String name, double capacity, String... addresses) {
        return memberOf("main", name, capacity, addresses);
    }

    private static Member memberOf(String site, String name, double capacity, String... addresses) {
        return new Member(
                name,
                site,
                capacity,
                1,
                Sample.NONE,
                Arrays.stream(addresses).map(PoolPlannerTest::address).toList(),
                Member.State.Ready,
                List.of());
    }

    private static IPAddress address(String text) {
        return switch (Addresses.parse(text)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> address;
            case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
        };
    }

    private static List<Member> replicas(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(i -> member("r%04d".formatted(i), 10, "10.0.%d.%d".formatted(i / 250, i % 250 + 1)))
                .toList();
    }

    private static Demand demand(String stream, double rate, Answers answers, int k, String... sites) {
        return new Demand(
                SERVICE,
                stream,
                "",
                "shop.example.org",
                rate,
                k == 0 ? OptionalInt.empty() : OptionalInt.of(k),
                answers,
                15,
                Set.of(sites),
                Optional.empty(),
                List.of());
    }

    private static AdmittedPool pool(AdmittedPool.Site... sites) {
        return new AdmittedPool(new Ref("web", "shop"), List.of(sites), new KSplittable(), "KSplittable", false);
    }

    private static AdmittedPool.Site site(String name, int priority) {
        return new AdmittedPool.Site(name, priority, 1, 1, new AdmittedPool.Source.Fixed(List.of()));
    }

    private static PoolPlan plan(List<Member> members, Demand... demands) {
        return PoolPlanner.plan(pool(site("main", 0)), members, List.of(demands));
    }

    private static int sum(PoolPlan plan, boolean ipv6) {
        return plan.streams().getFirst().answers().stream()
                .filter(row -> row.address().isIPv6() == ipv6)
                .mapToInt(PoolPlan.Row::weight)
                .sum();
    }

    @ParameterizedTest
    @CsvSource({"1, 256", "2, 256", "20, 256", "32, 256", "100, 4096", "256, 256", "257, 4096", "1200, 65536"})
    void slotsAreAsFineAsEqualSharesNeed(int replicas, int slots) {
        PoolPlan plan = plan(replicas(replicas), demand("", 1, Answers.Single, 0));

        assertThat(sum(plan, false)).isEqualTo(slots);
        assertThat(plan.streams().getFirst().answers()).hasSize(replicas).allSatisfy(row -> {
            assertThat(row.weight()).isPositive();
            assertThat(row.share() * replicas).isCloseTo(1, within(0.125));
        });
        assertThat(plan.unused()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1, 256", "40, 256", "170, 4096", "1000, 4096", "3000, 65536", "30000, 65536"})
    void slotsAreAsFineAsTheSmallestShareNeeds(double ratio, int slots) {
        PoolPlan plan = plan(
                List.of(member("big", ratio, "10.0.0.1"), member("small", 1, "10.0.0.2")),
                demand("", 1, Answers.Single, 0));

        assertThat(sum(plan, false)).isEqualTo(slots);
        assertThat(plan.streams().getFirst().answers().getLast().share() * (ratio + 1))
                .isCloseTo(1, within(0.125));
    }

    @Test
    void listsHaveSixteenReplicasAndWeightsThatCoreDnsTakes() {
        PoolPlan plan = plan(replicas(20), demand("", 1, Answers.List, 0));

        assertThat(plan.streams().getFirst().answers())
                .hasSize(16)
                .allSatisfy(row -> assertThat(row.weight()).isBetween(1, 255));
        assertThat(plan.unused()).containsExactly("r0017", "r0018", "r0019", "r0020");
        Finding allocated = Findings.allocated(plan);
        assertThat(allocated.isTrue()).isTrue();
        assertThat(allocated.reason()).isEqualTo("ReplicasUnused");
        assertThat(allocated.message()).contains("4 of 20", "r0017, r0018, r0019, r0020");
    }

    @ParameterizedTest
    @CsvSource({"Single, 0, 20", "List, 0, 16", "Single, 3, 3", "List, 3, 3", "List, 100, 20"})
    void theNumberOfReplicasIsTheServicesOrTheUsualOne(Answers answers, int k, int used) {
        assertThat(plan(replicas(20), demand("", 1, answers, k))
                        .streams()
                        .getFirst()
                        .answers())
                .hasSize(used);
    }

    @Test
    void aReplicaCountsOnceHoweverManyAddressesItHas() {
        PoolPlan plan = plan(
                List.of(
                        member("a", 100, "10.0.0.1", "10.0.0.2", "2001:db8::1"),
                        member("b", 100, "10.0.0.3"),
                        member("c", 100, "10.0.0.4")),
                demand("", 1, Answers.Single, 2));

        assertThat(plan.streams().getFirst().answers().stream()
                        .map(PoolPlan.Row::replica)
                        .collect(Collectors.toSet()))
                .hasSize(2);
    }

    @Test
    void eachFamilyHasSharesOfItsOwn() {
        PoolPlan plan = plan(
                List.of(
                        member("both", 100, "10.0.0.1", "2001:db8::1"),
                        member("four", 100, "10.0.0.2"),
                        member("six", 300, "2001:db8::3")),
                demand("", 1, Answers.Single, 0));

        assertThat(sum(plan, false)).isEqualTo(256);
        assertThat(sum(plan, true)).isEqualTo(256);
        assertThat(shares(plan))
                .isEqualTo(Map.of("10.0.0.1", 0.5, "10.0.0.2", 0.5, "2001:db8::1", 0.25, "2001:db8::3", 0.75));
    }

    @Test
    void oneAddressOfTwoReplicasIsOneRecordWithTheWeightOfBoth() {
        PoolPlan plan = plan(
                List.of(member("a", 100, "10.0.0.1"), member("b", 200, "10.0.0.1"), member("c", 100, "10.0.0.2")),
                demand("", 40, Answers.Single, 0));

        assertThat(plan.streams().getFirst().answers())
                .extracting(row -> row.address().toCanonicalString(), PoolPlan.Row::replica, PoolPlan.Row::weight)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("10.0.0.1", "a,b", 192),
                        org.assertj.core.groups.Tuple.tuple("10.0.0.2", "c", 64));
        assertThat(plan.replicas()).extracting(PoolPlan.Replica::load).containsExactly(0.1, 0.1, 0.1);
        assertThat(plan.replicas()).extracting(PoolPlan.Replica::share).containsExactly(0.25, 0.5, 0.25);
    }

    @Test
    void loadsAreThoseOfThePublishedIntegers() {
        List<Member> members =
                List.of(member("a", 70, "10.0.0.1"), member("b", 110, "10.0.0.2"), member("c", 130, "10.0.0.3"));
        PoolPlan plan = plan(members, demand("x", 97, Answers.Single, 2), demand("y", 61, Answers.Single, 0));

        double largest = 0;
        for (PoolPlan.Replica replica : plan.replicas()) {
            double served = 0;
            for (PoolPlan.Stream stream : plan.streams()) {
                for (PoolPlan.Row row : stream.answers()) {
                    if (row.replica().equals(replica.member().name())) {
                        served += stream.demand().rate() * row.weight() / 256;
                    }
                }
            }
            assertThat(replica.load()).isCloseTo(served / replica.member().capacity(), within(1e-12));
            largest = Math.max(largest, replica.load());
        }
        assertThat(plan.makespan()).isEqualTo(largest);
        assertThat(plan.average()).isCloseTo(158.0 / 310, within(1e-12));
        assertThat(plan.optimalityGap()).isCloseTo(largest / plan.lowerBound() - 1, within(1e-12));
        assertThat(plan.optimalityGap()).isBetween(0.0, 0.02);
    }

    @Test
    void streamsWithoutRateAreSpreadByCapacityAndLoadNothing() {
        PoolPlan plan = plan(
                List.of(member("a", 300, "10.0.0.1"), member("b", 100, "10.0.0.2")),
                demand("silent", 0, Answers.Single, 0));

        assertThat(shares(plan)).isEqualTo(Map.of("10.0.0.1", 0.75, "10.0.0.2", 0.25));
        assertThat(plan.makespan()).isZero();
        assertThat(plan.optimalityGap()).isZero();
        assertThat(plan.replicas()).extracting(PoolPlan.Replica::share).containsOnly(0.0);
    }

    @Test
    void theExtremesThatTheSchemaAdmitsGiveFiniteNumbers() {
        PoolPlan plan = plan(
                List.of(member("huge", 1e12, "10.0.0.1"), member("tiny", 1e-9, "10.0.0.2")),
                demand("x", 1e12, Answers.Single, 0),
                demand("y", 1e-9, Answers.List, 1));

        assertThat(plan.streams())
                .allSatisfy(stream -> assertThat(stream.answers()).isNotEmpty());
        for (double number : new double[] {
            plan.makespan(), plan.average(), plan.lowerBound(), plan.optimalityGap(), plan.worstOverLevel()
        }) {
            assertThat(number).isFinite().isNotNegative();
        }
    }

    @ParameterizedTest
    @CsvSource({
        // which sites have a ready replica; which may serve the stream; which one does
        "main standby last,              , main",
        "standby last     ,              , standby",
        "last             ,              , last",
        "main standby last, standby last , standby",
        "main last        , standby last , last",
        "main             , standby      ,"
    })
    void theFirstSiteThatCanServes(String ready, String may, String serves) {
        AdmittedPool pool = pool(site("main", 0), site("standby", 5), site("last", 9));
        List<Member> members = Arrays.stream(ready.split(" "))
                .map(site -> memberOf(site, site, 10, "10.0.0." + site.length()))
                .toList();
        String[] sites = may == null ? new String[0] : may.split(" ");

        PoolPlan plan = PoolPlanner.plan(pool, members, List.of(demand("", 1, Answers.Single, 0, sites)));

        assertThat(plan.streams().getFirst().answers())
                .extracting(PoolPlan.Row::replica)
                .isEqualTo(serves == null ? List.of() : List.of(serves));
    }

    @Test
    void whoIsNotReadyIsShownAndNotUsed() {
        Member drained = new Member(
                "b", "main", 10, 1, Sample.NONE, List.of(address("10.0.0.2")), Member.State.Draining, List.of());
        Member away = new Member("c", "main", 10, 1, Sample.NONE, List.of(), Member.State.NotReady, List.of());

        PoolPlan plan = plan(List.of(member("a", 10, "10.0.0.1"), drained, away), demand("", 1, Answers.Single, 0));

        assertThat(plan.ready()).isEqualTo(1);
        assertThat(plan.replicas()).hasSize(3);
        assertThat(shares(plan)).isEqualTo(Map.of("10.0.0.1", 1.0));
    }

    @Test
    void theOrderOfListingChangesNothing() {
        List<Member> members = new ArrayList<>(replicas(30));
        List<Demand> demands = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            demands.add(demand("s" + i, 1 + i % 4, i % 2 == 0 ? Answers.Single : Answers.List, 1 + i % 5));
        }
        PoolPlan plan = PoolPlanner.plan(pool(site("main", 0)), members, demands);

        for (int seed = 0; seed < 5; seed++) {
            Collections.shuffle(members, new Random(seed));
            Collections.shuffle(demands, new Random(seed));
            assertThat(PoolPlanner.plan(pool(site("main", 0)), members, demands))
                    .isEqualTo(plan);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Single, 128 128, true",
        "Single, 1 1, false",
        "Single, 4096, true",
        "Single, '', true",
        "List, 1 255, true",
        "List, 256, false",
        "List, '', true"
    })
    void weightsFitTheKindOfAnswersOrNot(Answers answers, String weights, boolean fits) {
        int[] integers = weights.isEmpty()
                ? new int[0]
                : Arrays.stream(weights.split(" ")).mapToInt(Integer::parseInt).toArray();

        assertThat(PoolPlanner.fits(integers, answers)).isEqualTo(fits);
    }

    private static Map<String, Double> shares(PoolPlan plan) {
        return plan.streams().getFirst().answers().stream()
                .collect(Collectors.toMap(row -> row.address().toCanonicalString(), PoolPlan.Row::share));
    }
}
