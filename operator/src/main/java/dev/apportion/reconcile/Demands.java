package dev.apportion.reconcile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Gathers the streams of the services that share a pool. Pure. */
final class Demands {

    /** The implicit stream's rate, relative to others, when nothing says more. Beside keys, which say more, it has none. */
    private static final double IMPLICIT_RATE = 1;

    private Demands() {}

    static List<Demand> of(Ref pool, Admission admission) {
        List<Demand> demands = new ArrayList<>();
        for (AdmittedService service : admission.servicesSharing(pool)) {
            admission.zone(service.zone()).ifPresent(zone -> demands.addAll(of(service, zone, admission)));
        }
        return demands;
    }

    /** The longest time for which an answer of a pool is remembered. */
    static Duration longestTtl(Ref pool, Admission admission) {
        return Duration.ofSeconds(admission.servicesSharing(pool).stream()
                .mapToInt(AdmittedService::ttlSeconds)
                .max()
                .orElse(0));
    }

    private static List<Demand> of(AdmittedService service, AdmittedZone zone, Admission admission) {
        List<Demand> demands = new ArrayList<>();
        boolean everyoneElse = false;
        boolean keys = false;
        for (AdmittedStream stream : admission.streamsOf(service.ref())) {
            if (stream.keys().isPresent()) {
                keys = true;
                for (AdmittedStream.Key key : stream.keys().get()) {
                    demands.add(demand(
                            service, zone, stream, key.name(), key.name() + "." + service.hostname(), key.rate()));
                }
            } else {
                everyoneElse |= stream.clients().isEmpty();
                demands.add(demand(service, zone, stream, "", service.hostname(), stream.rate()));
            }
        }
        if (!everyoneElse) {
            demands.add(new Demand(
                    service.ref(),
                    "",
                    "",
                    service.hostname(),
                    keys ? 0 : IMPLICIT_RATE,
                    keys,
                    maxReplicas(service, zone),
                    zone.answers(),
                    service.ttlSeconds(),
                    Set.of(),
                    Optional.empty(),
                    List.of()));
        }
        return demands;
    }

    /** What the service says, or the bound of the zone's back end. */
    private static OptionalInt maxReplicas(AdmittedService service, AdmittedZone zone) {
        return service.maxReplicas().isPresent() ? service.maxReplicas() : zone.mostReplicas();
    }

    private static Demand demand(
            AdmittedService service,
            AdmittedZone zone,
            AdmittedStream stream,
            String key,
            String hostname,
            double rate) {
        return new Demand(
                service.ref(),
                stream.ref().name(),
                key,
                hostname,
                rate,
                rate > 0 || !key.isEmpty(),
                maxReplicas(service, zone),
                zone.answers(),
                service.ttlSeconds(),
                stream.sites(),
                stream.home(),
                stream.clients());
    }
}
