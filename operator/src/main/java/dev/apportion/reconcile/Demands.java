package dev.apportion.reconcile;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Gathers the streams of the services that share a pool. Pure. */
final class Demands {

    /** The implicit stream's rate, relative to others, when nothing says more. */
    private static final double IMPLICIT_RATE = 1;

    private Demands() {}

    static List<Demand> of(Ref pool, Admission admission) {
        List<Demand> demands = new ArrayList<>();
        for (AdmittedService service : admission.servicesSharing(pool)) {
            admission.zone(service.zone()).ifPresent(zone -> demands.addAll(of(service, zone, admission)));
        }
        return demands;
    }

    private static List<Demand> of(AdmittedService service, AdmittedZone zone, Admission admission) {
        List<Demand> demands = new ArrayList<>();
        boolean everyoneElse = false;
        for (AdmittedStream stream : admission.streamsOf(service.ref())) {
            everyoneElse |= stream.clients().isEmpty();
            demands.add(new Demand(
                    service.ref(),
                    stream.ref().name(),
                    service.hostname(),
                    stream.rate(),
                    service.maxReplicas(),
                    zone.coreDns().answers(),
                    stream.sites(),
                    stream.home(),
                    service.ttlSeconds(),
                    stream.clients()));
        }
        if (!everyoneElse) {
            demands.add(new Demand(
                    service.ref(),
                    "",
                    service.hostname(),
                    IMPLICIT_RATE,
                    service.maxReplicas(),
                    zone.coreDns().answers(),
                    Set.of(),
                    Optional.empty(),
                    service.ttlSeconds(),
                    List.of()));
        }
        return demands;
    }
}
