package dev.apportion.reconcile;

import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceStatus;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.List;
import java.util.Optional;

/** Says in the status of services what their pools and zones have come to. */
final class TrafficServiceReconciler implements Reconciler<TrafficService> {

    private final Desk desk;
    private final Signals signals;
    private final Verifier verifier;
    private final ResolverProber prober;
    private final Statuses statuses;
    private final StatusWriter writer;

    TrafficServiceReconciler(
            Desk desk,
            Signals signals,
            Verifier verifier,
            ResolverProber prober,
            Statuses statuses,
            StatusWriter writer) {
        this.desk = desk;
        this.signals = signals;
        this.verifier = verifier;
        this.prober = prober;
        this.statuses = statuses;
        this.writer = writer;
    }

    @Override
    public List<EventSource<?, TrafficService>> prepareEventSources(EventSourceContext<TrafficService> context) {
        desk.world().services = context.getPrimaryCache();
        return List.of(signals.services, new PrimaryChanges<>("service-changes", desk::serviceChanged, writer));
    }

    @Override
    public ErrorStatusUpdateControl<TrafficService> updateErrorStatus(
            TrafficService resource, Context<TrafficService> context, Exception e) {
        return StatusWriter.afterFailure(e);
    }

    @Override
    public UpdateControl<TrafficService> reconcile(TrafficService service, Context<TrafficService> context) {
        if (!desk.isOpen()) {
            return UpdateControl.noUpdate();
        }
        Ref ref = Ref.of(service);
        Judged<AdmittedService> judged = desk.admission().services().get(ref);
        if (judged == null) {
            return UpdateControl.noUpdate();
        }
        Optional<AdmittedService> admitted = judged.value();
        Optional<Ref> zone = admitted.map(AdmittedService::zone);
        if (zone.isPresent() && zone.flatMap(desk::standing).isEmpty()) {
            // The zone has not been looked at yet since the start; it tells its services once it has.
            return UpdateControl.noUpdate();
        }
        writer.recall(service);
        TrafficServiceStatus status = statuses.service(
                service,
                judged,
                admitted.flatMap(found -> desk.planned(found.pool())),
                zone.flatMap(desk::standing).flatMap(standing -> standing.part(ref)),
                zone.map(desk::servers).orElse(ZoneStanding.Servers.NONE),
                zone.flatMap(verifier::result),
                zone.map(found -> desk.admission().zones().get(found)).flatMap(Judged::value),
                zone.map(prober::report).orElse(ResolverReport.NONE));
        return writer.write(service, new TrafficService(), status);
    }
}
