package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * The commands that read a cluster, run by somebody who may read Apportion's four kinds and nothing else, through the real kubectl or
 * without, against an operator and a CoreDNS that run.
 */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LiveIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** What the usual role view has of Apportion, where the chart is installed. */
    private static final String READER = """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: reader}
        rules:
        - apiGroups: [apportion.dev]
          resources: [dnszones, replicapools, trafficservices, trafficstreams]
          verbs: [get, list]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: reader}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
        subjects: [{kind: ServiceAccount, name: reader, namespace: NAMESPACE}]
        """;

    private static final String RESOURCES = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: live}
        spec:
          domain: live.example
          ttlSeconds: 1
          coreDNS: {answers: Single, configMap: {shards: 1}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
          resolvers: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: shop}
        spec:
          behavior: {cooldownSeconds: 1}
          sites:
          - name: fra
            concurrency: 4
            endpoints:
            - {name: fra-1, address: 192.0.2.10, capacity: 200}
            - {name: fra-2, address: 192.0.2.11, capacity: 100}
          - {name: pods, service: {name: shop}, capacity: 100, concurrency: 4}
        ---
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: shop-1, labels: {kubernetes.io/service-name: shop}}
        addressType: IPv4
        endpoints: [{addresses: [10.9.0.1], targetRef: {kind: Pod, name: shop-a}}]
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: shop}
        spec: {zoneRef: {name: live}, hostname: shop.live.example, poolRef: {name: shop}, maxReplicas: 2}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: shop-eu}
        spec: {serviceRef: {name: shop}, clients: {cidrs: [10.1.0.0/16]}, rate: 120}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: shop-others}
        spec: {serviceRef: {name: shop}, rate: 180}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Kubectl kubectl;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Path reader;

    @TempDir
    private Path folder;

    @BeforeAll
    void start(ApiServer api, Kubectl own, @TempDir Path published) throws IOException {
        server = api;
        kubectl = own;
        product = Product.start(api, own, published);
        product.apply(RESOURCES);
        product.apply(READER.replace("NAMESPACE", own.namespace()));
        reader = api.account(own.namespace(), "reader");
        product.awaitReady(
                "trafficservice/shop", "trafficstream/shop-eu", "trafficstream/shop-others", "replicapool/shop");
        product.awaitVerified("shop");
        product.awaitCondition("trafficservice/shop", "WeightsHonored", "True");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    private Command.Result run(String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        line.addAll(List.of("-n", kubectl.namespace()));
        return Apportion.packaged().against(reader).run(line.toArray(String[]::new));
    }

    /** The reader's credentials are those of the kubeconfig that kubectl leaves to its plugins. */
    @Test
    void kubectlRunsItAsAPluginAndExplainsTheWeightsThatClientsGet() {
        Path bin = Apportion.packaged().program().getParent();
        Command.Result explained = Command.of(List.of(
                        kubectl.program().toString(), "apportion", "explain", "shop", "-n", kubectl.namespace()))
                .withEnvironment(Map.of(
                        "PATH", bin + ":" + System.getenv("PATH"),
                        "KUBECONFIG", reader.toString(),
                        "JAVA_HOME", System.getProperty("java.home")))
                .run()
                .orThrow();

        Map<String, Long> asked =
                product.dns().slots(Question.of("shop.live.example", Type.A)).counts();
        assertThat(product.weights("trafficstream/shop-others")).isEqualTo(asked);
        assertThat(explained.stdout())
                .contains(
                        "ReplicaPool %s/shop, policy KSplittable, 3 of 3 replicas ready".formatted(kubectl.namespace()))
                .contains("no allocation has a smaller one")
                .contains("the status was written ", "load is not measured; NoSource")
                .contains("rates move traffic when a load is more than 10% above its level, to within 2%")
                .contains("replica shop-a, site pods: ready", "bears 100 requests/s", "capacity of the site")
                .contains("stream shop-others of shop.live.example: 180 requests/s, at most 2 replicas")
                .contains("Programmed True", "Verified True", "WeightsHonored True")
                .doesNotContain("otherwise");
        asked.forEach((address, weight) -> assertThat(explained.stdout())
                .containsPattern("(?m)^ +%s +\\S+ +[0-9.]+%% +%d +[0-9.]+%% +[-+][0-9.]+%%$"
                        .formatted(address.replace(".", "\\."), weight)));
    }

    @Test
    void verifyAsksTheServersAndResolversThatTheZonesName() {
        Command.Result verified = run("verify");

        assertThat(verified.exitCode()).as(verified.toString()).isZero();
        assertThat(verified.stdout())
                .contains("127.0.0.1:%d answers live.example as planned: 1 hosts"
                        .formatted(product.coreDns().port()))
                .contains("clients get the planned shares of shop.live.example, stream ");
    }

    @Test
    void nothingIsToChange() {
        Command.Result plan = run("plan", "--live");

        assertThat(plan.exitCode()).as(plan.toString()).isZero();
        assertThat(plan.stdout()).startsWith("no change\n");
    }

    /** What is said before manifests are applied is what then happens. */
    @Test
    void otherRatesMoveAsMuchAsWasSaid() throws IOException {
        String others = """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: shop-eu}
            spec: {serviceRef: {name: shop}, clients: {cidrs: [10.1.0.0/16]}, rate: RATE}
            """;
        Path file = Files.writeString(folder.resolve("stream.yaml"), others.replace("RATE", "40"));
        Map<String, Map<String, Long>> before = weights();

        Command.Result plan = run("plan", "--live", "-o", "json", "-f", file.toString());
        assertThat(plan.exitCode()).as(plan.toString()).isEqualTo(1);
        JsonNode said = JSON.readTree(plan.stdout());
        assertThat(said.path("rate").asDouble()).isEqualTo(220);
        assertThat(said.path("problems")).isEmpty();
        Command.Result table = run("plan", "--live", "-f", file.toString());
        assertThat(table.stdout())
                .contains("requests/s move (", "ReplicaPool %s/shop: ".formatted(kubectl.namespace()));

        try {
            product.apply(others.replace("RATE", "40"));
            product.await(
                    () -> weights(),
                    found -> found.equals(expected(before, said)),
                    "what was planned: " + plan.stdout());
            double moved = moved(before, weights());
            assertThat(said.path("movedRate").asDouble()).isCloseTo(moved, within(0.01));
            assertThat(moved).isPositive();
            product.await(() -> run("plan", "--live").stdout(), text -> text.startsWith("no change\n"), "peace");
        } finally {
            product.apply(others.replace("RATE", "120"));
            product.awaitReady("trafficstream/shop-eu");
        }
    }

    private Map<String, Map<String, Long>> weights() {
        Map<String, Map<String, Long>> all = new TreeMap<>();
        for (String stream : List.of("shop-eu", "shop-others")) {
            all.put(stream, product.weights("trafficstream/" + stream));
        }
        return all;
    }

    /** The weights before, with those that were said to become others. */
    private static Map<String, Map<String, Long>> expected(Map<String, Map<String, Long>> before, JsonNode said) {
        Map<String, Map<String, Long>> all = new TreeMap<>(before);
        for (JsonNode stream : said.path("streams")) {
            Map<String, Long> weights = new TreeMap<>();
            for (JsonNode answer : stream.path("answers")) {
                if (!answer.path("after").isNull()) {
                    weights.put(
                            answer.path("address").asText(),
                            answer.path("after").path("weight").asLong());
                }
            }
            all.put(stream.path("stream").asText(), weights);
        }
        return all;
    }

    /** The requests/s that go elsewhere: of each stream the shares that addresses gain. */
    private static double moved(Map<String, Map<String, Long>> before, Map<String, Map<String, Long>> after) {
        Map<String, Double> rates = Map.of("shop-eu", 40.0, "shop-others", 180.0);
        double moved = 0;
        for (Map.Entry<String, Double> stream : rates.entrySet()) {
            Map<String, Long> old = before.getOrDefault(stream.getKey(), Map.of());
            for (Map.Entry<String, Long> weight :
                    after.getOrDefault(stream.getKey(), Map.of()).entrySet()) {
                moved += stream.getValue()
                        * Math.max(0, weight.getValue() - old.getOrDefault(weight.getKey(), 0L))
                        / 256;
            }
        }
        return moved;
    }

    /** What the operator keeps beside the statuses is read where it may be, and else left out. */
    @Test
    void keysAreComparedByWhoMayReadConfigMaps() {
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: tenants}
            spec:
              sites:
              - name: main
                endpoints: [{name: a, address: 192.0.2.1, capacity: 100}, {name: b, address: 192.0.2.2, capacity: 100}]
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: tenants}
            spec: {zoneRef: {name: live}, hostname: tenants.live.example, poolRef: {name: tenants}, maxReplicas: 1}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: tenants}
            spec:
              serviceRef: {name: tenants}
              keys: {list: [{name: alice, rate: 40}, {name: bob, rate: 30}, {name: carol, rate: 9}]}
            """);
        try {
            product.awaitReady("trafficstream/tenants", "trafficservice/tenants", "replicapool/tenants");
            assertThat(run("plan", "--live").stdout())
                    .startsWith("no change\n")
                    .contains("Note: ReplicaPool %s/tenants is left out: the keys".formatted(kubectl.namespace()))
                    .contains("Note: no right to read ConfigMaps in the namespace " + kubectl.namespace());
            Apportion administrator = Apportion.packaged().against(server);
            assertThat(administrator
                            .run("plan", "--live", "-n", kubectl.namespace())
                            .stdout())
                    .startsWith("no change\n")
                    .doesNotContain("Note");
            Command.Result verified = administrator.run(
                    "verify",
                    "-n",
                    kubectl.namespace(),
                    "--server",
                    "127.0.0.1:" + product.coreDns().port());
            assertThat(verified.exitCode()).as(verified.toString()).isZero();
            assertThat(verified.stdout()).contains("answers live.example as planned: 5 hosts");
        } finally {
            product.kubectl("delete", "trafficstream/tenants", "trafficservice/tenants", "replicapool/tenants");
        }
    }

    /** With half of the capacity gone, the same requests take longer, and some are lost until it is known. */
    @Test
    void whatIfAReplicaDies() throws IOException {
        Path scenario = folder.resolve("scenario.yaml");
        Command.Result simulated = run(
                "simulate",
                "--from-pool",
                "shop",
                "--lose",
                "fra-1",
                "--seeds",
                "3",
                "-o",
                "json",
                "--write-scenario",
                scenario.toString());

        assertThat(simulated.exitCode()).as(simulated.toString()).isZero();
        JsonNode rows = JSON.readTree(simulated.stdout()).at("/scenarios/0/points");
        assertThat(rows).as(simulated.stdout()).hasSize(2);
        assertThat(rows.path(0).at("/labels/servers").asText()).isEqualTo("now");
        assertThat(rows.path(0).at("/metrics/lost/mean").asDouble()).isZero();
        assertThat(rows.path(1).at("/metrics/lost/mean").asDouble()).isPositive();
        assertThat(rows.path(1).at("/metrics/delay/mean").asDouble())
                .isGreaterThan(2 * rows.path(0).at("/metrics/delay/mean").asDouble());
        Command.Result again = Apportion.packaged().run("simulate", scenario.toString(), "--seeds", "3", "-o", "json");
        assertThat(again.stdout()).isEqualTo(simulated.stdout());
        Command.Result table =
                run("simulate", "--from-pool", kubectl.namespace() + "/shop", "--lose", "fra-1", "--seeds", "3");
        assertThat(table.stdout()).contains("pool %s/shop: 2 points".formatted(kubectl.namespace()));
        assertThat(table.stdout()).containsPattern("(?m)^now +").containsPattern("(?m)^without fra-1 +");
    }

    @Test
    void whatCannotBeReadIsSaidInOneLine() throws IOException {
        assertThat(refused(1, run("explain", "nobody")))
                .isEqualTo(
                        "there is no pool, service, stream or host name \"nobody\" in the namespace %1$s; kubectl get replicapools,trafficservices,trafficstreams -n %1$s lists what is there%n"
                                .formatted(kubectl.namespace()));
        assertThat(refused(2, Apportion.packaged().against(reader).run("explain", "kube-system/shop")))
                .startsWith("no right to list replicapools in the namespace kube-system at https://127.0.0.1:")
                .hasLineCount(1);
        Path nobody = Files.writeString(
                folder.resolve("nobody"),
                Files.readString(reader).replaceAll("https://127.0.0.1:\\d+", "https://127.0.0.1:1"));
        assertThat(refused(2, Apportion.packaged().against(nobody).run("plan", "--live")))
                .startsWith("no cluster can be reached at https://127.0.0.1:1/: ")
                .hasLineCount(1);
        assertThat(run("verify", "--context", "elsewhere").stderr())
                .startsWith("--context elsewhere: the kubeconfig has no such context; it has ")
                .hasLineCount(1);
        String empty = server.newNamespace();
        try {
            product.kubectl("apply", "-n", empty, "-f", write(pool()));
            assertThat(refused(1, Apportion.packaged().against(server).run("explain", empty + "/idle")))
                    .isEqualTo(
                            "ReplicaPool %s/idle has no status yet: maybe the operator does not run, or does not watch this namespace%n"
                                    .formatted(empty));
        } finally {
            server.deleteNamespace(empty);
        }
    }

    /** What a command says that ends with an exit code. */
    private static String refused(int exitCode, Command.Result result) {
        assertThat(result.exitCode()).as(result.toString()).isEqualTo(exitCode);
        return result.stderr();
    }

    private static String pool() {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: idle}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}]}]}
            """;
    }

    private String write(String text) throws IOException {
        return Files.writeString(folder.resolve("manifest.yaml"), text).toString();
    }
}
