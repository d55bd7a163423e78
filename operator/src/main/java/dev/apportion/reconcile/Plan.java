package dev.apportion.reconcile;

import dev.apportion.dns.coredns.ShardFilling;
import dev.apportion.dns.externaldns.Dialect;
import dev.apportion.dns.externaldns.DnsEndpoint;
import dev.apportion.dns.externaldns.EndpointChange;
import dev.apportion.dns.externaldns.EndpointState;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Everything that follows from a world: the verdicts, the plan of each pool, and what DNS shall say of each zone.
 *
 * @param admission the verdicts on all resources
 * @param pools the plan of each admitted pool
 * @param zones each admitted zone as it shall be
 * @param endpoints the DNSEndpoints of the zones that ExternalDNS serves, by service, as somebody else may apply them
 * @param problems what hinders resources, by kind and place
 */
public record Plan(
        Admission admission,
        SortedMap<Ref, PoolPlan> pools,
        SortedMap<Ref, ZoneComposer.Composed> zones,
        SortedMap<Ref, GenericKubernetesResource> endpoints,
        List<Problem> problems) {

    /** A condition of a resource that does not hold, and why. */
    public record Problem(String kind, Ref resource, Finding finding) {}

    /**
     * Plans a whole world. Pure.
     *
     * @param published what DNS says of a zone now, where anything was published
     */
    public static Plan of(World world, Function<Ref, Optional<ZoneRecords>> published) {
        return of(world, published, Optional.empty());
    }

    /**
     * Plans a whole world anew. Pure.
     *
     * @param published what DNS says of a zone now, where anything was published
     * @param before the plan that is in force, where there is one
     */
    public static Plan of(World world, Function<Ref, Optional<ZoneRecords>> published, Optional<Plan> before) {
        Admission admission = Admission.of(world);
        SortedMap<Ref, PoolPlan> pools = new TreeMap<>();
        List<Problem> problems = new ArrayList<>();
        Map<String, List<Answer>> answers = Past.answers(admission.zones().keySet().stream()
                .flatMap(zone -> published.apply(zone).stream())
                .toList());
        collect(problems, "DNSZone", admission.zones());
        collect(problems, "ReplicaPool", admission.pools());
        admission
                .pools()
                .forEach((ref, judged) -> judged.value().ifPresent(pool -> {
                    PoolPlan plan = PoolPlanner.plan(
                            pool,
                            world.members(pool),
                            world.rated(Demands.of(ref, admission)),
                            new Past(
                                    before.flatMap(known ->
                                            Optional.ofNullable(known.pools().get(ref))),
                                    answers,
                                    false));
                    pools.put(ref, plan);
                    world.missing(pool).ifPresent(missing -> problems.add(new Problem("ReplicaPool", ref, missing)));
                    Finding allocated = Findings.allocated(plan);
                    if (allocated.isFalse()) {
                        problems.add(new Problem("ReplicaPool", ref, allocated));
                    }
                }));
        collect(problems, "TrafficService", admission.services());
        collect(problems, "TrafficStream", admission.streams());
        SortedMap<Ref, ZoneComposer.Composed> zones = new TreeMap<>();
        admission
                .zones()
                .forEach((ref, judged) -> judged.value()
                        .ifPresent(zone -> zones.put(
                                ref,
                                ZoneComposer.compose(
                                        zone,
                                        admission,
                                        pool -> Optional.ofNullable(pools.get(pool)),
                                        published.apply(ref)))));
        SortedMap<Ref, GenericKubernetesResource> endpoints = new TreeMap<>();
        zones.forEach((ref, composed) -> {
            if (admission.zone(ref).orElseThrow().backEnd() instanceof AdmittedZone.ExternalDns(Dialect dialect)) {
                endpoints(composed.records(), dialect, endpoints, problems);
            }
        });
        return new Plan(admission, pools, zones, endpoints, List.copyOf(problems));
    }

    private static void endpoints(
            ZoneRecords zone,
            Dialect dialect,
            SortedMap<Ref, GenericKubernetesResource> endpoints,
            List<Problem> problems) {
        zone.hosts().stream().collect(Collectors.groupingBy(Host::owner)).forEach((service, hosts) -> {
            Ref ref = Ref.parse(service);
            EndpointState state = new EndpointState(zone.owner(), zone.domain(), service, dialect, hosts);
            EndpointChange.refusal(state)
                    .ifPresentOrElse(
                            refused -> problems.add(new Problem(
                                    "TrafficService",
                                    ref,
                                    Finding.no(Finding.PROGRAMMED, refused.reason(), refused.message()))),
                            () -> endpoints.put(ref, DnsEndpoint.manifest(state)));
        });
    }

    /**
     * What DNS shall say: each admitted zone as planned. A zone that is still declared but refused stays as it is, unless its
     * domain belongs to another.
     *
     * @param before what DNS says now
     */
    public SortedMap<Ref, ZoneRecords> records(Map<Ref, ZoneRecords> before) {
        SortedMap<Ref, ZoneRecords> records = new TreeMap<>();
        zones.forEach((ref, composed) -> records.put(ref, composed.records()));
        Set<String> domains = records.values().stream().map(ZoneRecords::domain).collect(Collectors.toSet());
        before.forEach((ref, known) -> {
            Judged<AdmittedZone> judged = admission.zones().get(ref);
            boolean refused = judged != null
                    && judged.value().isEmpty()
                    && judged.findings().stream()
                            .noneMatch(finding -> finding.reason().equals("DomainConflict"));
            if (refused && domains.add(known.domain())) {
                records.put(ref, known);
            }
        });
        return records;
    }

    /**
     * This plan, and of each zone the shards that it could not be written to: mostly because they would hold more than a ConfigMap
     * can. Zones that share ConfigMaps fill them in the order of their names. Pure.
     */
    public Plan withWhatDoesNotFit() {
        List<Problem> all = new ArrayList<>(problems);
        ShardFilling shards = new ShardFilling();
        zones.forEach((ref, composed) -> admission
                .zone(ref)
                .filter(zone -> zone.backEnd() instanceof AdmittedZone.CoreDns)
                .map(zone -> shards.add(composed.records(), ZonePublisher.layout(zone)))
                .orElse(List.of())
                .forEach(refused -> all.add(new Problem(
                        "DNSZone",
                        ref,
                        Finding.no(Finding.PROGRAMMED, refused.reason().name(), refused.message())))));
        return new Plan(admission, pools, zones, endpoints, List.copyOf(all));
    }

    private static <T> void collect(List<Problem> problems, String kind, SortedMap<Ref, Judged<T>> judged) {
        judged.forEach((ref, verdict) -> verdict.findings().stream()
                .filter(Finding::isFalse)
                .forEach(finding -> problems.add(new Problem(kind, ref, finding))));
    }
}
