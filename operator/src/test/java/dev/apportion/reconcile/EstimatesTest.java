package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.Sample;
import dev.apportion.load.Quantity;
import dev.apportion.load.Reading;
import dev.apportion.load.Series;
import dev.apportion.load.Track;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answers;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class EstimatesTest {

    private static final Ref SERVICE = new Ref("web", "shop");

    private Estimates estimates = Estimates.NONE;

    static IPAddress address(String text) {
        return switch (Addresses.parse(text)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> address;
            case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
        };
    }

    /** A replica at 10.0.0.x whose pod has its name and the uid {@code uid-NAME}. */
    static Member member(String name, double capacity, int last) {
        IPAddress address = address("10.0.0." + last);
        return new Member(
                        name,
                        "main",
                        capacity,
                        1,
                        Sample.NONE,
                        List.of(address),
                        Member.State.Ready,
                        List.of("declared"))
                .of(List.of(new Member.Server(name, "uid-" + name, address, Map.of())));
    }

    static Demand demand(String stream, double rate, boolean declared) {
        Demand demand = new Demand(
                SERVICE,
                stream,
                "",
                "shop.example.org",
                rate,
                OptionalInt.empty(),
                Answers.Single,
                15,
                Set.of(),
                Optional.empty(),
                List.of());
        return declared
                ? demand
                : new Demand(
                        SERVICE,
                        stream,
                        "",
                        "shop.example.org",
                        rate,
                        false,
                        OptionalInt.empty(),
                        Answers.Single,
                        15,
                        Set.of(),
                        Optional.empty(),
                        List.of());
    }

    static AdmittedPool pool() {
        return new AdmittedPool(
                new Ref("web", "shop"),
                List.of(new AdmittedPool.Site("main", 0, 1, 1, new AdmittedPool.Source.Fixed(List.of()))),
                new KSplittable(),
                "KSplittable",
                false,
                AdmittedPool.Behavior.DEFAULT,
                Optional.of(new AdmittedPool.Load(
                        new AdmittedPool.From.Scrape("80", "/", new Series(Map.of(Quantity.REQUESTS, "r_total"))),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60))));
    }

    private static Track.Load measured(double requests, double inFlight, double atSeconds) {
        return new Track.Load.Measured(new Reading(
                new Sample(
                        OptionalDouble.of(requests),
                        OptionalDouble.of(inFlight),
                        OptionalDouble.empty(),
                        OptionalDouble.empty(),
                        OptionalDouble.empty(),
                        OptionalDouble.empty()),
                Math.round(atSeconds * TimeUnit.SECONDS.toNanos(1))));
    }

    private Estimates.Judged look(
            List<Member> members, List<Demand> demands, Map<String, Track.Load> loads, Optional<PoolPlan> before) {
        Estimates.Judged judged = estimates.next(
                members,
                demands,
                process -> loads.getOrDefault(process.name(), new Track.Load.Missing("no connection")),
                member -> false,
                Map.of(),
                Duration.ofSeconds(60),
                Duration.ofSeconds(10),
                before);
        estimates = judged.estimates();
        return judged;
    }

    private static Map<String, Double> capacities(Estimates.Judged judged) {
        Map<String, Double> capacities = new HashMap<>();
        judged.members().forEach(member -> capacities.put(member.name(), member.capacity()));
        return capacities;
    }

    @Test
    void aReplicaThatIsSlowerThanDeclaredHasLessCapacityAndTheSumStays() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2));
        Estimates.Judged judged = look(members, List.of(), Map.of(), Optional.empty());
        for (int round = 0; round < 60; round++) {
            // Both serve 80 requests/s; b needs three times as long for each.
            judged = look(
                    members,
                    List.of(),
                    Map.of("a", measured(80, 8, 10 * round), "b", measured(80, 24, 10 * round)),
                    Optional.empty());
        }

        double fast = judged.members().getFirst().capacity();
        double slow = judged.members().getLast().capacity();
        assertThat(fast + slow).isCloseTo(200, within(1.0));
        assertThat(fast / slow).isBetween(2.2, 3.3);
        assertThat(judged.members().getLast().because().getLast())
                .startsWith("estimated ")
                .endsWith("of 100 declared, from 24.0 in flight at 80.0 requests/s");
    }

    @Test
    void oneReplicaThatIsAlikeKeepsWhatIsDeclared() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 300, 2));
        Estimates.Judged judged =
                look(members, List.of(), Map.of("a", measured(50, 5, 0), "b", measured(150, 15, 0)), Optional.empty());

        assertThat(capacities(judged)).isEqualTo(Map.of("a", 100.0, "b", 300.0));
        assertThat(judged.members().getFirst().because()).containsExactly("declared");
    }

    @Test
    void oneLookAtFewRequestsSaysLittle() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2));
        Estimates.Judged judged =
                look(members, List.of(), Map.of("a", measured(1, 0, 0), "b", measured(1, 1, 0)), Optional.empty());

        assertThat(capacities(judged).get("b")).isBetween(90.0, 100.0);
    }

    @Test
    void whatIsMissingIsSilentAndCountsAsDeclared() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2), member("c", 100, 3));
        for (int round = 0; round < 30; round++) {
            look(
                    members,
                    List.of(),
                    Map.of(
                            "a", measured(80, 8, 10 * round),
                            "b", measured(80, 40, 10 * round),
                            "c", measured(80, 8, 10 * round)),
                    Optional.empty());
        }
        Estimates.Judged judged = look(
                members, List.of(), Map.of("a", measured(80, 8, 300), "c", measured(80, 8, 300)), Optional.empty());

        Member silent = judged.members().get(1);
        assertThat(silent.isSilent()).isTrue();
        assertThat(silent.capacity()).isEqualTo(100);
        assertThat(silent.load()).isEqualTo(new Member.Load.Missing("no connection", false));
        assertThat(estimates.busy()).doesNotContainKey("uid-b");
    }

    /** The estimate goes from where it was towards what is measured, and never beyond or away. */
    @Property
    void meansStayBetweenWhatTheyWereAndWhatIsMeasured(
            @ForAll @DoubleRange(max = 1000) double first,
            @ForAll @DoubleRange(max = 1000) double second,
            @ForAll @IntRange(min = 1, max = 600) int seconds) {
        Estimates.Busy before = Estimates.Busy.of(reading(first, 0));
        Estimates.Busy after = before.next(reading(second, seconds), Estimates.HALF_LIFE);

        double mean = after.inFlight().orElseThrow();
        assertThat(mean).isBetween(Math.min(first, second) - 1e-9, Math.max(first, second) + 1e-9);
        double half = before.next(reading(second, (int) Estimates.HALF_LIFE.toSeconds()), Estimates.HALF_LIFE)
                .inFlight()
                .orElseThrow();
        // Of a half-life ago, the first counts half as much as the second.
        assertThat(half).isCloseTo((first / 2 + second) / 1.5, within(1e-9));
    }

    private static Reading reading(double inFlight, int seconds) {
        return switch (measured(1, inFlight, seconds)) {
            case Track.Load.Measured(Reading reading) -> reading;
            case Track.Load.Held(Reading reading, String reason, boolean partly) -> reading;
            case Track.Load.Missing missing -> throw new AssertionError(missing);
        };
    }

    @Test
    void theRateOfTheOnlyStreamIsWhatItsReplicasServe() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2));
        List<Demand> demands = List.of(demand("", 1, false));
        PoolPlan before = PoolPlanner.plan(pool(), members, demands);
        Estimates.Judged judged =
                look(members, demands, Map.of("a", measured(30, 1, 0), "b", measured(50, 1, 0)), Optional.of(before));

        assertThat(judged.demands().getFirst().rate()).isEqualTo(80);
        assertThat(estimates.withRates(demands)).isEqualTo(judged.demands());
    }

    @Test
    void aDeclaredRateStaysAndTheRestIsSharedByWhereItArrives() {
        // Replica a serves the declared stream and x, b serves y and half of x.
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2));
        List<Demand> demands = List.of(demand("d", 20, true), demand("x", 0, false), demand("y", 0, false));
        PoolPlan before = withShares(
                PoolPlanner.plan(pool(), members, demands),
                Map.of("d", Map.of("a", 1.0), "x", Map.of("a", 0.5, "b", 0.5), "y", Map.of("b", 1.0)));
        Estimates.Judged judged = look(members, demands, Map.of(), Optional.of(before));
        for (int round = 0; round < 50; round++) {
            judged = look(
                    members,
                    demands,
                    Map.of("a", measured(50, 1, 10 * round), "b", measured(100, 1, 10 * round)),
                    Optional.of(before));
        }

        Map<String, Double> rates = new HashMap<>();
        judged.demands().forEach(demand -> rates.put(demand.stream(), demand.rate()));
        assertThat(rates.get("d")).isEqualTo(20);
        assertThat(rates.get("x")).isCloseTo(60, within(5.0));
        assertThat(rates.get("y")).isCloseTo(70, within(5.0));
    }

    @Test
    void requestsWhereNobodyIsSentAnyMoreCountToo() {
        List<Member> members = List.of(member("a", 100, 1), member("b", 100, 2));
        List<Demand> demands = List.of(demand("", 1, false));
        PoolPlan before = withShares(PoolPlanner.plan(pool(), members, demands), Map.of("", Map.of("b", 1.0)));
        for (int round = 0; round < 5; round++) {
            Estimates.Judged judged = look(
                    members,
                    demands,
                    Map.of("a", measured(60, 1, 10 * round), "b", measured(20, 1, 10 * round)),
                    Optional.of(before));
            assertThat(judged.demands().getFirst().rate()).isEqualTo(80);
        }
    }

    private static PoolPlan withShares(PoolPlan plan, Map<String, Map<String, Double>> given) {
        List<PoolPlan.Stream> streams = new ArrayList<>();
        for (PoolPlan.Stream stream : plan.streams()) {
            streams.add(new PoolPlan.Stream(
                    stream.demand(),
                    stream.answers(),
                    stream.shares(),
                    given.getOrDefault(stream.demand().stream(), Map.of()),
                    false));
        }
        return new PoolPlan(
                plan.pool(),
                plan.policy(),
                plan.makespan(),
                plan.average(),
                plan.lowerBound(),
                plan.optimalityGap(),
                plan.worstOverLevel(),
                plan.replicas(),
                streams,
                plan.basis(),
                plan.course(),
                plan.held());
    }

    @Test
    void noiseWithinTheDeadBandChangesNothing() {
        List<Member> members = List.of(member("a", 200, 1), member("b", 200, 2));
        List<Demand> demands = List.of(demand("", 1, false));
        PoolPlan before = PoolPlanner.plan(pool(), members, demands);
        Estimates.Judged first = look(
                members, demands, Map.of("a", measured(100, 10, 0), "b", measured(100, 10, 0)), Optional.of(before));
        for (int round = 1; round < 100; round++) {
            double off = round % 2 == 0 ? 1.03 : 0.97;
            Estimates.Judged next = look(
                    members,
                    demands,
                    Map.of(
                            "a", measured(100 * off, 10 * off, 10 * round),
                            "b", measured(100 / off, 10 / off, 10 * round)),
                    Optional.of(before));
            assertThat(next.members()).isEqualTo(first.members());
            assertThat(next.demands()).isEqualTo(first.demands());
        }
    }
}
