package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes statuses, where they say anything new. */
final class StatusWriter {

    private static final Logger LOG = LoggerFactory.getLogger(StatusWriter.class);

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(ApportionOperator.FIELD_MANAGER)
            .withForce(true)
            .build();

    /** What the API server says to an object that does not fit its schema. */
    private static final int UNPROCESSABLE = 422;

    private static final DateTimeFormatter MICROSECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesClient client;
    private final RetryAfter retryAfter;
    private final Clock clock;

    /** Generations of objects that can bear no status, and of which an Event has told already. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    StatusWriter(KubernetesClient client, RetryAfter retryAfter, Clock clock) {
        this.client = ClusterClient.writing(client);
        this.retryAfter = retryAfter;
        this.clock = clock;
    }

    /**
     * Writes a status, or says when it may be tried again.
     *
     * @param resource the resource as it is
     * @param blank a new object of its kind
     * @param status what its status shall be
     * @throws KubernetesClientException if it could not be written and the API server has not said when to try again
     */
    <S, T, R extends ApportionResource<S, T>> UpdateControl<R> write(R resource, R blank, T status) {
        if (status.equals(resource.getStatus())) {
            return UpdateControl.noUpdate();
        }
        RetryAfter.Call call = call(resource);
        Optional<Duration> early = retryAfter.left(call);
        if (early.isPresent()) {
            return UpdateControl.<R>noUpdate().rescheduleAfter(early.get());
        }
        try {
            if (resource.unreadable() == null) {
                apply(resource, blank, status);
            } else {
                writeBesideUnreadable(resource, status, resource.unreadable());
            }
            return UpdateControl.noUpdate();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                // It was deleted meanwhile.
                return UpdateControl.noUpdate();
            }
            retryAfter.refused(call, e);
            Duration wait = retryAfter.left(call).orElseThrow(() -> e);
            LOG.atWarn()
                    .addKeyValue("kind", resource.getKind())
                    .addKeyValue("resource", Ref.of(resource))
                    .addKeyValue("error", e.getMessage())
                    .addKeyValue("wait", wait)
                    .log("Could not write a status; the API server asks to wait");
            return UpdateControl.<R>noUpdate().rescheduleAfter(wait);
        }
    }

    private static RetryAfter.Call call(HasMetadata resource) {
        return new RetryAfter.Call(
                "PATCH",
                "/apis/%s/namespaces/%s/%s/%s/status"
                        .formatted(
                                resource.getApiVersion(),
                                resource.getMetadata().getNamespace(),
                                resource.getPlural(),
                                resource.getMetadata().getName()));
    }

    private <S, T, R extends ApportionResource<S, T>> void apply(R resource, R blank, T status) {
        // Nothing but the resource's place and its status, so that nothing else is written.
        blank.setMetadata(new ObjectMetaBuilder()
                .withName(resource.getMetadata().getName())
                .withNamespace(resource.getMetadata().getNamespace())
                .build());
        blank.setStatus(status);
        client.resource(blank).subresource("status").patch(APPLY);
    }

    /**
     * Server-side apply needs the whole object to have the types of its schema; a merge patch leaves the spec alone. A value
     * that breaks a rule on an integer or string is refused even so: such an object can bear no status, and an Event tells.
     */
    private void writeBesideUnreadable(HasMetadata resource, Object status, String reason) {
        try {
            client.resource(resource)
                    .subresource("status")
                    .patch(MERGE, client.getKubernetesSerialization().asJson(Map.of("status", status)));
        } catch (KubernetesClientException e) {
            if (e.getCode() != UNPROCESSABLE) {
                throw e;
            }
            tell(resource, reason);
        }
    }

    private void tell(HasMetadata resource, String reason) {
        String generation =
                resource.getMetadata().getUid() + "." + resource.getMetadata().getGeneration();
        if (!told.add(generation)) {
            return;
        }
        LOG.atWarn()
                .addKeyValue("kind", resource.getKind())
                .addKeyValue("resource", Ref.of(resource))
                .addKeyValue("reason", reason)
                .log("Cannot be read, and can bear no status");
        try {
            client.resource(event(resource, generation, reason)).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                told.remove(generation);
                throw e;
            }
        }
    }

    /** Named by the generation, so that a restart does not tell again. */
    private io.fabric8.kubernetes.api.model.events.v1.Event event(
            HasMetadata resource, String generation, @Nullable String reason) {
        return new EventBuilder()
                .withNewMetadata()
                .withName("unreadable-" + generation)
                .withNamespace(resource.getMetadata().getNamespace())
                .endMetadata()
                .withType("Warning")
                .withReason("Unreadable")
                .withAction("Read")
                .withNote(Objects.requireNonNullElse(reason, "the spec does not fit its type"))
                .withReportingController("apportion.dev/operator")
                .withReportingInstance("apportion")
                .withEventTime(new MicroTime(MICROSECONDS.format(clock.instant())))
                .withRegarding(new ObjectReferenceBuilder()
                        .withApiVersion(resource.getApiVersion())
                        .withKind(resource.getKind())
                        .withNamespace(resource.getMetadata().getNamespace())
                        .withName(resource.getMetadata().getName())
                        .withUid(resource.getMetadata().getUid())
                        .build())
                .build();
    }
}
