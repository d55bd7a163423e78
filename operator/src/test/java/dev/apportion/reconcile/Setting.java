package dev.apportion.reconcile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.Target;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;

/** A world that a test writes down in YAML. A resource without a namespace stands in {@code web}. */
final class Setting implements World {

    /** A zone that everybody may publish in. */
    static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: example-org}
        spec: {domain: example.org, allowedNamespaces: {from: All}, coreDNS: {}}
        """;

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<DNSZone> zones = new ArrayList<>();
    private final List<ReplicaPool> pools = new ArrayList<>();
    private final List<TrafficService> services = new ArrayList<>();
    private final List<TrafficStream> streams = new ArrayList<>();
    private final List<EndpointSlice> slices = new ArrayList<>();
    private final Map<Ref, Pod> pods = new HashMap<>();
    private final Map<Ref, ConfigMap> configMaps = new HashMap<>();
    private final Map<Ref, Service> kubernetesServices = new HashMap<>();
    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<String, EndpointHealth> health = new HashMap<>();

    static Setting of(String... documents) {
        Setting setting = new Setting();
        try (MappingIterator<JsonNode> read =
                YAML.readerFor(JsonNode.class).readValues(String.join("---\n", documents))) {
            while (read.hasNextValue()) {
                setting.take(read.nextValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return setting;
    }

    static Setting of(JsonNode... documents) {
        Setting setting = new Setting();
        try {
            for (JsonNode document : documents) {
                setting.take(document);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return setting;
    }

    static String pool(String name, String sites) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %s}
            spec: {sites: [%s]}
            """.formatted(name, sites);
    }

    /** A service of the zone {@link #ZONE} and the pool {@code shop}. */
    static String service(String name, String hostname) {
        return service(name, hostname, "");
    }

    static String service(String name, String hostname, String more) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %s}
            spec: {zoneRef: {name: example-org}, hostname: %s, poolRef: {name: shop}%s}
            """.formatted(name, hostname, more);
    }

    static String slice(String name, String service, String endpoints) {
        return """
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: %s, labels: {kubernetes.io/service-name: %s}}
            addressType: IPv4
            endpoints: %s
            """.formatted(name, service, endpoints);
    }

    /** Lists everything in another order. */
    Setting shuffled(long seed) {
        Random random = new Random(seed);
        for (List<?> list : List.of(zones, pools, services, streams, slices)) {
            Collections.shuffle(list, random);
        }
        slices.forEach(slice -> {
            if (slice.getEndpoints() != null) {
                Collections.shuffle(slice.getEndpoints(), random);
            }
        });
        return this;
    }

    /** Says when a resource was created. */
    Setting created(String name, String time) {
        for (List<? extends io.fabric8.kubernetes.api.model.HasMetadata> list :
                List.of(zones, pools, services, streams)) {
            list.stream()
                    .filter(resource -> resource.getMetadata().getName().equals(name))
                    .forEach(resource -> resource.getMetadata().setCreationTimestamp(time));
        }
        return this;
    }

    Setting without(String name) {
        for (List<? extends io.fabric8.kubernetes.api.model.HasMetadata> list :
                List.of(zones, pools, services, streams, slices)) {
            list.removeIf(resource -> resource.getMetadata().getName().equals(name));
        }
        return this;
    }

    private void take(JsonNode document) throws IOException {
        switch (document.path("kind").asText()) {
            case "DNSZone" -> zones.add(read(document, DNSZone.class));
            case "ReplicaPool" -> pools.add(read(document, ReplicaPool.class));
            case "TrafficService" -> services.add(read(document, TrafficService.class));
            case "TrafficStream" -> streams.add(read(document, TrafficStream.class));
            case "EndpointSlice" -> slices.add(read(document, EndpointSlice.class));
            case "Pod" -> {
                Pod pod = read(document, Pod.class);
                pods.put(Ref.of(pod), pod);
            }
            case "ConfigMap" -> {
                ConfigMap configMap = read(document, ConfigMap.class);
                configMaps.put(Ref.of(configMap), configMap);
            }
            case "Service" -> {
                Service service = read(document, Service.class);
                kubernetesServices.put(Ref.of(service), service);
            }
            case "Node" -> {
                Node node = read(document, Node.class);
                nodes.put(node.getMetadata().getName(), node);
            }
            default -> throw new IllegalArgumentException("a test needs no " + document.path("kind"));
        }
    }

    private static <T extends io.fabric8.kubernetes.api.model.HasMetadata> T read(JsonNode document, Class<T> type)
            throws IOException {
        T resource = JSON.treeToValue(document, type);
        if (resource.getMetadata().getNamespace() == null) {
            resource.getMetadata().setNamespace("web");
        }
        return resource;
    }

    /** The one pool, admitted. */
    AdmittedPool onlyPool() {
        return PoolAdmission.judge(pools.getFirst()).value().orElseThrow();
    }

    Admission admission() {
        return Admission.of(this);
    }

    Plan plan() {
        return Plan.of(this, zone -> Optional.empty());
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
        return slices.stream()
                .filter(slice -> slice.getMetadata().getNamespace().equals(service.namespace())
                        && Objects.equals(
                                slice.getMetadata().getLabels().get("kubernetes.io/service-name"), service.name()))
                .toList();
    }

    @Override
    public Optional<Service> service(Ref service) {
        return Optional.ofNullable(kubernetesServices.get(service));
    }

    @Override
    public Optional<Node> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    @Override
    public Map<String, String> podAnnotations(Ref pod) {
        return Optional.ofNullable(pods.get(pod))
                .map(found -> found.getMetadata().getAnnotations())
                .orElse(Map.of());
    }

    @Override
    public Optional<Instant> podStarted(Ref pod) {
        return Optional.ofNullable(pods.get(pod)).flatMap(World::started);
    }

    @Override
    public boolean podHasEnded(Ref pod) {
        return Optional.ofNullable(pods.get(pod)).filter(World::hasEnded).isPresent();
    }

    /** Says how an address is. */
    Setting with(String address, EndpointHealth known) {
        health.put(address, known);
        return this;
    }

    @Override
    public EndpointHealth health(Target target) {
        return Objects.requireNonNullElseGet(
                health.get(target.address().getHostAddress()), EndpointHealth.Healthy::new);
    }

    @Override
    public KeySource keys(Ref configMap, String key) {
        return KeySource.of(configMap, key, Optional.ofNullable(configMaps.get(configMap)));
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
        return Map.of();
    }
}
