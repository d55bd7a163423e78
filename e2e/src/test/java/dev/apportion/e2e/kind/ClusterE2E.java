package dev.apportion.e2e.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Type;

/** The cluster itself does what tests of the product rest on. */
@WithCluster
class ClusterE2E {

    private static final Duration SOON = Duration.ofMinutes(2);

    @Test
    void hasTwoReadyNodesWithStockKubelets(Cluster cluster, KubernetesClient client) {
        System.out.printf("kind create cluster: %.1f s%n", cluster.created().toMillis() / 1000.0);
        assertThat(client.nodes().list().getItems())
                .hasSize(2)
                .allSatisfy(node -> assertThat(node.getStatus().getConditions()).anySatisfy(condition -> {
                    assertThat(condition.getType()).isEqualTo("Ready");
                    assertThat(condition.getStatus()).isEqualTo("True");
                }));
        for (String node : cluster.nodes()) {
            String configuration = client.raw("/api/v1/nodes/" + node + "/proxy/configz");
            // What ConfigMap volumes wait for.
            assertThat(configuration)
                    .contains("\"syncFrequency\":\"1m0s\"", "\"configMapAndSecretChangeDetectionStrategy\":\"Watch\"");
        }
    }

    @Test
    void podsHaveAddressesAndAServiceHasTheirEndpoints(Cluster cluster, KubernetesClient client) {
        Instant start = Instant.now();

        TrafficPods traffic = cluster.newTrafficPods(client.getNamespace(), "web", 4);

        System.out.printf("4 pods ready, with the loading of their image: %.1f s%n", seconds(start));
        List<String> addresses = client.pods().withLabel("app", "web").list().getItems().stream()
                .map(pod -> pod.getStatus().getPodIP())
                .toList();
        assertThat(addresses).hasSize(4).doesNotHaveDuplicates().doesNotContainNull();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(endpoints(client)).containsExactlyInAnyOrderElementsOf(addresses));

        start = Instant.now();
        traffic.scale(2);
        await().atMost(SOON).untilAsserted(() -> assertThat(endpoints(client)).hasSize(2));
        System.out.printf("2 of 4 endpoints gone: %.1f s%n", seconds(start));
    }

    @Test
    void podsOnBothNodesReachEachOther(Cluster cluster, KubernetesClient client, Kubectl kubectl) {
        cluster.newTrafficPods(client.getNamespace(), "web", 1);
        String address = client.pods()
                .withLabel("app", "web")
                .list()
                .getItems()
                .getFirst()
                .getStatus()
                .getPodIP();

        for (String node : cluster.nodes()) {
            assertThat(cluster.onNode(node, "curl -sS --max-time 10 http://" + address + ":8080/")
                            .orThrow()
                            .stdout())
                    .as("from " + node)
                    .startsWith("web-");
        }
        assertThat(kubectl.run("logs", "deployment/web").exitCode()).isZero();
    }

    @Test
    void clusterDnsAnswersPods(Cluster cluster, KubernetesClient client) {
        String namespace = client.getNamespace();
        cluster.newTrafficPods(namespace, "web", 1);
        PodResolver resolver = cluster.newResolver(namespace);
        String dns = client.services()
                        .inNamespace("kube-system")
                        .withName("kube-dns")
                        .get()
                        .getSpec()
                        .getClusterIP()
                + ":53";
        String web = client.services().withName("web").get().getSpec().getClusterIP();
        Question question = Question.of("web." + namespace + ".svc.cluster.local", Type.A);

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(resolver.ask(dns, question).addresses(Type.A))
                        .containsExactly(web));
        assertThat(resolver.ask(dns, question.overTcp()).addresses(Type.A)).containsExactly(web);
        assertThat(resolver.ask(dns, question.withEdns().withId(4711))
                        .message()
                        .getHeader()
                        .getID())
                .isEqualTo(4711);
        assertThat(resolver.slots(dns, question).counts()).containsOnlyKeys(web).containsValue(256L);
        Answer none = resolver.ask(dns, Question.of("none." + namespace + ".svc.cluster.local", Type.A));
        assertThat(none.rcode()).isEqualTo("NXDOMAIN");
    }

    @Test
    void metricsServerServesPodMetrics(Cluster cluster, KubernetesClient client, Kubectl kubectl) {
        cluster.newTrafficPods(client.getNamespace(), "web", 2);
        Instant start = Instant.now();

        cluster.startMetricsServer();

        await().atMost(Duration.ofMinutes(4))
                .pollInterval(Duration.ofSeconds(1))
                .untilAsserted(() -> assertThat(kubectl.run("top", "pods", "--no-headers")
                                .orThrow()
                                .stdout()
                                .lines())
                        .hasSize(2)
                        .allSatisfy(line -> assertThat(line).matches("web-\\S+\\s+\\d+m\\s+\\d+Mi\\s*")));
        System.out.printf("metrics-server: metrics of pods after %.1f s%n", seconds(start));
        assertThat(client.raw("/apis/metrics.k8s.io/v1beta1/namespaces/" + client.getNamespace() + "/pods"))
                .contains("\"kind\":\"PodMetricsList\"", "\"name\":\"web-", "\"cpu\":");
    }

    @Test
    void externalDnsRunsBesides(Cluster cluster, KubernetesClient client, Kubectl kubectl) {
        Pod pod = cluster.startExternalDns(client.getNamespace());
        cluster.newTrafficPods(client.getNamespace(), "web", 1);

        kubectl.run(
                        "annotate",
                        "service/web",
                        "external-dns.alpha.kubernetes.io/hostname=web.example.org",
                        "external-dns.alpha.kubernetes.io/internal-hostname=web.example.org")
                .orThrow();

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(
                                kubectl.run("logs", "deployment/external-dns").stdout())
                        .contains("CREATE: web.example.org"));
        System.out.println("external-dns: " + cluster.residentKibibytes(pod) / 1024 + " MiB resident");
    }

    private static List<String> endpoints(KubernetesClient client) {
        return client
                .discovery()
                .v1()
                .endpointSlices()
                .withLabel("kubernetes.io/service-name", "web")
                .list()
                .getItems()
                .stream()
                .map(EndpointSlice::getEndpoints)
                .flatMap(List::stream)
                .filter(endpoint -> Boolean.TRUE.equals(endpoint.getConditions().getReady()))
                .flatMap(endpoint -> endpoint.getAddresses().stream())
                .toList();
    }

    private static double seconds(Instant start) {
        return Duration.between(start, Instant.now()).toMillis() / 1000.0;
    }
}
