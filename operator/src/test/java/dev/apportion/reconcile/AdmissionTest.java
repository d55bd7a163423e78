package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.ShardFiles;
import dev.apportion.dns.wire.Verification;
import dev.apportion.records.ZoneRecords;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdmissionTest {

    private static final String POOL = Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}");

    private static Finding accepted(Judged<?> judged) {
        return judged.findings().getFirst();
    }

    private static Ref ref(String name) {
        return new Ref("web", name);
    }

    @Test
    void theYoungerOneTakesOverWhenTheOlderOneGoes() {
        Setting setting = Setting.of(
                        Setting.ZONE,
                        POOL,
                        Setting.service("a", "shop.example.org"),
                        Setting.service("b", "shop.example.org"))
                .created("a", "2024-01-02T00:00:00Z")
                .created("b", "2024-01-01T00:00:00Z");

        Admission before = setting.admission();
        assertThat(before.service(ref("b"))).isPresent();
        assertThat(accepted(Objects.requireNonNull(before.services().get(ref("a"))))
                        .reason())
                .isEqualTo("HostConflict");

        Admission after = setting.without("b").admission();
        assertThat(after.service(ref("a"))).isPresent();
    }

    @Test
    void theLosersClaimDoesNotOutliveTheWinnersRefusal() {
        Setting setting = Setting.of(
                        Setting.ZONE,
                        POOL,
                        Setting.service("older", "shop.example.org", ", maxReplicas: few"),
                        Setting.service("younger", "shop.example.org"))
                .created("older", "2024-01-01T00:00:00Z")
                .created("younger", "2024-01-02T00:00:00Z");

        assertThat(setting.admission().service(ref("younger"))).isPresent();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void ofSeveralOlderServicesTheOldestOneIsNamedWhateverTheOrder(long seed) {
        Setting setting = Setting.of(
                        Setting.ZONE,
                        POOL,
                        Setting.service("one", "team.example.org"),
                        Setting.service("two", "team.example.org"),
                        Setting.ZONE.replace("example-org", "team").replace("example.org", "team.example.org"))
                .created("example-org", "2024-01-01T00:00:00Z")
                .created("two", "2024-01-02T00:00:00Z")
                .created("one", "2024-01-03T00:00:00Z")
                .created("team", "2024-01-04T00:00:00Z")
                .shuffled(seed);

        Finding finding =
                accepted(Objects.requireNonNull(setting.admission().zones().get(ref("team"))));

        assertThat(finding.reason()).isEqualTo("DomainConflict");
        assertThat(finding.message()).contains("web/two");
    }

    @Test
    void aServiceThatItsZoneDoesNotLetPublishTakesNoDomain() {
        Setting setting = Setting.of(
                        Setting.ZONE
                                .replace("{from: All}", "{from: Same}")
                                .replace("{name: example-org}", "{name: example-org, namespace: dns}"),
                        POOL,
                        Setting.service("intruder", "team.example.org")
                                .replace("{name: example-org}", "{name: example-org, namespace: dns}"),
                        Setting.ZONE.replace("example-org", "team").replace("example.org", "team.example.org"))
                .created("example-org", "2024-01-01T00:00:00Z")
                .created("intruder", "2024-01-02T00:00:00Z")
                .created("team", "2024-01-03T00:00:00Z");

        assertThat(setting.admission().zone(ref("team"))).isPresent();
    }

    @Test
    void aRecordThatCannotBeServedIsLeftOutAndTheZoneGoesOn() {
        Setting setting =
                Setting.of(Setting.ZONE.replace("coreDNS: {}", """
                    coreDNS: {}, records: [
                      {name: good, type: A, values: [192.0.2.1]},
                      {name: bad, type: A, values: [10.0.0.300]},
                      {name: WWW, type: CNAME, values: [lb.example.net.]},
                      {name: www, type: TXT, values: [hello]},
                      {name: ns, type: CNAME, values: [lb.example.net.]}]\
                    """), POOL, Setting.service("shop", "shop.example.org"));

        Judged<AdmittedZone> judged =
                Objects.requireNonNull(setting.admission().zones().get(ref("example-org")));

        assertThat(judged.value().orElseThrow().fixedRecords())
                .extracting(record -> record.name() + " " + record.type())
                .containsExactlyInAnyOrder("good.example.org A", "www.example.org TXT");
        assertThat(accepted(judged).isFalse()).isTrue();
        assertThat(accepted(judged).reason()).isEqualTo("InvalidRecords");
        assertThat(accepted(judged).message())
                .contains("10.0.0.300", "www.example.org CNAME", "ns.example.org CNAME")
                .doesNotContain("good");
        assertThat(setting.admission().service(ref("shop"))).isPresent();
    }

    @Test
    void domainsAndHostsLeaveRoomForTheNamesOfSlotsAndProbes() {
        String label = "a".repeat(60);
        String longest = String.join(".", label, label, label, "abcd");
        assertThat(longest).hasSize(187);

        assertThat(zone("x" + longest).value()).isEmpty();
        assertThat(accepted(zone("x" + longest)).message()).contains("188 characters", "187 are possible");
        Setting setting = Setting.of(
                Setting.ZONE.replace("domain: example.org", "domain: " + longest),
                POOL,
                Setting.service("shop", "b".repeat(8) + "." + longest),
                Setting.service("too-long", "b".repeat(9) + "." + longest),
                """
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficStream
                metadata: {name: %s}
                spec: {serviceRef: {name: shop}, clients: {cidrs: [10.0.0.0/8]}}
                """.formatted("s".repeat(253)));
        ZoneRecords records =
                Objects.requireNonNull(setting.plan().records(Map.of()).get(ref("example-org")));
        assertThat(accepted(Objects.requireNonNull(
                                setting.admission().services().get(ref("too-long"))))
                        .message())
                .contains("197 characters", "196 are possible");
        Shards shards = new Shards(8);
        assertThat(records.hosts()).hasSize(1);
        for (int shard = 0; shard < shards.count(); shard++) {
            assertThat(ShardFiles.render(records, shards, "/etc/apportion", shard, Serial.FIRST))
                    .isInstanceOf(ShardFiles.Rendered.class);
        }
        assertThat(Verification.of(
                                records,
                                Map.of(),
                                Set.of(records.hosts().getFirst().name()),
                                0,
                                0)
                        .questions())
                .isNotEmpty();
    }

    private static Judged<AdmittedZone> zone(String domain) {
        Admission admission = Setting.of(Setting.ZONE.replace("domain: example.org", "domain: " + domain))
                .admission();
        return Objects.requireNonNull(admission.zones().get(ref("example-org")));
    }

    @Test
    void servicesAndStreamsAreFoundByWhatTheyReferTo() {
        Admission admission = Setting.of(
                        Setting.ZONE,
                        POOL,
                        Setting.service("b", "b.example.org"),
                        Setting.service("a", "a.example.org"),
                        """
                        apiVersion: apportion.dev/v1alpha1
                        kind: TrafficStream
                        metadata: {name: eu}
                        spec: {serviceRef: {name: b}, clients: {cidrs: [10.0.0.0/8]}}
                        """)
                .admission();

        assertThat(admission.servicesOf(ref("example-org")))
                .extracting(service -> service.ref().name())
                .containsExactly("a", "b");
        assertThat(admission.servicesSharing(ref("shop"))).hasSize(2);
        assertThat(admission.streamsOf(ref("b"))).hasSize(1);
        assertThat(admission.streamsOf(ref("a"))).isEmpty();
        assertThat(admission.hostIsFree("a.example.org")).isFalse();
        assertThat(admission.hostIsFree("c.example.org")).isTrue();
    }

    private static final String ROUTE53 =
            Setting.ZONE.replace("coreDNS: {}", "externalDNS: {dialect: Route53}, records: []");

    private static final String POWERDNS = Setting.ZONE.replace("coreDNS: {}", "externalDNS: {dialect: PowerDNS}");

    private static final String CLIENTS = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: eu}
        spec: {serviceRef: {name: shop}, clients: {cidrs: [10.0.0.0/8]}}
        """;

    @Test
    void clientsThatTheProviderCannotTellApartAreRefusedWithAWayOut() {
        Setting route53 = Setting.of(ROUTE53, POOL, Setting.service("shop", "shop.example.org"), CLIENTS);
        Setting powerDns = Setting.of(POWERDNS, POOL, Setting.service("shop", "shop.example.org"), CLIENTS);

        assertThat(accepted(Objects.requireNonNull(route53.admission().streams().get(ref("eu")))))
                .satisfies(finding -> {
                    assertThat(finding.isFalse()).isTrue();
                    assertThat(finding.reason()).isEqualTo("ClientsNotTold");
                    assertThat(finding.message()).contains("a host name of their own", "PowerDNS");
                });
        assertThat(powerDns.admission().stream(ref("eu"))).isPresent();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 57, 58, 59, 63})
    void anOwnershipRecordMustFitInFrontOfALabelOfAWeightedSet(int length) {
        String service = Setting.service("shop", "x".repeat(length) + ".example.org");

        assertThat(Setting.of(ROUTE53, POOL, service)
                        .admission()
                        .service(ref("shop"))
                        .isPresent())
                .isEqualTo(length <= 58);
        assertThat(Setting.of(POWERDNS, POOL, service).admission().service(ref("shop")))
                .isPresent();
    }

    @Test
    void anOwnershipRecordMustFitInFrontOfANameOfAWeightedSet() {
        // 190 characters; a key of 51 makes 242 of them, and the label of an ownership record 253.
        String service = Setting.service("shop", ("x".repeat(49) + ".").repeat(3) + "x".repeat(28) + ".example.org");
        String keys = """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: eu}
            spec: {serviceRef: {name: shop}, keys: {list: [{name: %s, rate: 1}, {name: %s, rate: 1}]}}
            """.formatted("k".repeat(51), "l".repeat(52));

        assertThat(Setting.of(ROUTE53, POOL, service, keys).admission().stream(ref("eu"))
                        .orElseThrow()
                        .keys()
                        .orElseThrow())
                .extracting(AdmittedStream.Key::name)
                .containsExactly("k".repeat(51));
        assertThat(Setting.of(POWERDNS, POOL, service, keys).admission().stream(ref("eu"))
                        .orElseThrow()
                        .keys()
                        .orElseThrow())
                .hasSize(2);
    }

    @Test
    void aWeightedSetHasAHundredMembersAtMost() {
        Setting many = Setting.of(ROUTE53, POOL, Setting.service("shop", "shop.example.org", ", maxReplicas: 101"));
        Setting most = Setting.of(ROUTE53, POOL, Setting.service("shop", "shop.example.org", ", maxReplicas: 100"));
        Setting silent = Setting.of(ROUTE53, POOL, Setting.service("shop", "shop.example.org"));

        assertThat(many.admission().service(ref("shop"))).isEmpty();
        assertThat(most.admission().service(ref("shop"))).isPresent();
        assertThat(Demands.of(ref("shop"), silent.admission()))
                .singleElement()
                .satisfies(demand -> assertThat(demand.maxReplicas()).hasValue(100));
    }

    @Test
    void otherRecordsOfAZoneStayAtTheProvider() {
        Setting setting =
                Setting.of(ROUTE53.replace("records: []", "records: [{name: www, type: A, values: [192.0.2.9]}]"));

        Judged<AdmittedZone> judged =
                Objects.requireNonNull(setting.admission().zones().get(ref("example-org")));
        assertThat(judged.value().orElseThrow().fixedRecords()).isEmpty();
        assertThat(accepted(judged).reason()).isEqualTo("InvalidRecords");
    }
}
