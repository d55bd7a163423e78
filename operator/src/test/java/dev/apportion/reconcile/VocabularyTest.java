package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VocabularyTest {

    private final KubernetesSerialization serialization = Vocabulary.serialization();

    @ParameterizedTest
    @ValueSource(
            classes = {
                DNSZone.class,
                ReplicaPool.class,
                TrafficService.class,
                TrafficStream.class,
                ConfigMap.class,
                EndpointSlice.class,
                Namespace.class,
                Node.class,
                Pod.class,
                Service.class
            })
    void whatAWatchTellsIsOfItsKind(Class<? extends HasMetadata> kind) {
        WatchEvent event = serialization.unmarshal(
                """
                {"type": "ADDED", "object": {"apiVersion": "%s", "kind": "%s", "metadata": {"name": "a"}}}
                """.formatted(HasMetadata.getApiVersion(kind), HasMetadata.getKind(kind)), WatchEvent.class);

        assertThat(event.getObject()).isInstanceOf(kind);
    }

    @Test
    void theEndOfAWatchIsAStatus() {
        WatchEvent event = serialization.unmarshal("""
            {"type": "ERROR", "object": {"apiVersion": "v1", "kind": "Status", "code": 410, "reason": "Expired"}}
            """, WatchEvent.class);

        assertThat(event.getObject())
                .isInstanceOfSatisfying(
                        Status.class, status -> assertThat(status.getCode()).isEqualTo(410));
    }

    @Test
    void ofAPodWhatPoolsAndLoadsAskFor() {
        Pod pod = serialization.unmarshal("""
            apiVersion: v1
            kind: Pod
            metadata: {name: a, uid: u, annotations: {apportion.dev/capacity: "3"}}
            spec:
              nodeName: n
              volumes: [{name: v, emptyDir: {}}]
              containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}, env: [{name: x, value: y}]}]
            status:
              phase: Running
              startTime: "2026-01-01T00:00:00Z"
              conditions: [{type: Ready, status: "True"}]
            """, Pod.class);

        assertThat(pod.getMetadata().getAnnotations()).containsEntry("apportion.dev/capacity", "3");
        assertThat(pod.getStatus().getPhase()).isEqualTo("Running");
        assertThat(World.started(pod)).isPresent();
        assertThat(pod.getSpec().getContainers()).singleElement().satisfies(container -> {
            assertThat(container.getName()).isEqualTo("c");
            assertThat(container.getResources().getRequests())
                    .hasEntrySatisfying(
                            "cpu", cpu -> assertThat(cpu.getAmount()).isEqualTo("100"));
            assertThat(container.getImage()).isNull();
            assertThat(container.getAdditionalProperties()).isEmpty();
        });
        assertThat(pod.getSpec().getNodeName()).as("nobody asks for it").isNull();
        assertThat(pod.getSpec().getVolumes()).isEmpty();
        assertThat(pod.getSpec().getAdditionalProperties()).isEmpty();
    }

    @Test
    void ofNodesAndServicesTheAddresses() {
        Node node = serialization.unmarshal("""
            apiVersion: v1
            kind: Node
            spec: {podCIDR: 10.0.0.0/24}
            status: {addresses: [{type: ExternalIP, address: 192.0.2.1}], images: [{names: [a]}]}
            """, Node.class);
        Service service = serialization.unmarshal("""
            apiVersion: v1
            kind: Service
            spec: {type: LoadBalancer, ports: [{port: 80}]}
            status: {loadBalancer: {ingress: [{ip: 192.0.2.2}, {hostname: a.example}]}}
            """, Service.class);

        assertThat(node.getStatus().getAddresses())
                .singleElement()
                .satisfies(address -> assertThat(address.getAddress()).isEqualTo("192.0.2.1"));
        assertThat(node.getStatus().getImages()).isEmpty();
        assertThat(service.getStatus().getLoadBalancer().getIngress())
                .satisfiesExactly(
                        first -> assertThat(first.getIp()).isEqualTo("192.0.2.2"),
                        second -> assertThat(second.getHostname()).isEqualTo("a.example"));
    }

    @Test
    void ofDefinitionsTheFieldsThatThereAre() {
        CustomResourceDefinition definition = serialization.unmarshal("""
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata: {name: a}
            spec:
              versions:
              - name: v1
                schema:
                  openAPIV3Schema:
                    description: d
                    properties:
                      list: {type: array, items: {properties: {b: {type: string}}}}
                      loose: {x-kubernetes-preserve-unknown-fields: true}
            """, CustomResourceDefinition.class);

        JSONSchemaProps schema =
                definition.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
        assertThat(schema.getDescription()).isNull();
        assertThat(schema.getProperties())
                .hasEntrySatisfying(
                        "list",
                        list -> assertThat(list.getItems().getSchema().getProperties())
                                .containsOnlyKeys("b"))
                .hasEntrySatisfying(
                        "loose",
                        loose -> assertThat(loose.getXKubernetesPreserveUnknownFields())
                                .isTrue());
    }
}
