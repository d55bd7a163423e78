package dev.apportion.reconcile;

import dev.apportion.dns.wire.Verdict;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.telemetry.Meters.Gauge;
import dev.apportion.telemetry.Meters.Row;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The values of the gauges, from what the desk knows at the moment. */
final class Gauges {

    private static final double MILLIS_PER_SECOND = 1000;

    /** What may be known of the load of a replica. */
    private static final List<String> LOADS = List.of("Measured", "Hot", "Held", "Silent");

    private final Map<Gauge, List<Row>> rows = new EnumMap<>(Gauge.class);

    private Gauges() {}

    /** The values that concern resources. */
    static Map<Gauge, List<Row>> of(Desk desk, Verifier verifier, ResolverProber prober) {
        Gauges gauges = new Gauges();
        if (desk.isOpen()) {
            Admission admission = desk.admission();
            gauges.count("DNSZone", admission.zones());
            gauges.count("ReplicaPool", admission.pools());
            gauges.count("TrafficService", admission.services());
            gauges.count("TrafficStream", admission.streams());
            admission.pools().keySet().forEach(pool -> {
                desk.known(pool).ifPresent(gauges::pool);
                desk.loadAge(pool)
                        .ifPresent(age -> gauges.add(
                                Gauge.LOAD_AGE,
                                age.toMillis() / MILLIS_PER_SECOND,
                                "namespace",
                                pool.namespace(),
                                "pool",
                                pool.name()));
            });
            admission.zones().forEach((zone, judged) -> {
                desk.standing(zone).ifPresent(standing -> {
                    gauges.zone(zone, standing);
                    judged.value()
                            .map(admitted -> Findings.weightsHonored(
                                    admitted, standing, desk.servers(zone), verifier.result(zone), prober.report(zone)))
                            .ifPresent(finding -> gauges.resolvers(zone, finding));
                });
                verifier.result(zone).ifPresent(verified -> gauges.servers(zone, verified));
            });
        }
        return gauges.rows;
    }

    private void add(Gauge gauge, double value, String... labels) {
        rows.computeIfAbsent(gauge, key -> new ArrayList<>()).add(Row.of(value, labels));
    }

    private void count(String kind, Map<Ref, ? extends Judged<?>> judged) {
        int accepted = (int) judged.values().stream()
                .filter(verdict -> verdict.value().isPresent())
                .count();
        add(Gauge.RESOURCES, accepted, "kind", kind, "accepted", "true");
        add(Gauge.RESOURCES, judged.size() - accepted, "kind", kind, "accepted", "false");
    }

    private void pool(PoolPlan plan) {
        String namespace = plan.pool().namespace();
        String name = plan.pool().name();
        add(Gauge.POOL_MAKESPAN, plan.makespan(), "namespace", namespace, "pool", name);
        add(Gauge.POOL_AVERAGE, plan.average(), "namespace", namespace, "pool", name);
        add(Gauge.POOL_LOWER_BOUND, plan.lowerBound(), "namespace", namespace, "pool", name);
        add(Gauge.POOL_OPTIMALITY_GAP, plan.optimalityGap(), "namespace", namespace, "pool", name);
        add(Gauge.POOL_WORST_OVER_LEVEL, plan.worstOverLevel(), "namespace", namespace, "pool", name);
        Map<Member.State, Long> states = plan.replicas().stream()
                .collect(Collectors.groupingBy(replica -> replica.member().state(), Collectors.counting()));
        for (Member.State state : Member.State.values()) {
            add(
                    Gauge.POOL_REPLICAS,
                    states.getOrDefault(state, 0L).doubleValue(),
                    "namespace",
                    namespace,
                    "pool",
                    name,
                    "state",
                    state.name());
        }
        if (plan.basis().load().isPresent()) {
            Map<String, Long> known = plan.replicas().stream()
                    .filter(replica -> replica.member().isReady())
                    .collect(Collectors.groupingBy(
                            replica -> load(replica.member().load()), Collectors.counting()));
            for (String load : LOADS) {
                add(
                        Gauge.POOL_MEASURED,
                        known.getOrDefault(load, 0L).doubleValue(),
                        "namespace",
                        namespace,
                        "pool",
                        name,
                        "load",
                        load);
            }
        }
        for (PoolPlan.Replica replica : plan.replicas()) {
            String member = replica.member().name();
            add(Gauge.REPLICA_LOAD, replica.load(), "namespace", namespace, "pool", name, "replica", member);
            add(Gauge.REPLICA_LEVEL, replica.level(), "namespace", namespace, "pool", name, "replica", member);
        }
    }

    private static String load(Member.Load load) {
        return switch (load) {
            case Member.Load.Measured now -> "Measured";
            case Member.Load.Hot all -> "Hot";
            case Member.Load.Held earlier -> "Held";
            case Member.Load.Missing nothing -> "Silent";
            case Member.Load.Declared nothing -> "Silent";
        };
    }

    private void zone(Ref zone, ZoneStanding standing) {
        String namespace = zone.namespace();
        add(Gauge.ZONE_SERIAL, (double) standing.serial(), "namespace", namespace, "zone", zone.name());
        add(Gauge.ZONE_HOSTS, standing.records().hosts().size(), "namespace", namespace, "zone", zone.name());
        add(Gauge.ZONE_PROGRAMMED, standing.isProgrammed() ? 1 : 0, "namespace", namespace, "zone", zone.name());
        // Keys are too many to have series of their own.
        standing.records().hosts().stream().filter(host -> !host.isKey()).forEach(this::host);
    }

    /** Nothing where nothing is known. */
    private void resolvers(Ref zone, Finding weightsHonored) {
        if (weightsHonored.isTrue() || weightsHonored.isFalse()) {
            add(
                    Gauge.WEIGHTS_HONORED,
                    weightsHonored.isTrue() ? 1 : 0,
                    "namespace",
                    zone.namespace(),
                    "zone",
                    zone.name());
        }
    }

    private void host(Host host) {
        Ref service = Ref.parse(host.owner());
        for (HostStream stream : host.streams()) {
            for (Answer answer : stream.answers()) {
                add(
                        Gauge.ANSWER_WEIGHT,
                        answer.weight(),
                        "namespace",
                        service.namespace(),
                        "service",
                        service.name(),
                        "stream",
                        stream.stream(),
                        "address",
                        answer.address().toCanonicalString());
            }
        }
    }

    private void servers(Ref zone, ZoneStanding.Verified verified) {
        verified.servers()
                .forEach((server, verdict) -> add(
                        Gauge.SERVER_VERIFIED,
                        verdict instanceof Verdict.Verified ? 1 : 0,
                        "namespace",
                        zone.namespace(),
                        "zone",
                        zone.name(),
                        "server",
                        server));
    }
}
