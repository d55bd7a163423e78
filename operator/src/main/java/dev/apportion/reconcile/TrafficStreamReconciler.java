package dev.apportion.reconcile;

import dev.apportion.api.TrafficStream;
import dev.apportion.api.TrafficStreamStatus;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.List;
import java.util.Optional;

/** Says in the status of streams what their services have come to. */
final class TrafficStreamReconciler implements Reconciler<TrafficStream> {

    private final Desk desk;
    private final Signals signals;
    private final Verifier verifier;
    private final Statuses statuses;
    private final StatusWriter writer;

    TrafficStreamReconciler(Desk desk, Signals signals, Verifier verifier, Statuses statuses, StatusWriter writer) {
        this.desk = desk;
        this.signals = signals;
        this.verifier = verifier;
        this.statuses = statuses;
        this.writer = writer;
    }

    @Override
    public List<EventSource<?, TrafficStream>> prepareEventSources(EventSourceContext<TrafficStream> context) {
        desk.world().streams = context.getPrimaryCache();
        return List.of(signals.streams, new PrimaryChanges<>("stream-changes", desk::streamChanged, writer));
    }

    @Override
    public ErrorStatusUpdateControl<TrafficStream> updateErrorStatus(
            TrafficStream resource, Context<TrafficStream> context, Exception e) {
        return StatusWriter.afterFailure(e);
    }

    /** Says whether its keys are being read, which takes a moment and is no news. */
    private static boolean isPending(Judged<AdmittedStream> judged) {
        return judged.findings().stream()
                .anyMatch(finding -> finding.type().equals(Finding.RESOLVED_REFS)
                        && finding.reason().equals(Findings.PENDING));
    }

    @Override
    public UpdateControl<TrafficStream> reconcile(TrafficStream stream, Context<TrafficStream> context) {
        if (!desk.isOpen()) {
            return UpdateControl.noUpdate();
        }
        Admission admission = desk.admission();
        Judged<AdmittedStream> judged = admission.streams().get(Ref.of(stream));
        if (judged == null || isPending(judged)) {
            return UpdateControl.noUpdate();
        }
        Optional<AdmittedService> service = judged.value().flatMap(found -> admission.service(found.service()));
        Optional<Ref> zone = service.map(AdmittedService::zone);
        if (zone.isPresent() && zone.flatMap(desk::standing).isEmpty()) {
            // The zone has not been looked at yet since the start; it tells its services and streams once it has.
            return UpdateControl.noUpdate();
        }
        writer.recall(stream);
        TrafficStreamStatus status = statuses.stream(
                stream,
                judged,
                service.flatMap(found -> desk.planned(found.pool())),
                zone.flatMap(desk::standing)
                        .flatMap(standing -> standing.part(service.orElseThrow().ref())),
                zone.map(desk::servers).orElse(ZoneStanding.Servers.NONE),
                zone.flatMap(verifier::result),
                judged.value().flatMap(desk::rateOf));
        return writer.write(stream, new TrafficStream(), status);
    }
}
