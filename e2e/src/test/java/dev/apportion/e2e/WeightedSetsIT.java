package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.HostedZone.Change;
import dev.apportion.e2e.HostedZone.RecordSet;
import dev.apportion.e2e.HostedZone.Update;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Through the real ExternalDNS, Route 53 is never asked for what it refuses, nor for anything without need. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WeightedSetsIT {

    private static final String DOMAIN = "aws.example";

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: aws}
        spec: {domain: aws.example, ttlSeconds: 30, externalDNS: {dialect: Route53}}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Kubectl kubectl;

    @SuppressWarnings("NullAway.Init") // set before each test
    private HostedZone provider;

    @SuppressWarnings("NullAway.Init") // set before each test
    private ExternalDns externalDns;

    @BeforeAll
    void start(ApiServer apiServer, Kubectl ownKubectl, @TempDir Path folder) throws IOException {
        server = apiServer;
        kubectl = ownKubectl;
        ExternalDns.installDefinition(apiServer);
        product = Product.start(apiServer, ownKubectl, folder, "--route53-interval", "PT0.5S");
        product.apply(ZONE);
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    @BeforeEach
    void startProvider() throws IOException {
        provider = HostedZone.start(DOMAIN);
        externalDns = startExternalDns(kubectl, "first");
    }

    @AfterEach
    void stopProvider(TestInfo test) throws IOException {
        product.kubectl("delete", "trafficservices,replicapools", "--all");
        product.await(
                "the end of all DNSEndpoints",
                () -> product.kubectl("get", "dnsendpoints", "-o", "name").isBlank());
        externalDns.close();
        List<Change> changes = provider.changes();
        System.out.printf(
                "%s: %d looks, %d changes (%d records made, %d updated, %d removed), refused: %s%n",
                test.getDisplayName(),
                provider.looks(),
                changes.size(),
                changes.stream().mapToInt(change -> change.created().size()).sum(),
                changes.stream().mapToInt(change -> change.updated().size()).sum(),
                changes.stream().mapToInt(change -> change.deleted().size()).sum(),
                provider.refusals());
        provider.close();
    }

    private ExternalDns startExternalDns(Kubectl of, String owner) throws IOException {
        return ExternalDns.start(
                of,
                Map.of(
                        "AWS_ENDPOINT_URL_ROUTE_53", provider.url(),
                        "AWS_ACCESS_KEY_ID", "nobody",
                        "AWS_SECRET_ACCESS_KEY", "nothing",
                        "AWS_REGION", "us-east-1"),
                "--provider=aws",
                "--aws-batch-change-interval=0s",
                "--registry=txt",
                "--txt-owner-id=" + owner,
                "--txt-prefix=%{record_type}-owner.",
                "--managed-record-types=A",
                "--managed-record-types=AAAA");
    }

    private void applyPool(String... endpoints) {
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: shop}
            spec: {sites: [{name: main, endpoints: [%s]}], behavior: {cooldownSeconds: 0}}
            """.formatted(String.join(", ", endpoints)));
    }

    private void applyService(String name, String host) {
        product.apply(service(name, host));
    }

    private static String service(String name, String host) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %s}
            spec: {zoneRef: {name: aws}, hostname: %s, poolRef: {name: shop}}
            """.formatted(name, host);
    }

    private void awaitWeights(String host, String type, Map<String, Integer> weights) {
        product.await(
                () -> Map.entry(provider.weights(host, type), provider.refusals()),
                found -> found.getKey().equals(weights),
                host + " " + type + " " + weights);
    }

    /** Lets everything be looked at some times more. */
    private void awaitLooks(int more) {
        int before = provider.looks();
        product.await("%d more looks".formatted(more), () -> provider.looks() >= before + more);
    }

    @Test
    void theFirstWriteIsWeightedAndTenLooksLaterNothingHasChanged() {
        applyPool("{name: a, addresses: [192.0.2.1, \"2001:DB8:0::1\"]}");
        applyService("one", "one.aws.example");
        awaitWeights("one.aws.example", "A", Map.of("192.0.2.1", 1));
        awaitWeights("one.aws.example", "AAAA", Map.of("2001:db8::1", 1));
        List<Change> changes = provider.changes();
        String version = version("one");

        awaitLooks(10);

        assertThat(provider.changes()).isEqualTo(changes);
        assertThat(provider.refusals()).isEmpty();
        assertThat(version("one")).isEqualTo(version);
        product.awaitReady("trafficservice/one", "dnszone/aws");
    }

    /** What the operator wrote; ExternalDNS writes the status. */
    private String version(String service) {
        return product.kubectl(
                "get",
                "dnsendpoints",
                "-o",
                "jsonpath={.items[?(@.metadata.ownerReferences[0].name==\"%s\")].metadata.generation}"
                        .formatted(service));
    }

    @Test
    void anotherWeightIsAnUpdateOfTheWeightAlone() {
        applyPool("{name: a, address: 192.0.2.1, capacity: 100}", "{name: b, address: 192.0.2.2, capacity: 100}");
        applyService("two", "two.aws.example");
        awaitWeights("two.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.2", 1));
        int before = provider.changes().size();

        product.setCapacity("shop", 300);

        awaitWeights("two.aws.example", "A", Map.of("192.0.2.1", 3, "192.0.2.2", 1));
        List<Change> changes =
                provider.changes().subList(before, provider.changes().size());
        assertThat(changes).allSatisfy(change -> {
            assertThat(change.created()).isEmpty();
            assertThat(change.deleted()).isEmpty();
            assertThat(change.updated())
                    .allSatisfy(update -> assertThat(update.after().withoutWeight())
                            .isEqualTo(update.before().withoutWeight()));
        });
        assertThat(changes.stream()
                        .flatMap(change -> change.updated().stream())
                        .map(Update::after)
                        .map(RecordSet::key))
                .filteredOn(key -> !key.isOwnership())
                .containsExactly(new HostedZone.Key("two.aws.example", "A", "192.0.2.1"));
        assertThat(provider.refusals()).isEmpty();
    }

    @Test
    void fromOneToTwoAndBackNoRecordIsConverted() {
        String a = "{name: a, address: 192.0.2.1}";
        applyPool(a);
        applyService("scale", "scale.aws.example");
        awaitWeights("scale.aws.example", "A", Map.of("192.0.2.1", 1));
        applyPool(a, "{name: b, address: 192.0.2.2}");
        awaitWeights("scale.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.2", 1));
        applyPool(a);
        awaitWeights("scale.aws.example", "A", Map.of("192.0.2.1", 1));

        assertThat(provider.refusals()).isEmpty();
        assertThat(provider.changes().stream()
                        .flatMap(change -> Stream.concat(change.created().stream(), change.deleted().stream())))
                .isNotEmpty()
                .allSatisfy(key -> assertThat(key.setIdentifier()).isNotEmpty());
        assertThat(provider.changes().stream().flatMap(change -> change.deleted().stream()))
                .isNotEmpty()
                .allSatisfy(key -> assertThat(key.setIdentifier()).isEqualTo("192.0.2.2"));
    }

    @Test
    void anotherNameOfAReplicaLeavesNothingBehind() {
        applyPool("{name: a, address: 192.0.2.1}", "{name: b, address: 192.0.2.2}");
        applyService("rename", "rename.aws.example");
        awaitWeights("rename.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.2", 1));
        Map<HostedZone.Key, RecordSet> before = provider.records();
        int changes = provider.changes().size();

        applyPool("{name: a, address: 192.0.2.1}", "{name: c, address: 192.0.2.2}");
        product.await(
                () -> product.kubectl("get", "trafficservice/rename", "-o", "jsonpath={.status.answers[*].replica}"),
                "a c"::equals,
                "the other name");
        awaitLooks(5);

        assertThat(provider.records()).isEqualTo(before);
        assertThat(provider.changes()).hasSize(changes);
    }

    @Test
    void aReplacedReplicaLeavesNothingBehind() {
        applyPool("{name: a, address: 192.0.2.1}", "{name: b, address: 192.0.2.2}");
        applyService("replace", "replace.aws.example");
        awaitWeights("replace.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.2", 1));

        applyPool("{name: a, address: 192.0.2.1}", "{name: b, address: 192.0.2.3}");

        awaitWeights("replace.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.3", 1));
        assertThat(provider.records().keySet())
                .extracting(HostedZone.Key::setIdentifier)
                .containsOnly("192.0.2.1", "192.0.2.3");
        assertThat(provider.records()).hasSize(4);
    }

    @Test
    void theEndOfAServiceLeavesWhatWasThereBefore() {
        provider.put("www.aws.example", "A", "198.51.100.1");
        provider.put("aws.example", "TXT", "\"v=spf1 -all\"");
        provider.put("taken.aws.example", "A", "198.51.100.2");
        Map<HostedZone.Key, RecordSet> before = provider.records();
        applyPool("{name: a, address: 192.0.2.1}", "{name: b, address: 192.0.2.2}");
        applyService("passing", "passing.aws.example");
        awaitWeights("passing.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.2", 1));

        product.kubectl("delete", "trafficservice/passing");

        product.await(provider::records, before::equals, "what was there before");
        assertThat(provider.refusals()).isEmpty();
    }

    @Test
    void twoInstallationsInOneZoneLeaveEachOthersRecordsAlone(@TempDir Path folder) throws IOException {
        String neighbour = server.newNamespace();
        Kubectl other = server.kubectl(neighbour);
        applyPool("{name: a, address: 192.0.2.1}");
        applyService("mine", "mine.aws.example");
        applyService("shared", "shared.aws.example");
        awaitWeights("shared.aws.example", "A", Map.of("192.0.2.1", 1));
        try (Product second = Product.start(server, other, folder, "--route53-interval", "PT0.5S");
                ExternalDns secondDns = startExternalDns(other, "second")) {
            second.apply(ZONE);
            second.apply("""
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: shop}
                spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.9}]}]}
                """);
            second.apply(service("theirs", "theirs.aws.example"));
            second.apply(service("shared", "shared.aws.example"));
            awaitWeights("theirs.aws.example", "A", Map.of("192.0.2.9", 1));
            awaitWeights("shared.aws.example", "A", Map.of("192.0.2.1", 1, "192.0.2.9", 1));
            Map<HostedZone.Key, RecordSet> both = provider.records();
            awaitLooks(10);
            assertThat(provider.records()).as(secondDns.log()).isEqualTo(both);

            second.kubectl("delete", "trafficservices", "--all");

            awaitWeights("shared.aws.example", "A", Map.of("192.0.2.1", 1));
            awaitWeights("theirs.aws.example", "A", Map.of());
            assertThat(provider.weights("mine.aws.example", "A")).isEqualTo(Map.of("192.0.2.1", 1));
            second.kubectl("delete", "dnszone/aws");
        } finally {
            server.deleteNamespace(neighbour);
        }
        assertThat(provider.refusals()).isEmpty();
    }

    @Test
    void namesOfAllKindsArrive() {
        applyPool("{name: a, address: 192.0.2.1}");
        Map<String, String> names = Map.of(
                "apex", "aws.example",
                "upper", "Upper.AWS.Example.",
                "idn", "bücher.aws.example",
                "long", "x".repeat(58) + ".aws.example",
                "deep", "a.b.c.aws.example");
        names.forEach(this::applyService);
        applyService("longer", "x".repeat(59) + ".aws.example");

        for (String host : Set.of(
                "aws.example",
                "upper.aws.example",
                "xn--bcher-kva.aws.example",
                "x".repeat(58) + ".aws.example",
                "a.b.c.aws.example")) {
            awaitWeights(host, "A", Map.of("192.0.2.1", 1));
        }
        product.awaitCondition(
                "trafficservice/longer", "Accepted", "False InvalidSpec: spec.hostname: the first label");
        List<Change> changes = provider.changes();
        awaitLooks(5);
        assertThat(provider.changes()).isEqualTo(changes);
        assertThat(provider.refusals()).isEmpty();
        assertThat(provider.records().keySet().stream()
                        .filter(key -> !key.isOwnership())
                        .map(HostedZone.Key::name)
                        .collect(Collectors.toSet()))
                .hasSize(5);
    }
}
