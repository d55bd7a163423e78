package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Helm;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LoopbackPorts;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.Tool;
import dev.apportion.e2e.bed.ToolCache;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The chart is installed, upgraded and uninstalled in a namespace that enforces the Pod Security standard "restricted". It has an
 * API server of its own, because definitions belong to the whole cluster.
 */
class ChartIT {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String RELEASE = "shop";

    /** What the chart calls the operator and what belongs to it. */
    private static final String NAME = "shop-apportion";

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: charted}
        spec: {domain: charted.example, coreDNS: {answers: Single}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: charted}
        spec:
          sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}]
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: charted}
        spec: {zoneRef: {name: charted}, hostname: www.charted.example, poolRef: {name: charted}}
        """;

    @SuppressWarnings("NullAway.Init") // set before each test
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before each test
    private Helm helm;

    @SuppressWarnings("NullAway.Init") // set before each test
    private Kubectl kubectl;

    private Path folder = Path.of("");

    /** A server for each test: definitions are kept by an uninstallation, and their deletion may take minutes. */
    @BeforeEach
    void startServer(@TempDir Path temporary) throws IOException {
        folder = temporary;
        server = ApiServer.start(ToolCache.ofThisUser());
        helm = Helm.in(temporary).against(server);
        String namespace = server.newNamespace();
        kubectl = server.kubectl(namespace);
        kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    private String kubectl(String... arguments) {
        return kubectl.run(arguments).orThrow().stdout();
    }

    private Command.Result helm(String command, String... more) {
        List<String> line = new ArrayList<>(List.of(command, RELEASE));
        line.addAll(List.of(more));
        line.addAll(List.of("--namespace", kubectl.namespace()));
        return helm.run(line.toArray(String[]::new)).orThrow();
    }

    private void install(String... more) {
        List<String> line = new ArrayList<>(List.of(Chart.FOLDER.toString()));
        line.addAll(List.of(more));
        helm("install", line.toArray(String[]::new));
    }

    private List<JsonNode> manifest(String what) {
        return Chart.objects(helm.run("get", what, RELEASE, "--namespace", kubectl.namespace())
                .orThrow()
                .stdout());
    }

    /** What the API server says of a pod that is created as a controller would create it; nothing stays. */
    private Command.Result dryRun(JsonNode pod) throws IOException {
        return kubectl.runWith(new YAMLMapper().writeValueAsString(pod), "create", "--dry-run=server", "-f", "-");
    }

    /** The pods of the release: of its Deployments, and that of its test. */
    private List<JsonNode> pods() {
        Stream<JsonNode> ofDeployments = manifest("manifest").stream()
                .filter(object -> Chart.isOf(object, "Deployment"))
                .map(deployment -> {
                    ObjectNode pod = deployment.at("/spec/template").deepCopy();
                    pod.put("apiVersion", "v1").put("kind", "Pod");
                    pod.withObjectProperty("metadata")
                            .put("name", deployment.at("/metadata/name").asText() + "-1");
                    return pod;
                });
        return Stream.concat(ofDeployments, manifest("hooks").stream()).toList();
    }

    @Test
    void everyPodIsAdmittedWhereRestrictedIsEnforced() throws IOException {
        install("--set=coredns.enabled=true");

        List<JsonNode> pods = pods();
        assertThat(pods).hasSize(3);
        for (JsonNode pod : pods) {
            assertThat(dryRun(pod).orThrow().stderr()).isEmpty();
        }
        ObjectNode careless = pods.getFirst().deepCopy();
        ((ObjectNode) careless.at("/spec/containers/0/securityContext")).put("allowPrivilegeEscalation", true);
        assertThat(dryRun(careless).stderr()).contains("violates PodSecurity \"restricted");
    }

    /** Every object is in the cluster as it was rendered: nothing was pruned, and nothing is unknown. */
    @Test
    void everyObjectIsTakenAsItIsRendered() throws IOException {
        install("--set=coredns.enabled=true,coredns.service.type=LoadBalancer,rbac.aggregate=true");

        for (JsonNode object : manifest("manifest")) {
            Command.Result result = kubectl.runWith(
                    new YAMLMapper().writeValueAsString(object),
                    "apply",
                    "--server-side",
                    "--force-conflicts",
                    "--dry-run=server",
                    "--validate=strict",
                    "-f",
                    "-");
            assertThat(result.exitCode()).as(result.toString()).isZero();
            // Deprecations and unknown fields are warnings.
            assertThat(result.stderr()).isEmpty();
        }
    }

    @Test
    void anUpgradeUpgradesTheDefinitionsAndKeepsTheResources() throws IOException {
        install();
        kubectl.runWith(ZONE, "apply", "-f", "-").orThrow();
        Path newer = folder.resolve("newer");
        try (Stream<Path> files = Files.walk(Chart.FOLDER)) {
            for (Path file : files.toList()) {
                Files.copy(file, newer.resolve(Chart.FOLDER.relativize(file)));
            }
        }
        Path definition = newer.resolve("files/crds/dnszones.apportion.dev-v1.yaml");
        Files.writeString(
                definition,
                Files.readString(definition)
                        .replaceFirst(
                                "( *)- additionalPrinterColumns:\\n",
                                "$0$1  - {jsonPath: .spec.ttlSeconds, name: TTL, type: integer}\n"));
        assertThat(kubectl("get", "dnszone")).doesNotContain("TTL");

        helm("upgrade", newer.toString());

        Awaitility.await("the new column")
                .atMost(PATIENCE)
                .until(() -> kubectl("get", "dnszone").contains("TTL"));
        assertThat(kubectl("get", "dnszone,replicapool,trafficservice", "-o", "name"))
                .isEqualTo("""
                    dnszone.apportion.dev/charted
                    replicapool.apportion.dev/charted
                    trafficservice.apportion.dev/charted
                    """);
    }

    /** All that there is in the cluster and in the namespace, but for what the API server itself writes down. */
    private Set<String> everything() {
        Set<String> found = new TreeSet<>();
        for (String namespaced : List.of("true", "false")) {
            String kinds = String.join(
                    ",",
                    kubectl("api-resources", "--verbs=list", "--namespaced=" + namespaced, "-o", "name")
                            .lines()
                            .filter(kind ->
                                    !kind.matches("events.*|namespaces|leases.*|componentstatuses|apiservices.*"))
                            .toList());
            found.addAll(kubectl("get", kinds, "-o", "name", "--ignore-not-found")
                    .lines()
                    .toList());
        }
        return found;
    }

    @Test
    void anUninstallKeepsDefinitionsAndDataAndLeavesNothingElse() throws IOException {
        Set<String> before = everything();
        install("--set=coredns.enabled=true");
        kubectl.runWith(ZONE, "apply", "-f", "-").orThrow();
        try (ServerProcess operator = operator(List.of())) {
            awaitProgrammed(operator);
        }

        helm("uninstall");

        Set<String> left = everything();
        left.removeAll(before);
        assertThat(left.stream().filter(name -> !name.startsWith("configmap/apportion-coredns-")))
                .containsExactly(
                        "customresourcedefinition.apiextensions.k8s.io/dnszones.apportion.dev",
                        "customresourcedefinition.apiextensions.k8s.io/replicapools.apportion.dev",
                        "customresourcedefinition.apiextensions.k8s.io/trafficservices.apportion.dev",
                        "customresourcedefinition.apiextensions.k8s.io/trafficstreams.apportion.dev",
                        "dnszone.apportion.dev/charted",
                        "replicapool.apportion.dev/charted",
                        "trafficservice.apportion.dev/charted");
        assertThat(left).anyMatch(name -> name.startsWith("configmap/apportion-coredns-"));

        // And a release of the same name takes them up again.
        install();
        assertThat(kubectl("get", "dnszone", "-o", "name")).isEqualTo("dnszone.apportion.dev/charted\n");
    }

    /** The operator with the account and the arguments of the chart's pods. */
    private ServerProcess operator(List<String> more) throws IOException {
        JsonNode pod = Chart.object(manifest("manifest"), "Deployment", NAME).at("/spec/template/spec");
        List<String> arguments = new ArrayList<>();
        pod.at("/containers/0/args").forEach(argument -> arguments.add(argument.asText()));
        arguments.removeIf(argument -> argument.startsWith("--http="));
        arguments.add("--http=127.0.0.1:0");
        arguments.addAll(more);
        Apportion program = Apportion.packaged()
                .against(server.account(
                        kubectl.namespace(), pod.path("serviceAccountName").asText()));
        for (JsonNode variable : pod.at("/containers/0/env")) {
            program = program.with(
                    variable.path("name").asText(), variable.path("value").asText());
        }
        return program.start(arguments.toArray(String[]::new));
    }

    private void awaitProgrammed(ServerProcess operator) {
        Product.awaitStart(operator);
        Awaitility.await("the zone")
                .atMost(PATIENCE)
                .until(() -> kubectl(
                                "get",
                                "dnszone/charted",
                                "-o",
                                "jsonpath={.status.conditions[?(@.type==\"Programmed\")].reason}")
                        .equals("Programmed"));
        assertThat(Probes.of(operator).get("/readyz")).isEqualTo("200 ok\n");
        assertThat(Probes.of(operator).get("/healthz")).startsWith("200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rbac.create=true", "namespaces={NAMESPACE}", "operator.leaseDuration=PT5S"})
    void theOperatorServesWithTheRightsAndArgumentsOfTheChart(String values) throws IOException {
        install("--set=" + values.replace("NAMESPACE", kubectl.namespace()));
        kubectl.runWith(ZONE, "apply", "-f", "-").orThrow();

        try (ServerProcess operator = operator(List.of("--watch-audit-interval=PT0.5S"))) {
            awaitProgrammed(operator);
            assertThat(kubectl("get", "lease", NAME, "-o", "jsonpath={.spec.holderIdentity}"))
                    .isNotEmpty();
            assertThat(operator.log()).doesNotContain("forbidden", "Forbidden");
            operator.terminate();
            Awaitility.await("the lease is given back")
                    .atMost(PATIENCE)
                    .until(() -> kubectl("get", "lease", NAME, "-o", "jsonpath={.spec.holderIdentity}")
                            .isEmpty());
        }
        assertThat(kubectl("get", "configmap", "-l", "apportion.dev/part-of=coredns", "-o", "name"))
                .isNotEmpty();
    }

    /** The question of {@code helm test}, asked of a CoreDNS that has the configuration and the arguments of the release. */
    @Test
    void theTestOfTheReleaseAsksItsCoreDns() throws IOException {
        install("--set=coredns.enabled=true");
        List<JsonNode> objects = manifest("manifest");
        Path zones = Files.createDirectories(folder.resolve("zones"));
        Path corefile = folder.resolve("Corefile");
        int ready = LoopbackPorts.free();
        Files.writeString(
                corefile,
                Chart.object(objects, "ConfigMap", NAME + "-dns")
                        .at("/data/Corefile")
                        .asText()
                        .replace("/etc/apportion", zones.toString())
                        .replace(":8080", "127.0.0.1:" + LoopbackPorts.free())
                        .replace(":8181", "127.0.0.1:" + ready));
        String port = Integer.toString(LoopbackPorts.free());
        List<String> line = new ArrayList<>(
                List.of(ToolCache.ofThisUser().path(Tool.COREDNS).toString()));
        Chart.object(objects, "Deployment", NAME + "-dns")
                .at("/spec/template/spec/containers/0/args")
                .forEach(argument -> line.add(argument.asText()
                        .replace("/etc/coredns/Corefile", corefile.toString())
                        .replace("1053", port)));
        List<String> question = new ArrayList<>();
        manifest("hooks")
                .getFirst()
                .at("/spec/containers/0/args")
                .forEach(argument -> question.add(argument.asText().replace(NAME + "-dns:53", "127.0.0.1:" + port)));

        try (ServerProcess coreDns =
                ServerProcess.start("coredns", line, folder, Map.of(), folder.resolve("coredns.log"))) {
            coreDns.await("readiness", PATIENCE, () -> isAnswered("http://127.0.0.1:" + ready + "/ready"));
            Command.Result result = Apportion.packaged().run(question.toArray(String[]::new));
            assertThat(result.exitCode()).as(result.toString()).isZero();
            assertThat(result.stdout()).contains("apportion.invalid  REFUSED  256      100.00%");
        }
        assertThat(Apportion.packaged().run(question.toArray(String[]::new)).exitCode())
                .as("nobody answers any more")
                .isEqualTo(1);
    }

    private static boolean isAnswered(String url) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == HttpURLConnection.HTTP_OK;
        } catch (IOException notYet) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Of pods, the operator's account may change one annotation only: the policy names the account of the release. */
    @Test
    void thePolicyHoldsForTheAccountOfTheRelease() {
        install();
        kubectl.runWith("""
            apiVersion: v1
            kind: Pod
            metadata: {name: dns}
            spec:
              securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
              containers:
              - name: dns
                image: none:1
                securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
            """, "create", "-f", "-").orThrow();
        Awaitility.await("the policy is in force")
                .atMost(PATIENCE)
                // Another label each time: before the policy is in force, the change is made.
                .untilAsserted(() -> assertThat(patched(
                                "{\"metadata\":{\"labels\":{\"app\":\"web-%d\"}}}".formatted(System.nanoTime())))
                        .contains("may not change the labels"));
        assertThat(patched("{\"metadata\":{\"annotations\":{\"apportion.dev/serial\":\"1\"}}}"))
                .isEmpty();
    }

    /** What the API server says to a change of the pod by the operator's account; kubectl would read the pod first. */
    private String patched(String change) {
        try (KubernetesClient admin = server.client(kubectl.namespace());
                KubernetesClient account = new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder(admin.getConfiguration())
                                .withImpersonateUsername(
                                        "system:serviceaccount:%s:%s".formatted(kubectl.namespace(), NAME))
                                .build())
                        .build()) {
            account.resource(new PodBuilder()
                            .withNewMetadata()
                            .withNamespace(kubectl.namespace())
                            .withName("dns")
                            .endMetadata()
                            .build())
                    .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), change);
            return "";
        } catch (KubernetesClientException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
