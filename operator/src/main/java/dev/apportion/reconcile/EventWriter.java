package dev.apportion.reconcile;

import dev.apportion.telemetry.Meters;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Sends Events (events.k8s.io/v1) about resources, for {@code kubectl describe} and {@code kubectl events}. */
final class EventWriter {

    private static final DateTimeFormatter MICROSECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** The longest note that the API takes. */
    private static final int MOST_CHARACTERS = 1024;

    private final KubernetesClient client;
    private final Clock clock;
    private final Meters meters;

    /** What an Event says, beside its reason and its note. */
    enum Type {
        Normal,
        Warning
    }

    EventWriter(KubernetesClient client, Clock clock, Meters meters) {
        this.client = client;
        this.clock = clock;
        this.meters = meters;
    }

    /**
     * Sends one Event.
     *
     * @param name unique in the namespace
     * @param action what was being done
     * @throws io.fabric8.kubernetes.client.KubernetesClientException if it is refused
     */
    void send(String name, HasMetadata regarding, Type type, String reason, String action, String note) {
        Event event = new EventBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(regarding.getMetadata().getNamespace())
                .endMetadata()
                .withType(type.name())
                .withReason(reason)
                .withAction(action)
                .withNote(note.length() <= MOST_CHARACTERS ? note : note.substring(0, MOST_CHARACTERS - 1) + "…")
                .withReportingController("apportion.dev/operator")
                .withReportingInstance("apportion")
                .withEventTime(new MicroTime(MICROSECONDS.format(clock.instant())))
                .withRegarding(new ObjectReferenceBuilder()
                        .withApiVersion(regarding.getApiVersion())
                        .withKind(regarding.getKind())
                        .withNamespace(regarding.getMetadata().getNamespace())
                        .withName(regarding.getMetadata().getName())
                        .withUid(regarding.getMetadata().getUid())
                        .build())
                .build();
        client.resource(event).create();
        meters.event(type.name());
    }
}
