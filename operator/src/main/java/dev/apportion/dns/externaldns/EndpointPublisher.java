package dev.apportion.dns.externaldns;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.StatusDetails;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes changes of DNSEndpoints: one request for each change, never retried here. Each names the version that it was decided
 * on, so that a delayed writer brings no old plan back.
 */
public final class EndpointPublisher {

    private final KubernetesClient client;
    private final String fieldManager;

    /** @param fieldManager who owns the fields that are written */
    public EndpointPublisher(KubernetesClient client, String fieldManager) {
        this.client = client;
        this.fieldManager = fieldManager;
    }

    /** What became of a change. */
    public sealed interface Outcome {

        /** It was written. */
        record Written(GenericKubernetesResource endpoint) implements Outcome {}

        /** It was removed. */
        record Removed() implements Outcome {}

        /** There was nothing to write. */
        record Unchanged() implements Outcome {}

        /** Another writer was faster, or the object went or came meanwhile: read again and decide again. */
        record Fenced(int code, String message) implements Outcome {}

        /** A leader of a higher epoch has written; nothing was sent. */
        record Outranked(long epoch) implements Outcome {}

        /** It must not be written, and will not be until the input changes. */
        record Refused(String reason, String message) implements Outcome {}

        /**
         * It could not be written.
         *
         * @param code the HTTP status, zero if there was no answer
         * @param retryAfter how long the server asks to wait
         */
        record Failed(int code, String message, Optional<Duration> retryAfter) implements Outcome {}
    }

    /** Writes one change. */
    public Outcome publish(EndpointChange change) {
        try {
            return switch (change) {
                case EndpointChange.Unchanged() -> new Outcome.Unchanged();
                case EndpointChange.Refused(String reason, String message) -> new Outcome.Refused(reason, message);
                case EndpointChange.Outranked(long epoch) -> new Outcome.Outranked(epoch);
                case EndpointChange.Create(GenericKubernetesResource endpoint) -> new Outcome.Written(create(endpoint));
                case EndpointChange.Apply(GenericKubernetesResource endpoint) ->
                    new Outcome.Written(resource(endpoint)
                            .fieldManager(fieldManager)
                            .forceConflicts()
                            .serverSideApply());
                case EndpointChange.Delete(GenericKubernetesResource endpoint) -> {
                    resource(endpoint)
                            .lockResourceVersion(endpoint.getMetadata().getResourceVersion())
                            .delete();
                    yield new Outcome.Removed();
                }
            };
        } catch (KubernetesClientException e) {
            return failure(e);
        }
    }

    /** Server-side apply would write over what is there unseen; this does not. */
    private GenericKubernetesResource create(GenericKubernetesResource endpoint) {
        String collection = "/apis/%s/namespaces/%s/%s?fieldManager=%s"
                .formatted(
                        DnsEndpoint.API_VERSION,
                        endpoint.getMetadata().getNamespace(),
                        DnsEndpoint.CONTEXT.getPlural(),
                        URLEncoder.encode(fieldManager, UTF_8));
        return client.getKubernetesSerialization()
                .unmarshal(client.raw(collection, "POST", endpoint), GenericKubernetesResource.class);
    }

    private Resource<GenericKubernetesResource> resource(GenericKubernetesResource endpoint) {
        return client.genericKubernetesResources(DnsEndpoint.CONTEXT)
                .inNamespace(endpoint.getMetadata().getNamespace())
                .resource(endpoint);
    }

    private static Outcome failure(KubernetesClientException e) {
        Status status = e.getStatus();
        String message = status != null
                        && status.getMessage() != null
                        && !status.getMessage().isEmpty()
                ? status.getMessage()
                : "the API server gave no answer: " + e.getMessage();
        return switch (e.getCode()) {
            case 403 ->
                isNamespaceTerminating(status)
                        ? new Outcome.Refused("NamespaceTerminating", message)
                        : new Outcome.Failed(403, message, Optional.empty());
            case 409 -> new Outcome.Fenced(409, message);
            default -> new Outcome.Failed(Math.max(0, e.getCode()), message, retryAfter(status));
        };
    }

    private static boolean isNamespaceTerminating(@Nullable Status status) {
        return details(status).map(StatusDetails::getCauses).orElse(List.<StatusCause>of()).stream()
                .anyMatch(cause -> "NamespaceTerminating".equals(cause.getReason()));
    }

    private static Optional<StatusDetails> details(@Nullable Status status) {
        return status == null ? Optional.empty() : Optional.ofNullable(status.getDetails());
    }

    private static Optional<Duration> retryAfter(@Nullable Status status) {
        return details(status)
                .map(StatusDetails::getRetryAfterSeconds)
                .filter(seconds -> seconds > 0)
                .map(Duration::ofSeconds);
    }
}
