package dev.apportion.reconcile;

import dev.apportion.api.TrafficService;
import dev.apportion.dns.externaldns.Dialect;
import dev.apportion.dns.externaldns.DnsEndpoint;
import dev.apportion.dns.externaldns.EndpointChange;
import dev.apportion.dns.externaldns.EndpointPublisher;
import dev.apportion.dns.externaldns.EndpointPublisher.Outcome;
import dev.apportion.dns.externaldns.EndpointState;
import dev.apportion.reconcile.ZoneStanding.Write;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the DNSEndpoints of a zone's services say what DNS shall say: the one place that writes them. */
final class EndpointZones {

    private static final Logger LOG = LoggerFactory.getLogger(EndpointZones.class);

    private static final Duration AFTER_FENCE = Duration.ofMillis(100);
    private static final Duration AFTER_FAILURE = Duration.ofMillis(500);
    private static final Duration AFTER_REFUSAL = Duration.ofSeconds(2);

    /** How often a pause is doubled while the same goes on: up to 16 s after failures. */
    private static final int MOST_DOUBLINGS = 5;

    private final KubernetesClient client;
    private final EndpointPublisher publisher;
    private final RetryAfter retryAfter;
    private final EndpointStore store;
    private final Mandate mandate;
    private final Meters meters;
    private final Duration route53Interval;

    private final Map<Ref, Read> reads = new ConcurrentHashMap<>();

    /** How often in a row something went wrong. */
    private final Map<Ref, Integer> troubles = new ConcurrentHashMap<>();

    /** DNSEndpoints that the API server knows otherwise than the cache; they are read from it. */
    private final Set<Ref> doubted = ConcurrentHashMap.newKeySet();

    /** When a zone was last changed, in nanoseconds of the monotonic clock. */
    private final Map<Ref, Long> changed = new ConcurrentHashMap<>();

    private record Read(String version, Optional<EndpointState> state) {}

    /**
     * What came of publishing a zone.
     *
     * @param writes what stands in the DNSEndpoint of each service now
     * @param changed how many were written just now
     * @param retry when to try again, where something could not be written or was put off
     */
    record Published(SortedMap<Ref, Write> writes, int changed, Optional<Duration> retry) {}

    /** @param route53Interval the shortest time between two changes of a zone at Route 53, unless a replica is gone */
    EndpointZones(
            KubernetesClient client,
            RetryAfter retryAfter,
            EndpointStore store,
            Mandate mandate,
            Meters meters,
            Duration route53Interval) {
        this.client = ClusterClient.writing(client);
        this.publisher = new EndpointPublisher(this.client, ApportionOperator.FIELD_MANAGER);
        this.retryAfter = retryAfter;
        this.store = store;
        this.mandate = mandate;
        this.meters = meters;
        this.route53Interval = route53Interval;
    }

    /** What the DNSEndpoints of a zone say now; empty where nothing was ever published. */
    Optional<ZoneRecords> published(AdmittedZone zone) {
        List<Host> hosts = states(zone.ref()).values().stream()
                .filter(state -> state.domain().equals(zone.domain()))
                .flatMap(state -> state.hosts().stream())
                .toList();
        return hosts.isEmpty() ? Optional.empty() : Optional.of(ZoneComposer.records(zone, hosts));
    }

    private Map<Ref, EndpointState> states(Ref zone) {
        Map<Ref, EndpointState> states = new TreeMap<>();
        List<GenericKubernetesResource> all = store.all();
        reads.keySet().retainAll(all.stream().map(Ref::of).collect(Collectors.toSet()));
        for (GenericKubernetesResource endpoint : all) {
            state(endpoint)
                    .filter(state -> state.zone().equals(zone.toString()))
                    .ifPresent(state -> states.put(Ref.of(endpoint), state));
        }
        return states;
    }

    private Optional<EndpointState> state(GenericKubernetesResource endpoint) {
        String version =
                endpoint.getMetadata().getUid() + "/" + endpoint.getMetadata().getResourceVersion();
        return reads.compute(
                        Ref.of(endpoint),
                        (ref, known) -> known != null && known.version().equals(version)
                                ? known
                                : new Read(version, DnsEndpoint.state(endpoint)))
                .state();
    }

    /**
     * Publishes a zone: at most one request for each service, none where nothing changed.
     *
     * @param services the TrafficService of a name, where it is there
     * @param serves says whether an address is that of a ready replica of a service's pool
     * @param elsewhere says whether a service has moved to another zone that has DNSEndpoints: that one writes over what it says
     */
    Published publish(
            AdmittedZone zone,
            AdmittedZone.ExternalDns backEnd,
            ZoneRecords desired,
            Function<Ref, Optional<TrafficService>> services,
            BiPredicate<Ref, IPAddress> serves,
            Predicate<Ref> elsewhere) {
        OptionalLong epoch = mandate.epoch();
        SortedMap<Ref, Write> writes = new TreeMap<>();
        List<Duration> retries = new ArrayList<>();
        if (epoch.isEmpty()) {
            desired.hosts()
                    .forEach(host -> writes.put(
                            Ref.parse(host.owner()),
                            new Write.Failed("the lease is not held for certain, so nothing is written")));
            return new Published(writes, 0, Optional.of(AFTER_FAILURE));
        }
        Duration wait = backEnd.dialect() == Dialect.Route53 ? left(zone.ref()) : Duration.ZERO;
        Set<Ref> kept = new HashSet<>();
        int count = 0;
        Map<String, List<Host>> byService =
                desired.hosts().stream().collect(Collectors.groupingBy(Host::owner, TreeMap::new, Collectors.toList()));
        for (Map.Entry<String, List<Host>> entry : byService.entrySet()) {
            Ref service = Ref.parse(entry.getKey());
            Ref ref = new Ref(service.namespace(), DnsEndpoint.name(service.namespace(), service.name()));
            kept.add(ref);
            Optional<TrafficService> found = services.apply(service);
            if (found.isEmpty()) {
                continue;
            }
            Optional<GenericKubernetesResource> current = current(ref);
            EndpointChange change = EndpointChange.decide(
                    current,
                    new EndpointState(
                            zone.ref().toString(), zone.domain(), entry.getKey(), backEnd.dialect(), entry.getValue()),
                    owner(found.get()),
                    epoch.getAsLong());
            if (isWrite(change)
                    && wait.isPositive()
                    && !isUrgent(
                            current.flatMap(DnsEndpoint::state)
                                    .map(EndpointState::hosts)
                                    .orElse(List.of()),
                            entry.getValue(),
                            address -> serves.test(service, address))) {
                writes.put(
                        service,
                        new Write.Deferred(
                                current.isPresent(),
                                "Route 53 takes five requests a second from an account, so a zone is changed once in %d s, and %s"
                                        .formatted(
                                                route53Interval.toSeconds(),
                                                current.isPresent()
                                                        ? "the answers before stay until then"
                                                        : "this service waits for its turn")));
                retries.add(wait);
                continue;
            }
            Tried tried = send(ref, change, epoch.getAsLong());
            writes.put(service, tried.write());
            tried.retry().ifPresent(retries::add);
            if (tried.changed()) {
                count++;
                changed.put(zone.ref(), System.nanoTime());
            }
        }
        for (Map.Entry<Ref, EndpointState> entry : states(zone.ref()).entrySet()) {
            if (!kept.contains(entry.getKey())
                    && !elsewhere.test(Ref.parse(entry.getValue().service()))) {
                Optional<GenericKubernetesResource> current = current(entry.getKey());
                if (current.isPresent()) {
                    remove(current.get(), epoch.getAsLong()).ifPresent(retries::add);
                }
            }
        }
        return new Published(writes, count, retries.stream().min(Duration::compareTo));
    }

    private Duration left(Ref zone) {
        Long since = changed.get(zone);
        return since == null ? Duration.ZERO : route53Interval.minusNanos(System.nanoTime() - since);
    }

    private static boolean isWrite(EndpointChange change) {
        return change instanceof EndpointChange.Create || change instanceof EndpointChange.Apply;
    }

    /** Whether clients are still sent to an address behind which nobody serves any more, and shall not be. */
    static boolean isUrgent(List<Host> current, List<Host> desired, Predicate<IPAddress> serves) {
        Set<IPAddress> kept = addresses(desired).collect(Collectors.toSet());
        return addresses(current).anyMatch(address -> !kept.contains(address) && !serves.test(address));
    }

    private static Stream<IPAddress> addresses(List<Host> hosts) {
        return hosts.stream()
                .flatMap(host -> host.streams().stream())
                .flatMap(stream -> stream.answers().stream())
                .map(Answer::address);
    }

    private static OwnerReference owner(TrafficService service) {
        return DnsEndpoint.owner(
                HasMetadata.getApiVersion(TrafficService.class),
                HasMetadata.getKind(TrafficService.class),
                service.getMetadata().getName(),
                service.getMetadata().getUid());
    }

    private Optional<GenericKubernetesResource> current(Ref ref) {
        if (!doubted.contains(ref)) {
            return store.get(ref);
        }
        try {
            return Optional.ofNullable(client.genericKubernetesResources(DnsEndpoint.CONTEXT)
                    .inNamespace(ref.namespace())
                    .withName(ref.name())
                    .get());
        } catch (KubernetesClientException e) {
            // What is written on the grounds of the cache is refused if the cache is wrong.
            return store.get(ref);
        }
    }

    /** What came of one DNSEndpoint. */
    private record Tried(Write write, boolean changed, Optional<Duration> retry) {}

    private Tried send(Ref ref, EndpointChange change, long epoch) {
        RetryAfter.Call call = call(change, ref);
        Optional<Duration> early = isWrite(change) ? retryAfter.left(call) : Optional.empty();
        if (early.isPresent()) {
            return new Tried(new Write.Failed("the API server asks to wait"), false, early);
        }
        Outcome outcome = publisher.publish(change);
        count(outcome);
        return switch (outcome) {
            case Outcome.Written(GenericKubernetesResource written) -> {
                settled(ref);
                store.written(written);
                LOG.atInfo()
                        .addKeyValue("endpoint", ref)
                        .addKeyValue("generation", written.getMetadata().getGeneration())
                        .log("Published");
                yield new Tried(new Write.Done(0), true, Optional.empty());
            }
            case Outcome.Unchanged() -> {
                settled(ref);
                yield new Tried(new Write.Done(0), false, Optional.empty());
            }
            case Outcome.Removed() -> new Tried(new Write.Done(0), false, Optional.empty());
            case Outcome.Fenced(int code, String message) -> {
                store.refuted(ref);
                doubted.add(ref);
                log(ref, code, message, "Another writer was faster");
                yield new Tried(new Write.Fenced(message), false, Optional.of(pause(ref, AFTER_FENCE)));
            }
            case Outcome.Outranked(long other) -> {
                mandate.outranked(other);
                yield new Tried(
                        new Write.Fenced(
                                "a leader of epoch %d has written, this one has epoch %d".formatted(other, epoch)),
                        false,
                        Optional.of(AFTER_FAILURE));
            }
            case Outcome.Refused(String reason, String message) ->
                new Tried(
                        new Write.Refused(reason, message),
                        false,
                        doubted.contains(ref) ? Optional.of(pause(ref, AFTER_REFUSAL)) : Optional.empty());
            case Outcome.Failed(int code, String message, Optional<Duration> after) -> {
                after.ifPresent(asked -> retryAfter.wait(call, asked));
                log(ref, code, message, "Could not publish");
                yield new Tried(
                        new Write.Failed(message),
                        false,
                        retryAfter.left(call).or(() -> Optional.of(pause(ref, AFTER_FAILURE))));
            }
        };
    }

    private void settled(Ref ref) {
        troubles.remove(ref);
        doubted.remove(ref);
    }

    private Duration pause(Ref ref, Duration first) {
        int times = troubles.merge(ref, 1, Integer::sum);
        return first.multipliedBy(1L << Math.min(times - 1, MOST_DOUBLINGS));
    }

    private static RetryAfter.Call call(EndpointChange change, Ref ref) {
        String collection = "/apis/%s/namespaces/%s/%s"
                .formatted(DnsEndpoint.API_VERSION, ref.namespace(), DnsEndpoint.CONTEXT.getPlural());
        return switch (change) {
            case EndpointChange.Create create -> new RetryAfter.Call("POST", collection);
            case EndpointChange.Delete delete -> new RetryAfter.Call("DELETE", collection + "/" + ref.name());
            case EndpointChange.Apply apply -> new RetryAfter.Call("PATCH", collection + "/" + ref.name());
            case EndpointChange.Unchanged unchanged -> new RetryAfter.Call("GET", collection);
            case EndpointChange.Refused refused -> new RetryAfter.Call("GET", collection);
            case EndpointChange.Outranked outranked -> new RetryAfter.Call("GET", collection);
        };
    }

    private void count(Outcome outcome) {
        switch (outcome) {
            case Outcome.Unchanged unchanged -> {}
            case Outcome.Fenced fenced -> meters.fenced();
            case Outcome.Outranked outranked -> meters.fenced();
            case Outcome.Written written -> meters.published("written");
            case Outcome.Removed removed -> meters.published("written");
            case Outcome.Refused refused -> meters.published("refused");
            case Outcome.Failed failed -> meters.published("failed");
        }
    }

    private static void log(Ref ref, int code, String error, String what) {
        LOG.atWarn()
                .addKeyValue("endpoint", ref)
                .addKeyValue("code", code)
                .addKeyValue("error", error)
                .log(what);
    }

    /** Removes one; says when to look again, where it could not be. */
    private Optional<Duration> remove(GenericKubernetesResource endpoint, long epoch) {
        Ref ref = Ref.of(endpoint);
        Optional<Duration> retry =
                send(ref, EndpointChange.remove(endpoint, epoch), epoch).retry();
        if (retry.isEmpty()) {
            store.refuted(ref);
            LOG.atInfo().addKeyValue("endpoint", ref).log("Removed the records of what is not here any more");
        }
        return retry;
    }

    /**
     * Removes the DNSEndpoints of zones that have none any more.
     *
     * @param isForeign whether a zone has none
     * @return when to look again, where something could not be removed
     */
    Optional<Duration> sweep(Predicate<Ref> isForeign) {
        OptionalLong epoch = mandate.epoch();
        if (epoch.isEmpty()) {
            return Optional.of(AFTER_FAILURE);
        }
        return store.all().stream()
                .filter(endpoint -> state(endpoint)
                        .filter(state -> isForeign.test(Ref.parse(state.zone())))
                        .isPresent())
                .flatMap(endpoint -> remove(endpoint, epoch.getAsLong()).stream())
                .toList()
                .stream()
                .max(Duration::compareTo);
    }

    void forget(Ref zone) {
        changed.remove(zone);
    }
}
