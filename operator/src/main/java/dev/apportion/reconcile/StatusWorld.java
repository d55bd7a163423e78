package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.Target;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The world as statuses tell it to somebody who may read nothing else: the replicas that the operator found, what it learned of
 * them, and the rates that it counts with. Manifests, where there are some, replace what the cluster has of their names.
 */
final class StatusWorld implements World {

    /** A resource that is not in the cluster yet will be the youngest. */
    private static final String NOT_YET = "9999-12-31T23:59:59Z";

    private final ClusterState state;
    private final Optional<World> manifests;
    private final List<DNSZone> zones;
    private final List<ReplicaPool> pools;
    private final List<TrafficService> services;
    private final List<TrafficStream> streams;
    private final Map<Ref, AdmittedPool> poolsNow = new HashMap<>();
    private final Map<Ref, TrafficService> servicesNow = new HashMap<>();
    private final Map<Ref, TrafficStream> streamsNow = new HashMap<>();
    private final Map<Ref, Map<String, ReportedReplica>> reported = new HashMap<>();

    StatusWorld(ClusterState state, Optional<World> manifests) {
        this.state = state;
        this.manifests = manifests;
        zones = over(state.zones(), World::zones);
        pools = over(state.pools(), World::pools);
        services = over(state.services(), World::services);
        streams = over(state.streams(), World::streams);
        for (ReplicaPool pool : state.pools()) {
            PoolAdmission.judge(pool).value().ifPresent(admitted -> poolsNow.put(admitted.ref(), admitted));
            Map<String, ReportedReplica> rows = new TreeMap<>();
            if (pool.getStatus() != null) {
                pool.getStatus().rows().forEach(row -> rows.put(row.name(), ReportedReplica.of(row)));
            }
            reported.put(Ref.of(pool), rows);
        }
        state.services().forEach(service -> servicesNow.put(Ref.of(service), service));
        state.streams().forEach(stream -> streamsNow.put(Ref.of(stream), stream));
    }

    private <T extends HasMetadata> List<T> over(List<T> now, Function<World, List<T>> kind) {
        Map<Ref, T> all = new TreeMap<>();
        now.forEach(resource -> all.put(Ref.of(resource), resource));
        for (T resource : manifests.map(kind).orElse(List.of())) {
            T before = all.put(Ref.of(resource), resource);
            resource.getMetadata()
                    .setCreationTimestamp(
                            before == null ? NOT_YET : before.getMetadata().getCreationTimestamp());
        }
        return new ArrayList<>(all.values());
    }

    /** The replicas that the status of a pool shows, by name. */
    Map<String, ReportedReplica> reported(Ref pool) {
        return reported.getOrDefault(pool, Map.of());
    }

    @Override
    public List<Member> members(AdmittedPool pool) {
        Map<String, ReportedReplica> rows = reported(pool.ref());
        Map<String, Member> members = new TreeMap<>();
        for (Member declared : Members.of(pool, this)) {
            ReportedReplica row = rows.get(declared.name());
            members.put(declared.name(), row == null ? declared : learned(declared, row));
        }
        for (AdmittedPool.Site site : pool.sites()) {
            if (isReported(pool, site)) {
                double before = declaredBefore(pool.ref(), site);
                for (ReportedReplica row : rows.values()) {
                    if (row.site().equals(site.name())) {
                        // What a pod's own annotation declares stays, whatever the site says.
                        double declared = row.declared() == before ? site.capacity() : row.declared();
                        members.put(row.name(), row.member(declared, site.concurrency()));
                    }
                }
            }
        }
        return List.copyOf(members.values());
    }

    /** Whether only the status tells of some replicas of a pool. */
    boolean isReported(AdmittedPool pool) {
        return pool.sites().stream().anyMatch(site -> isReported(pool, site));
    }

    /** Whether only the status tells of the replicas of a site. */
    private boolean isReported(AdmittedPool pool, AdmittedPool.Site site) {
        return site.source() instanceof AdmittedPool.Source.Service(String name, var publish)
                && endpointSlices(new Ref(pool.ref().namespace(), name)).isEmpty();
    }

    private double declaredBefore(Ref pool, AdmittedPool.Site site) {
        return Optional.ofNullable(poolsNow.get(pool)).stream()
                .flatMap(before -> before.sites().stream())
                .filter(before -> before.name().equals(site.name()))
                .mapToDouble(AdmittedPool.Site::capacity)
                .findFirst()
                .orElse(site.capacity());
    }

    /** A replica as it is declared, with what the operator knows of it; what is declared to drain, drains. */
    private static Member learned(Member declared, ReportedReplica row) {
        Member known = row.member(declared.declared(), declared.concurrency());
        boolean same = row.state() == Member.State.NotReady || row.addresses().equals(declared.addresses());
        Member.State state = declared.state() == Member.State.Draining || row.state() == Member.State.Draining
                ? declared.state()
                : same ? row.state() : declared.state();
        return new Member(
                declared.name(),
                declared.site(),
                declared.declared(),
                known.capacity(),
                declared.concurrency(),
                known.measured(),
                known.load(),
                known.warmth(),
                declared.processes(),
                same ? row.addresses() : declared.addresses(),
                state,
                known.because());
    }

    @Override
    public List<Demand> rated(List<Demand> demands) {
        return demands.stream().map(this::rated).toList();
    }

    /** What nobody declares is measured, or estimated from what is measured. */
    private Demand rated(Demand demand) {
        return demand.declared() ? demand : inForce(demand);
    }

    /** The demand with the rate that the operator counts with. */
    Demand inForce(Demand demand) {
        if (demand.isKey()) {
            return demand;
        }
        Ref ref = new Ref(demand.service().namespace(), demand.stream());
        TrafficStream stream = streamsNow.get(ref);
        TrafficService service = servicesNow.get(demand.service());
        String rate = demand.stream().isEmpty()
                ? service == null || service.getStatus() == null
                        ? null
                        : service.getStatus().rate()
                : stream == null || stream.getStatus() == null
                        ? null
                        : stream.getStatus().rate();
        return rate == null ? demand : demand.estimated(ReportedReplica.number(rate));
    }

    /** The EndpointSlices of Services are not read; that they are missing is for the operator to say. */
    @Override
    public Optional<Finding> missing(AdmittedPool pool) {
        return Optional.empty();
    }

    @Override
    public List<DNSZone> zones() {
        return zones;
    }

    @Override
    public List<ReplicaPool> pools() {
        return pools;
    }

    @Override
    public List<TrafficService> services() {
        return services;
    }

    @Override
    public List<TrafficStream> streams() {
        return streams;
    }

    @Override
    public List<EndpointSlice> endpointSlices(Ref service) {
        return manifests
                .map(world -> world.endpointSlices(service))
                .filter(slices -> !slices.isEmpty())
                .orElse(List.of());
    }

    @Override
    public Optional<Service> service(Ref service) {
        return manifests.flatMap(world -> world.service(service));
    }

    @Override
    public Optional<Node> node(String name) {
        return manifests.flatMap(world -> world.node(name));
    }

    @Override
    public Map<String, String> podAnnotations(Ref pod) {
        return manifests.map(world -> world.podAnnotations(pod)).orElse(Map.of());
    }

    @Override
    public boolean podHasEnded(Ref pod) {
        return manifests.filter(world -> world.podHasEnded(pod)).isPresent();
    }

    @Override
    public Optional<Instant> podStarted(Ref pod) {
        return manifests.flatMap(world -> world.podStarted(pod));
    }

    @Override
    public KeySource keys(Ref configMap, String key) {
        return manifests
                .map(world -> world.keys(configMap, key))
                .filter(source -> source.keys().isPresent())
                .orElseGet(() -> KeySource.of(
                        configMap, key, Optional.ofNullable(state.configMaps().get(configMap))));
    }

    /** How they are is said by the statuses; what is new counts as well. */
    @Override
    public EndpointHealth health(Target target) {
        return new EndpointHealth.Healthy();
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
        return manifests
                .map(world -> world.namespaceLabels(namespace))
                .filter(labels -> !labels.isEmpty())
                .orElseGet(() -> state.namespaces().getOrDefault(namespace, Map.of()));
    }
}
