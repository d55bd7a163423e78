package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.ToolCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * From no definitions over older ones to the present ones, and to none again. It has an API server of its own, because
 * definitions belong to the whole cluster.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class UpgradeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Path CRDS = SourceTree.root().resolve("crds");

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

    /** What an older definition without rules and bounds let in. */
    private static final String OLDER = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: older}
        spec: {zoneRef: {name: good}, hostname: "*.good.example", poolRef: {name: good}, ttlSeconds: 0}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: older}
        spec: {sites: [{name: main, endpoints: [{name: a, address: 10.0.0.300}]}]}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Kubectl kubectl;

    private Path folder = Path.of("");

    @BeforeAll
    void start(@TempDir Path temporary) throws IOException {
        folder = temporary;
        server = ApiServer.start(ToolCache.ofThisUser());
        kubectl = server.kubectl(server.newNamespace());
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    @Order(1)
    void withoutDefinitionsTheOperatorSaysWhatToDoAndEnds() {
        Command.Result result = Apportion.packaged().against(server).run("operator", "-n", kubectl.namespace());

        assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
        assertThat(result.stderr())
                .contains("dnszones.apportion.dev", "kubectl apply --server-side -f crds/")
                .doesNotContain("\tat ");
    }

    @Test
    @Order(2)
    void withOneDefinitionMissingItIsNamed() throws IOException {
        Path some = Files.createDirectories(folder.resolve("some"));
        for (Path manifest : manifests()) {
            if (!manifest.toString().contains("trafficstreams")) {
                Files.copy(manifest, some.resolve(manifest.getFileName()));
            }
        }
        server.install(some);

        Command.Result result = Apportion.packaged().against(server).run("operator", "-n", kubectl.namespace());

        assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
        assertThat(result.stderr()).contains("trafficstreams.apportion.dev").doesNotContain("dnszones.apportion.dev");
    }

    /** The present definitions without rules, bounds, patterns and some fields. */
    private Path older() throws IOException {
        ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
        Path older = Files.createDirectories(folder.resolve("older"));
        for (Path manifest : manifests()) {
            JsonNode definition = yaml.readTree(manifest.toFile());
            JsonNode schema = definition.at("/spec/versions/0/schema/openAPIV3Schema");
            for (String keyword :
                    List.of("x-kubernetes-validations", "pattern", "minimum", "maximum", "minLength", "minItems")) {
                schema.findParents(keyword).stream()
                        // A keyword, not a field of that name.
                        .filter(parent -> !parent.path(keyword).isObject())
                        .forEach(parent -> ((ObjectNode) parent).remove(keyword));
            }
            if (manifest.toString().contains("dnszones")) {
                ((ObjectNode) schema.at("/properties/spec/properties")).remove("resolvers");
            }
            if (manifest.toString().contains("trafficservices")) {
                ((ObjectNode) schema.at("/properties/spec/properties")).remove("maxReplicas");
            }
            yaml.writeValue(older.resolve(manifest.getFileName()).toFile(), definition);
        }
        return older;
    }

    private static List<Path> manifests() throws IOException {
        try (Stream<Path> files = Files.list(CRDS)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    @Order(3)
    void fieldsThatAnOlderDefinitionDropsAreNamed() throws IOException {
        server.install(older());
        kubectl.runWith(OLDER, "apply", "--validate=false", "-f", "-").orThrow();

        try (ServerProcess operator =
                Apportion.packaged().against(server).start("operator", "-n", kubectl.namespace())) {
            operator.await("both warnings", PATIENCE, () -> warnings(operator).size() > 1);
            operator.awaitLine(Pattern.compile("Started"), PATIENCE);
            assertThat(warnings(operator))
                    .hasSize(2)
                    .anySatisfy(line -> assertThat(line).contains("dnszones.apportion.dev", "spec.resolvers"))
                    .anySatisfy(line -> assertThat(line).contains("trafficservices.apportion.dev", "spec.maxReplicas"));
            operator.terminate();
        }
    }

    private static List<String> warnings(ServerProcess operator) {
        return operator.log()
                .lines()
                .filter(line -> line.contains("older than this program"))
                .toList();
    }

    @Test
    @Order(4)
    void whatWasStoredUnderAnOlderDefinitionIsReportedAndTheOthersGoOn() throws IOException {
        server.install(CRDS);
        try (Product product = Product.start(server, kubectl, Files.createDirectories(folder.resolve("dns")))) {
            product.apply(GOOD);
            product.awaitVerified("good");
            product.awaitCondition("trafficservice/older", "Accepted", "False Unreadable");
            product.awaitCondition("replicapool/older", "Accepted", "False Unreadable: spec.sites[0].endpoints[0]");
            assertThat(product.operator().log()).doesNotContain("older than this program", "Exception");
            assertGoodIsAnswered(product);

            // Uninstalled with the answers left: the operator first, then its definitions and with them all resources.
            product.stopOperator();
            kubectl.run("delete", "-f", CRDS.toString()).orThrow();
            assertGoodIsAnswered(product);
            product.coreDns().restart();
            assertGoodIsAnswered(product);

            // And installed again: what stood in DNS is taken up.
            server.install(CRDS);
            product.apply(GOOD);
            product.startOperator();
            product.awaitVerified("good");
            assertGoodIsAnswered(product);
        }
    }

    private static void assertGoodIsAnswered(Product product) {
        assertThat(product.dns().slots(Question.of("www.good.example", Type.A)).counts())
                .isEqualTo(Map.of("192.0.2.1", 128L, "192.0.2.2", 128L));
    }
}
