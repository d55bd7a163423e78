package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pods of the DNS servers are annotated after each write, so that their kubelets refresh the mounted files at once. */
@WithApiServer
class RefreshIT {

    /** Longer than an annotation takes after a write. */
    private static final Duration QUIET = Duration.ofSeconds(1);

    /** There are no kubelets: the pods are only objects. The endpoints do not serve, so that nothing is sent to them. */
    private static final String SERVERS = """
        apiVersion: v1
        kind: Pod
        metadata: {name: dns-1, annotations: {own: stays}}
        spec: {nodeName: node-1, containers: [{name: coredns, image: "none:1"}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: dns-2}
        spec: {nodeName: node-2, containers: [{name: coredns, image: "none:1"}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: bystander}
        spec: {nodeName: node-1, containers: [{name: web, image: "none:1"}]}
        ---
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: dns-a, labels: {kubernetes.io/service-name: dns}}
        addressType: IPv4
        ports: [{name: dns, port: 53, protocol: UDP}]
        endpoints:
        - {addresses: [192.0.2.61], conditions: {ready: false, serving: false}, targetRef: {kind: Pod, name: dns-1}}
        - {addresses: [192.0.2.62], conditions: {ready: false, serving: false}, targetRef: {kind: Pod, name: dns-2}}
        """;

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: refreshed}
        spec:
          domain: refreshed.example
          coreDNS: {answers: Single, refresh: REFRESH}
          verifyAt: {service: {name: dns, port: 53}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: refreshed}
        spec:
          sites:
          - {name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: CAPACITY}, {name: b, address: 192.0.2.2, capacity: 100}]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: refreshed}
        spec: {zoneRef: {name: refreshed}, hostname: www.refreshed.example, poolRef: {name: refreshed}}
        """;

    private static String zone(String refresh, int capacity) {
        return ZONE.replace("REFRESH", refresh).replace("CAPACITY", Integer.toString(capacity));
    }

    private static String serial(Product product, String pod) {
        return product.kubectl("get", "pod", pod, "-o", "jsonpath={.metadata.annotations.apportion\\.dev/serial}");
    }

    @Test
    void eachWriteAnnotatesTheServersPodsAndNoOthers(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException, InterruptedException {
        try (Product product = Product.start(server, kubectl, folder)) {
            product.apply(SERVERS);
            product.apply(zone("Annotate", 100));
            product.awaitCondition("trafficservice/refreshed", "Programmed", "True Programmed");
            for (String pod : List.of("dns-1", "dns-2")) {
                product.await("annotation of " + pod, () -> serial(product, pod).startsWith("refreshed.example."));
            }
            Thread.sleep(QUIET);
            String first = serial(product, "dns-1");
            assertThat(serial(product, "dns-2")).isEqualTo(first);

            product.apply(zone("Annotate", 300));
            for (String pod : List.of("dns-1", "dns-2")) {
                product.await(
                        "another annotation of " + pod,
                        () -> !serial(product, pod).equals(first));
            }
            Thread.sleep(QUIET);
            String second = serial(product, "dns-1");
            assertThat(second).startsWith("refreshed.example.").isNotEqualTo(first);
            assertThat(product.kubectl("get", "pod", "dns-1", "-o", "jsonpath={.metadata.annotations.own}"))
                    .isEqualTo("stays");
            assertThat(serial(product, "bystander")).isEmpty();

            product.apply(zone("None", 900));
            product.await(
                    () -> product.weights("trafficservice/refreshed").get("192.0.2.1"),
                    weight -> weight != null && weight > 200,
                    "the write");
            Thread.sleep(QUIET);
            assertThat(serial(product, "dns-1")).isEqualTo(second);
            assertThat(serial(product, "dns-2")).isEqualTo(second);
            product.awaitCondition("dnszone/refreshed", "Verified", "Unknown NoServers");
        }
    }
}
