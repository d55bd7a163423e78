package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Helm;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.kind.Cluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/** The product as its users install it: by its Helm chart, with its own image, in a namespace where the restricted standard is enforced. */
final class Installation implements AutoCloseable {

    static final String NAMESPACE = "apportion-system";
    static final String RELEASE = "apportion";

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String DNS_SELECTOR = "app.kubernetes.io/component=dns";
    private static final String OPERATOR_SELECTOR = "app.kubernetes.io/component=operator";

    private final Helm helm;
    private final Kubectl kubectl;
    private final KubernetesClient client;

    private Installation(Cluster cluster, Helm helm) {
        this.helm = helm;
        this.kubectl = cluster.kubectl(NAMESPACE);
        this.client = cluster.client(NAMESPACE);
    }

    /** Loads the image, makes the namespace, and installs a chart. */
    static Installation of(Cluster cluster, Path folder, Path chart) throws IOException {
        cluster.loadImage(image());
        Installation installation = new Installation(cluster, Helm.in(folder).against(cluster.kubeconfig()));
        installation
                .kubectl
                .runWith("""
                    apiVersion: v1
                    kind: Namespace
                    metadata:
                      name: %s
                      labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/enforce-version: latest}
                    """.formatted(NAMESPACE), "apply", "-f", "-")
                .orThrow();
        // Both nodes of the cluster bear pods, so that one can be emptied.
        installation.kubectl.run("taint", "nodes", "--all", "node-role.kubernetes.io/control-plane-");
        installation.release(chart);
        return installation;
    }

    private static Path image() throws IOException {
        Path archive = SourceTree.root().resolve("operator/target/apportion-image.tar");
        assertThat(Files.exists(archive)).as(archive + " is made by mvn -Pe2e").isTrue();
        return archive;
    }

    /** Installs a chart, or upgrades to it, and waits until its pods are ready. */
    void release(Path chart) {
        helm.run(
                        "upgrade",
                        "--install",
                        RELEASE,
                        chart.toString(),
                        "--namespace",
                        NAMESPACE,
                        "--set",
                        "coredns.enabled=true," + coreDnsOf(client),
                        "--set",
                        "coredns.resources.requests.cpu=20m,resources.requests.cpu=20m",
                        "--set",
                        "operator.verifyInterval=PT2S,operator.resolverInterval=PT5S,rbac.keysNamespaces={%s},rbac.externalDNS=true"
                                .formatted(NAMESPACE),
                        "--wait",
                        "--timeout",
                        PATIENCE.toSeconds() + "s")
                .orThrow();
    }

    /** The values by which the chart has the CoreDNS of the cluster, which is one that every node has. */
    static String coreDnsOf(Cluster cluster) {
        try (KubernetesClient client = cluster.client("kube-system")) {
            return coreDnsOf(client);
        }
    }

    private static String coreDnsOf(KubernetesClient client) {
        String image = client.apps()
                .deployments()
                .inNamespace("kube-system")
                .withName("coredns")
                .get()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getImage();
        int tag = image.lastIndexOf(':');
        return "coredns.image.repository=%s,coredns.image.tag=%s"
                .formatted(image.substring(0, tag), image.substring(tag + 1));
    }

    /** Deletes the custom resource definitions, which an uninstall leaves. */
    static void deleteDefinitions(Kubectl kubectl) {
        kubectl.run(
                        "delete",
                        "crd",
                        "dnszones.apportion.dev",
                        "replicapools.apportion.dev",
                        "trafficservices.apportion.dev",
                        "trafficstreams.apportion.dev")
                .orThrow();
    }

    Command.Result helm(String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        line.addAll(List.of("--namespace", NAMESPACE));
        return helm.run(line.toArray(String[]::new));
    }

    Kubectl kubectl() {
        return kubectl;
    }

    /** The address and port at which pods ask the chart's CoreDNS. */
    String dns() {
        return client.services().withName(RELEASE + "-dns").get().getSpec().getClusterIP() + ":53";
    }

    List<Pod> operators() {
        return pods(OPERATOR_SELECTOR);
    }

    List<Pod> dnsPods() {
        return pods(DNS_SELECTOR);
    }

    private List<Pod> pods(String selector) {
        return client.pods().withLabelSelector(selector).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                .toList();
    }

    /** The name of the pod that leads; empty while none does. */
    String leader() {
        String holder = client.leases().withName(RELEASE).get().getSpec().getHolderIdentity();
        return holder == null ? "" : holder;
    }

    /** Each CoreDNS of the chart by itself, as this machine reaches it, at a port of its node. */
    List<DnsServer> servers() {
        List<DnsServer> servers = new ArrayList<>();
        for (Pod pod : dnsPods()) {
            String name = pod.getMetadata().getName();
            kubectl.run("label", "--overwrite", "pod/" + name, "e2e.apportion.dev/pod=" + name)
                    .orThrow();
            kubectl.runWith("""
                apiVersion: v1
                kind: Service
                metadata: {name: %1$s, labels: {e2e.apportion.dev/made-by: test}}
                spec:
                  type: NodePort
                  selector: {e2e.apportion.dev/pod: %1$s}
                  ports: [{name: dns, port: 53, targetPort: dns, protocol: UDP}]
                """.formatted(name), "apply", "-f", "-").orThrow();
            int port = client.services()
                    .withName(name)
                    .get()
                    .getSpec()
                    .getPorts()
                    .getFirst()
                    .getNodePort();
            servers.add(new DnsServer(
                    new InetSocketAddress(InetAddress.ofLiteral(pod.getStatus().getHostIP()), port)));
        }
        return servers;
    }

    String awaitCondition(Kubectl where, String resource, String type, String start) {
        return await(
                () -> new KubectlStatus(where).condition(resource, type),
                found -> found.startsWith(start),
                resource + " " + type + " " + start);
    }

    <T> T await(Callable<T> value, Predicate<T> wanted, String what) {
        return Awaitility.await(what)
                // A port of a node may not lead anywhere yet.
                .ignoreExceptionsInstanceOf(UncheckedIOException.class)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(100))
                .until(value, wanted);
    }

    @Override
    public void close() {
        client.close();
    }
}
