package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import dev.apportion.dns.coredns.ConfigMapPublisher;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes statuses, where they say anything new. */
final class StatusWriter {

    private static final Logger LOG = LoggerFactory.getLogger(StatusWriter.class);

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    /** What the API server says to an object that does not fit its schema. */
    private static final int UNPROCESSABLE = 422;

    private static final DateTimeFormatter MICROSECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesClient client;
    private final Clock clock;

    /** Generations of objects that can bear no status, and of which an Event has told already. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    StatusWriter(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    /**
     * Writes a status.
     *
     * @param resource the resource as it is
     * @param blank a new object of its kind
     * @param status what its status shall be
     */
    <S, T, R extends ApportionResource<S, T>> UpdateControl<R> write(R resource, R blank, T status) {
        if (status.equals(resource.getStatus())) {
            return UpdateControl.noUpdate();
        }
        if (resource.unreadable() != null) {
            writeBesideUnreadable(resource, status, resource.unreadable());
            return UpdateControl.noUpdate();
        }
        // Nothing but the resource's place and its status, so that nothing else is written.
        blank.setMetadata(new ObjectMetaBuilder()
                .withName(resource.getMetadata().getName())
                .withNamespace(resource.getMetadata().getNamespace())
                .build());
        blank.setStatus(status);
        return UpdateControl.patchStatus(blank);
    }

    /** A resource that was deleted while it was looked at needs no status: that is no failure and nothing to try again. */
    static <P extends HasMetadata> ErrorStatusUpdateControl<P> afterFailure(Exception failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof KubernetesClientException e && e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                LOG.atDebug().addKeyValue("message", e.getMessage()).log("Deleted meanwhile");
                return ErrorStatusUpdateControl.<P>noStatusUpdate().withNoRetry();
            }
        }
        return ErrorStatusUpdateControl.defaultErrorProcessing();
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
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT && !ConfigMapPublisher.isNamespaceTerminating(e)) {
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
