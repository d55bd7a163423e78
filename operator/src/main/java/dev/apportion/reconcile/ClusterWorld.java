package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.Target;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.Cache;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The caches of the controllers, read together. Each controller hands in its own when it starts. */
final class ClusterWorld implements World {

    /** The index of EndpointSlices by {@code namespace/service}. */
    static final String BY_SERVICE = "service";

    volatile @Nullable Cache<DNSZone> zones;
    volatile @Nullable Cache<ReplicaPool> pools;
    volatile @Nullable Cache<TrafficService> services;
    volatile @Nullable Cache<TrafficStream> streams;
    volatile @Nullable IndexedResourceCache<EndpointSlice> endpointSlices;
    volatile @Nullable Cache<Pod> pods;
    volatile @Nullable Cache<Service> kubernetesServices;
    volatile @Nullable Cache<Node> nodes;
    volatile @Nullable Cache<Namespace> namespaces;
    volatile @Nullable NamedConfigMaps configMaps;

    /** What is known of the health of an address. */
    volatile Function<Target, EndpointHealth> health = target -> new EndpointHealth.Unchecked();

    @Override
    public List<DNSZone> zones() {
        return list(zones);
    }

    @Override
    public List<ReplicaPool> pools() {
        return list(pools);
    }

    @Override
    public List<TrafficService> services() {
        return list(services);
    }

    @Override
    public List<TrafficStream> streams() {
        return list(streams);
    }

    @Override
    public List<EndpointSlice> endpointSlices(Ref service) {
        return present(endpointSlices).byIndex(BY_SERVICE, service.toString());
    }

    /** The key of an EndpointSlice in the index {@link #BY_SERVICE}. */
    static List<String> serviceOf(EndpointSlice slice) {
        return World.serviceOf(slice).map(Ref::toString).stream().toList();
    }

    @Override
    public Optional<Service> service(Ref service) {
        return find(kubernetesServices, service);
    }

    @Override
    public Optional<Node> node(String name) {
        return present(nodes).get(new ResourceID(name));
    }

    @Override
    public Map<String, String> podAnnotations(Ref pod) {
        return present(pods)
                .get(new ResourceID(pod.name(), pod.namespace()))
                .map(found -> found.getMetadata().getAnnotations())
                .orElse(Map.of());
    }

    @Override
    public boolean podHasEnded(Ref pod) {
        return present(pods)
                .get(new ResourceID(pod.name(), pod.namespace()))
                .filter(World::hasEnded)
                .isPresent();
    }

    @Override
    public Optional<Instant> podStarted(Ref pod) {
        return present(pods).get(new ResourceID(pod.name(), pod.namespace())).flatMap(World::started);
    }

    @Override
    public EndpointHealth health(Target target) {
        return health.apply(target);
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
        return present(namespaces)
                .get(new ResourceID(namespace))
                .map(found -> found.getMetadata().getLabels())
                .orElse(Map.of());
    }

    @Override
    public KeySource keys(Ref configMap, String key) {
        return present(configMaps).keys(configMap, key);
    }

    /** Has the ConfigMap followed that a stream names now. */
    void follow(Ref stream) {
        present(configMaps)
                .follow(
                        stream,
                        () -> find(streams, stream)
                                .filter(found -> !found.isMarkedForDeletion())
                                .flatMap(StreamAdmission::configMap));
    }

    /** Every DNSZone there is, those on their way out among them. */
    Set<Ref> allZones() {
        try (Stream<DNSZone> all = present(zones).list()) {
            return all.map(Ref::of).collect(Collectors.toSet());
        }
    }

    boolean hasZone(Ref ref) {
        return find(zones, ref).isPresent();
    }

    <T> Optional<T> find(@Nullable Cache<T> cache, Ref ref) {
        return present(cache).get(new ResourceID(ref.name(), ref.namespace()));
    }

    private static <T> T present(@Nullable T cache) {
        return Objects.requireNonNull(cache, "the controllers have not started yet");
    }

    /** Objects that are on their way out are left out: whoever deleted them meant it. */
    private static <T extends HasMetadata> List<T> list(@Nullable Cache<T> cache) {
        try (Stream<T> all = present(cache).list()) {
            return all.filter(resource -> !resource.isMarkedForDeletion()).toList();
        }
    }
}
