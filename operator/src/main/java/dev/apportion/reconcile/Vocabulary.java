package dev.apportion.reconcile;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceSpec;
import io.fabric8.kubernetes.api.model.ServiceStatus;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionSpec;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionStatus;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;

/**
 * What the operator reads of what the API server tells: the kinds that it watches, and of the large ones the fields that it
 * looks at; the rest is skipped as it arrives. The library's own reading knows every kind and field that there are: it loads a
 * thousand classes, and prepares a reader for each type that a pod may hold, though there be no pod.
 */
final class Vocabulary {

    /** Those of which watches tell. */
    private static final List<Class<? extends KubernetesResource>> KINDS = List.of(
            DNSZone.class,
            ReplicaPool.class,
            TrafficService.class,
            TrafficStream.class,
            ConfigMap.class,
            EndpointSlice.class,
            Namespace.class,
            Node.class,
            Pod.class,
            Service.class);

    private Vocabulary() {}

    static KubernetesSerialization serialization() {
        ObjectMapper mapper = new ObjectMapper()
                .addMixIn(PodSpec.class, PodFields.class)
                .addMixIn(Container.class, ContainerFields.class)
                .addMixIn(PodStatus.class, PodStatusFields.class)
                .addMixIn(NodeSpec.class, NoFields.class)
                .addMixIn(NodeStatus.class, NodeStatusFields.class)
                .addMixIn(ServiceSpec.class, NoFields.class)
                .addMixIn(ServiceStatus.class, ServiceStatusFields.class)
                .addMixIn(CustomResourceDefinitionSpec.class, DefinitionFields.class)
                .addMixIn(CustomResourceDefinitionVersion.class, DefinitionVersionFields.class)
                .addMixIn(JSONSchemaProps.class, SchemaFields.class)
                .addMixIn(CustomResourceDefinitionStatus.class, NoFields.class);
        KubernetesSerialization serialization =
                new KubernetesSerialization(mapper, /* searchClassloaders, for all kinds that there are */ false);
        KINDS.forEach(serialization::registerKubernetesResource);
        // What the end of a watch is told with.
        serialization.registerKubernetesResource("v1", "Status", Status.class);
        return serialization;
    }

    @JsonIncludeProperties({})
    private interface NoFields {}

    @JsonIncludeProperties("containers")
    private interface PodFields {}

    @JsonIncludeProperties({"name", "resources"})
    private interface ContainerFields {}

    @JsonIncludeProperties({"phase", "startTime"})
    private interface PodStatusFields {}

    @JsonIncludeProperties("addresses")
    private interface NodeStatusFields {}

    @JsonIncludeProperties("loadBalancer")
    private interface ServiceStatusFields {}

    @JsonIncludeProperties("versions")
    private interface DefinitionFields {}

    @JsonIncludeProperties({"name", "schema"})
    private interface DefinitionVersionFields {}

    @JsonIncludeProperties({"properties", "items", "x-kubernetes-preserve-unknown-fields"})
    private interface SchemaFields {}
}
