package dev.apportion.reconcile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ExceptionHandler;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ConfigMaps that TrafficStreams name, cached: each by a watch of its own, which sees that one only, for as long as a
 * stream names it.
 */
final class NamedConfigMaps implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NamedConfigMaps.class);

    /** How long a change may take from the API server to the cache before its watch is taken for dead. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final KubernetesClient client;
    private final Consumer<Ref> changed;

    /** The ConfigMap that each stream names. Guarded by this. */
    private final Map<Ref, Ref> named = new HashMap<>();

    private final Map<Ref, Followed> followed = new ConcurrentHashMap<>();

    /**
     * Follows nothing yet.
     *
     * @param changed told of each ConfigMap of which something else is known than before
     */
    NamedConfigMaps(KubernetesClient client, Consumer<Ref> changed) {
        this.client = client;
        this.changed = changed;
    }

    /**
     * Follows the ConfigMap that a stream names now, and no more the one that it named before, unless another stream does.
     *
     * @param configMap looks up what it names; asked under the lock, so that an older answer never overtakes a newer one
     */
    synchronized void follow(Ref stream, Supplier<Optional<Ref>> configMap) {
        Ref now = configMap.get().orElse(null);
        Ref before = now == null ? named.remove(stream) : named.put(stream, now);
        if (now != null) {
            followed.computeIfAbsent(now, Followed::new).begin();
        }
        if (before != null && !named.containsValue(before)) {
            Followed gone = followed.remove(before);
            if (gone != null) {
                gone.close();
            }
        }
    }

    /** The keys that a ConfigMap lists. */
    KeySource keys(Ref configMap, String key) {
        Followed found = followed.get(configMap);
        return found == null ? KeySource.pending(configMap) : found.keys(key);
    }

    /** The ConfigMaps of which it is not known yet what they hold, whether they are there, or that they must not be read. */
    SortedSet<String> unread() {
        SortedSet<String> unread = new TreeSet<>();
        followed.values().stream()
                .filter(Followed::isUnread)
                .forEach(found -> unread.add("ConfigMap " + found.configMap));
        return unread;
    }

    /**
     * Asks for each ConfigMap aside from its watch: whether it may be read, and whether the watch tells what happens. A watch
     * that does not is replaced.
     */
    void audit() {
        followed.values().forEach(Followed::audit);
    }

    @Override
    public synchronized void close() {
        followed.values().forEach(Followed::close);
        followed.clear();
        named.clear();
    }

    /** What was read of one text of a ConfigMap, and in which version of it; that is empty where there was none. */
    private record Reading(String version, KeySource source) {}

    /** One ConfigMap that is followed. */
    private final class Followed implements ResourceEventHandler<ConfigMap> {

        private final Ref configMap;
        private final Map<String, Reading> readings = new ConcurrentHashMap<>();

        /** The watch that is filled. */
        private volatile @Nullable SharedIndexInformer<ConfigMap> current;

        /** The watch that is to take its place. */
        private @Nullable SharedIndexInformer<ConfigMap> next;

        /** Why the ConfigMap must not be read; null where it may. */
        private volatile @Nullable String forbidden;

        private @Nullable Long behindSince;
        private boolean closed;

        Followed(Ref configMap) {
            this.configMap = configMap;
        }

        synchronized void begin() {
            if (current == null && next == null) {
                launch();
            }
        }

        private synchronized void launch() {
            SharedIndexInformer<ConfigMap> informer = client.configMaps()
                    .inNamespace(configMap.namespace())
                    .withField("metadata.name", configMap.name())
                    .runnableInformer(0);
            informer.addEventHandler(this);
            informer.exceptionHandler((started, e) -> {
                failed(e);
                return !ExceptionHandler.isDeserializationException(e);
            });
            next = informer;
            informer.start().thenRun(() -> filled(informer));
        }

        private void filled(SharedIndexInformer<ConfigMap> informer) {
            synchronized (this) {
                if (closed) {
                    return;
                }
                if (current != null) {
                    current.close();
                }
                current = informer;
                next = null;
                behindSince = null;
            }
            forbidden = null;
            changed.accept(configMap);
        }

        private void failed(Throwable e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof KubernetesClientException refused
                        && refused.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
                    forbid(refused);
                    return;
                }
            }
            LOG.atDebug()
                    .addKeyValue("configMap", configMap)
                    .addKeyValue("error", e.getMessage())
                    .log("Cannot follow a ConfigMap for now");
        }

        private void forbid(KubernetesClientException e) {
            String message = e.getStatus() == null || e.getStatus().getMessage() == null
                    ? String.valueOf(e.getMessage())
                    : e.getStatus().getMessage();
            if (!message.equals(forbidden)) {
                forbidden = message;
                LOG.atWarn()
                        .addKeyValue("configMap", configMap)
                        .addKeyValue("error", message)
                        .log("A ConfigMap that a TrafficStream names must not be read; trying again");
                changed.accept(configMap);
            }
        }

        private void allow() {
            if (forbidden != null) {
                forbidden = null;
                LOG.atInfo().addKeyValue("configMap", configMap).log("The ConfigMap may be read again");
                changed.accept(configMap);
            }
        }

        boolean isUnread() {
            return current == null && forbidden == null;
        }

        KeySource keys(String key) {
            SharedIndexInformer<ConfigMap> informer = current;
            String refusal = forbidden;
            if (informer == null) {
                return refusal == null
                        ? KeySource.pending(configMap)
                        : KeySource.forbidden(configMap, refusal, Optional.empty());
            }
            KeySource read = read(cached(informer), key);
            return refusal == null ? read : KeySource.forbidden(configMap, refusal, read.keys());
        }

        /** Each state of the ConfigMap is read once; what was read last stays where there is nothing to read any more. */
        private KeySource read(@Nullable ConfigMap now, String key) {
            return readings.compute(key, (same, known) -> {
                        String version = now == null ? "" : now.getMetadata().getResourceVersion();
                        if (known != null && known.version().equals(version)) {
                            return known;
                        }
                        Optional<DeclaredKeys> last = known == null
                                ? Optional.empty()
                                : known.source().keys();
                        return new Reading(version, KeySource.of(configMap, key, Optional.ofNullable(now), last));
                    })
                    .source();
        }

        private static @Nullable ConfigMap cached(SharedIndexInformer<ConfigMap> informer) {
            return informer.getStore().list().stream().findFirst().orElse(null);
        }

        void audit() {
            try {
                OptionalLong version = version();
                SharedIndexInformer<ConfigMap> informer = current;
                if (informer == null) {
                    return;
                }
                if (isUpToDate(cached(informer), version)) {
                    upToDate();
                } else {
                    behind();
                }
            } catch (KubernetesClientException e) {
                failed(e);
            } catch (IOException | RuntimeException e) {
                // The next audit has to take place.
                failed(e);
            }
        }

        private static boolean isUpToDate(@Nullable ConfigMap cached, OptionalLong version) {
            return cached == null
                    ? version.isEmpty()
                    : version.isPresent() && ShardStore.version(cached) >= version.getAsLong();
        }

        private void upToDate() {
            synchronized (this) {
                behindSince = null;
            }
            allow();
        }

        private synchronized void behind() {
            long now = System.nanoTime();
            if (behindSince == null) {
                behindSince = now;
            } else if (now - behindSince > GRACE.toNanos() && next == null && !closed) {
                LOG.atWarn()
                        .addKeyValue("configMap", configMap)
                        .log("Changes of a ConfigMap do not arrive by its watch; watching it anew");
                launch();
            }
        }

        /** The version of the ConfigMap, asked of the API server by the same right as the watch. */
        private OptionalLong version() throws IOException {
            String list = client.raw("/api/v1/namespaces/%s/configmaps?fieldSelector=metadata.name%%3D%s"
                    .formatted(configMap.namespace(), configMap.name()));
            JsonNode version = JSON.readTree(list == null ? "{}" : list).at("/items/0/metadata/resourceVersion");
            return version.isMissingNode() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(version.asText()));
        }

        synchronized void close() {
            closed = true;
            if (current != null) {
                current.close();
            }
            if (next != null) {
                next.close();
            }
        }

        @Override
        public void onAdd(ConfigMap added) {
            changed.accept(configMap);
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap after) {
            changed.accept(configMap);
        }

        @Override
        public void onDelete(ConfigMap deleted, boolean finalStateUnknown) {
            changed.accept(configMap);
        }
    }
}
