package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Sample;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.dns.Shards;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.reconcile.ZoneStanding.Write;
import dev.apportion.records.Answer;
import dev.apportion.records.ZoneRecords;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is read back from statuses is what was written there. */
class StatusQuoTest {

    private static final Instant NOW = Instant.parse("2024-01-01T00:00:00Z");
    private static final Statuses STATUSES = new Statuses(new Conditions(Clock.fixed(NOW, ZoneOffset.UTC)));
    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref SHOP = new Ref("web", "shop");

    private static final String SLICE = Setting.slice(
            "shop-1",
            "shop",
            "[{addresses: [10.0.0.1], targetRef: {kind: Pod, name: a}}, {addresses: [10.0.0.2], targetRef: {kind: Pod,"
                    + " name: b}}, {addresses: [10.0.0.3], targetRef: {kind: Pod, name: c}, conditions: {ready: false,"
                    + " serving: false}}]");

    private static String[] documents(String euRate, String more) {
        return new String[] {
            Setting.ZONE,
            """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: shop, generation: 1}
            spec:
              sites:
              - {name: pods, service: {name: shop}, capacity: 100}
              - {name: fixed, endpoints: [{name: fra-1, address: 192.0.2.10, capacity: 200}, {name: fra-2, address: 192.0.2.11, drain: true}]}
            %s
            """.formatted(more),
            Setting.service("shop", "shop.example.org", ", maxReplicas: 2"),
            stream("eu", "clients: {cidrs: [10.1.0.0/16]}, rate: " + euRate),
            stream("others", "rate: 180")
        };
    }

    private static String stream(String name, String more) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: %s}
            spec: {serviceRef: {name: shop}, %s}
            """.formatted(name, more);
    }

    private static Setting setting(String euRate, String more) {
        String[] documents = documents(euRate, more);
        return Setting.of(documents[0], documents[1], documents[2], documents[3], documents[4], SLICE);
    }

    /** The cluster after an operator has written what it planned. */
    private static ClusterState written(Setting setting, Plan plan) {
        ZoneStanding standing = new ZoneStanding(
                Objects.requireNonNull(plan.zones().get(ZONE)),
                new Shards(8),
                new TreeMap<>(Map.of(0, new Write.Done(42))));
        setting.pools()
                .forEach(pool -> pool.setStatus(STATUSES.pool(
                        pool,
                        Objects.requireNonNull(plan.admission().pools().get(Ref.of(pool))),
                        Optional.ofNullable(plan.pools().get(Ref.of(pool))),
                        Optional.empty(),
                        setting)));
        setting.services()
                .forEach(service -> service.setStatus(STATUSES.service(
                        service,
                        Objects.requireNonNull(plan.admission().services().get(Ref.of(service))),
                        Optional.ofNullable(plan.pools().get(SHOP)),
                        standing.part(Ref.of(service)),
                        Servers.NONE,
                        Optional.empty(),
                        plan.admission().zone(ZONE),
                        ResolverReport.NONE)));
        setting.streams()
                .forEach(stream -> stream.setStatus(STATUSES.stream(
                        stream,
                        Objects.requireNonNull(plan.admission().streams().get(Ref.of(stream))),
                        Optional.ofNullable(plan.pools().get(SHOP)),
                        standing.part(SHOP),
                        Servers.NONE,
                        Optional.empty(),
                        Optional.empty())));
        return new ClusterState(setting.zones(), setting.pools(), setting.services(), setting.streams(), NOW);
    }

    private static StatusQuo quo(Setting setting) {
        return StatusQuo.of(written(setting, setting.plan()));
    }

    @Test
    void whatIsPublishedIsReadBackAndNothingIsToChange() {
        Setting setting = setting("120", "");
        Plan plan = setting.plan();
        StatusQuo quo = StatusQuo.of(written(setting, plan));

        assertThat(quo.published()).isEqualTo(plan.records(Map.of()));
        assertThat(quo.gaps()).isEmpty();
        Outlook outlook = Outlook.of(quo, Optional.empty());
        assertThat(outlook.shifts()).isEmpty();
        assertThat(outlook.isChange()).isFalse();
        assertThat(outlook.rate()).isEqualTo(300);
        PoolPlan pool = Objects.requireNonNull(quo.pools().get(SHOP));
        PoolPlan planned = Objects.requireNonNull(plan.pools().get(SHOP));
        assertThat(pool.makespan()).isCloseTo(planned.makespan(), within(1e-4));
        assertThat(pool.replicas())
                .extracting(
                        replica -> replica.member().name(),
                        replica -> replica.member().state())
                .isEqualTo(planned.replicas().stream()
                        .map(replica ->
                                tuple(replica.member().name(), replica.member().state()))
                        .toList());
    }

    /** The shares that weights were rounded from are told where a plan from nothing comes to the same weights. */
    @Test
    void whatWasMeantIsExplained() {
        Setting setting = setting("120", "");
        PoolPlan planned = Objects.requireNonNull(setting.plan().pools().get(SHOP));
        PoolPlan explained =
                Objects.requireNonNull(quo(setting).explained().pools().get(SHOP));

        assertThat(explained.streams())
                .extracting(PoolPlan.Stream::shares)
                .isEqualTo(
                        planned.streams().stream().map(PoolPlan.Stream::shares).toList());
    }

    /** As the operator decides from its memory, so it is foreseen from what it wrote, by the same rules. */
    @ParameterizedTest
    @CsvSource({"121, ''", "40, ''", "400, ''", "120, 'maxReplicas: 1'"})
    void otherManifestsAreForeseenAsTheOperatorWouldDecide(String rate, String service) {
        Setting before = setting("120", "");
        Plan now = before.plan();
        StatusQuo quo = StatusQuo.of(written(before, now));
        String[] documents = documents(rate, "");
        String changed = service.isEmpty() ? documents[2] : Setting.service("shop", "shop.example.org", ", " + service);
        Setting after = Setting.of(documents[0], documents[1], changed, documents[3], documents[4], SLICE);
        Plan decided =
                Plan.of(after, zone -> Optional.ofNullable(now.records(Map.of()).get(zone)), Optional.of(now));

        Outlook outlook = Outlook.of(quo, Optional.of(Setting.of(changed, documents[3])));

        assertThat(outlook.next().records(Map.of())).isEqualTo(decided.records(Map.of()));
        PlanChange change = PlanChange.between(
                Objects.requireNonNull(now.pools().get(SHOP)),
                Objects.requireNonNull(decided.pools().get(SHOP)),
                NOW);
        assertThat(100 * outlook.moved() / outlook.rate()).isCloseTo(change.movedPercent(), within(1e-6));
        assertThat(outlook.shifts().isEmpty()).isEqualTo(rate.equals("121"));
    }

    @Test
    void whatIsNewAndWhatElseChangesIsSaid() {
        StatusQuo quo = quo(setting("120", ""));
        Outlook outlook = Outlook.of(
                quo,
                Optional.of(Setting.of(
                        Setting.service("shop", "shop.example.org", ", maxReplicas: 2, ttlSeconds: 60"),
                        Setting.service("blog", "blog.example.org"),
                        Setting.service("twin", "shop.example.org"))));

        assertThat(outlook.shifts())
                .extracting(Shift::hostname, Shift::stream, Shift::kind)
                .containsExactly(
                        tuple("blog.example.org", "", Shift.Kind.New),
                        tuple("shop.example.org", "eu", Shift.Kind.Changed),
                        tuple("shop.example.org", "others", Shift.Kind.Changed));
        assertThat(outlook.shifts().get(1).notes()).containsExactly("time to live: 60, was 15");
        assertThat(outlook.shifts().getFirst().moved()).isZero();
        // What is new is younger than what is there.
        assertThat(outlook.problems())
                .extracting(
                        problem -> problem.resource().name(),
                        problem -> problem.finding().reason())
                .containsExactly(tuple("twin", "HostConflict"));
    }

    /** What was learned of a replica is in proportion to what is declared, also where that changes. */
    @Test
    void learnedCapacitiesAndRampsCount() {
        Setting setting = setting("120", "");
        ClusterState state = written(setting, setting.plan());
        ReplicaPoolStatus status =
                Objects.requireNonNull(state.pools().getFirst().getStatus());
        state.pools()
                .getFirst()
                .setStatus(new ReplicaPoolStatus(
                        status.observedGeneration(),
                        status.conditions(),
                        status.replicas(),
                        status.makespan(),
                        status.average(),
                        status.lowerBound(),
                        status.optimalityGap(),
                        status.worstOverLevel(),
                        status.lastChange(),
                        status.rows().stream()
                                .map(row -> row.name().equals("a")
                                        ? new ReplicaPoolStatus.Row(
                                                "a",
                                                row.address(),
                                                row.site(),
                                                "Warming",
                                                "50",
                                                "53% of what it requests, 40 requests/s, 3.5 in flight; since"
                                                        + " 2026-01-02T03:04:05Z; held, because of no answer for 12 s",
                                                row.load(),
                                                row.level(),
                                                row.share(),
                                                "capacity of the site; estimated 50 of 100 declared, from what others"
                                                        + " have in flight; new: 25% of its share")
                                        : row)
                                .toList()));
        StatusQuo quo = StatusQuo.of(state);

        Member now = member(quo.plan(), "a");
        assertThat(now.declared()).isEqualTo(100);
        assertThat(now.capacity()).isEqualTo(50);
        assertThat(now.warmth()).isEqualTo(0.25);
        assertThat(now.load()).isEqualTo(new Member.Load.Held("no answer for 12 s", false));
        assertThat(now.measured().requests()).hasValue(40);
        assertThat(now.measured().utilisation()).hasValue(0.53);
        assertThat(now.because())
                .containsExactly(
                        "capacity of the site", "estimated 50 of 100 declared, from what others have in flight");
        String doubled = documents("120", "")[1].replace("capacity: 100}", "capacity: 200}");
        Member then = member(quo.next(Optional.of(Setting.of(doubled))), "a");
        assertThat(then.declared()).isEqualTo(200);
        assertThat(then.capacity()).isEqualTo(100);
    }

    private static Member member(Plan plan, String name) {
        return Objects.requireNonNull(plan.pools().get(SHOP)).replicas().stream()
                .map(PoolPlan.Replica::member)
                .filter(member -> member.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1.5 requests/s, 2 in flight, 9 connections, 5 users, 3 distinct, load average 2.5; a fixed sample |"
                        + " 1.5 | 2 | 9 | 5 | 3 | 2.5",
                "load average 0.25 | | | | | | 0.25",
                "7 connections; held, because of 9 users there | | | 7 | | |",
                "nothing: 404 of http://10.0.0.1/metrics, 3 users | | | | | |"
            })
    void aMeasurementIsReadBack(
            String text,
            Double requests,
            Double inFlight,
            Double connections,
            Double users,
            Double distinct,
            Double load) {
        assertThat(Shown.read(text))
                .isEqualTo(new Sample(of(requests), of(inFlight), of(connections), of(users), of(distinct), of(load)));
    }

    private static OptionalDouble of(@Nullable Double value) {
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Statuses count keys and do not show them: the zone's ConfigMaps have them. */
    @Test
    void zonesWithKeysAreReadWhole() {
        String[] documents = documents("120", "");
        Setting setting = Setting.of(
                documents[0],
                documents[1],
                documents[2],
                stream("tenants", "keys: {list: [{name: alice, rate: 40}, {name: bob, rate: 1}]}"),
                SLICE);
        ClusterState state = written(setting, setting.plan());

        assertThat(StatusQuo.of(state).unknown()).containsExactly(SHOP);
        Outlook blind = Outlook.of(StatusQuo.of(state), Optional.empty());
        assertThat(blind.shifts()).isEmpty();
        assertThat(blind.blind())
                .containsExactly(
                        Map.entry(SHOP, "the keys, or long answers, of the service web/shop are in no status"));
        assertThat(StatusQuo.of(state).zonesToReadWhole()).containsExactly(ZONE);
        assertThat(StatusQuo.of(state).shards(ZONE)).hasSize(8).contains(new Ref("web", "apportion-coredns-7"));
        assertThat(quo(setting("120", "")).zonesToReadWhole()).isEmpty();
    }

    @Test
    void aPoolThatIsNotPlannedAsItIsDeclaredIsSaid() {
        Setting setting = setting("120", "");
        ClusterState state = written(setting, setting.plan());
        state.pools().getFirst().getMetadata().setGeneration(2L);

        StatusQuo quo = StatusQuo.of(state);

        assertThat(quo.pools()).isEmpty();
        assertThat(quo.gaps())
                .containsExactly(
                        "ReplicaPool web/shop was changed, and its status is of the generation 1 before. Maybe the"
                                + " operator does not run");
        state.pools().getFirst().setStatus(null);
        assertThat(StatusQuo.of(state).gaps())
                .containsExactly(
                        "ReplicaPool web/shop has not been planned yet. Maybe the operator does not run, or does not"
                                + " watch the namespace");
    }

    /** A service that is paused is in the records as it was published, whatever its pool does. */
    @Test
    void pausedServicesStay() {
        Setting setting = setting("120", "");
        StatusQuo quo = quo(setting);
        Outlook outlook = Outlook.of(
                quo,
                Optional.of(Setting.of(
                        Setting.service("shop", "shop.example.org", ", maxReplicas: 1, paused: true"),
                        documents("10", "")[3])));

        assertThat(outlook.shifts()).isEmpty();
        ZoneRecords zone = Objects.requireNonNull(quo.published().get(ZONE));
        List<Answer> answers = zone.hosts().getFirst().streams().getFirst().answers();
        assertThat(answers).isNotEmpty();
    }

    /** Behind a Service of {@code verifyAt} the servers are known to who may read its EndpointSlices. */
    @Test
    void theServersOfAZoneAreFoundWhereTheyMayBeRead() {
        Setting setting = Setting.of(
                Setting.ZONE.replace("coreDNS: {}", "coreDNS: {}, verifyAt: {service: {name: dns, port: 53}}"),
                Setting.slice("dns-1", "dns", "[{addresses: [10.0.0.53]}, {addresses: [10.0.0.54]}]"));
        ClusterState state =
                new ClusterState(setting.zones(), setting.pools(), setting.services(), setting.streams(), NOW);
        Ref dns = new Ref("web", "dns");
        StatusQuo without = StatusQuo.of(state);
        StatusQuo with = StatusQuo.of(state.with(Map.of(), Map.of(dns, setting.endpointSlices(dns)), Map.of()));

        AdmittedZone zone = with.admission().zone(ZONE).orElseThrow();
        assertThat(without.servers(zone)).isEmpty();
        assertThat(with.servers(zone)).extracting(DnsServers::text).containsExactly("10.0.0.53:53", "10.0.0.54:53");
    }
}
