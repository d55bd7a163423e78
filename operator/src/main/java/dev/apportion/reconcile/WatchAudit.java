package dev.apportion.reconcile;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether the watches still tell what happens: a watch may have died, or its connection may be a dead end, without
 * anybody's notice. From time to time the API server is asked, aside from the watch, what has changed since the last time;
 * all of it must have reached the caches a little later.
 */
final class WatchAudit {

    private static final Logger LOG = LoggerFactory.getLogger(WatchAudit.class);

    /** How long a change may take from the API server to the cache: events take milliseconds, this is a busy machine. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static final Duration PAUSE = Duration.ofMillis(200);

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Resources that are watched together.
     *
     * @param name how people call them
     * @param path the path of their list
     * @param cached looks one up in the cache
     */
    record Collection(String name, String path, Function<Ref, Optional<? extends HasMetadata>> cached) {}

    /** How a collection is heard of. */
    sealed interface Hearing {

        /** What changed is known. */
        record Well() implements Hearing {}

        /** A change did not arrive. */
        record Deaf(String what) implements Hearing {}

        /** The API server refuses to tell. */
        record Refused(String message) implements Hearing {}

        /** The API server did not answer. */
        record Unreachable(String message) implements Hearing {}
    }

    /** A change that was heard of aside from the watch. */
    private record Change(Ref resource, long version, boolean deleted) {}

    private final KubernetesClient client;
    private final Map<String, String> marks = new HashMap<>();
    private final Map<String, Map<Ref, Change>> missed = new HashMap<>();
    private final Map<String, Hearing> hearings = new ConcurrentHashMap<>();

    WatchAudit(KubernetesClient client) {
        this.client = client;
    }

    /** How each collection was heard of at the last audit. */
    SortedMap<String, Hearing> hearings() {
        return new TreeMap<>(hearings);
    }

    /**
     * Audits collections one after another: about a second for each.
     *
     * @param filled whether the caches are; before, nothing can be missing from them
     */
    void audit(List<Collection> collections, boolean filled) {
        hearings.keySet().retainAll(collections.stream().map(Collection::name).collect(Collectors.toSet()));
        for (Collection collection : collections) {
            Hearing now = hear(collection, filled);
            Hearing before = hearings.put(collection.name(), now);
            if (!now.equals(before) && !(now instanceof Hearing.Well && before == null)) {
                LOG.atWarn()
                        .addKeyValue("collection", collection.name())
                        .addKeyValue("hearing", now)
                        .log("What the watch tells has changed");
            }
        }
    }

    private Hearing hear(Collection collection, boolean filled) {
        try {
            String next = version(client.raw(collection.path() + "?limit=1"));
            String mark = marks.put(collection.name(), next);
            if (!filled) {
                return new Hearing.Well();
            }
            Map<Ref, Change> open = missed.computeIfAbsent(collection.name(), name -> new HashMap<>());
            if (mark != null) {
                changes(collection, mark).forEach(change -> open.put(change.resource(), change));
            }
            return arrived(collection, open);
        } catch (KubernetesClientException e) {
            return e.getCode() == HttpURLConnection.HTTP_FORBIDDEN || e.getCode() == HttpURLConnection.HTTP_UNAUTHORIZED
                    ? new Hearing.Refused(String.valueOf(e.getMessage()))
                    : new Hearing.Unreachable(String.valueOf(e.getMessage()));
        } catch (IOException | RuntimeException e) {
            // Whatever it is: the next audit has to take place.
            return new Hearing.Unreachable(String.valueOf(e.getMessage()));
        }
    }

    private Hearing arrived(Collection collection, Map<Ref, Change> open) {
        long deadline = System.nanoTime() + GRACE.toNanos();
        while (true) {
            open.values().removeIf(change -> isKnown(collection, change));
            if (open.isEmpty()) {
                return new Hearing.Well();
            }
            if (System.nanoTime() - deadline > 0) {
                return new Hearing.Deaf("%d changes of %s did not arrive by the watch, that of %s among them"
                        .formatted(
                                open.size(),
                                collection.name(),
                                open.keySet().iterator().next()));
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return new Hearing.Well();
            }
        }
    }

    private static boolean isKnown(Collection collection, Change change) {
        Optional<? extends HasMetadata> cached = collection.cached().apply(change.resource());
        return cached.isPresent()
                ? ShardStore.version(cached.get()) >= change.version()
                        && !(change.deleted() && ShardStore.version(cached.get()) == change.version())
                : change.deleted();
    }

    private static String version(@Nullable String list) throws JsonProcessingException {
        return JSON.readTree(list == null ? "{}" : list)
                .at("/metadata/resourceVersion")
                .asText();
    }

    /** The last change of each resource since a version; none if that was too long ago to be known. */
    private List<Change> changes(Collection collection, String since) throws IOException {
        String events = client.raw(collection.path() + "?watch=1&timeoutSeconds=1&resourceVersion=" + since);
        Map<Ref, Change> changes = new HashMap<>();
        try (MappingIterator<JsonNode> lines =
                JSON.readerFor(JsonNode.class).readValues(events == null ? "" : events)) {
            while (lines.hasNext()) {
                JsonNode event = lines.next();
                String type = event.path("type").asText();
                JsonNode metadata = event.at("/object/metadata");
                if (type.equals("ADDED") || type.equals("MODIFIED") || type.equals("DELETED")) {
                    Ref resource = new Ref(
                            metadata.path("namespace").asText(),
                            metadata.path("name").asText());
                    changes.put(
                            resource,
                            new Change(
                                    resource, metadata.path("resourceVersion").asLong(), type.equals("DELETED")));
                }
            }
        }
        return new ArrayList<>(changes.values());
    }
}
