package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.Target;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All that plans depend on, as it was found: in the caches of a cluster, or in a folder of manifests. */
public interface World {

    List<DNSZone> zones();

    List<ReplicaPool> pools();

    List<TrafficService> services();

    List<TrafficStream> streams();

    /** The EndpointSlices of a Service. */
    List<EndpointSlice> endpointSlices(Ref service);

    /** A Service of Kubernetes. */
    Optional<Service> service(Ref service);

    /** A node of the cluster. */
    Optional<Node> node(String name);

    /** The annotations of a pod; empty when the pod is not known. */
    Map<String, String> podAnnotations(Ref pod);

    /** Says whether a pod has run to its end, well or not: whatever an EndpointSlice still says, it serves nothing any more. */
    boolean podHasEnded(Ref pod);

    /** When a pod began to run; empty when that is not known. */
    Optional<Instant> podStarted(Ref pod);

    /** When a pod says that it began to run. */
    static Optional<Instant> started(Pod pod) {
        try {
            return Optional.ofNullable(pod.getStatus())
                    .map(PodStatus::getStartTime)
                    .map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** Says whether a pod's phase is one that it never leaves. */
    static boolean hasEnded(Pod pod) {
        String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
        return "Succeeded".equals(phase) || "Failed".equals(phase);
    }

    /** The keys that a ConfigMap lists under one of its own keys. */
    KeySource keys(Ref configMap, String key);

    /** Whether an address that is checked is well. */
    EndpointHealth health(Target target);

    /** The labels of a namespace; empty when it is not known. */
    Map<String, String> namespaceLabels(String namespace);

    /** The replicas of a pool. */
    default List<Member> members(AdmittedPool pool) {
        return Members.of(pool, this);
    }

    /** The streams of a pool with rates as far as they were measured. */
    default List<Demand> rated(List<Demand> demands) {
        return demands;
    }

    /** {@code ResolvedRefs} of a pool of which a Service has nothing that could be answered; empty where all have. */
    default Optional<Finding> missing(AdmittedPool pool) {
        return Findings.missingServices(pool, this);
    }

    /** The Service that an EndpointSlice belongs to, as its label says. */
    static Optional<Ref> serviceOf(EndpointSlice slice) {
        ObjectMeta metadata = slice.getMetadata();
        return Optional.ofNullable(metadata.getLabels())
                .map(labels -> labels.get("kubernetes.io/service-name"))
                .map(service -> new Ref(metadata.getNamespace(), service));
    }
}
