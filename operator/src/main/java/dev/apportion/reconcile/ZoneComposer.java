package dev.apportion.reconcile;

import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts together what DNS shall say under one zone, from the plans of its pools and from what it says now. Pure. */
public final class ZoneComposer {

    private ZoneComposer() {}

    /**
     * A zone as it shall be.
     *
     * @param records what DNS shall say
     * @param hosts what became of each service's host name
     */
    public record Composed(ZoneRecords records, SortedMap<Ref, Outcome> hosts) {}

    /** What became of a service's host name. */
    public sealed interface Outcome {

        /** It is answered as planned. */
        record Planned() implements Outcome {}

        /** It is answered as before, for a reason that is one CamelCase word and a sentence. */
        record Kept(String reason, String message) implements Outcome {}

        /** It is not answered: there is nothing that it could be answered. */
        record Absent(String reason, String message) implements Outcome {}
    }

    /**
     * Composes one zone.
     *
     * @param zone the zone
     * @param admission the verdicts on all resources
     * @param plans the plan of a pool, where there is one
     * @param published what DNS says now, where anything was ever published
     */
    public static Composed compose(
            AdmittedZone zone,
            Admission admission,
            Function<Ref, Optional<PoolPlan>> plans,
            Optional<ZoneRecords> published) {
        Map<String, Host> before = published.map(ZoneComposer::byName).orElse(Map.of());
        Map<String, List<Host>> keysBefore =
                before.values().stream().filter(Host::isKey).collect(Collectors.groupingBy(Host::owner));
        SortedMap<Ref, Outcome> outcomes = new TreeMap<>();
        List<Host> hosts = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (AdmittedService service : admission.servicesOf(zone.ref())) {
            Host last = last(before.get(service.hostname()), service, zone);
            Map<String, Host> lastKeys = keysBefore.getOrDefault(service.ref().toString(), List.of()).stream()
                    .filter(key ->
                            key.under().filter(service.hostname()::equals).isPresent())
                    .collect(Collectors.toMap(Host::name, key -> inMode(key, zone)));
            Decided decided = decide(service, admission, plans, last, lastKeys);
            outcomes.put(service.ref(), decided.outcome());
            if (decided.host() != null) {
                hosts.add(decided.host());
                names.add(service.hostname());
            }
            for (Host key : decided.keys()) {
                hosts.add(key);
                names.add(key.name());
            }
        }
        for (Host host : before.values()) {
            if (!names.contains(host.name())
                    && (isStranded(host, zone, admission) || isStrandedKey(host, zone, admission))) {
                hosts.add(inMode(host, zone));
            }
        }
        return new Composed(records(zone, hosts), outcomes);
    }

    /**
     * Says whether a published host belongs to a service that is still there, but can no longer be read or is invalid: what
     * it was is the best that is known.
     */
    private static boolean isStranded(Host host, AdmittedZone zone, Admission admission) {
        Judged<AdmittedService> judged = admission.services().get(Ref.parse(host.owner()));
        return judged != null
                && judged.value().isEmpty()
                && judged.findings().stream()
                        .anyMatch(finding -> finding.isFalse()
                                && (finding.reason().equals("Unreadable")
                                        || finding.reason().equals("InvalidSpec")))
                && admission.hostIsFree(host.name())
                && ServiceAdmission.inZone(host.name(), zone).isEmpty();
    }

    /** Says whether a published key belongs to a stream that is still there, but whose keys are not known now. */
    private static boolean isStrandedKey(Host host, AdmittedZone zone, Admission admission) {
        if (!host.isKey() || host.streams().size() != 1) {
            return false;
        }
        Ref service = Ref.parse(host.owner());
        Judged<AdmittedStream> judged =
                admission.streams().get(new Ref(service.namespace(), host.streams().getFirst().stream()));
        return judged != null
                && judged.value().isEmpty()
                && admission
                        .service(service)
                        .filter(found -> found.zone().equals(zone.ref())
                                && found.hostname().equals(host.under().orElseThrow()))
                        .isPresent()
                && admission.hostIsFree(host.name())
                && ServiceAdmission.inZone(host.name(), zone).isEmpty();
    }

    private record Decided(@Nullable Host host, List<Host> keys, Outcome outcome) {}

    private static Decided decide(
            AdmittedService service,
            Admission admission,
            Function<Ref, Optional<PoolPlan>> plans,
            @Nullable Host last,
            Map<String, Host> lastKeys) {
        if (service.paused()) {
            return kept(last, lastKeys, "Paused", "spec.paused: what is published stays as it is");
        }
        Optional<AdmittedPool> pool = admission.pool(service.pool());
        if (pool.isEmpty()) {
            return kept(
                    last,
                    lastKeys,
                    "PoolNotReady",
                    "the ReplicaPool %s is missing or not accepted; the last answers stay".formatted(service.pool()));
        }
        if (pool.get().observe()) {
            return kept(
                    last, lastKeys, "Observing", "the ReplicaPool %s has the mode Observe".formatted(service.pool()));
        }
        Optional<PoolPlan> plan = plans.apply(service.pool());
        if (plan.isEmpty()) {
            return kept(
                    last, lastKeys, "NotPlanned", "the ReplicaPool %s is not planned yet".formatted(service.pool()));
        }
        return planned(service, plan.get(), last, lastKeys);
    }

    private static Decided kept(@Nullable Host last, Map<String, Host> lastKeys, String reason, String message) {
        return last == null
                ? new Decided(
                        null,
                        List.copyOf(lastKeys.values()),
                        new Outcome.Absent(reason, message + "; nothing was published before"))
                : new Decided(last, List.copyOf(lastKeys.values()), new Outcome.Kept(reason, message));
    }

    private static Decided planned(
            AdmittedService service, PoolPlan plan, @Nullable Host last, Map<String, Host> lastKeys) {
        List<HostStream> streams = new ArrayList<>();
        List<Host> keys = new ArrayList<>();
        Set<String> withoutReplica = new TreeSet<>();
        for (PoolPlan.Stream stream : plan.streams()) {
            if (!stream.demand().service().equals(service.ref())) {
                continue;
            }
            Demand demand = stream.demand();
            HostStream fresh = hostStream(stream, service);
            if (fresh.answers().isEmpty()) {
                withoutReplica.add(demand.stream().isEmpty() ? "everyone else" : demand.stream());
                fresh = lastAnswers(fresh, demand.isKey() ? lastKeys.get(demand.hostname()) : last);
            }
            if (demand.isKey()) {
                keys.add(new Host(
                        demand.hostname(),
                        service.ref().toString(),
                        service.ttlSeconds(),
                        Optional.of(service.hostname()),
                        List.of(fresh)));
            } else {
                streams.add(fresh);
            }
        }
        Host host = new Host(service.hostname(), service.ref().toString(), service.ttlSeconds(), streams);
        if (withoutReplica.isEmpty()) {
            return new Decided(host, keys, new Outcome.Planned());
        }
        boolean any = Stream.concat(Stream.of(host), keys.stream())
                .flatMap(answered -> answered.streams().stream())
                .anyMatch(stream -> !stream.answers().isEmpty());
        String who = "no replica is ready for " + String.join(", ", withoutReplica);
        return new Decided(
                host,
                keys,
                any
                        ? new Outcome.Kept("NoReadyReplicas", who + "; the last answers stay where there were any")
                        : new Outcome.Absent("NoReadyReplicas", who + " and none was before: the answers are empty"));
    }

    private static HostStream lastAnswers(HostStream fresh, @Nullable Host last) {
        return last == null
                ? fresh
                : last.streams().stream()
                        .filter(stream -> stream.label().equals(fresh.label()))
                        .findFirst()
                        .map(stream -> new HostStream(fresh.label(), fresh.stream(), fresh.clients(), stream.answers()))
                        .orElse(fresh);
    }

    private static HostStream hostStream(PoolPlan.Stream stream, AdmittedService service) {
        Demand demand = stream.demand();
        return new HostStream(
                demand.isKey()
                        ? HostLabel.ofKeys(service.hostname())
                        : HostLabel.of(service.hostname(), demand.stream()),
                demand.stream(),
                demand.clients(),
                stream.answers().stream()
                        .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                        .toList());
    }

    /** What a service published; the answers of another one that had the name before are not its own. */
    private static @Nullable Host last(@Nullable Host host, AdmittedService service, AdmittedZone zone) {
        return host == null || !host.owner().equals(service.ref().toString()) ? null : inMode(host, zone);
    }

    /**
     * A published host, with weights as the zone's kind of answers takes them. The weights themselves are looked at: shards
     * are written one by one, so some may still hold the other kind.
     */
    private static Host inMode(Host host, AdmittedZone zone) {
        Answers answers = zone.answers();
        if (host.streams().stream().allMatch(stream -> fits(stream, answers))) {
            return host;
        }
        return new Host(
                host.name(),
                host.owner(),
                host.ttlSeconds(),
                host.under(),
                host.streams().stream()
                        .map(stream -> new HostStream(
                                stream.label(), stream.stream(), stream.clients(), reweighted(stream, answers)))
                        .toList());
    }

    private static boolean fits(HostStream stream, Answers answers) {
        return PoolPlanner.fits(stream.answers(false).mapToInt(Answer::weight).toArray(), answers)
                && PoolPlanner.fits(
                        stream.answers(true).mapToInt(Answer::weight).toArray(), answers);
    }

    private static List<Answer> reweighted(HostStream stream, Answers answers) {
        List<Answer> all = new ArrayList<>();
        for (boolean ipv6 : new boolean[] {false, true}) {
            List<Answer> family = stream.answers(ipv6).toList();
            double[] shares = family.stream().mapToDouble(Answer::weight).toArray();
            if (shares.length > 0) {
                int[] weights = PoolPlanner.weights(shares, answers);
                for (int i = 0; i < weights.length; i++) {
                    if (weights[i] > 0) {
                        all.add(new Answer(
                                family.get(i).address(), family.get(i).replica(), weights[i]));
                    }
                }
            }
        }
        return all;
    }

    private static Map<String, Host> byName(ZoneRecords records) {
        return records.hosts().stream()
                .collect(Collectors.toMap(Host::name, Function.identity(), (first, second) -> first));
    }

    /** The records of a zone with these hosts. */
    static ZoneRecords records(AdmittedZone zone, List<Host> hosts) {
        return new ZoneRecords(
                zone.domain(),
                zone.ref().toString(),
                zone.answers(),
                zone.ttlSeconds(),
                zone.negativeTtlSeconds(),
                zone.nameServers(),
                zone.fixedRecords(),
                hosts);
    }
}
