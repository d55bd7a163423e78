package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.allocation.Sample;
import dev.apportion.api.DNSZoneStatus;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.api.TrafficServiceStatus;
import dev.apportion.api.TrafficStreamStatus;
import dev.apportion.dns.Shards;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.reconcile.ZoneStanding.Write;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatusesTest {

    private static final Ref SHOP = new Ref("web", "shop");
    private static final Shards SHARDS = new Shards(8);
    private static final Statuses STATUSES =
            new Statuses(new Conditions(Clock.fixed(Instant.parse("2024-01-01T00:00:00Z"), ZoneOffset.UTC)));

    private static final String STREAM = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: eu}
        spec: {serviceRef: {name: shop}, clients: {cidrs: [10.0.0.0/8]}, rate: 90}
        """;

    private static Setting setting(int replicas) {
        String endpoints = IntStream.rangeClosed(1, replicas)
                .mapToObj(i -> "{name: r%02d, address: 192.0.2.%d, capacity: 30}".formatted(i, i))
                .collect(Collectors.joining(","));
        return Setting.of(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [" + endpoints + "]}"),
                Setting.service("shop", "shop.example.org"),
                STREAM);
    }

    private static Optional<ZoneStanding> standing(Plan plan) {
        ZoneComposer.Composed composed = Objects.requireNonNull(plan.zones().get(new Ref("web", "example-org")));
        return Optional.of(new ZoneStanding(composed, SHARDS, new TreeMap<>(java.util.Map.of(0, new Write.Done(42)))));
    }

    private static Optional<AdmittedZone> zone(Plan plan) {
        return Objects.requireNonNull(plan.admission().zones().get(new Ref("web", "example-org")))
                .value();
    }

    private static String status(List<Condition> conditions, String type) {
        return conditions.stream()
                .filter(condition -> condition.getType().equals(type))
                .map(condition -> condition.getStatus() + " " + condition.getReason())
                .findFirst()
                .orElse("none");
    }

    @Test
    void aPoolShowsFiftyRowsAndCountsAll() {
        Setting setting = setting(60);
        Plan plan = setting.plan();

        ReplicaPoolStatus status = STATUSES.pool(
                setting.pools().getFirst(),
                Objects.requireNonNull(plan.admission().pools().get(SHOP)),
                Optional.ofNullable(plan.pools().get(SHOP)),
                Optional.of(new PlanChange(Instant.parse("2024-01-01T00:00:00.9Z"), 100.0 / 3, "ReplicasChanged")),
                setting);

        assertThat(status.rows()).hasSize(50).first().satisfies(row -> {
            assertThat(row.name()).isEqualTo("r01");
            assertThat(row.state()).isEqualTo("Ready");
            assertThat(row.capacity()).isEqualTo("30");
        });
        assertThat(status.replicas()).isEqualTo(new ReplicaPoolStatus.Replicas(60, 60, 0, 0, 0));
        assertThat(status.lastChange())
                .isEqualTo(new ReplicaPoolStatus.LastChange("2024-01-01T00:00:00Z", "33.3333", "ReplicasChanged"));
        assertThat(status.average()).isEqualTo("0.0506"); // 91 requests/s over 1800
        assertThat(status(status.conditions(), "Allocated")).isEqualTo("True Allocated");
        assertThat(status(status.conditions(), "LoadAvailable")).isEqualTo("Unknown NoSource");
        assertThat(status(status.conditions(), "Ready")).isEqualTo("True Ready");
    }

    @Test
    void aPoolShowsItsSamplesAndWhatThePolicyMadeOfThem() {
        Setting setting = Setting.of(Setting.ZONE, """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: shop}
            spec:
              sites:
              - name: main
                endpoints:
                - name: a
                  address: 192.0.2.1
                  measured: {requests: "1500m", inFlight: 2, connections: 9, users: 5, uniqueUsers: 3, loadAverage: "2.5"}
                - {name: b, address: 192.0.2.2}
                - {name: c, address: 192.0.2.3, drain: true}
              policy: {type: Rating}
            """, Setting.service("shop", "shop.example.org"));
        Plan plan = setting.plan();

        ReplicaPoolStatus status = STATUSES.pool(
                setting.pools().getFirst(),
                Objects.requireNonNull(plan.admission().pools().get(SHOP)),
                Optional.ofNullable(plan.pools().get(SHOP)),
                Optional.empty(),
                setting);

        assertThat(status.rows())
                .extracting(ReplicaPoolStatus.Row::measured)
                .containsExactly(
                        "1.5 requests/s, 2 in flight, 9 connections, 5 users, 3 distinct, load average 2.5; a fixed"
                                + " sample",
                        null,
                        null);
        assertThat(status.rows())
                .extracting(ReplicaPoolStatus.Row::because)
                .containsExactly(
                        "capacity of the site; rating 1090: 5 users, 3 distinct, load average 2.5",
                        "capacity of the site; rating 10000: silent, users and load average not measured",
                        "capacity of the site");
        assertThat(status.replicas()).isEqualTo(new ReplicaPoolStatus.Replicas(3, 2, 0, 1, 1));
        assertThat(status.conditions())
                .filteredOn(condition -> condition.getType().equals("LoadAvailable"))
                .extracting(condition ->
                        condition.getStatus() + " " + condition.getReason() + ": " + condition.getMessage())
                .containsExactly(
                        "True FixedSamples: spec.sites has samples of 1 of 2 ready replicas; nothing is measured"
                                + " anew");
    }

    @Test
    void aRefusedPoolSaysWhyAndNoNumbers() {
        Setting setting = Setting.of(Setting.pool("shop", ""));

        ReplicaPoolStatus status = STATUSES.pool(
                setting.pools().getFirst(),
                Objects.requireNonNull(setting.admission().pools().get(SHOP)),
                Optional.empty(),
                Optional.empty(),
                setting);

        assertThat(status(status.conditions(), "Accepted")).isEqualTo("False Unreadable");
        assertThat(status(status.conditions(), "Allocated")).isEqualTo("Unknown NotAccepted");
        assertThat(status(status.conditions(), "Ready")).isEqualTo("False Unreadable");
        assertThat(status.makespan()).isNull();
        assertThat(status.rows()).isEmpty();
    }

    @Test
    void anEmptySourceIsSaidInsteadOfResolvedRefs() {
        Setting setting = Setting.of(Setting.pool("shop", "{name: main, service: {name: gone}}"));
        Plan plan = setting.plan();

        ReplicaPoolStatus status = STATUSES.pool(
                setting.pools().getFirst(),
                Objects.requireNonNull(plan.admission().pools().get(SHOP)),
                Optional.ofNullable(plan.pools().get(SHOP)),
                Optional.of(new PlanChange(Instant.parse("2024-01-01T00:00:00.9Z"), 100.0 / 3, "ReplicasChanged")),
                setting);

        assertThat(status.conditions()).extracting(Condition::getType).doesNotHaveDuplicates();
        assertThat(status(status.conditions(), "ResolvedRefs")).isEqualTo("False EndpointSlicesNotFound");
    }

    @Test
    void aServiceShowsItsImplicitStreamAndAStreamItsOwn() {
        Setting setting = setting(60);
        Plan plan = setting.plan();
        Optional<PoolPlan> pool = Optional.ofNullable(plan.pools().get(SHOP));
        Optional<ZoneStanding.Part> part = standing(plan).orElseThrow().part(SHOP);

        TrafficServiceStatus service = STATUSES.service(
                setting.services().getFirst(),
                Objects.requireNonNull(plan.admission().services().get(SHOP)),
                pool,
                part,
                Servers.NONE,
                Optional.empty(),
                zone(plan),
                ResolverReport.NONE);
        TrafficStreamStatus stream = STATUSES.stream(
                setting.streams().getFirst(),
                Objects.requireNonNull(plan.admission().streams().get(new Ref("web", "eu"))),
                pool,
                part,
                Servers.NONE,
                Optional.empty(),
                Optional.empty());

        assertThat(service.rate()).isEqualTo("1");
        assertThat(service.answers())
                .hasSize(50)
                .allSatisfy(answer -> assertThat(answer.weight()).isPositive());
        assertThat(status(service.conditions(), "Ready")).isEqualTo("True Ready");
        assertThat(status(service.conditions(), "WeightsHonored")).isEqualTo("Unknown NoResolvers");
        assertThat(stream.rate()).isEqualTo("90");
        assertThat(stream.answers()).hasSize(50);
        assertThat(status(stream.conditions(), "Verified")).isEqualTo("Unknown NoServers");
    }

    @Test
    void sharesAreThoseOfTheFamily() {
        Setting setting =
                Setting.of(Setting.ZONE, Setting.pool("shop", """
                    {name: main, endpoints: [{name: a, addresses: [192.0.2.1, "2001:db8::1"], capacity: 300},
                    {name: b, address: 192.0.2.2, capacity: 100}]}\
                    """), Setting.service("shop", "shop.example.org"));
        Plan plan = setting.plan();

        TrafficServiceStatus status = STATUSES.service(
                setting.services().getFirst(),
                Objects.requireNonNull(plan.admission().services().get(SHOP)),
                Optional.empty(),
                standing(plan).orElseThrow().part(SHOP),
                Servers.NONE,
                Optional.empty(),
                zone(plan),
                ResolverReport.NONE);

        assertThat(status.answers())
                .extracting(answer -> answer.address() + " " + answer.replica() + " " + answer.share())
                .containsExactly("192.0.2.1 a 0.75", "192.0.2.2 b 0.25", "2001:db8::1 a 1");
    }

    @Test
    void aZoneCountsItsServicesAndStreamsAndShowsItsSerial() {
        Setting setting = setting(2);
        Plan plan = setting.plan();

        DNSZoneStatus status = STATUSES.zone(
                setting.zones().getFirst(),
                Objects.requireNonNull(plan.admission().zones().get(new Ref("web", "example-org"))),
                Optional.empty(),
                standing(plan),
                Servers.NONE,
                Optional.empty(),
                ResolverReport.NONE);

        assertThat(status.services()).isEqualTo(1);
        assertThat(status.streams()).isEqualTo(2);
        assertThat(status.serial()).isEqualTo(42);
        assertThat(status(status.conditions(), "Ready")).isEqualTo("True Ready");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "100, 100",
        "1000000000000, 1000000000000",
        "0.5, 0.5",
        "0.33333333, 0.3333",
        "0.00004, 0",
        "0.00006, 0.0001",
        "1e-300, 0",
        "2.50000, 2.5",
        "-0.0, 0"
    })
    void numbersAreDecimalsWithoutExponent(double value, String text) {
        assertThat(Statuses.decimal(value)).isEqualTo(text);
    }

    /** The time stays as long as the values do: another one at each look would be a write at each look. */
    @Test
    void whatWasMeasuredHasTheTimeSinceWhenItIsSo() {
        Setting setting = setting(1);

        assertThat(measured(setting, "12:00:00", 3, new Member.Load.Measured()))
                .isEqualTo("3 in flight; since 2024-01-01T12:00:00Z");
        assertThat(measured(setting, "12:00:10", 3, new Member.Load.Measured()))
                .isEqualTo("3 in flight; since 2024-01-01T12:00:00Z");
        assertThat(measured(setting, "12:00:20", 3, new Member.Load.Held("no answer", false)))
                .isEqualTo("3 in flight; since 2024-01-01T12:00:00Z; held, because of no answer");
        assertThat(measured(setting, "12:00:30", 3, new Member.Load.Measured()))
                .isEqualTo("3 in flight; since 2024-01-01T12:00:00Z");
        assertThat(measured(setting, "12:00:40", 30, new Member.Load.Measured()))
                .isEqualTo("30 in flight; since 2024-01-01T12:00:40Z");
    }

    private static @Nullable String measured(Setting setting, String time, int inFlight, Member.Load load) {
        ReplicaPool pool = setting.pools().getFirst();
        Plan plan = setting.plan();
        PoolPlan planned = Objects.requireNonNull(plan.pools().get(SHOP));
        Member member = planned.replicas().getFirst().member();
        OptionalDouble none = OptionalDouble.empty();
        PoolPlan seen = PoolPlanner.plan(
                Objects.requireNonNull(plan.admission().pools().get(SHOP))
                        .value()
                        .orElseThrow(),
                List.of(member.measured(
                        load,
                        new Sample(none, OptionalDouble.of(inFlight), none, none, none, none),
                        member.capacity())),
                List.of(),
                new Past(Optional.empty(), java.util.Map.of(), false));
        Clock clock = Clock.fixed(Instant.parse("2024-01-01T" + time + "Z"), ZoneOffset.UTC);
        ReplicaPoolStatus status = new Statuses(new Conditions(clock))
                .pool(
                        pool,
                        Objects.requireNonNull(plan.admission().pools().get(SHOP)),
                        Optional.of(seen),
                        Optional.empty(),
                        setting);
        pool.setStatus(status);
        return status.rows().getFirst().measured();
    }
}
