package dev.apportion.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneSpec;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceSpec;
import dev.apportion.api.TrafficStream;
import dev.apportion.api.TrafficStreamSpec;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.Target;
import dev.apportion.reconcile.KeySource;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.World;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** The world as manifests in files say it. Kinds that Apportion does not know are passed over. */
final class Manifests implements World {

    private static final String DEFAULT_NAMESPACE = "default";
    private static final Set<String> ENDINGS = Set.of(".yaml", ".yml", ".json");

    private final List<DNSZone> zones = new ArrayList<>();
    private final List<ReplicaPool> pools = new ArrayList<>();
    private final List<TrafficService> services = new ArrayList<>();
    private final List<TrafficStream> streams = new ArrayList<>();
    private final Map<Ref, List<EndpointSlice>> slices = new HashMap<>();
    private final Map<Ref, Pod> pods = new HashMap<>();
    private final Map<Ref, ConfigMap> configMaps = new HashMap<>();

    /** Nobody is asked. */
    private Function<Target, EndpointHealth> health = target -> new EndpointHealth.Healthy();

    private final Map<String, Map<String, String>> namespaces = new HashMap<>();
    private final Map<Ref, Service> kubernetesServices = new HashMap<>();
    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<String, Path> seen = new HashMap<>();

    /** YAML 1.2, as large as it may be; a key that stands twice would hide one of its values. */
    private static final LoadSettings YAML = LoadSettings.builder()
            .setAllowDuplicateKeys(false)
            .setCodePointLimit(Integer.MAX_VALUE)
            .build();

    /** As the cluster's client reads resources: the kinds are few and known here, so its registry of all kinds is not needed. */
    private final ObjectMapper resources = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private final ObjectMapper strict = new ObjectMapper();

    private final String namespace;

    private Manifests(String namespace) {
        this.namespace = namespace;
    }

    /**
     * Reads files, and the manifests in folders (not below them).
     *
     * @throws ManifestException if a file cannot be read or is no YAML, or two documents declare one resource
     */
    static Manifests read(List<Path> paths) throws ManifestException {
        return read(paths, DEFAULT_NAMESPACE);
    }

    /**
     * The same.
     *
     * @param namespace the one of resources that name none
     */
    static Manifests read(List<Path> paths, String namespace) throws ManifestException {
        Manifests manifests = new Manifests(namespace);
        for (Path path : paths) {
            for (Path file : files(path)) {
                manifests.readFile(file);
            }
        }
        return manifests;
    }

    /** The manifests that a path stands for, in the order of their names. */
    static List<Path> files(Path path) throws ManifestException {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(entry -> ENDINGS.stream()
                            .anyMatch(ending -> entry.getFileName().toString().endsWith(ending)))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new ManifestException("%s: cannot be listed: %s".formatted(path, e.getMessage()));
        }
    }

    private void readFile(Path file) throws ManifestException {
        try (InputStream in = Files.newInputStream(file)) {
            int number = 0;
            for (Object document : new Load(YAML).loadAllFromInputStream(in)) {
                number++;
                JsonNode tree = resources.valueToTree(document);
                if (!isEmpty(tree)) {
                    take(tree, file, number);
                }
            }
        } catch (NoSuchFileException e) {
            throw new ManifestException("%s: there is no such file".formatted(file));
        } catch (MarkedYamlEngineException e) {
            throw new ManifestException("%s:%s: this cannot be read as YAML: %s"
                    .formatted(
                            file,
                            e.getProblemMark()
                                    .map(mark -> "%d:%d".formatted(mark.getLine() + 1, mark.getColumn() + 1))
                                    .orElse("1:1"),
                            e.getProblem()));
        } catch (YamlEngineException e) {
            throw new ManifestException("%s:1:1: this cannot be read as YAML: %s".formatted(file, e.getMessage()));
        } catch (IOException | UncheckedIOException e) {
            throw new ManifestException("%s: cannot be read: %s".formatted(file, e.getMessage()));
        }
    }

    /** A document with nothing but comments is none. */
    private static boolean isEmpty(@Nullable JsonNode document) {
        return document == null
                || document.isNull()
                || document.isMissingNode()
                || (document.isTextual() && document.textValue().isEmpty());
    }

    private void take(JsonNode document, Path file, int number) throws ManifestException {
        if (!document.path("kind").isTextual() || !document.path("apiVersion").isTextual()) {
            throw new ManifestException(
                    "%s: document %d is no manifest: it lacks apiVersion or kind".formatted(file, number));
        }
        String kind = document.path("apiVersion").asText() + "/"
                + document.path("kind").asText();
        switch (kind) {
            case "apportion.dev/v1alpha1/DNSZone" ->
                zones.add(own(document, DNSZone.class, DNSZoneSpec.class, file, number));
            case "apportion.dev/v1alpha1/ReplicaPool" ->
                pools.add(own(document, ReplicaPool.class, ReplicaPoolSpec.class, file, number));
            case "apportion.dev/v1alpha1/TrafficService" ->
                services.add(own(document, TrafficService.class, TrafficServiceSpec.class, file, number));
            case "apportion.dev/v1alpha1/TrafficStream" ->
                streams.add(own(document, TrafficStream.class, TrafficStreamSpec.class, file, number));
            case "discovery.k8s.io/v1/EndpointSlice" -> {
                EndpointSlice slice = one(document, EndpointSlice.class, file, number);
                World.serviceOf(slice)
                        .ifPresent(service -> slices.computeIfAbsent(service, key -> new ArrayList<>())
                                .add(slice));
            }
            case "v1/Pod" -> {
                Pod pod = one(document, Pod.class, file, number);
                pods.put(Ref.of(pod), pod);
            }
            case "v1/ConfigMap" -> {
                ConfigMap configMap = one(document, ConfigMap.class, file, number);
                configMaps.put(Ref.of(configMap), configMap);
            }
            case "v1/Service" -> {
                Service service = one(document, Service.class, file, number);
                kubernetesServices.put(Ref.of(service), service);
            }
            case "v1/Node" -> {
                Node node = one(document, Node.class, file, number);
                nodes.put(node.getMetadata().getName(), node);
            }
            case "v1/Namespace" -> {
                Namespace namespace = one(document, Namespace.class, file, number);
                namespaces.put(
                        namespace.getMetadata().getName(),
                        Objects.requireNonNullElse(namespace.getMetadata().getLabels(), Map.of()));
            }
            case "v1/List" -> {
                for (JsonNode item : document.path("items")) {
                    take(item, file, number);
                }
            }
            default -> {
                if (kind.startsWith("apportion.dev/")) {
                    throw new ManifestException(
                            "%s: document %d: there is no kind %s; the kinds of apportion.dev/v1alpha1 are DNSZone, ReplicaPool, TrafficService and TrafficStream"
                                    .formatted(file, number, kind));
                }
            }
        }
    }

    /** One of Apportion's own resources. A field that it does not have is refused, as kubectl does: it may be a slip of the pen. */
    private <S, R extends ApportionResource<S, ?>> R own(
            JsonNode document, Class<R> type, Class<S> spec, Path file, int number) throws ManifestException {
        R resource = one(document, type, file, number);
        if (resource.getSpec() != null) {
            try {
                strict.treeToValue(document.path("spec"), spec);
            } catch (UnrecognizedPropertyException e) {
                resource.refuse("%s: there is no such field; maybe one of %s"
                        .formatted(
                                path(e),
                                e.getKnownPropertyIds().stream()
                                        .map(String::valueOf)
                                        .sorted()
                                        .collect(Collectors.joining(", "))));
            } catch (JsonProcessingException e) {
                resource.refuse(e.getOriginalMessage());
            }
        }
        return resource;
    }

    private static String path(JsonMappingException e) {
        StringBuilder path = new StringBuilder("spec");
        for (JsonMappingException.Reference step : e.getPath()) {
            path.append(step.getFieldName() == null ? "[" + step.getIndex() + "]" : "." + step.getFieldName());
        }
        return path.toString();
    }

    private <T extends HasMetadata> T one(JsonNode document, Class<T> type, Path file, int number)
            throws ManifestException {
        T resource;
        try {
            resource = resources.treeToValue(document, type);
        } catch (JsonProcessingException e) {
            throw new ManifestException("%s: document %d is no %s: %s"
                    .formatted(file, number, type.getSimpleName(), e.getOriginalMessage()));
        }
        if (resource.getMetadata() == null || resource.getMetadata().getName() == null) {
            throw new ManifestException(
                    "%s: document %d, a %s, has no metadata.name".formatted(file, number, type.getSimpleName()));
        }
        if (resource.getMetadata().getNamespace() == null && resource instanceof Namespaced) {
            resource.getMetadata().setNamespace(namespace);
        }
        String key = "%s %s/%s"
                .formatted(
                        type.getSimpleName(),
                        resource.getMetadata().getNamespace(),
                        resource.getMetadata().getName());
        Path other = seen.putIfAbsent(key, file);
        if (other != null) {
            throw new ManifestException(
                    "%s: document %d declares the %s, which %s declares too; maybe delete one of the two"
                            .formatted(file, number, key, other));
        }
        return resource;
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
        return slices.getOrDefault(service, List.of());
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

    /** Says from where it is known how endpoints are. */
    void healthBy(Function<Target, EndpointHealth> source) {
        health = source;
    }

    @Override
    public EndpointHealth health(Target target) {
        return health.apply(target);
    }

    @Override
    public KeySource keys(Ref configMap, String key) {
        return KeySource.of(configMap, key, Optional.ofNullable(configMaps.get(configMap)));
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
        return namespaces.getOrDefault(namespace, Map.of());
    }
}
