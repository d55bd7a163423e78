package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** While nothing changes nothing is written, and a restart changes nothing. */
@WithApiServer
class IdleIT {

    private static final Duration INTERVAL = Duration.ofMillis(500);
    private static final int INTERVALS = 12;
    private static final Pattern WRITE = Pattern.compile(
            "apiserver_request_total\\{(?=[^}]*verb=\"(?:POST|PUT|PATCH|APPLY|DELETE)\")(?=[^}]*resource=\"(?:configmaps|dnszones|replicapools|trafficservices|trafficstreams|pods|events)\")[^}]*\\}"
                + " ([0-9.e+]+)");

    @Test
    void neitherIdlenessNorARestartWrites(
            ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder)
            throws IOException, InterruptedException {
        try (Product product = Product.start(
                server,
                kubectl,
                folder,
                "--reconcile-interval",
                INTERVAL.toString(),
                "--verify-interval",
                INTERVAL.toString())) {
            product.apply("""
                apiVersion: apportion.dev/v1alpha1
                kind: DNSZone
                metadata: {name: idle}
                spec:
                  domain: idle.example
                  coreDNS: {answers: Single}
                  verifyAt: {addresses: ["127.0.0.1:PORT"]}
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: idle}
                spec:
                  sites:
                  - name: main
                    endpoints:
                    - {name: a, addresses: [192.0.2.1, "2001:db8::1"], capacity: "2500m"}
                    - {name: b, address: 192.0.2.2}
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficService
                metadata: {name: idle}
                spec: {zoneRef: {name: idle}, hostname: www.idle.example, poolRef: {name: idle}}
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficStream
                metadata: {name: idle}
                spec: {serviceRef: {name: idle}, clients: {cidrs: [127.0.0.2/32]}, rate: 3}
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficService
                metadata: {name: broken}
                spec: {zoneRef: {name: idle}, hostname: elsewhere.example.com, poolRef: {name: idle}}
                """);
            product.awaitVerified("idle");
            product.setCapacity("idle", 3);
            product.await(
                    () -> product.condition("replicapool/idle", "Allocated"),
                    said -> said.contains("moved"),
                    "what became of the change");
            product.await(
                    "its answers", () -> product.weights("trafficservice/idle").containsValue(192L));
            product.awaitVerified("idle");
            product.awaitCondition("trafficstream/idle", "Verified", "True");
            product.awaitCondition("dnszone/idle", "Ready", "True");
            product.awaitCondition("trafficservice/broken", "Accepted", "False HostOutsideZone");
            Thread.sleep(INTERVAL);
            Map<String, String> versions = versions(client);
            Map<String, Map<String, String>> data = data(client);
            double writes = writes(client);

            Thread.sleep(INTERVAL.multipliedBy(INTERVALS));
            assertThat(versions(client)).isEqualTo(versions);
            assertThat(writes(client))
                    .as("write requests in %d intervals", INTERVALS)
                    .isEqualTo(writes);

            String statuses = product.kubectl("get", "trafficservices", "-o", "yaml");
            product.stopOperator();
            product.startOperator();
            Thread.sleep(INTERVAL.multipliedBy(INTERVALS));
            assertThat(product.kubectl("get", "trafficservices", "-o", "yaml")).isEqualTo(statuses);
            assertThat(versions(client)).as("after a restart").isEqualTo(versions);
            assertThat(data(client)).isEqualTo(data).isNotEmpty();
            assertThat(writes(client)).as("write requests since the restart").isEqualTo(writes);
            System.out.printf(
                    "idle: %d intervals and a restart, 0 writes, %d objects%n", 2 * INTERVALS, versions.size());
        }
    }

    private static Map<String, String> versions(KubernetesClient client) {
        Map<String, String> versions = new TreeMap<>();
        Stream.concat(
                        client.configMaps().list().getItems().stream(),
                        Stream.of("DNSZone", "ReplicaPool", "TrafficService", "TrafficStream")
                                .flatMap(
                                        kind -> client
                                                .genericKubernetesResources("apportion.dev/v1alpha1", kind)
                                                .list()
                                                .getItems()
                                                .stream()))
                .map(HasMetadata.class::cast)
                .forEach(resource -> versions.put(
                        resource.getKind() + "/" + resource.getMetadata().getName(),
                        resource.getMetadata().getResourceVersion()));
        return versions;
    }

    private static Map<String, Map<String, String>> data(KubernetesClient client) {
        Map<String, Map<String, String>> data = new TreeMap<>();
        for (ConfigMap configMap : client.configMaps()
                .withLabel("apportion.dev/part-of", "coredns")
                .list()
                .getItems()) {
            data.put(configMap.getMetadata().getName(), configMap.getData());
        }
        return data;
    }

    /** Requests that write the kinds concerned, as the API server itself counts them. */
    private static double writes(KubernetesClient client) {
        Matcher lines = WRITE.matcher(client.raw("/metrics"));
        double sum = 0;
        while (lines.find()) {
            sum += Double.parseDouble(lines.group(1));
        }
        assertThat(sum).as("the API server counts writes").isPositive();
        return sum;
    }
}
