package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which resources are valid, whose names are their own, and what they refer to. Where two claim one name the older one has
 * it, and the younger one takes over when the older one goes. Immutable.
 */
public final class Admission {

    /** The names of objects (RFC 1123, section 2.1, several labels). */
    private static final Pattern NAME =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

    private static final int LONGEST_NAME = 253;

    private final SortedMap<Ref, Judged<AdmittedZone>> zones;
    private final SortedMap<Ref, Judged<AdmittedPool>> pools;
    private final SortedMap<Ref, Judged<AdmittedService>> services;
    private final SortedMap<Ref, Judged<AdmittedStream>> streams;
    private final Map<Ref, List<AdmittedService>> byZone;
    private final Map<Ref, List<AdmittedService>> byPool;
    private final Map<Ref, List<AdmittedStream>> byService;
    private final Set<String> hostnames;

    private Admission(
            SortedMap<Ref, Judged<AdmittedZone>> zones,
            SortedMap<Ref, Judged<AdmittedPool>> pools,
            SortedMap<Ref, Judged<AdmittedService>> services,
            SortedMap<Ref, Judged<AdmittedStream>> streams) {
        this.zones = Collections.unmodifiableSortedMap(zones);
        this.pools = Collections.unmodifiableSortedMap(pools);
        this.services = Collections.unmodifiableSortedMap(services);
        this.streams = Collections.unmodifiableSortedMap(streams);
        this.byZone = grouped(services, AdmittedService::zone);
        this.byPool = grouped(services, AdmittedService::pool);
        this.byService = grouped(streams, AdmittedStream::service);
        this.hostnames = admitted(services).map(AdmittedService::hostname).collect(Collectors.toUnmodifiableSet());
    }

    private static <T> Map<Ref, List<T>> grouped(SortedMap<Ref, Judged<T>> judged, Function<T, Ref> key) {
        return admitted(judged).collect(Collectors.groupingBy(key));
    }

    private static <T> Stream<T> admitted(SortedMap<Ref, Judged<T>> judged) {
        return judged.values().stream().flatMap(verdict -> verdict.value().stream());
    }

    /** The verdict on each DNSZone. */
    public SortedMap<Ref, Judged<AdmittedZone>> zones() {
        return zones;
    }

    /** The verdict on each ReplicaPool. */
    public SortedMap<Ref, Judged<AdmittedPool>> pools() {
        return pools;
    }

    /** The verdict on each TrafficService. */
    public SortedMap<Ref, Judged<AdmittedService>> services() {
        return services;
    }

    /** The verdict on each TrafficStream. */
    public SortedMap<Ref, Judged<AdmittedStream>> streams() {
        return streams;
    }

    /** Age decides; a resource that was never in a cluster has none and ties are decided by place. */
    private static final Comparator<HasMetadata> AGE = Comparator.comparing((HasMetadata resource) ->
                    Objects.requireNonNullElse(resource.getMetadata().getCreationTimestamp(), ""))
            .thenComparing(Ref::of);

    /** What depends on a single resource alone, from one judgement to the next. */
    static final class Memory {
        private final Remembered<ReplicaPool, Judged<AdmittedPool>> pools =
                new Remembered<>(pool -> ifNamed(pool, () -> PoolAdmission.judge(pool)));
        private final Remembered<TrafficService, Judged<String>> hostnames =
                new Remembered<>(service -> ifNamed(service, () -> ServiceAdmission.host(service)));
    }

    /** Judges all resources. Pure. */
    public static Admission of(World world) {
        return of(world, new Memory());
    }

    /** Judges all resources; the memory makes it faster, and changes nothing of the result. */
    static Admission of(World world, Memory memory) {
        SortedMap<Ref, Judged<AdmittedPool>> pools = new TreeMap<>();
        memory.pools.of(world.pools()).forEach((pool, judged) -> pools.put(Ref.of(pool), judged));
        Judge judge = new Judge(world, pools, memory.hostnames.of(world.services()));
        judge.zones();
        judge.services();
        judge.streams();
        return new Admission(judge.zones, pools, judge.services, judge.streams);
    }

    /** Manifests in a folder have not been through an API server, which takes no other names. */
    private static <T> Judged<T> ifNamed(HasMetadata resource, Supplier<Judged<T>> judge) {
        for (Map.Entry<String, String> name : List.of(
                Map.entry("name", resource.getMetadata().getName()),
                Map.entry("namespace", resource.getMetadata().getNamespace()))) {
            if (name.getValue().length() > LONGEST_NAME
                    || !NAME.matcher(name.getValue()).matches()) {
                return Judged.rejected(
                        "InvalidSpec",
                        "metadata.%s: \"%s\" is not a name that Kubernetes takes: lower-case letters, digits, hyphens and dots, at most %d"
                                .formatted(name.getKey(), name.getValue(), LONGEST_NAME));
            }
        }
        return judge.get();
    }

    public Optional<AdmittedZone> zone(Ref ref) {
        return value(zones, ref);
    }

    public Optional<AdmittedPool> pool(Ref ref) {
        return value(pools, ref);
    }

    public Optional<AdmittedService> service(Ref ref) {
        return value(services, ref);
    }

    public Optional<AdmittedStream> stream(Ref ref) {
        return value(streams, ref);
    }

    /** The admitted services of a zone, by place. */
    public List<AdmittedService> servicesOf(Ref zone) {
        return byZone.getOrDefault(zone, List.of());
    }

    /** The admitted services that share a pool, by place. */
    public List<AdmittedService> servicesSharing(Ref pool) {
        return byPool.getOrDefault(pool, List.of());
    }

    /** The admitted streams of a service, by place. */
    public List<AdmittedStream> streamsOf(Ref service) {
        return byService.getOrDefault(service, List.of());
    }

    /** Says whether no admitted service has the host name. */
    public boolean hostIsFree(String hostname) {
        return !hostnames.contains(hostname);
    }

    private static <T> Optional<T> value(Map<Ref, Judged<T>> judged, Ref ref) {
        return Optional.ofNullable(judged.get(ref)).flatMap(Judged::value);
    }

    static <S, T> String unreadable(ApportionResource<S, T> resource) {
        return Objects.requireNonNullElse(resource.unreadable(), "it has no spec");
    }

    /** Goes through the resources in the order of their age. */
    private static final class Judge {

        final SortedMap<Ref, Judged<AdmittedZone>> zones = new TreeMap<>();
        final SortedMap<Ref, Judged<AdmittedService>> services = new TreeMap<>();
        final SortedMap<Ref, Judged<AdmittedStream>> streams = new TreeMap<>();

        private final World world;
        private final SortedMap<Ref, Judged<AdmittedPool>> pools;
        private final IdentityHashMap<TrafficService, Judged<String>> hostnames;
        private final Map<String, AdmittedZone> domains = new HashMap<>();
        private final Map<String, AdmittedService> hosts = new HashMap<>();

        Judge(
                World world,
                SortedMap<Ref, Judged<AdmittedPool>> pools,
                IdentityHashMap<TrafficService, Judged<String>> hostnames) {
            this.world = world;
            this.pools = pools;
            this.hostnames = hostnames;
        }

        void zones() {
            Map<String, List<TrafficService>> claims = new HashMap<>();
            hostnames.forEach((service, host) -> host.value()
                    .ifPresent(name -> claims.computeIfAbsent(name, key -> new ArrayList<>())
                            .add(service)));
            for (DNSZone zone : world.zones().stream().sorted(AGE).toList()) {
                Judged<AdmittedZone> judged = ifNamed(zone, () -> ZoneAdmission.judge(zone));
                if (judged.value().isPresent()) {
                    judged = unlessTaken(zone, judged, claims);
                }
                judged.value().ifPresent(admitted -> domains.put(admitted.domain(), admitted));
                zones.put(Ref.of(zone), judged);
            }
        }

        private Judged<AdmittedZone> unlessTaken(
                DNSZone zone, Judged<AdmittedZone> judged, Map<String, List<TrafficService>> claims) {
            String domain = judged.value().orElseThrow().domain();
            AdmittedZone older = domains.get(domain);
            if (older != null) {
                return Judged.rejected(
                        "DomainConflict",
                        "the domain %s belongs to the older DNSZone %s; maybe delete one of the two"
                                .formatted(domain, older.ref()));
            }
            AdmittedZone closest = closest(domain);
            for (TrafficService service :
                    claims.getOrDefault(domain, List.of()).stream().sorted(AGE).toList()) {
                Optional<AdmittedZone> home = ServiceAdmission.zone(service).flatMap(ref -> value(zones, ref));
                if (AGE.compare(service, zone) < 0
                        && home.isPresent()
                        && closest != null
                        && home.get().ref().equals(closest.ref())
                        && allows(home.get(), service.getMetadata().getNamespace())) {
                    return Judged.rejected(
                            "DomainConflict",
                            "the name %s is the host name of the older TrafficService %s in the zone %s"
                                    .formatted(
                                            domain, Ref.of(service), home.get().domain()));
                }
            }
            return judged;
        }

        private boolean allows(AdmittedZone zone, String namespace) {
            return zone.allows().test(new AdmittedZone.Namespace(namespace, world.namespaceLabels(namespace)));
        }

        void services() {
            for (TrafficService service :
                    hostnames.keySet().stream().sorted(AGE).toList()) {
                Judged<AdmittedService> judged = ServiceAdmission.judge(
                        service,
                        Objects.requireNonNull(hostnames.get(service)),
                        zones,
                        pools,
                        this::closest,
                        hosts::get,
                        world::namespaceLabels);
                judged.value().ifPresent(admitted -> hosts.put(admitted.hostname(), admitted));
                services.put(Ref.of(service), judged);
            }
        }

        /** The admitted zone with the longest domain that holds the name. */
        private @Nullable AdmittedZone closest(String name) {
            String rest = name;
            while (true) {
                AdmittedZone zone = domains.get(rest);
                int dot = rest.indexOf('.');
                if (zone != null || dot < 0) {
                    return zone;
                }
                rest = rest.substring(dot + 1);
            }
        }

        void streams() {
            Map<Ref, Map<IPAddress, Ref>> blocks = new HashMap<>();
            Map<Ref, Ref> everyoneElse = new HashMap<>();
            KeyAdmission keys = new KeyAdmission(this::closest, hosts::get);
            for (TrafficStream stream : world.streams().stream().sorted(AGE).toList()) {
                Judged<AdmittedStream> judged = ifNamed(
                        stream,
                        () -> StreamAdmission.judge(
                                stream, ref -> services.get(ref), ref -> value(zones, ref), ref -> value(pools, ref)));
                Optional<AdmittedStream> admitted = judged.value();
                Optional<KeySource> source = admitted.flatMap(found -> StreamAdmission.keys(stream, world));
                if (admitted.isPresent() && source.isPresent()) {
                    AdmittedService service =
                            value(services, admitted.get().service()).orElseThrow();
                    AdmittedZone zone = value(zones, service.zone()).orElseThrow();
                    judged = keys.judge(judged, source.get(), service, zone);
                } else if (admitted.isPresent()) {
                    judged = unlessTaken(judged, blocks, everyoneElse);
                }
                streams.put(Ref.of(stream), judged);
            }
        }

        private static Judged<AdmittedStream> unlessTaken(
                Judged<AdmittedStream> judged, Map<Ref, Map<IPAddress, Ref>> blocks, Map<Ref, Ref> everyoneElse) {
            AdmittedStream stream = judged.value().orElseThrow();
            if (stream.clients().isEmpty()) {
                Ref older = everyoneElse.putIfAbsent(stream.service(), stream.ref());
                return older == null
                        ? judged
                        : Judged.rejected(
                                "ClientsConflict",
                                "the older TrafficStream %s already takes everyone whom no other stream of the service names; maybe name clients here"
                                        .formatted(older));
            }
            Map<IPAddress, Ref> taken = blocks.computeIfAbsent(stream.service(), key -> new HashMap<>());
            Set<IPAddress> own = new HashSet<>(stream.clients());
            for (IPAddress block : stream.clients()) {
                Ref older = taken.get(block);
                if (older != null) {
                    return Judged.rejected(
                            "ClientsConflict",
                            "the clients %s belong to the older TrafficStream %s of the same service"
                                    .formatted(block.toCanonicalString(), older));
                }
            }
            own.forEach(block -> taken.put(block, stream.ref()));
            return judged;
        }
    }
}
