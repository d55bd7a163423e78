package dev.apportion.reconcile;

import dev.apportion.dns.coredns.CoreDnsLayout;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ExceptionHandler;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ConfigMaps that hold zones, cached. They are watched in the namespaces that have zones and nowhere else, so that the
 * operator needs no right to read those of others.
 */
final class ShardStore implements ZonePublisher.ShardCache, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ShardStore.class);

    private final KubernetesClient client;
    private final Consumer<ConfigMap> changed;
    private final Consumer<String> readable;
    private final Map<String, SharedIndexInformer<ConfigMap>> informers = new ConcurrentHashMap<>();
    private final Map<String, String> problems = new ConcurrentHashMap<>();

    /** What was written and has not come back by the watch yet. */
    private final Map<Ref, ConfigMap> ahead = new ConcurrentHashMap<>();

    /**
     * A store that watches nothing yet.
     *
     * @param changed told of each ConfigMap that changed
     * @param readable told of each namespace once its ConfigMaps are known
     */
    ShardStore(KubernetesClient client, Consumer<ConfigMap> changed, Consumer<String> readable) {
        this.client = client;
        this.changed = changed;
        this.readable = readable;
    }

    /** Watches a namespace from now on. */
    void watch(String namespace) {
        informers.computeIfAbsent(namespace, this::start);
    }

    private SharedIndexInformer<ConfigMap> start(String namespace) {
        SharedIndexInformer<ConfigMap> informer = client.configMaps()
                .inNamespace(namespace)
                .withLabelSelector(CoreDnsLayout.SELECTOR)
                .runnableInformer(0);
        informer.addEventHandler(new Changes());
        informer.exceptionHandler((started, e) -> {
            String problem = String.valueOf(e.getMessage());
            if (!problem.equals(problems.put(namespace, problem))) {
                LOG.atWarn()
                        .addKeyValue("namespace", namespace)
                        .addKeyValue("error", problem)
                        .log("Cannot follow the ConfigMaps of a namespace with zones; trying again");
            }
            return !ExceptionHandler.isDeserializationException(e);
        });
        informer.start().thenRun(() -> {
            problems.remove(namespace);
            readable.accept(namespace);
        });
        return informer;
    }

    /** Why nothing is known of the ConfigMaps of a namespace; empty once they are. */
    Optional<String> unreadable(String namespace) {
        SharedIndexInformer<ConfigMap> informer = informers.get(namespace);
        return informer != null && informer.hasSynced()
                ? Optional.empty()
                : Optional.of(problems.getOrDefault(namespace, "they are being read"));
    }

    /** The namespaces that are watched. */
    Set<String> namespaces() {
        return new TreeSet<>(informers.keySet());
    }

    /** Every ConfigMap of the namespaces that are watched. */
    List<ConfigMap> all() {
        return informers.values().stream()
                .flatMap(informer -> informer.getStore().list().stream())
                .map(found -> get(Ref.of(found)).orElse(found))
                .toList();
    }

    @Override
    public Optional<ConfigMap> get(Ref ref) {
        ConfigMap written = ahead.get(ref);
        if (written != null) {
            return Optional.of(written);
        }
        SharedIndexInformer<ConfigMap> informer = informers.get(ref.namespace());
        return informer == null
                ? Optional.empty()
                : Optional.ofNullable(
                        informer.getStore().getByKey(Cache.namespaceKeyFunc(ref.namespace(), ref.name())));
    }

    @Override
    public void written(ConfigMap configMap) {
        Ref ref = Ref.of(configMap);
        ahead.put(ref, configMap);
        // The event may have come before.
        SharedIndexInformer<ConfigMap> informer = informers.get(ref.namespace());
        if (informer != null) {
            ConfigMap seen = informer.getStore().getByKey(Cache.namespaceKeyFunc(ref.namespace(), ref.name()));
            if (seen != null) {
                caughtUp(seen);
            }
        }
    }

    @Override
    public void refuted(Ref ref) {
        ahead.remove(ref);
    }

    private void caughtUp(ConfigMap seen) {
        ahead.computeIfPresent(Ref.of(seen), (ref, written) -> version(seen) >= version(written) ? null : written);
    }

    /** Versions of one resource grow (Kubernetes 1.35). */
    static long version(HasMetadata resource) {
        return Long.parseLong(resource.getMetadata().getResourceVersion());
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::close);
    }

    private final class Changes implements ResourceEventHandler<ConfigMap> {

        @Override
        public void onAdd(ConfigMap added) {
            caughtUp(added);
            changed.accept(added);
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap after) {
            caughtUp(after);
            changed.accept(after);
        }

        @Override
        public void onDelete(ConfigMap deleted, boolean finalStateUnknown) {
            if (finalStateUnknown) {
                ahead.remove(Ref.of(deleted));
            } else {
                caughtUp(deleted);
            }
            changed.accept(deleted);
        }
    }
}
