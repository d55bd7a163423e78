package dev.apportion.dns.coredns;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Writes the changes of shards to ConfigMaps: one request for each change, never retried here. */
public final class ConfigMapPublisher {

    private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

    private final KubernetesClient client;

    public ConfigMapPublisher(KubernetesClient client) {
        this.client = client;
    }

    /** Writes one change. */
    public Publication publish(ShardChange change) {
        try {
            return switch (change) {
                case ShardChange.Unchanged(var serial) -> new Publication.Unchanged(serial);
                case ShardChange.Refused(var reason, var message) -> new Publication.Refused(reason, message);
                case ShardChange.Outranked(var epoch) -> new Publication.Outranked(epoch);
                case ShardChange.Create(var configMap, var serial) ->
                    new Publication.Written(
                            Optional.of(serial), client.resource(configMap).create());
                case ShardChange.Patch(var namespace, var name, var operations, var serial) ->
                    new Publication.Written(
                            serial,
                            // Not by its name alone: the object would be read first.
                            client.resource(named(namespace, name)).patch(JSON_PATCH, operations));
            };
        } catch (KubernetesClientException e) {
            return failure(change, e);
        }
    }

    private static ConfigMap named(String namespace, String name) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .build();
    }

    private static Publication failure(ShardChange change, KubernetesClientException e) {
        Status status = e.getStatus();
        String message = status != null
                        && status.getMessage() != null
                        && !status.getMessage().isEmpty()
                ? status.getMessage()
                : words(e);
        if (isNamespaceTerminating(e)) {
            return new Publication.Refused(ShardChange.Reason.NamespaceTerminating, message);
        }
        return switch (e.getCode()) {
            case 409 -> new Publication.Fenced(409, message);
            case 404 ->
                // What is created is not found only if its namespace is not there.
                change instanceof ShardChange.Create
                        ? new Publication.Failed(404, message, Optional.empty())
                        : new Publication.Fenced(404, message);
            case 422 ->
                namesField(status)
                        ? new Publication.Failed(422, message, Optional.empty())
                        : new Publication.Fenced(422, message);
            default -> new Publication.Failed(Math.max(0, e.getCode()), message, retryAfter(status));
        };
    }

    /** Says whether a request failed because its namespace is being deleted. */
    public static boolean isNamespaceTerminating(KubernetesClientException e) {
        return hasCause(e.getStatus(), cause -> "NamespaceTerminating".equals(cause.getReason()));
    }

    /** What is known where the server said nothing: the innermost cause says most. */
    private static String words(KubernetesClientException e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String said = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return "the API server gave no answer: " + said;
    }

    /** A failed test of a patch names no field; an object that is not valid does. */
    private static boolean namesField(@Nullable Status status) {
        return hasCause(status, cause -> cause.getField() != null);
    }

    private static boolean hasCause(@Nullable Status status, Predicate<StatusCause> wanted) {
        return status != null
                && status.getDetails() != null
                && status.getDetails().getCauses() != null
                && status.getDetails().getCauses().stream().anyMatch(wanted);
    }

    private static Optional<Duration> retryAfter(@Nullable Status status) {
        if (status == null || status.getDetails() == null) {
            return Optional.empty();
        }
        Integer seconds = status.getDetails().getRetryAfterSeconds();
        return seconds == null || seconds < 1 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
    }
}
