package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.reconcile.ZoneComposer.Outcome;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.reconcile.ZoneStanding.Write;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FindingsTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref SHOP = new Ref("web", "shop");
    private static final Shards SHARDS = new Shards(8);
    private static final Servers SERVERS =
            new Servers(true, List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 53)));
    private static final Verdict GOOD = new Verdict.Verified(256);
    private static final String POOL = Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}");

    private static final ZoneComposer.Composed COMPOSED =
            Objects.requireNonNull(Setting.of(Setting.ZONE, POOL, Setting.service("shop", "shop.example.org"))
                    .plan()
                    .zones()
                    .get(ZONE));

    private static ZoneStanding standing(Write write) {
        SortedMap<Integer, Write> writes = new TreeMap<>();
        for (int shard = 0; shard < SHARDS.count(); shard++) {
            writes.put(shard, new Write.Done(7));
        }
        writes.put(SHARDS.of("shop.example.org"), write);
        return new ZoneStanding(COMPOSED, SHARDS, writes);
    }

    private static Optional<Verified> verified(Map<String, Verdict> servers) {
        return Optional.of(new Verified(COMPOSED.records(), new TreeMap<>(servers)));
    }

    private static Verdict lags(String host) {
        return new Verdict.Lags(
                List.of(new Verdict.Difference(host, "", host + " A", "192.0.2.1", "192.0.2.9", false)));
    }

    private static void says(Finding finding, Finding.Status status, String reason, String... words) {
        assertThat(finding.status()).isEqualTo(status);
        assertThat(finding.reason()).isEqualTo(reason);
        for (String word : words) {
            assertThat(finding.message()).contains(word);
        }
    }

    private static Finding allocated(String... documents) {
        return Findings.allocated(
                Objects.requireNonNull(Setting.of(documents).plan().pools().get(SHOP)));
    }

    @Test
    void aPoolIsAllocatedOrSaysWhyNot() {
        String service = Setting.service("shop", "shop.example.org");
        String narrow = """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: narrow}
            spec: {serviceRef: {name: shop}, clients: {cidrs: [10.0.0.0/8]}, sites: [other]}
            """;

        says(allocated(Setting.ZONE, POOL, service), Finding.Status.True, "Allocated", "1 streams over 1 replicas");
        says(allocated(POOL), Finding.Status.True, "NoStreams");
        says(
                allocated(Setting.ZONE, POOL.replace("address", "drain: true, address"), service),
                Finding.Status.False,
                "NoReadyReplicas");
        says(
                allocated(Setting.ZONE, POOL, service, narrow),
                Finding.Status.False,
                "NoReplicaForStream",
                "web/shop narrow");
    }

    @Test
    void moreThanEightNamesAreCounted() {
        StringBuilder endpoints = new StringBuilder();
        for (int i = 0; i < 12; i++) {
            endpoints.append("{name: r%02d, address: 192.0.2.%d},".formatted(i, i));
        }
        Finding finding = allocated(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [" + endpoints + "]}"),
                Setting.service("shop", "shop.example.org", ", maxReplicas: 2"));

        says(
                finding,
                Finding.Status.True,
                "ReplicasUnused",
                "10 of 12 ready replicas",
                "r09 and 2 more",
                "maxReplicas");
    }

    @Test
    void aServiceWithoutEndpointSlicesIsNotFound() {
        Setting setting = Setting.of(
                Setting.pool("shop", "{name: a, service: {name: here}}, {name: b, service: {name: gone}}"),
                Setting.slice("here-1", "here", "[]"));

        Finding finding = Findings.missingServices(setting.onlyPool(), setting).orElseThrow();

        says(finding, Finding.Status.False, "EndpointSlicesNotFound", "Service gone in the namespace web");
        assertThat(finding.message()).doesNotContain("here");
    }

    @Test
    void aZoneIsProgrammedWhenEveryShardIsWritten() {
        says(Findings.programmed(standing(new Write.Done(8))), Finding.Status.True, "Programmed", "8 ConfigMaps");
        says(
                Findings.programmed(standing(new Write.Refused("TooLarge", "1 MiB is too much"))),
                Finding.Status.False,
                "TooLarge",
                "shard " + SHARDS.of("shop.example.org"),
                "1 MiB is too much",
                "what was published stays");
        says(Findings.programmed(standing(new Write.Failed("503"))), Finding.Status.False, "WriteFailed", "503");
        says(Findings.programmed(standing(new Write.Fenced("422"))), Finding.Status.False, "Fenced", "422");
    }

    @Test
    void aServiceIsProgrammedWhenItsOwnShardIs() {
        says(Findings.programmed(standing(new Write.Done(8)).part(SHOP)), Finding.Status.True, "Programmed");
        says(Findings.programmed(standing(new Write.Failed("503")).part(SHOP)), Finding.Status.False, "WriteFailed");
        says(Findings.programmed(Optional.empty()), Finding.Status.Unknown, "Pending");
        says(
                Findings.programmed(part(new Outcome.Kept("Paused", "it stays"))),
                Finding.Status.True,
                "Paused",
                "it stays");
        says(
                Findings.programmed(part(new Outcome.Absent("PoolNotReady", "nothing"))),
                Finding.Status.False,
                "PoolNotReady");
    }

    private static Optional<ZoneStanding.Part> part(Outcome outcome) {
        return Optional.of(new ZoneStanding.Part(outcome, Optional.empty(), Optional.empty()));
    }

    @Test
    void aZoneIsVerifiedWhenEveryServerAnswersEverythingAsPublished() {
        ZoneStanding written = standing(new Write.Done(8));
        Map<String, Verdict> silent = Map.of("a:53", GOOD, "b:53", new Verdict.Silent("no response"));
        Map<String, Verdict> lagging =
                Map.of("a:53", lags("shop.example.org"), "b:53", new Verdict.Silent("no response"));

        says(Findings.verified(written, Servers.NONE, Optional.empty()), Finding.Status.Unknown, "NoServers");
        says(
                Findings.verified(written, new Servers(true, List.of()), Optional.empty()),
                Finding.Status.Unknown,
                "NoServers",
                "no ready endpoint");
        says(Findings.verified(written, SERVERS, Optional.empty()), Finding.Status.Unknown, "Pending");
        says(
                Findings.verified(written, SERVERS, verified(Map.of("a:53", GOOD, "b:53", GOOD))),
                Finding.Status.True,
                "Verified",
                "a:53, b:53");
        says(
                Findings.verified(written, SERVERS, verified(silent)),
                Finding.Status.False,
                "ServerSilent",
                "b:53 does not answer: no response");
        says(
                Findings.verified(written, SERVERS, verified(lagging)),
                Finding.Status.False,
                "ServerLags",
                "a:53 answers 192.0.2.9 to shop.example.org A, not 192.0.2.1",
                "maybe it could not load its configuration");
        Verdict older = new Verdict.Lags(List.of(
                new Verdict.Difference("example.org", "", "example.org SOA", "the serial 9", "the serial 8", true)));
        assertThat(Findings.verified(written, SERVERS, verified(Map.of("a:53", older)))
                        .message())
                .isEqualTo("a:53 answers the serial 8 to example.org SOA, not the serial 9");
        says(
                Findings.verified(standing(new Write.Failed("503")), SERVERS, verified(Map.of("a:53", GOOD))),
                Finding.Status.Unknown,
                "Pending");
    }

    @Test
    void whereServersDrawTheirAnswersShowWhetherWeightsAreHonoured() {
        Setting setting = Setting.of(
                Setting.ZONE.replace("coreDNS: {}", "externalDNS: {dialect: Route53}"),
                POOL,
                Setting.service("shop", "shop.example.org"));
        ZoneComposer.Composed composed =
                Objects.requireNonNull(setting.plan().zones().get(ZONE));
        ZoneStanding written = ZoneStanding.inEndpoints(composed, new TreeMap<>(Map.of(SHOP, new Write.Done(0))));
        Verdict even = new Verdict.IgnoresWeights(List.of(new Verdict.Difference(
                "shop.example.org", "", "200 questions for shop.example.org A", "150, 50", "100, 100", false)));

        says(drawn(setting, written, composed, GOOD), Finding.Status.True, "WeightsHonored");
        says(
                drawn(setting, written, composed, even),
                Finding.Status.False,
                "ProviderIgnoresWeights",
                "a:53 answers 100, 100 to 200 questions",
                "Maybe the provider behind ExternalDNS knows no weights");
        says(drawn(setting, written, composed, lags("shop.example.org")), Finding.Status.Unknown, "ServerLags");
        says(
                Findings.verified(
                        written,
                        SERVERS,
                        Optional.of(new Verified(
                                composed.records(), new TreeMap<>(Map.of("a:53", lags("shop.example.org")))))),
                Finding.Status.False,
                "ServerLags",
                "maybe ExternalDNS has not applied it");
    }

    private static Finding drawn(
            Setting setting, ZoneStanding standing, ZoneComposer.Composed composed, Verdict verdict) {
        return Findings.weightsHonored(
                setting.admission().zone(ZONE).orElseThrow(),
                standing,
                SERVERS,
                Optional.of(new Verified(composed.records(), new TreeMap<>(Map.of("a:53", verdict)))),
                ResolverReport.NONE);
    }

    @Test
    void whatIsPutOffIsProgrammedAsLongAsAnythingIsPublished() {
        ZoneStanding waiting = standing(new Write.Deferred(true, "the answers before stay"));
        ZoneStanding nothing = standing(new Write.Deferred(false, "this service waits for its turn"));

        says(Findings.programmed(waiting), Finding.Status.True, "Deferred", "the answers before stay");
        says(Findings.programmed(waiting.part(SHOP)), Finding.Status.True, "Deferred");
        says(Findings.programmed(nothing), Finding.Status.False, "Deferred", "waits for its turn");
        assertThat(waiting.isProgrammed()).isTrue();
        assertThat(waiting.isPutOff()).isTrue();
        assertThat(waiting.isWritten()).isFalse();
        assertThat(nothing.isProgrammed()).isFalse();
        assertThat(standing(new Write.Failed("503")).isProgrammed()).isFalse();
        assertThat(standing(new Write.Failed("503")).isPutOff()).isFalse();
        assertThat(standing(new Write.Done(8)).isProgrammed()).isTrue();
    }

    @Test
    void aServiceIsVerifiedByWhatConcernsItAlone() {
        Optional<ZoneStanding.Part> part = standing(new Write.Done(8)).part(SHOP);

        says(
                Findings.verified(part, SERVERS, verified(Map.of("a:53", lags("cart.example.org")))),
                Finding.Status.True,
                "Verified");
        says(
                Findings.verified(part, SERVERS, verified(Map.of("a:53", lags("shop.example.org")))),
                Finding.Status.False,
                "ServerLags");
        says(
                Findings.verified(part(new Outcome.Absent("x", "x")), SERVERS, verified(Map.of("a:53", GOOD))),
                Finding.Status.Unknown,
                "NotPublished");
        Optional<Verified> older =
                Optional.of(new Verified(COMPOSED.records().withHosts(List.of()), new TreeMap<>(Map.of("a:53", GOOD))));
        says(Findings.verified(part, SERVERS, older), Finding.Status.Unknown, "Pending");
    }
}
