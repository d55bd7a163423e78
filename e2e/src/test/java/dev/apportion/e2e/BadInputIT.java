package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.ToolCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.xbill.DNS.Type;

/**
 * What is wrong with one resource is said of that one, and the others go on. It has an API server of its own, whose schema
 * was a looser one when the first objects were stored.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class BadInputIT {

    private static final String GOOD = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: good}
        spec:
          domain: good.example
          coreDNS: {answers: Single}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: good}
        spec:
          sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}]
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: good}
        spec: {zoneRef: {name: good}, hostname: www.good.example, poolRef: {name: good}}
        """;

    /** Objects that the looser schema let in: each with a value that the present one refuses. */
    private static final String STORED = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: stored}
        spec: {domain: stored.example, ttlSeconds: 0, coreDNS: {answers: Single}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: stored}
        spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.9}]}], policy: {type: Fastest}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: stored}
        spec: {zoneRef: {name: good}, hostname: a..b.good.example, poolRef: {name: good}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: stored}
        spec: {serviceRef: {name: good}, rate: NaN}
        """;

    /** And values of another type altogether. */
    private static final String OF_ANOTHER_TYPE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: misfit}
        spec: {domain: misfit.example, ttlSeconds: soon, coreDNS: {answers: Single}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: misfit}
        spec: {sites: main}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: misfit}
        spec: {zoneRef: good, hostname: misfit.good.example, poolRef: {name: good}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: misfit}
        spec: {serviceRef: {name: good}, rate: {a: lot}}
        """;

    private static final ObjectMapper JSON = new ObjectMapper();

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Kubectl kubectl;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        server = ApiServer.start(ToolCache.ofThisUser());
        kubectl = server.kubectl(server.newNamespace());
        Path crds = SourceTree.root().resolve("crds");
        server.install(loosened(crds, Files.createDirectories(folder.resolve("crds"))));
        for (String stored : List.of(STORED, OF_ANOTHER_TYPE)) {
            kubectl.runWith(stored, "apply", "--validate=false", "-f", "-").orThrow();
        }
        server.install(crds);
        product = Product.start(
                server, kubectl, Files.createDirectories(folder.resolve("dns")), "--verify-grace", "PT5S");
        product.await(
                () -> kubectl.runWith(STORED, "create", "--dry-run=server", "--validate=false", "-f", "-")
                        .stderr(),
                said -> said.split("is invalid", -1).length == 5,
                "the schema to be in force");
        product.apply(GOOD);
    }

    /** The same definitions with a schema that takes anything. */
    private static Path loosened(Path crds, Path folder) throws IOException {
        ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
        ObjectNode anything = (ObjectNode)
                yaml.readTree("{type: object, properties: {spec: {x-kubernetes-preserve-unknown-fields: true}, status:"
                        + " {x-kubernetes-preserve-unknown-fields: true}}}");
        List<Path> files;
        try (Stream<Path> listed = Files.list(crds)) {
            files = listed.filter(file -> file.toString().endsWith(".yaml")).toList();
        }
        for (Path file : files) {
            JsonNode definition = yaml.readTree(file.toFile());
            ((ArrayNode) definition.at("/spec/versions"))
                    .forEach(version -> ((ObjectNode) version.path("schema")).set("openAPIV3Schema", anything));
            yaml.writeValue(folder.resolve(file.getFileName()).toFile(), definition);
        }
        return folder;
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
        server.close();
    }

    private void goodIsAnswered() {
        assertThat(product.dns().slots(Question.of("www.good.example", Type.A)).counts())
                .isEqualTo(Map.of("192.0.2.1", 128L, "192.0.2.2", 128L));
    }

    @Test
    @Order(1)
    void storedObjectsThatCannotBeReadStopNobody() {
        product.awaitVerified("good");
        product.awaitReady("dnszone/good", "replicapool/good", "trafficservice/good");
        goodIsAnswered();
        product.awaitCondition("dnszone/stored", "Accepted", "False Unreadable: spec.ttlSeconds: 0");
        product.awaitCondition("replicapool/stored", "Accepted", "False Unreadable: spec.policy.type: \"Fastest\"");
        product.awaitCondition("trafficservice/stored", "Accepted", "False Unreadable: spec.hostname: \"a..b");
        product.awaitCondition("trafficstream/stored", "Accepted", "False Unreadable: spec.rate: \"NaN\"");
        for (String kind : List.of("dnszone", "replicapool", "trafficservice", "trafficstream")) {
            product.awaitCondition(kind + "/stored", "Ready", "False Unreadable");
        }

        product.awaitCondition("dnszone/misfit", "Accepted", "False Unreadable: spec.ttlSeconds: \"soon\"");
        product.awaitCondition("replicapool/misfit", "Accepted", "False Unreadable: spec.sites: \"main\"");
        product.awaitCondition("trafficservice/misfit", "Accepted", "False Unreadable: spec.zoneRef: \"good\"");
        // The API server itself refuses any status beside a value that is neither integer nor text.
        product.await(
                () -> product.kubectl("describe", "trafficstream/misfit"),
                text -> text.contains("Unreadable") && text.contains("spec.rate"),
                "an Event on trafficstream/misfit");
        assertThat(product.kubectl("get", "events", "-o", "name").lines().filter(name -> name.contains("unreadable")))
                .hasSize(1);
        assertThat(product.operator().log())
                .doesNotContain("Exception")
                .containsOnlyOnce("Cannot be read, and can bear no status");

        // And nobody went deaf to the others of its kind, nor to the object itself.
        for (String kind : List.of("replicapool", "trafficservice")) {
            product.kubectl("delete", kind + "/stored", kind + "/misfit");
        }
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: stored}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.9}]}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: stored}
            spec: {zoneRef: {name: good}, hostname: stored.good.example, poolRef: {name: stored}}
            """);
        product.awaitReady("replicapool/stored", "trafficservice/stored");
        product.awaitVerified("stored");
    }

    /**
     * A resource with one thing wrong.
     *
     * @param planned its reason in a plan
     * @param message what a plan says of it, in part
     * @param cluster what the API server says when it rejects it, in part, or the start of its condition {@code TYPE: ...}
     */
    record Bad(String name, String kind, String spec, String planned, String message, String cluster) {

        String manifest() {
            return """
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: %s
                metadata: {name: %s}
                spec: %s
                """.formatted(kind, name, spec);
        }

        String resource() {
            return kind + "/" + name;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Bad pool(String name, String spec, String message, String rejection) {
        return new Bad(name, "ReplicaPool", spec, "Unreadable", message, rejection);
    }

    private static Bad endpoint(String name, String endpoint, String message, String rejection) {
        return pool(
                name, "{sites: [{name: main, endpoints: [{name: a, %s}]}]}".formatted(endpoint), message, rejection);
    }

    private static Bad service(String name, String host, String planned, String message, String cluster) {
        return new Bad(
                name,
                "TrafficService",
                "{zoneRef: {name: good}, hostname: %s, poolRef: {name: good}}".formatted(host),
                planned,
                message,
                cluster);
    }

    static List<Bad> bad() {
        String longLabel = "a".repeat(64);
        return List.of(
                endpoint("too-large-octet", "address: 10.0.0.300", "\"10.0.0.300\" must be an IPv4", "must be an IPv4"),
                endpoint("leading-zeros", "address: 10.96.011.012", "\"10.96.011.012\" must", "without leading zeros"),
                endpoint(
                        "nan", "address: 192.0.2.1, capacity: NaN", "\"NaN\" must be a quantity", "must be a quantity"),
                endpoint("huge", "address: 192.0.2.1, capacity: '1e308'", "\"1e308\" must be", "must be a quantity"),
                endpoint("negative", "address: 192.0.2.1, capacity: -1", "-1 must be a quantity", "must be a quantity"),
                pool("no-sites", "{sites: []}", "spec.sites: must not be empty", "should have at least 1 items"),
                pool(
                        "no-replicas",
                        "{sites: [{name: main, endpoints: []}]}",
                        "spec.sites[0].endpoints",
                        "should have at least 1 items"),
                pool(
                        "no-source",
                        "{sites: [{name: main}]}",
                        "exactly one of service and endpoints",
                        "exactly one of service and endpoints"),
                pool(
                        "unknown-policy",
                        "{sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}]}], policy: {type: Fastest}}",
                        "\"Fastest\" must be one of",
                        "Unsupported value: \"Fastest\""),
                service("two-dots", "a..b.good.example", "Unreadable", "\"a..b.good.example\" must be", "a DNS name"),
                service("empty-host", "''", "Unreadable", "spec.hostname: \"\" must be a DNS name", "a DNS name"),
                service("long-label", longLabel + ".good.example", "Unreadable", longLabel, "a DNS name"),
                service(
                        "foreign",
                        "www.elsewhere.example",
                        "HostOutsideZone",
                        "www.elsewhere.example is not within good.example",
                        "Accepted: False HostOutsideZone"),
                new Bad(
                        "host-bits",
                        "TrafficStream",
                        "{serviceRef: {name: good}, clients: {cidrs: [10.1.2.3/16]}, rate: 1}",
                        "Unreadable",
                        "\"10.1.2.3/16\" must be",
                        "without host bits"),
                new Bad(
                        "nan-rate",
                        "TrafficStream",
                        "{serviceRef: {name: good}, rate: NaN}",
                        "Unreadable",
                        "\"NaN\" must be a quantity",
                        "must be a quantity"),
                new Bad(
                        "zone-missing",
                        "TrafficService",
                        "{zoneRef: {name: nowhere}, hostname: zone.good.example, poolRef: {name: good}}",
                        "ZoneNotFound",
                        "there is no DNSZone",
                        "ResolvedRefs: False ZoneNotFound"),
                new Bad(
                        "pool-missing",
                        "TrafficService",
                        "{zoneRef: {name: good}, hostname: pool.good.example, poolRef: {name: nowhere}}",
                        "PoolNotFound",
                        "there is no ReplicaPool",
                        "ResolvedRefs: False PoolNotFound"),
                new Bad(
                        "bad-record",
                        "DNSZone",
                        "{domain: record.example, coreDNS: {}, records: [{name: www, type: A, values: [10.0.0.300]}]}",
                        "InvalidRecords",
                        "10.0.0.300",
                        "Accepted: False InvalidRecords"));
    }

    @ParameterizedTest
    @MethodSource("bad")
    @Order(2)
    void isRejectedOrHasACondition(Bad bad) {
        Command.Result applied = kubectl.runWith(bad.manifest(), "apply", "-f", "-");
        int colon = bad.cluster().indexOf(": False ");
        if (colon < 0) {
            assertThat(applied.exitCode()).as(applied.toString()).isNotZero();
            assertThat(applied.stderr()).contains("spec.").contains(bad.cluster());
        } else {
            assertThat(applied.exitCode()).as(applied.toString()).isZero();
            product.awaitCondition(
                    bad.resource(),
                    bad.cluster().substring(0, colon),
                    bad.cluster().substring(colon + 2));
            assertThat(product.condition(bad.resource(), bad.cluster().substring(0, colon)))
                    .contains(bad.message());
        }
    }

    @Test
    @Order(3)
    void theOthersGoOnAndAColdServerStarts() throws IOException {
        product.awaitReady("dnszone/good", "replicapool/good", "trafficservice/good");
        assertThat(product.operator().isAlive()).isTrue();
        goodIsAnswered();
        product.coreDns().restart();
        goodIsAnswered();
    }

    @Test
    void aPlanNamesEachAndPlansTheOthers(@TempDir Path folder) throws IOException {
        Path good = Files.writeString(folder.resolve("good.yaml"), GOOD.replace("PORT", "53"));
        Path all = Files.writeString(
                folder.resolve("bad.yaml"), bad().stream().map(Bad::manifest).collect(Collectors.joining()));
        Command.Result alone = Apportion.packaged()
                .run("plan", "-o", "json", "-f", good.toString())
                .orThrow();
        Command.Result together = Apportion.packaged().run("plan", "-o", "json", "-f", good.toString(), all.toString());
        assertThat(together.exitCode()).as(together.toString()).isEqualTo(1);
        JsonNode plan = JSON.readTree(together.stdout());
        assertThat(plan.path("pools")).isEqualTo(JSON.readTree(alone.stdout()).path("pools"));

        List<String> found = new ArrayList<>();
        for (JsonNode problem : plan.path("problems")) {
            found.add(problem.path("kind").asText() + "/" + problem.path("name").asText() + " "
                    + problem.path("reason").asText());
        }
        assertThat(found)
                .containsExactlyInAnyOrderElementsOf(bad().stream()
                        .map(bad -> bad.resource() + " " + bad.planned())
                        .toList());
        for (Bad bad : bad()) {
            assertThat(plan.path("problems"))
                    .filteredOn(problem -> problem.path("name").asText().equals(bad.name()))
                    .allSatisfy(problem ->
                            assertThat(problem.path("message").asText()).contains(bad.message()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "upper, Upper.Example, WWW.UPPER.EXAMPLE, www.upper.example",
        "dot, dot.example., www.dot.example., www.dot.example",
        "umlaut, bücher.example, www.Bücher.example, www.xn--bcher-kva.example"
    })
    void whatCanBeNormalisedIs(String name, String domain, String host, String asked, @TempDir Path folder)
            throws IOException {
        String manifests = """
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: %1$s}
            spec: {domain: "%2$s", coreDNS: {answers: Single}, verifyAt: {addresses: ["127.0.0.1:PORT"]}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %1$s}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.7}]}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %1$s}
            spec: {zoneRef: {name: %1$s}, hostname: "%3$s", poolRef: {name: %1$s}}
            """.formatted(name, domain, host);
        Path file = Files.writeString(folder.resolve("normal.yaml"), manifests.replace("PORT", "53"));
        JsonNode plan = JSON.readTree(Apportion.packaged()
                .run("plan", "-o", "json", "-f", file.toString())
                .orThrow()
                .stdout());
        assertThat(plan.at("/pools/0/streams/0/hostname").asText()).isEqualTo(asked);

        product.apply(manifests);
        product.awaitReady("dnszone/" + name, "trafficservice/" + name);
        product.awaitVerified(name);
        assertThat(product.dns().slots(Question.of(asked, Type.A)).counts().keySet())
                .isEqualTo(Set.of("192.0.2.7"));
    }
}
