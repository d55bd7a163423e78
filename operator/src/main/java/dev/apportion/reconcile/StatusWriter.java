package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ResourceStatus;
import dev.apportion.dns.coredns.ConfigMapPublisher;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
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

    /** Names have at most 253 characters; what follows the resource's own takes some. */
    private static final int MOST_NAME_CHARACTERS = 200;

    /** What the API server says to an object that does not fit its schema. */
    private static final int UNPROCESSABLE = 422;

    /** Applying a status is the dearest thing to ask of an API server; records are not to queue behind many of them. */
    private static final int AT_ONCE = 2;

    private final Semaphore turns = new Semaphore(AT_ONCE, true);
    private final KubernetesClient client;
    private final RetryAfter retryAfter;
    private final EventWriter events;
    private final WrittenStatuses written = new WrittenStatuses();

    /** Generations of objects that can bear no status, and of which an Event has told already. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    StatusWriter(KubernetesClient client, RetryAfter retryAfter, EventWriter events) {
        this.client = ClusterClient.writing(client);
        this.retryAfter = retryAfter;
        this.events = events;
    }

    /** Gives a resource of a cache its status as it is by now. */
    void recall(ApportionResource<?, ? extends ResourceStatus> cached) {
        written.recall(cached);
    }

    /** Called when a resource is gone. */
    void forget(HasMetadata resource) {
        written.forget(resource);
    }

    /**
     * Writes a status, or says when it may be tried again.
     *
     * @param resource the resource as it is
     * @param blank a new object of its kind
     * @param status what its status shall be
     * @throws KubernetesClientException if it could not be written and the API server has not said when to try again
     */
    <S, T extends ResourceStatus, R extends ApportionResource<S, T>> UpdateControl<R> write(
            R resource, R blank, T status) {
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

    private <S, T extends ResourceStatus, R extends ApportionResource<S, T>> void apply(R resource, R blank, T status) {
        // Nothing but the resource's place and its status, so that nothing else is written.
        blank.setMetadata(new ObjectMetaBuilder()
                .withName(resource.getMetadata().getName())
                .withNamespace(resource.getMetadata().getNamespace())
                .build());
        blank.setStatus(status);
        if (resource instanceof DNSZone) {
            // A zone's next write of records waits for this.
            written.written(client.resource(blank).subresource("status").patch(APPLY));
        } else {
            turns.acquireUninterruptibly();
            try {
                written.written(client.resource(blank).subresource("status").patch(APPLY));
            } finally {
                turns.release();
            }
        }
        transition(resource, status);
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
     * Sends an Event where a resource ceases to be ready, or is ready again. That it becomes ready after its creation is no
     * news, and what is not known yet is none either.
     */
    private <S, T extends ResourceStatus, R extends ApportionResource<S, T>> void transition(R resource, T status) {
        T before = resource.getStatus();
        Optional<Condition> was = before == null
                ? Optional.empty()
                : before.condition(Finding.READY).filter(StatusWriter::isFalse);
        Condition now = status.condition(Finding.READY).orElse(null);
        if (now == null
                || (isFalse(now)
                        ? was.map(Condition::getReason)
                                .filter(now.getReason()::equals)
                                .isPresent()
                        : was.isEmpty() || !now.getStatus().equals(Finding.Status.True.name()))) {
            return;
        }
        // The version of what was seen: a write that is tried again tells once.
        String name = "%s.%s.%s"
                .formatted(
                        shortened(resource.getMetadata().getName()),
                        resource.getKind().toLowerCase(Locale.ROOT),
                        resource.getMetadata().getResourceVersion());
        Thread.ofVirtual().name("event " + name).start(() -> {
            try {
                events.send(
                        name,
                        resource,
                        isFalse(now) ? EventWriter.Type.Warning : EventWriter.Type.Normal,
                        now.getReason(),
                        "Reconcile",
                        now.getMessage());
            } catch (KubernetesClientException e) {
                LOG.atDebug()
                        .addKeyValue("event", name)
                        .addKeyValue("error", e.getMessage())
                        .log("Could not send");
            }
        });
    }

    private static boolean isFalse(Condition condition) {
        return condition.getStatus().equals(Finding.Status.False.name());
    }

    private static String shortened(String name) {
        return name.length() <= MOST_NAME_CHARACTERS ? name : name.substring(0, MOST_NAME_CHARACTERS);
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

    private void tell(HasMetadata resource, @Nullable String reason) {
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
            // Named by the generation, so that a restart does not tell again.
            events.send(
                    "unreadable-" + generation,
                    resource,
                    EventWriter.Type.Warning,
                    "Unreadable",
                    "Read",
                    Objects.requireNonNullElse(reason, "the spec does not fit its type"));
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT && !ConfigMapPublisher.isNamespaceTerminating(e)) {
                told.remove(generation);
                throw e;
            }
        }
    }
}
