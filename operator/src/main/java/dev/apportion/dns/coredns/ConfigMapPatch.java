package dev.apportion.dns.coredns;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.dns.Serial;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A decision as a request to the API server: a new ConfigMap, or a JSON Patch.
 *
 * <p>The patch first tests that the object and the zone's serial are the ones that were read; a test for null passes
 * where the key is absent. Then it touches the zone's own keys only. The API server applies all of it or nothing.
 */
final class ConfigMapPatch {

    /** What every ConfigMap of ours is labelled with; informers select by it. */
    static final SortedMap<String, String> LABELS = Collections.unmodifiableSortedMap(new TreeMap<>(
            Map.of("app.kubernetes.io/managed-by", "apportion", CoreDnsLayout.LABEL, CoreDnsLayout.LABEL_VALUE)));

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ArrayNode operations = JSON.createArrayNode();

    private ConfigMapPatch() {}

    static ShardChange of(@Nullable ConfigMap current, ShardDecision decision, ShardKeys keys, CoreDnsLayout layout) {
        return switch (decision) {
            case ShardDecision.Unchanged(var serial) -> new ShardChange.Unchanged(serial);
            case ShardDecision.Refused(var reason, var message) -> new ShardChange.Refused(reason, message);
            case ShardDecision.Outranked(var epoch) -> new ShardChange.Outranked(epoch);
            case ShardDecision.Write write -> {
                String name = layout.configMapName(keys.shard());
                if (current == null) {
                    yield create(write, name, layout.namespace());
                }
                if (Boolean.TRUE.equals(current.getImmutable())) {
                    yield new ShardChange.Refused(
                            ShardChange.Reason.Immutable,
                            "ConfigMap %s/%s is immutable".formatted(layout.namespace(), name));
                }
                yield new ShardChange.Patch(
                        layout.namespace(),
                        name,
                        new ConfigMapPatch().write(current, write, keys).toString(),
                        write.serial());
            }
        };
    }

    static Map<String, String> data(@Nullable ConfigMap current) {
        return current == null || current.getData() == null ? Map.of() : current.getData();
    }

    /** What the binary data take of the space, in bytes as they are sent. */
    static long binaryBytes(@Nullable ConfigMap current) {
        return current == null || current.getBinaryData() == null
                ? 0
                : current.getBinaryData().entrySet().stream()
                        .mapToLong(entry ->
                                entry.getKey().length() + entry.getValue().length())
                        .sum();
    }

    private static ShardChange create(ShardDecision.Write write, String name, String namespace) {
        Optional<Serial> serial = write.serial();
        if (serial.isEmpty()) {
            return new ShardChange.Unchanged(serial);
        }
        ConfigMap configMap = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .withLabels(LABELS)
                .endMetadata()
                .withData(write.put())
                .build();
        return new ShardChange.Create(configMap, serial.get());
    }

    private ArrayNode write(ConfigMap current, ShardDecision.Write write, ShardKeys keys) {
        operation("test", "/metadata/uid").put("value", current.getMetadata().getUid());
        boolean empty = data(current).isEmpty();
        String fence = empty ? "/data" : "/data/" + escape(keys.serial());
        write.before()
                .ifPresentOrElse(
                        serial -> operation("test", fence).put("value", serial),
                        () -> operation("test", fence).putNull("value"));
        label(current.getMetadata().getLabels());
        write.remove().forEach(key -> operation("remove", "/data/" + escape(key)));
        if (empty) {
            ObjectNode data = operation("add", "/data").putObject("value");
            write.put().forEach(data::put);
        } else {
            write.put()
                    .forEach((key, text) ->
                            operation("add", "/data/" + escape(key)).put("value", text));
        }
        return operations;
    }

    private void label(@Nullable Map<String, String> labels) {
        if (labels == null || labels.isEmpty()) {
            operation("test", "/metadata/labels").putNull("value");
            ObjectNode all = operation("add", "/metadata/labels").putObject("value");
            LABELS.forEach(all::put);
            return;
        }
        LABELS.forEach((label, value) -> {
            if (!value.equals(labels.get(label))) {
                operation("add", "/metadata/labels/" + escape(label)).put("value", value);
            }
        });
    }

    private ObjectNode operation(String name, String path) {
        return operations.addObject().put("op", name).put("path", path);
    }

    /** RFC 6901, section 3. */
    private static String escape(String key) {
        return key.replace("~", "~0").replace("/", "~1");
    }
}
