package dev.apportion.reconcile;

import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.load.Rate;
import dev.apportion.load.RateQuery;
import dev.apportion.load.Track;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.reconcile.ZoneStanding.Write;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says what holds of plans, of what was written, and of what the servers answer. Pure. */
final class Findings {

    /** Comes before what became of the allocation that was in force. */
    static final String COURSE = "; ";

    /** How many names a message lists before it only counts. */
    private static final int NAMES_SHOWN = 8;

    /** The reason of {@code Programmed} while a change waits for its time. */
    private static final String DEFERRED = "Deferred";

    /** The reason where the addresses are right, and drawn as if there were no weights. */
    private static final String IGNORES_WEIGHTS = "ProviderIgnoresWeights";

    /** The reason of {@code Verified} before the servers have said anything, and of {@code ResolvedRefs} before it was looked. */
    static final String PENDING = "Pending";

    private Findings() {}

    /** {@code LoadAvailable} and {@code Allocated} of a pool. */
    static List<Finding> of(PoolPlan plan) {
        return List.of(loadAvailable(plan), allocated(plan));
    }

    private static Finding loadAvailable(PoolPlan plan) {
        if (plan.basis().load().isPresent()) {
            return measured(plan, plan.basis().load().get());
        }
        if (!plan.isMeasured()) {
            return Finding.unknown(
                    Finding.LOAD_AVAILABLE,
                    "NoSource",
                    "no load source, and no samples in spec.sites: capacity and declared rates decide alone");
        }
        return Finding.yes(
                Finding.LOAD_AVAILABLE,
                "FixedSamples",
                "spec.sites has samples of %d of %d ready replicas; nothing is measured anew"
                        .formatted(plan.ready() - plan.silent(), plan.ready()));
    }

    private static Finding measured(PoolPlan plan, AdmittedPool.Load load) {
        List<String> held = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        String reason = "";
        for (PoolPlan.Replica replica : plan.replicas()) {
            Member member = replica.member();
            if (!member.isReady()) {
                continue;
            }
            switch (member.load()) {
                case Member.Load.Declared nothing -> {}
                case Member.Load.Measured now -> {}
                case Member.Load.Hot(String why) -> {
                    if (!why.isEmpty()) {
                        held.add(member.name());
                        reason = reason.isEmpty() ? why : reason;
                    }
                }
                case Member.Load.Held(String why, boolean partly) -> {
                    held.add(member.name());
                    reason = reason.isEmpty() ? why : reason;
                }
                case Member.Load.Missing(String why, boolean counted) -> {
                    reason = missing.isEmpty() ? why : reason;
                    missing.add(member.name());
                }
            }
        }
        long ready = plan.ready();
        if (ready == 0) {
            return Finding.unknown(Finding.LOAD_AVAILABLE, "NoReadyReplicas", "no replica is ready to be measured");
        }
        if (missing.size() == ready) {
            return reason.equals(Track.NEW.problem())
                    ? Finding.unknown(
                            Finding.LOAD_AVAILABLE, PENDING, "the replicas are being measured for the first time")
                    : Finding.no(
                            Finding.LOAD_AVAILABLE,
                            "NoSamples",
                            "there is no measurement of any of %d ready replicas that counts, so capacity and declared rates decide alone: %s"
                                    .formatted(ready, reason));
        }
        if (!missing.isEmpty()) {
            return Finding.yes(
                    Finding.LOAD_AVAILABLE,
                    "SomeSilent",
                    "%d of %d ready replicas are measured; %s gain nothing: %s"
                            .formatted(ready - missing.size(), ready, listed(missing), reason));
        }
        if (!held.isEmpty()) {
            return Finding.yes(
                    Finding.LOAD_AVAILABLE,
                    "Holding",
                    "of %s the last measurement counts on until it is %d s old: %s"
                            .formatted(listed(held), load.staleAfter().toSeconds(), reason));
        }
        return Finding.yes(Finding.LOAD_AVAILABLE, "Measured", "all %d ready replicas are measured".formatted(ready));
    }

    /** {@code LoadAvailable} of a stream whose rate a query gives. */
    static Finding rate(RateQuery query, Rate.Standing standing, Duration staleAfter) {
        return switch (standing) {
            case Rate.Standing.Known known ->
                Finding.yes(
                        Finding.LOAD_AVAILABLE,
                        "Measured",
                        "the query to the Prometheus source \"%s\" gives the rate".formatted(query.source()));
            case Rate.Standing.Held(double rate, String reason) ->
                Finding.yes(
                        Finding.LOAD_AVAILABLE,
                        "Holding",
                        "the last rate counts on until it is %d s old: %s".formatted(staleAfter.toSeconds(), reason));
            case Rate.Standing.Missing(String reason) ->
                reason.equals(Rate.NEW.problem())
                        ? Finding.unknown(
                                Finding.LOAD_AVAILABLE, PENDING, "the query is being asked for the first time")
                        : Finding.no(
                                Finding.LOAD_AVAILABLE,
                                "NoSamples",
                                "there is no rate that counts, so it is estimated from the requests of the replicas"
                                        + " where these are measured: "
                                        + reason);
        };
    }

    /** {@code ResolvedRefs} of a pool one of whose Services is missing, or cannot be reached as the pool says. */
    static Optional<Finding> missingServices(AdmittedPool pool, World world) {
        return missingSlices(pool, world)
                .or(() -> pool.sites().stream()
                        .flatMap(site -> missingLoadBalancer(pool, site, world).stream())
                        .findFirst());
    }

    private static Optional<Finding> missingLoadBalancer(AdmittedPool pool, AdmittedPool.Site site, World world) {
        if (!(site.source() instanceof AdmittedPool.Source.Service(String name, ReplicaPoolSpec.Publish publish))
                || publish != ReplicaPoolSpec.Publish.LoadBalancer) {
            return Optional.empty();
        }
        Ref service = new Ref(pool.ref().namespace(), name);
        return switch (Fronts.ingress(world.service(service))) {
            case Fronts.Ingress.At at -> Optional.empty();
            case Fronts.Ingress.NoService none ->
                Optional.of(Finding.no(
                        Finding.RESOLVED_REFS, "ServiceNotFound", "there is no Service %s".formatted(service)));
            case Fronts.Ingress.Pending pending ->
                Optional.of(Finding.no(
                        Finding.RESOLVED_REFS,
                        "LoadBalancerPending",
                        "the Service %s has no load balancer with an address yet; maybe its type is not LoadBalancer, or nothing in this cluster provides them"
                                .formatted(service)));
            case Fronts.Ingress.HostName(String host) ->
                Optional.of(Finding.no(
                        Finding.RESOLVED_REFS,
                        "LoadBalancerHostName",
                        "the load balancer of the Service %s has the host name %s and no address; answers are addresses, and those of a name may change at any time. Maybe use publish: Nodes, or a load balancer with fixed addresses"
                                .formatted(service, host)));
        };
    }

    /** {@code ResolvedRefs} of a pool one of whose Services has no EndpointSlice. */
    private static Optional<Finding> missingSlices(AdmittedPool pool, World world) {
        List<String> missing = pool.sites().stream()
                .flatMap(site -> site.source() instanceof AdmittedPool.Source.Service(String name, var publish)
                        ? Stream.of(name)
                        : Stream.empty())
                .filter(name -> world.endpointSlices(new Ref(pool.ref().namespace(), name))
                        .isEmpty())
                .toList();
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.no(
                        Finding.RESOLVED_REFS,
                        "EndpointSlicesNotFound",
                        "no EndpointSlice belongs to the Service %s in the namespace %s; maybe the Service does not exist"
                                .formatted(listed(missing), pool.ref().namespace())));
    }

    static Finding allocated(PoolPlan plan) {
        long ready = plan.ready();
        if (ready == 0) {
            return Finding.no(
                    Finding.ALLOCATED,
                    "NoReadyReplicas",
                    "no replica is ready, of %d that are known; the last answers stay"
                            .formatted(plan.replicas().size()));
        }
        List<String> without = plan.streams().stream()
                .filter(stream -> stream.answers().isEmpty())
                .map(stream -> stream.demand().readable())
                .toList();
        if (!without.isEmpty()) {
            return Finding.no(
                    Finding.ALLOCATED,
                    "NoReplicaForStream",
                    "no ready replica may serve the streams %s; the last answers stay. Maybe spec.sites of the streams is too narrow"
                            .formatted(listed(without)));
        }
        if (plan.streams().isEmpty()) {
            return Finding.yes(Finding.ALLOCATED, "NoStreams", "no accepted TrafficService refers to the pool");
        }
        if (plan.held().isPresent()) {
            return Finding.yes(Finding.ALLOCATED, "RemovalHeld", plan.held().get() + course(plan));
        }
        if (plan.isAllHot()) {
            return Finding.yes(
                    Finding.ALLOCATED,
                    "AllHot",
                    "each of %d ready replicas has all that it bears, or more: shares follow what is declared, not what is measured; maybe add replicas"
                                    .formatted(ready)
                            + course(plan));
        }
        List<String> unused = plan.unused();
        if (!unused.isEmpty()) {
            return Finding.yes(
                    Finding.ALLOCATED,
                    "ReplicasUnused",
                    "%d of %d ready replicas are in no answer: %s; maybe raise spec.maxReplicas of a service"
                                    .formatted(unused.size(), ready, listed(unused))
                            + course(plan));
        }
        List<String> shared = plan.inSeveralSites();
        return Finding.yes(
                Finding.ALLOCATED,
                "Allocated",
                "%d streams over %d replicas".formatted(plan.streams().size(), ready)
                        + (shared.isEmpty()
                                ? ""
                                : "; the addresses of %s are in more than one site, and their capacity counts in each"
                                        .formatted(listed(shared)))
                        + course(plan));
    }

    private static String course(PoolPlan plan) {
        return plan.course().what().isEmpty() ? "" : COURSE + plan.course().what();
    }

    private static String listed(List<String> names) {
        return listed(names, ", ");
    }

    private static String listed(List<String> names, String separator) {
        String shown = names.stream().limit(NAMES_SHOWN).collect(Collectors.joining(separator));
        return names.size() > NAMES_SHOWN ? "%s and %d more".formatted(shown, names.size() - NAMES_SHOWN) : shown;
    }

    /** {@code Programmed} of a zone. */
    static Finding programmed(ZoneStanding standing) {
        List<String> failures = new ArrayList<>();
        List<String> deferred = new ArrayList<>();
        String reason = "";
        for (Map.Entry<String, Write> entry : standing.writes().entrySet()) {
            Optional<Finding> failure = failure(entry.getValue());
            if (failure.isPresent() && failure.get().isFalse()) {
                failures.add("%s: %s".formatted(entry.getKey(), failure.get().message()));
                reason = failure.get().reason();
            } else {
                failure.map(Finding::message).ifPresent(deferred::add);
            }
        }
        if (!failures.isEmpty()) {
            return Finding.no(Finding.PROGRAMMED, reason, listed(failures, "; ") + "; what was published stays");
        }
        return deferred.isEmpty()
                ? Finding.yes(
                        Finding.PROGRAMMED,
                        "Programmed",
                        "%d %s hold the zone".formatted(standing.writes().size(), standing.objects()))
                : Finding.yes(Finding.PROGRAMMED, DEFERRED, deferred.getFirst());
    }

    /** {@code Programmed} of a zone whose ConfigMaps cannot be read: what they say is not known, so nothing is written. */
    static Finding unreadable(String namespace, String problem) {
        return Finding.no(
                Finding.PROGRAMMED,
                "ShardsUnreadable",
                "the ConfigMaps of the namespace %s cannot be read, so nothing is written: %s; maybe the operator lacks the rights of a zone's namespace there"
                        .formatted(namespace, problem));
    }

    /** {@code Programmed} of a zone whose DNSEndpoints are not known: nothing is written. */
    static Finding endpointsUnreadable(String problem) {
        return Finding.no(
                Finding.PROGRAMMED,
                "EndpointsUnreadable",
                "the DNSEndpoints of ExternalDNS cannot be read, so nothing is written: %s; maybe the operator lacks the role apportion-external-dns"
                        .formatted(problem));
    }

    /** {@code Programmed} of a service. */
    static Finding programmed(Optional<ZoneStanding.Part> part) {
        if (part.isEmpty()) {
            return Finding.unknown(Finding.PROGRAMMED, "Pending", "the zone has not been planned with it yet");
        }
        Optional<Finding> failure = part.get().failure().flatMap(Findings::failure);
        return failure.orElseGet(() -> switch (part.get().outcome()) {
            case ZoneComposer.Outcome.Planned() ->
                Finding.yes(Finding.PROGRAMMED, "Programmed", "published as planned");
            case ZoneComposer.Outcome.Kept(String reason, String message) ->
                Finding.yes(Finding.PROGRAMMED, reason, message);
            case ZoneComposer.Outcome.Absent(String reason, String message) ->
                Finding.no(Finding.PROGRAMMED, reason, message);
        });
    }

    private static Optional<Finding> failure(Write write) {
        return switch (write) {
            case Write.Done done -> Optional.empty();
            case Write.Fenced(String message) ->
                Optional.of(Finding.no(
                        Finding.PROGRAMMED, "Fenced", "another writer was faster, trying again: " + message));
            case Write.Refused(String reason, String message) ->
                Optional.of(Finding.no(Finding.PROGRAMMED, reason, message));
            case Write.Failed(String message) -> Optional.of(Finding.no(Finding.PROGRAMMED, "WriteFailed", message));
            case Write.Deferred(boolean anything, String message) ->
                Optional.of(
                        anything
                                ? Finding.yes(Finding.PROGRAMMED, DEFERRED, message)
                                : Finding.no(Finding.PROGRAMMED, DEFERRED, message));
        };
    }

    /** {@code Verified} of a zone. */
    static Finding verified(ZoneStanding standing, Servers servers, Optional<Verified> verified) {
        return asked(servers, verified).orElseGet(() -> {
            Verified found = verified.orElseThrow();
            return judged(found, difference -> true)
                    .orElseGet(() -> standing.isWritten() ? allAnswer(found) : pending());
        });
    }

    /** {@code Verified} of a service. */
    static Finding verified(Optional<ZoneStanding.Part> part, Servers servers, Optional<Verified> verified) {
        Optional<Host> host = part.flatMap(ZoneStanding.Part::host);
        if (host.isEmpty()) {
            return Finding.unknown(Finding.VERIFIED, "NotPublished", "nothing is published that could be asked for");
        }
        return asked(servers, verified).orElseGet(() -> {
            Verified found = verified.orElseThrow();
            String name = host.get().name();
            boolean known = found.target().hosts().stream()
                    .anyMatch(asked -> asked.name().equals(name));
            return judged(found, difference -> difference.host().equals(name) || isKey(found, difference.host(), name))
                    .orElseGet(() -> known ? allAnswer(found) : pending());
        });
    }

    private static boolean isKey(Verified verified, String host, String of) {
        return verified.target().hosts().stream()
                .anyMatch(asked -> asked.name().equals(host)
                        && asked.under().filter(of::equals).isPresent());
    }

    private static Optional<Finding> asked(Servers servers, Optional<Verified> verified) {
        if (!servers.configured()) {
            return Optional.of(Finding.unknown(
                    Finding.VERIFIED, "NoServers", "spec.verifyAt of the DNSZone names no servers to ask"));
        }
        if (servers.addresses().isEmpty()) {
            return Optional.of(Finding.unknown(
                    Finding.VERIFIED, "NoServers", "the Service of spec.verifyAt has no ready endpoint"));
        }
        return verified.isEmpty() ? Optional.of(pending()) : Optional.empty();
    }

    static Finding pending() {
        return Finding.unknown(Finding.VERIFIED, PENDING, "the servers are being asked");
    }

    private static Finding allAnswer(Verified verified) {
        return Finding.yes(
                Finding.VERIFIED,
                "Verified",
                "as published: " + listed(List.copyOf(verified.servers().keySet())));
    }

    private static Optional<Finding> judged(Verified verified, Predicate<Verdict.Difference> concerns) {
        List<String> silent = new ArrayList<>();
        List<String> lagging = new ArrayList<>();
        List<String> undrawn = new ArrayList<>();
        verified.servers().forEach((server, verdict) -> {
            switch (verdict) {
                case Verdict.Verified done -> {}
                case Verdict.Silent(String reason) -> silent.add("%s does not answer: %s".formatted(server, reason));
                case Verdict.Lags(List<Verdict.Difference> differences) ->
                    first(server, differences, concerns).ifPresent(lagging::add);
                case Verdict.IgnoresWeights(List<Verdict.Difference> differences) ->
                    first(server, differences, concerns).ifPresent(undrawn::add);
            }
        });
        if (!lagging.isEmpty()) {
            return Optional.of(
                    Finding.no(Finding.VERIFIED, "ServerLags", String.join("; ", lagging) + whyItLags(verified)));
        }
        if (!undrawn.isEmpty()) {
            return Optional.of(Finding.no(Finding.VERIFIED, IGNORES_WEIGHTS, String.join("; ", undrawn)));
        }
        return silent.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.no(Finding.VERIFIED, "ServerSilent", String.join("; ", silent)));
    }

    private static String whyItLags(Verified verified) {
        if (verified.target().answers() == Answers.Drawn) {
            return "; maybe ExternalDNS has not applied it, and its log says why";
        }
        return verified.servers().values().stream()
                        .anyMatch(verdict -> verdict instanceof Verdict.Lags lags && lags.hasEveryFile())
                ? "; maybe it could not load its configuration, and its log says why"
                : "";
    }

    private static Optional<String> first(
            String server, List<Verdict.Difference> differences, Predicate<Verdict.Difference> concerns) {
        return differences.stream()
                .filter(concerns)
                .findFirst()
                .map(difference -> "%s answers %s to %s, not %s"
                        .formatted(server, difference.observed(), difference.question(), difference.expected()));
    }

    /** {@code WeightsHonored} of a zone. */
    static Finding weightsHonored(
            AdmittedZone zone,
            ZoneStanding standing,
            Servers servers,
            Optional<Verified> verified,
            ResolverReport heard) {
        return zone.answers() == Answers.Drawn
                ? weightsHonored(servers, verified, verified(standing, servers, verified))
                : ResolverFindings.ofZone(zone, standing, heard);
    }

    /**
     * {@code WeightsHonored} where servers draw addresses by themselves: what they answer shows it, and no resolver is asked,
     * since there are no names that none of them has heard of.
     */
    static Finding weightsHonored(Servers servers, Optional<Verified> verified, Finding found) {
        Optional<Finding> unknown = asked(servers, verified);
        if (unknown.isPresent()) {
            return Finding.unknown(
                    Finding.WEIGHTS_HONORED,
                    unknown.get().reason(),
                    unknown.get().message());
        }
        return switch (found.reason()) {
            case IGNORES_WEIGHTS ->
                Finding.no(
                        Finding.WEIGHTS_HONORED,
                        IGNORES_WEIGHTS,
                        found.message()
                                + ". Maybe the provider behind ExternalDNS knows no weights, or not those of this"
                                + " dialect");
            case "Verified" ->
                Finding.yes(
                        Finding.WEIGHTS_HONORED,
                        Finding.WEIGHTS_HONORED,
                        "the servers draw by the published weights, as far as counting shows");
            default -> Finding.unknown(Finding.WEIGHTS_HONORED, found.reason(), found.message());
        };
    }
}
