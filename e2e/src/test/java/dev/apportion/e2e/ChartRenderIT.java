package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.dns.coredns.BaseCorefile;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Helm;
import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Helm makes of the chart, without a cluster. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChartRenderIT {

    private static final String NAMESPACE = "apportion-system";
    private static final String KUBERNETES = "--kube-version=1.30.0";

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Helm helm;

    private Path folder = Path.of("");

    @BeforeAll
    void prepare(@TempDir Path temporary) {
        folder = temporary;
        helm = Helm.in(temporary);
    }

    static Stream<String> valueSets() throws IOException {
        return Chart.valueSets();
    }

    private Command.Result template(Path chart, String... arguments) {
        List<String> line = new ArrayList<>(
                List.of("template", "apportion", chart.toString(), "--namespace=" + NAMESPACE, KUBERNETES));
        line.addAll(List.of(arguments));
        return helm.run(line.toArray(String[]::new));
    }

    private String rendered(String values) {
        return template(
                        Chart.FOLDER,
                        "-f",
                        Chart.VALUES.resolve(values + ".yaml").toString())
                .orThrow()
                .stdout();
    }

    @ParameterizedTest
    @MethodSource("valueSets")
    void helmHasNothingToSayAgainstIt(String values) {
        Command.Result result = helm.run(
                "lint",
                "--strict",
                Chart.FOLDER.toString(),
                "-f",
                Chart.VALUES.resolve(values + ".yaml").toString());

        assertThat(result.exitCode()).as(result.toString()).isZero();
        assertThat(result.stdout()).doesNotContain("[WARNING]", "[ERROR]");
    }

    /** The definitions and the dashboard are files that are taken in as they are: see below. */
    @ParameterizedTest
    @MethodSource("valueSets")
    void rendersWhatIsKept(String values) throws IOException {
        String text = Stream.of(rendered(values).split("(?m)^---\\n"))
                .filter(document -> !document.contains("\nkind: CustomResourceDefinition\n")
                        && !document.contains("\n  name: apportion-traffic-dashboard\n"))
                .collect(Collectors.joining("---\n"));
        Path kept = Chart.GOLDEN.resolve(values + ".yaml");
        if ("write".equals(System.getProperty("apportion.golden"))) {
            Files.writeString(kept, text);
        }

        assertThat(text).isEqualTo(Files.readString(kept));
    }

    @Test
    void theDefinitionsAreThoseOfTheProjectAndAreKept() throws IOException {
        List<JsonNode> definitions = Chart.objects(rendered("default")).stream()
                .filter(object -> Chart.isOf(object, "CustomResourceDefinition"))
                .toList();
        assertThat(definitions).hasSize(4);
        for (JsonNode definition : definitions) {
            ObjectNode metadata = (ObjectNode) definition.path("metadata");
            assertThat(metadata.at("/annotations/helm.sh~1resource-policy").asText())
                    .isEqualTo("keep");
            metadata.remove(List.of("annotations", "labels"));
            assertThat(definition)
                    .isEqualTo(Chart.yaml(SourceTree.root()
                            .resolve("crds")
                            .resolve(metadata.path("name").asText() + "-v1.yaml")));
        }
        assertThat(Chart.objects(rendered("namespaced")))
                .noneMatch(object -> Chart.isOf(object, "CustomResourceDefinition"));
    }

    /** The one for {@code sync} is for machines outside the cluster. */
    @ParameterizedTest
    @ValueSource(strings = {"everything", "namespaced"})
    void everyRoleOfTheFileIsGiven(String values) throws IOException {
        List<JsonNode> given = Chart.objects(rendered(values)).stream()
                .filter(object -> Chart.isOf(object, "ClusterRole") || Chart.isOf(object, "Role"))
                .toList();
        for (JsonNode role : Chart.objects(Files.readString(Chart.FOLDER.resolve("files/rbac.yaml")))) {
            String name = role.at("/metadata/name").asText();
            if (!name.equals("apportion-sync") && !name.equals("apportion-lease")) {
                assertThat(given).as(name).anyMatch(other -> other.path("rules").equals(role.path("rules")));
            }
        }
        String lease = values.equals("namespaced") ? "shop-dns" : "apportion-traffic";
        assertThat(given)
                .as("the lease of this release")
                .anyMatch(other -> other.at("/rules/1/resourceNames/0").asText().equals(lease));
    }

    @Test
    void theDashboardAndTheAlertsAreTheFiles() throws IOException {
        List<JsonNode> objects = Chart.objects(rendered("everything"));

        assertThat(Chart.object(objects, "ConfigMap", "apportion-traffic-dashboard")
                        .at("/data/apportion.json")
                        .asText()
                        .strip())
                .isEqualTo(Files.readString(Chart.FOLDER.resolve("files/dashboard.json"))
                        .strip());
        assertThat(Chart.object(objects, "PrometheusRule", "apportion-traffic").path("spec"))
                .isEqualTo(Chart.yaml(Chart.FOLDER.resolve("files/alerts.yaml")));
    }

    /** What the operator writes for a CoreDNS outside the cluster, CoreDNS inside reads as well. */
    @Test
    void coreDnsReadsTheBaseConfigurationAndEveryShard() {
        List<JsonNode> objects = Chart.objects(
                template(Chart.FOLDER, "--set=coredns.enabled=true").orThrow().stdout());

        assertThat(Chart.object(objects, "ConfigMap", "apportion-dns")
                        .at("/data/Corefile")
                        .asText())
                .isEqualTo(new BaseCorefile("/etc/apportion", OptionalInt.of(8080), OptionalInt.of(8181)).text());
        JsonNode pod = Chart.object(objects, "Deployment", "apportion-dns").at("/spec/template/spec");
        assertThat(pod.at("/volumes/1/projected/sources"))
                .map(source -> source.at("/configMap/name").asText()
                        + source.at("/configMap/optional").asText())
                .isEqualTo(IntStream.range(0, 8)
                        .mapToObj(i -> "apportion-coredns-" + i + "true")
                        .toList());
        // Such a mount is never refreshed.
        assertThat(pod.findValues("subPath")).isEmpty();
    }

    @Test
    void aPackageHoldsTheSame() throws IOException {
        String version =
                Chart.yaml(Chart.FOLDER.resolve("Chart.yaml")).path("version").asText();
        helm.run("package", Chart.FOLDER.toString(), "--destination", folder.toString())
                .orThrow();

        assertThat(template(folder.resolve("apportion-%s.tgz".formatted(version)))
                        .orThrow()
                        .stdout())
                .isEqualTo(rendered("default"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "replica=3 | additional properties 'replica' not allowed",
                "coredns.service.port=53 | at '/coredns/service': additional properties 'port' not allowed",
                "replicas=two | at '/replicas': got string, want integer",
                "replicas=-1 | at '/replicas': minimum: got -1, want 0",
                "operator.leaseDuration=15s | at '/operator/leaseDuration': '15s' does not match pattern",
                "operator.verifyGrace=P | at '/operator/verifyGrace'",
                "image.tag=a b | at '/image/tag': 'a b' does not match pattern",
                "image.repository=apportion:1 | at '/image/repository': 'apportion:1' does not match pattern",
                "image.digest=sha256:12 | at '/image/digest'",
                "image.pullPolicy=Sometimes | at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent',"
                        + " 'Never'",
                "namespaces={Web} | at '/namespaces/0': 'Web' does not match pattern",
                "namespaces={web,web} | at '/namespaces'",
                "http.port=80 | at '/http/port': minimum: got 80, want 1,024",
                "http.address=localhost | at '/http/address'",
                "log.level=LOUD | at '/log/level': value must be one of",
                "coredns.configMap.shards=65 | at '/coredns/configMap/shards': maximum: got 65, want 64",
                "coredns.service.type=ExternalName | at '/coredns/service/type'",
                "podDisruptionBudget.maxUnavailable=half | at '/podDisruptionBudget/maxUnavailable'",
                "test.server=dns | at '/test/server'",
                "metrics.podMonitor.interval=often | at '/metrics/podMonitor/interval'",
                "zoneNamespaces={dns},namespaces={web} | zoneNamespaces has dns, which namespaces lacks",
                "coredns.enabled=true,zoneNamespaces={dns} | CoreDNS reads the ConfigMaps of its own namespace,"
                        + " apportion-system",
                "serviceAccount.create=false | serviceAccount.name has to name an account",
            })
    void badValuesAreRefusedAndNamed(String values, String message) {
        Command.Result result = template(Chart.FOLDER, "--set=" + values);

        assertThat(result.exitCode()).as(result.toString()).isNotZero();
        assertThat(result.stderr()).contains(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "replicas=0 | replicas: 0",
                "operator.leaseDuration=P1DT2H3M4.5S | --lease-duration=P1DT2H3M4.5S",
                "image.repository=host.example:5000/a/b,image.tag=v1 | image: host.example:5000/a/b:v1",
                "namespaces={b,a} | --namespaces=b,a",
                "namespaces={b,a} | --zone-namespaces=b,a",
                "podDisruptionBudget.maxUnavailable=50% | maxUnavailable: 50%",
                "global.domain=example.org | kind: Deployment",
                "serviceAccount.create=false,serviceAccount.name=mine | serviceAccountName: mine",
                "test.server=[2001:db8::53]:53 | --server, \"[2001:db8::53]:53\"",
            })
    void goodValuesAreTaken(String values, String part) {
        String text = template(Chart.FOLDER, "--set=" + values).orThrow().stdout();

        assertThat(text).contains(part);
    }

    @Test
    void anOlderKubernetesIsRefused() {
        Command.Result result = helm.run("template", "apportion", Chart.FOLDER.toString(), "--kube-version=1.29.9");

        assertThat(result.exitCode()).isNotZero();
        assertThat(result.stderr()).contains("chart requires kubeVersion: >=1.30.0-0");
    }
}
