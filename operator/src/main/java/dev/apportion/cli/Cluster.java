package dev.apportion.cli;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceSpec;
import dev.apportion.api.TrafficStream;
import dev.apportion.api.TrafficStreamSpec;
import dev.apportion.reconcile.AdmittedZone;
import dev.apportion.reconcile.ClusterState;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster as somebody sees it who may read Apportion's four kinds. Whatever else would help (ConfigMaps, EndpointSlices of DNS
 * servers, labels of namespaces) is read where it matters and may be read, and {@linkplain #gaps() said} where it may not.
 */
final class Cluster implements AutoCloseable {

    private static final int CONNECT_MILLIS = 5_000;
    private static final int REQUEST_MILLIS = 20_000;

    private final KubernetesClient client;
    private final String namespace;
    private final Clock clock;
    private final Set<String> gaps = new LinkedHashSet<>();
    private Consumer<String> heard = gap -> {};

    /** @param namespace the one that is meant; null for that of the context */
    Cluster(Config config, @Nullable String namespace) {
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setRequestTimeout(REQUEST_MILLIS);
        // Somebody waits for the answer.
        config.setRequestRetryBackoffLimit(1);
        this.client = new KubernetesClientBuilder().withConfig(config).build();
        this.namespace = namespace == null ? Objects.requireNonNullElse(config.getNamespace(), "default") : namespace;
        this.clock = Clock.systemUTC();
    }

    /** The namespace that is meant where nothing else is said. */
    String namespace() {
        return namespace;
    }

    /** Tells at once of what is wanted and must not be read. */
    void onGap(Consumer<String> listener) {
        heard = listener;
    }

    /** What was wanted and must not be read, for people. */
    List<String> gaps() {
        return List.copyOf(gaps);
    }

    /**
     * Reads namespaces, and the zones that their services are in.
     *
     * @param namespaces those to read; empty for all
     * @param zones zones to read besides
     */
    StatusQuo read(Set<String> namespaces, Set<Ref> zones) throws ClusterException {
        List<ReplicaPool> pools = list(ReplicaPool.class, namespaces);
        List<TrafficService> services = list(TrafficService.class, namespaces);
        List<TrafficStream> streams = list(TrafficStream.class, namespaces);
        Set<Ref> wanted = new TreeSet<>(zones);
        services.stream().flatMap(service -> zone(service).stream()).forEach(wanted::add);
        List<DNSZone> found = namespaces.isEmpty() ? list(DNSZone.class, namespaces) : get(DNSZone.class, wanted);
        ClusterState state = new ClusterState(found, pools, services, streams, clock.instant());
        Map<String, Map<String, String>> labels = labels(found, services);
        Map<Ref, ConfigMap> keys = keys(streams);
        StatusQuo known = StatusQuo.of(state.with(keys, Map.of(), labels));
        Map<Ref, ConfigMap> configMaps = new HashMap<>(keys);
        for (Ref zone : known.zonesToReadWhole()) {
            configMaps(known.shards(zone), "the keys and long answers of the zone " + zone)
                    .forEach(configMaps::put);
        }
        return configMaps.equals(keys) ? known : StatusQuo.of(state.with(configMaps, Map.of(), labels));
    }

    /** The EndpointSlices of the Services that zones verify at, besides. */
    StatusQuo withServers(StatusQuo known) throws ClusterException {
        Map<Ref, List<EndpointSlice>> servers = new HashMap<>();
        for (Ref zone : known.published().keySet()) {
            Optional<Ref> service = known.admission()
                    .zone(zone)
                    .map(AdmittedZone::verifyAt)
                    .flatMap(where -> where instanceof AdmittedZone.VerifyAt.Service(String name, int port)
                            ? Optional.of(new Ref(zone.namespace(), name))
                            : Optional.empty());
            if (service.isPresent()) {
                List<EndpointSlice> slices = optional(
                        "EndpointSlices in the namespace %s, behind which the servers of the zone %s are"
                                .formatted(zone.namespace(), zone),
                        () -> client.discovery()
                                .v1()
                                .endpointSlices()
                                .inNamespace(zone.namespace())
                                .withLabel(
                                        "kubernetes.io/service-name",
                                        service.get().name())
                                .list()
                                .getItems(),
                        List.of());
                servers.put(service.get(), slices);
            }
        }
        ClusterState state = known.state();
        return servers.isEmpty() ? known : StatusQuo.of(state.with(state.configMaps(), servers, state.namespaces()));
    }

    static Optional<Ref> zone(TrafficService service) {
        TrafficServiceSpec spec = service.getSpec();
        return spec == null
                ? Optional.empty()
                : Optional.of(new Ref(
                        Objects.requireNonNullElse(
                                spec.zoneRef().namespace(),
                                service.getMetadata().getNamespace()),
                        spec.zoneRef().name()));
    }

    private <T extends ApportionResource<?, ?>> List<T> list(Class<T> kind, Set<String> namespaces)
            throws ClusterException {
        String plural = HasMetadata.getPlural(kind);
        List<T> all = new ArrayList<>();
        if (namespaces.isEmpty()) {
            return asked(
                    "list %s in all namespaces".formatted(plural),
                    kind,
                    () -> client.resources(kind).inAnyNamespace().list().getItems());
        }
        for (String each : namespaces) {
            all.addAll(asked(
                    "list %s in the namespace %s".formatted(plural, each),
                    kind,
                    () -> client.resources(kind).inNamespace(each).list().getItems()));
        }
        return all;
    }

    private <T extends ApportionResource<?, ?>> List<T> get(Class<T> kind, Set<Ref> refs) throws ClusterException {
        List<T> found = new ArrayList<>();
        for (Ref ref : refs) {
            found.addAll(asked(
                    "get %s in the namespace %s".formatted(HasMetadata.getPlural(kind), ref.namespace()),
                    kind,
                    () -> Stream.ofNullable(client.resources(kind)
                                    .inNamespace(ref.namespace())
                                    .withName(ref.name())
                                    .get())
                            .toList()));
        }
        return found;
    }

    /** What there has to be. */
    private <T> T asked(String what, Class<?> kind, Supplier<T> ask) throws ClusterException {
        try {
            return ask.get();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
                throw new ClusterException(
                        "no right to %s at %s; maybe ask for the role view there, to which Apportion's kinds belong, or name another --namespace"
                                .formatted(what, client.getMasterUrl()));
            }
            if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                throw new ClusterException(
                        "the cluster at %s knows no %s: Apportion's definitions are not installed there. Maybe another --context is meant; kubectl apply --server-side -f crds/ installs them"
                                .formatted(client.getMasterUrl(), kind.getSimpleName()));
            }
            throw unreachable(e);
        }
    }

    /** What helps, and may be kept from who asks. */
    private <T> T optional(String what, Supplier<T> ask, T otherwise) throws ClusterException {
        try {
            return ask.get();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
                throw unreachable(e);
            }
            String gap = "no right to read " + what;
            if (gaps.add(gap)) {
                heard.accept(gap);
            }
            return otherwise;
        }
    }

    private ClusterException unreachable(KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_UNAUTHORIZED) {
            return new ClusterException("the cluster at %s does not accept the credentials; maybe log in again"
                    .formatted(client.getMasterUrl()));
        }
        return new ClusterException(
                e.getCode() > 0
                        ? "the cluster at %s answers %d: %s".formatted(client.getMasterUrl(), e.getCode(), reason(e))
                        : "no cluster can be reached at %s: %s. Maybe set KUBECONFIG, --kubeconfig or --context"
                                .formatted(client.getMasterUrl(), reason(e)));
    }

    /** The innermost reason in one line. */
    static String reason(Throwable e) {
        Throwable innermost = e;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        String message = innermost.getMessage() == null ? innermost.getClass().getSimpleName() : innermost.getMessage();
        return message.lines().findFirst().orElse("").strip();
    }

    private Map<String, Map<String, String>> labels(List<DNSZone> zones, List<TrafficService> services)
            throws ClusterException {
        boolean selects = zones.stream()
                .anyMatch(zone -> zone.getSpec() != null
                        && zone.getSpec().allowedNamespaces() != null
                        && zone.getSpec().allowedNamespaces().selector() != null);
        Map<String, Map<String, String>> labels = new HashMap<>();
        if (selects) {
            for (String each : services.stream()
                    .map(service -> service.getMetadata().getNamespace())
                    .collect(Collectors.toCollection(TreeSet::new))) {
                optional(
                                "the labels of the namespace %s, by which a zone allows it".formatted(each),
                                () -> Optional.ofNullable(
                                        client.namespaces().withName(each).get()),
                                Optional.<Namespace>empty())
                        .ifPresent(found -> labels.put(
                                each,
                                Objects.requireNonNullElse(found.getMetadata().getLabels(), Map.of())));
            }
        }
        return labels;
    }

    private Map<Ref, ConfigMap> keys(List<TrafficStream> streams) throws ClusterException {
        Map<Ref, ConfigMap> found = new HashMap<>();
        for (TrafficStream stream : streams) {
            TrafficStreamSpec spec = stream.getSpec();
            if (spec != null && spec.keys() != null && spec.keys().configMap() != null) {
                Ref ref = new Ref(
                        stream.getMetadata().getNamespace(),
                        spec.keys().configMap().name());
                found.putAll(configMaps(List.of(ref), "the keys of the stream " + Ref.of(stream)));
            }
        }
        return found;
    }

    private Map<Ref, ConfigMap> configMaps(List<Ref> refs, String why) throws ClusterException {
        Map<Ref, ConfigMap> found = new HashMap<>();
        for (Ref ref : refs) {
            Optional<ConfigMap> read = optional(
                    "ConfigMaps in the namespace %s, which hold %s".formatted(ref.namespace(), why),
                    () -> Optional.ofNullable(client.configMaps()
                            .inNamespace(ref.namespace())
                            .withName(ref.name())
                            .get()),
                    Optional.<ConfigMap>empty());
            read.ifPresent(configMap -> found.put(ref, configMap));
        }
        return found;
    }

    @Override
    public void close() {
        client.close();
    }
}
