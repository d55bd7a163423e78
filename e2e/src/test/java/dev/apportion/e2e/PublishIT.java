package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** The addresses of load balancers and nodes are answered, in proportion to what serves behind them. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PublishIT {

    /** No controller is there that would write slices or the addresses of load balancers. */
    private static final String WORLD = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: NAME}
        spec:
          domain: NAME.example
          coreDNS: {answers: Single, configMap: {shards: 1}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: NAME}
        spec: {type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 80}]}
        ---
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: NAME-1, labels: {kubernetes.io/service-name: NAME}}
        addressType: IPv4
        endpoints:
        - {addresses: [10.0.0.1], nodeName: NAME-1, conditions: {ready: true, serving: true}}
        - {addresses: [10.0.0.2], nodeName: NAME-1, conditions: {ready: true, serving: true}}
        - {addresses: [10.0.0.3], nodeName: NAME-1, conditions: {ready: true, serving: true}}
        - {addresses: [10.0.0.4], nodeName: NAME-2, conditions: {ready: true, serving: true}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: NAME}
        spec:
          sites:
          - {name: main, service: {name: NAME, publish: PUBLISH}, capacity: 100}
          - {name: fixed, endpoints: [{name: other, address: 192.0.2.200, capacity: 400}]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: NAME}
        spec: {zoneRef: {name: NAME}, hostname: www.NAME.example, poolRef: {name: NAME}}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        product = Product.start(server, kubectl, folder, "--verify-interval", "PT0.5S");
    }

    @AfterAll
    void stop() throws IOException {
        product.kubectl("delete", "node", "--all");
        product.close();
    }

    private void apply(String name, String publish) {
        product.apply(WORLD.replace("NAME", name).replace("PUBLISH", publish));
    }

    private void patchStatus(String resource, String status) {
        product.kubectl(
                "patch", resource, "--subresource=status", "--type=merge", "-p", "{\"status\":%s}".formatted(status));
    }

    private void awaitAnswers(String name, Map<String, Long> slots) {
        Question question = Question.of("www.%s.example".formatted(name), Type.A);
        product.await(() -> product.dns().slots(question).counts(), slots::equals, "the answers " + slots);
    }

    @Test
    void aLoadBalancer() {
        apply("balanced", "LoadBalancer");
        product.awaitCondition("replicapool/balanced", "ResolvedRefs", "False LoadBalancerPending");
        awaitAnswers("balanced", Map.of("192.0.2.200", 256L));

        patchStatus("service/balanced", "{\"loadBalancer\":{\"ingress\":[{\"hostname\":\"lb.example.net\"}]}}");
        product.awaitCondition("replicapool/balanced", "ResolvedRefs", "False LoadBalancerHostName");
        assertThat(product.condition("replicapool/balanced", "ResolvedRefs")).contains("lb.example.net");

        patchStatus("service/balanced", "{\"loadBalancer\":{\"ingress\":[{\"ip\":\"203.0.113.1\"}]}}");
        awaitAnswers("balanced", Map.of("192.0.2.200", 128L, "203.0.113.1", 128L));
        product.awaitCondition("replicapool/balanced", "ResolvedRefs", "True");
        product.awaitVerified("balanced");

        product.kubectl("delete", "endpointslice", "balanced-1");
        awaitAnswers("balanced", Map.of("192.0.2.200", 256L));
    }

    @Test
    void nodes() {
        for (int i = 1; i <= 2; i++) {
            product.apply("apiVersion: v1\nkind: Node\nmetadata: {name: nodes-%d}\n".formatted(i));
            patchStatus(
                    "node/nodes-" + i,
                    "{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"192.0.2.%d\"}]}".formatted(i));
        }
        apply("nodes", "Nodes");
        awaitAnswers("nodes", Map.of("192.0.2.200", 128L, "192.0.2.1", 96L, "192.0.2.2", 32L));

        patchStatus(
                "node/nodes-2",
                "{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"192.0.2.2\"},{\"type\":\"ExternalIP\",\"address\":\"203.0.113.2\"}]}");
        awaitAnswers("nodes", Map.of("192.0.2.200", 128L, "192.0.2.1", 96L, "203.0.113.2", 32L));
        product.awaitVerified("nodes");
    }
}
