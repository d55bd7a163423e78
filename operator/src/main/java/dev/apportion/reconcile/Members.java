package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import dev.apportion.api.Amount;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.HealthCheck;
import dev.apportion.health.Target;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the replicas of a pool from EndpointSlices, pod annotations and fixed endpoints. Pure. */
public final class Members {

    static final String CAPACITY_ANNOTATION = "apportion.dev/capacity";
    static final String DRAIN_ANNOTATION = "apportion.dev/drain";

    private static final int PERCENT = 100;

    private static final String SITE_CAPACITY = "capacity of the site";

    private Members() {}

    /**
     * The replicas of a pool.
     *
     * @param pool the admitted pool
     * @param world where its EndpointSlices and pods are found
     */
    public static List<Member> of(AdmittedPool pool, World world) {
        List<Member> members = new ArrayList<>();
        for (AdmittedPool.Site site : pool.sites()) {
            members.addAll(
                    switch (site.source()) {
                        case AdmittedPool.Source.Fixed fixed -> fixed(site, fixed, world);
                        case AdmittedPool.Source.Service(String name, ReplicaPoolSpec.Publish publish) ->
                            published(pool, site, new Ref(pool.ref().namespace(), name), publish, world);
                    });
        }
        return withShared(withUniqueNames(members));
    }

    private static List<Member> published(
            AdmittedPool pool, AdmittedPool.Site site, Ref service, ReplicaPoolSpec.Publish publish, World world) {
        List<Fronts.Backend> endpoints =
                endpoints(pool, site, world.endpointSlices(service), service.namespace(), world);
        return switch (publish) {
            case Endpoints -> endpoints.stream().map(Fronts.Backend::member).toList();
            case LoadBalancer -> Fronts.loadBalancer(site, service.name(), world.service(service), endpoints);
            case Nodes -> Fronts.nodes(site, endpoints, world);
        };
    }

    private static List<Member> fixed(AdmittedPool.Site site, AdmittedPool.Source.Fixed fixed, World world) {
        return fixed.replicas().stream()
                .map(replica -> fixed(site, replica, fixed.check(), world))
                .toList();
    }

    private static Member fixed(
            AdmittedPool.Site site, AdmittedPool.FixedReplica replica, Optional<HealthCheck> check, World world) {
        List<IPAddress> serving = new ArrayList<>();
        List<String> because = new ArrayList<>(List.of(replica.own() ? "capacity declared" : SITE_CAPACITY));
        for (IPAddress address : replica.addresses()) {
            Optional<String> problem =
                    check.flatMap(how -> problem(world.health(new Target(address.toInetAddress(), how))));
            problem.ifPresent(because::add);
            if (problem.isEmpty()) {
                serving.add(address);
            }
        }
        Member.State state = serving.isEmpty()
                ? Member.State.NotReady
                : replica.drain() ? Member.State.Draining : Member.State.Ready;
        return new Member(
                        replica.name(),
                        site.name(),
                        replica.capacity(),
                        site.concurrency(),
                        replica.measured(),
                        serving,
                        state,
                        because)
                .of(List.of(new Member.Server(
                        replica.name(), "", replica.addresses().getFirst(), Map.of())));
    }

    private static Optional<String> problem(EndpointHealth health) {
        return switch (health) {
            case EndpointHealth.Healthy healthy -> Optional.empty();
            case EndpointHealth.Unchecked unchecked -> Optional.of("not checked yet");
            case EndpointHealth.Unhealthy(String reason) -> Optional.of("fails its health check: " + reason);
        };
    }

    /** What the slices say of one replica: slices of two families, and duplicates, speak of the same one. */
    private static final class Sighting {
        final Set<IPAddress> serving = new HashSet<>();

        /** Those that serve, and those that are there and do not. */
        final Set<IPAddress> existing = new HashSet<>();

        final Set<String> problems = new TreeSet<>();

        final Map<String, Integer> ports = new TreeMap<>();

        @Nullable
        String pod;

        /** Empty where the slices do not say. */
        String uid = "";

        Optional<Instant> started = Optional.empty();

        @Nullable
        String node;
    }

    private static List<Fronts.Backend> endpoints(
            AdmittedPool pool, AdmittedPool.Site site, List<EndpointSlice> slices, String namespace, World world) {
        Map<String, Sighting> sightings = new TreeMap<>();
        for (EndpointSlice slice : slices) {
            if ("FQDN".equals(slice.getAddressType())) {
                continue;
            }
            for (Endpoint endpoint : endpoints(slice)) {
                see(sightings, endpoint, ports(slice));
            }
        }
        List<Fronts.Backend> backends = new ArrayList<>();
        sightings.forEach((name, sighting) ->
                backends.add(new Fronts.Backend(member(pool, site, name, sighting, namespace, world), sighting.node)));
        int minReadyPercent = pool.behavior().minReadyPercent();
        if (!isTooFew(backends, sightings, minReadyPercent)) {
            return backends;
        }
        String reason = "not ready, but kept: less than %d %% of the site is ready".formatted(minReadyPercent);
        return backends.stream()
                .map(backend -> new Fronts.Backend(
                        kept(backend.member(), sightings.get(backend.member().name()), reason), backend.node()))
                .toList();
    }

    /** Whether so few of those that exist serve that their readiness is to be doubted. */
    private static boolean isTooFew(
            List<Fronts.Backend> backends, Map<String, Sighting> sightings, int minReadyPercent) {
        long serving = backends.stream()
                .filter(backend -> backend.member().state() != Member.State.NotReady)
                .count();
        long existing = sightings.values().stream()
                .filter(sighting -> !sighting.existing.isEmpty())
                .count();
        return PERCENT * serving < (long) minReadyPercent * existing;
    }

    private static Member kept(Member member, @Nullable Sighting sighting, String reason) {
        return member.state() != Member.State.NotReady || sighting == null || sighting.existing.isEmpty()
                ? member
                : new Member(
                                member.name(),
                                member.site(),
                                member.capacity(),
                                member.concurrency(),
                                Sample.NONE,
                                List.copyOf(sighting.existing),
                                Member.State.Ready,
                                member.because())
                        .because(reason)
                        .of(servers(member.name(), sighting, List.copyOf(sighting.existing)));
    }

    private static List<Member.Server> servers(String name, Sighting sighting, List<IPAddress> addresses) {
        return addresses.stream()
                .sorted()
                .limit(1)
                .map(address -> new Member.Server(name, sighting.uid, address, sighting.ports, sighting.started))
                .toList();
    }

    /** The endpoints of a slice; the API server writes null where there are none. */
    static List<Endpoint> endpoints(EndpointSlice slice) {
        return Objects.requireNonNullElse(slice.getEndpoints(), List.of());
    }

    /** The addresses of an endpoint, as they are written. */
    static List<String> addresses(Endpoint endpoint) {
        return Objects.requireNonNullElse(endpoint.getAddresses(), List.of());
    }

    private static Map<String, Integer> ports(EndpointSlice slice) {
        Map<String, Integer> ports = new TreeMap<>();
        for (EndpointPort port : Objects.requireNonNullElse(slice.getPorts(), List.<EndpointPort>of())) {
            if (port.getName() != null && port.getPort() != null) {
                ports.put(port.getName(), port.getPort());
            }
        }
        return ports;
    }

    private static void see(Map<String, Sighting> sightings, Endpoint endpoint, Map<String, Integer> ports) {
        List<IPAddress> addresses = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (String text : addresses(endpoint)) {
            switch (Addresses.parse(text)) {
                case Parsed.Value<IPAddress>(IPAddress address) -> addresses.add(address);
                case Parsed.Invalid<IPAddress>(String problem) -> problems.add(problem);
            }
        }
        String pod = pod(endpoint).orElse(null);
        String name = pod != null
                ? pod
                : addresses.isEmpty() ? "unnamed" : addresses.getFirst().toCanonicalString();
        Sighting sighting = sightings.computeIfAbsent(name, key -> new Sighting());
        sighting.pod = pod;
        sighting.uid = uid(endpoint);
        sighting.ports.putAll(ports);
        sighting.node = endpoint.getNodeName();
        if (serves(endpoint.getConditions())) {
            sighting.serving.addAll(addresses);
        }
        if (endpoint.getConditions() == null
                || !Boolean.TRUE.equals(endpoint.getConditions().getTerminating())) {
            sighting.existing.addAll(addresses);
        }
        sighting.problems.addAll(problems);
    }

    /** Serving decides, not ready: with publishNotReadyAddresses every endpoint says that it is ready. */
    static boolean serves(@Nullable EndpointConditions conditions) {
        if (conditions == null) {
            return true;
        }
        boolean serving = conditions.getServing() != null
                ? conditions.getServing()
                : conditions.getReady() == null || conditions.getReady();
        return serving && !Boolean.TRUE.equals(conditions.getTerminating());
    }

    /** The name of the pod behind an endpoint. */
    static Optional<String> pod(Endpoint endpoint) {
        return Optional.ofNullable(endpoint.getTargetRef())
                .filter(target -> "Pod".equals(target.getKind()))
                .map(ObjectReference::getName);
    }

    /** The uid of the pod behind an endpoint, by which it is told from others that had its name. */
    private static String uid(Endpoint endpoint) {
        return Optional.ofNullable(endpoint.getTargetRef())
                .filter(target -> "Pod".equals(target.getKind()))
                .map(target -> Objects.requireNonNullElse(target.getUid(), target.getName()))
                .orElse("");
    }

    private static Member member(
            AdmittedPool pool, AdmittedPool.Site site, String name, Sighting sighting, String namespace, World world) {
        double capacity = site.capacity();
        boolean drain = false;
        List<String> because = new ArrayList<>(sighting.problems);
        Map<String, String> annotations =
                sighting.pod == null ? Map.of() : world.podAnnotations(new Ref(namespace, sighting.pod));
        String declared = annotations.get(CAPACITY_ANNOTATION);
        if (declared == null) {
            because.add(SITE_CAPACITY);
        } else {
            OptionalDouble read = positive(declared);
            capacity = read.orElse(capacity);
            because.add(
                    read.isPresent()
                            ? "capacity of the pod's annotation"
                            : "annotation %s ignored: \"%s\" is not a number greater than 0"
                                    .formatted(CAPACITY_ANNOTATION, declared));
        }
        String draining = annotations.get(DRAIN_ANNOTATION);
        if ("true".equals(draining)) {
            drain = true;
        } else if (draining != null && !"false".equals(draining)) {
            because.add(
                    "annotation %s ignored: \"%s\" is neither true nor false".formatted(DRAIN_ANNOTATION, draining));
        }
        boolean ended = sighting.pod != null && world.podHasEnded(new Ref(namespace, sighting.pod));
        if (ended) {
            because.add("the pod has ended");
        }
        // Only measurements need it.
        sighting.started = Optional.ofNullable(sighting.pod)
                .filter(pod -> pool.load().isPresent())
                .flatMap(pod -> world.podStarted(new Ref(namespace, pod)));
        List<IPAddress> serving = ended ? List.of() : List.copyOf(sighting.serving);
        Member.State state =
                serving.isEmpty() ? Member.State.NotReady : drain ? Member.State.Draining : Member.State.Ready;
        if (ended || drain) {
            sighting.existing.retainAll(serving);
        }
        return new Member(name, site.name(), capacity, site.concurrency(), Sample.NONE, serving, state, because)
                .of(servers(name, sighting, serving));
    }

    private static OptionalDouble positive(String text) {
        try {
            double value = new Amount(text).value();
            return value > 0 ? OptionalDouble.of(value) : OptionalDouble.empty();
        } catch (IllegalArgumentException e) {
            return OptionalDouble.empty();
        }
    }

    /** Says where replicas of two sites are one: each site counts the whole capacity, and only people know how to divide it. */
    private static List<Member> withShared(List<Member> members) {
        Map<IPAddress, List<Member>> byAddress = new HashMap<>();
        members.forEach(member -> member.addresses()
                .forEach(address -> byAddress
                        .computeIfAbsent(address, key -> new ArrayList<>())
                        .add(member)));
        return members.stream()
                .map(member -> {
                    Set<String> others = member.addresses().stream()
                            .flatMap(address -> byAddress.getOrDefault(address, List.of()).stream())
                            .map(Member::site)
                            .filter(site -> !site.equals(member.site()))
                            .collect(Collectors.toCollection(TreeSet::new));
                    return others.isEmpty()
                            ? member
                            : member.because(
                                    "also in the site %s, where its capacity counts again; maybe the selectors overlap"
                                            .formatted(String.join(", ", others)));
                })
                .toList();
    }

    /** Two sites may hold replicas of one name; the later one is told apart by its site's name. */
    private static List<Member> withUniqueNames(List<Member> members) {
        Map<String, Member> unique = new LinkedHashMap<>();
        for (Member member : members) {
            String name = unique.containsKey(member.name()) ? member.site() + "/" + member.name() : member.name();
            unique.put(name, member.named(name));
        }
        return List.copyOf(unique.values());
    }
}
