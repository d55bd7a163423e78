package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneSpec;
import dev.apportion.api.DNSZoneStatus;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.dns.externaldns.DnsEndpoint;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.records.Answers;
import dev.apportion.records.Changes;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Publishes zones: the sole publisher of a zone is its reconciler. */
final class DNSZoneReconciler implements Reconciler<DNSZone>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DNSZoneReconciler.class);

    /** Of a zone that is made anew, the new ConfigMaps are written before the old ones are swept. */
    private static final Duration AFTER_MOVE = Duration.ofSeconds(2);

    private final Desk desk;
    private final Signals signals;
    private final Verifier verifier;
    private final ResolverProber prober;
    private final Statuses statuses;
    private final StatusWriter writer;
    private final ScheduledExecutorService housekeeping;
    private final PodRefresher refresher;
    private final ZonePublisher publisher;

    /** The names of the ConfigMaps that zones were written to before they were deleted, without their numbers. */
    private final Map<Ref, Set<String>> left = new ConcurrentHashMap<>();

    /** Where a zone stands whole. */
    private final Map<Ref, Place> written = new ConcurrentHashMap<>();

    private sealed interface Place {

        record ConfigMaps(CoreDnsLayout layout) implements Place {}

        record Endpoints() implements Place {}

        static Place of(AdmittedZone zone) {
            return switch (zone.backEnd()) {
                case AdmittedZone.CoreDns coreDns -> new ConfigMaps(ZonePublisher.layout(zone));
                case AdmittedZone.ExternalDns externalDns -> new Endpoints();
            };
        }
    }

    private final ShardStore shards;
    private final LostReloads lostReloads;
    private final Meters meters;
    private final EndpointStore endpoints;
    private final EndpointZones endpointZones;

    DNSZoneReconciler(
            Desk desk,
            Signals signals,
            Verifier verifier,
            ResolverProber prober,
            Statuses statuses,
            StatusWriter writer,
            KubernetesClient client,
            RetryAfter retryAfter,
            Mandate mandate,
            Meters meters,
            ScheduledExecutorService housekeeping,
            Set<String> namespaces,
            Duration route53Interval) {
        this.desk = desk;
        this.signals = signals;
        this.verifier = verifier;
        this.prober = prober;
        this.statuses = statuses;
        this.writer = writer;
        this.housekeeping = housekeeping;
        this.meters = meters;
        this.lostReloads = new LostReloads(System::nanoTime, verifier.grace());
        this.refresher = new PodRefresher(client, retryAfter);
        this.shards = new ShardStore(
                client,
                configMap -> Signals.raise(signals.zones, zonesOf(configMap)),
                namespace -> housekeeping.execute(() -> readable(namespace)));
        this.publisher = new ZonePublisher(client, retryAfter, shards, mandate, meters);
        this.endpoints = new EndpointStore(
                client,
                namespaces,
                endpoint -> DnsEndpoint.state(endpoint)
                        .ifPresent(state -> Signals.raise(signals.zones, Set.of(Ref.parse(state.zone())))),
                () -> housekeeping.execute(this::endpointsLearned));
        this.endpointZones = new EndpointZones(client, retryAfter, endpoints, mandate, meters, route53Interval);
        desk.publishedBy(this::published);
    }

    /** Zones that ExternalDNS serves wait for what is known of its endpoints. */
    private void endpointsLearned() {
        if (!desk.isOpen()) {
            return;
        }
        sweep();
        Signals.raise(
                signals.zones,
                desk.world().zones().stream()
                        .filter(zone -> zone.getSpec() != null && zone.getSpec().externalDNS() != null)
                        .map(Ref::of)
                        .toList());
    }

    @Override
    public List<EventSource<?, DNSZone>> prepareEventSources(EventSourceContext<DNSZone> context) {
        InformerEventSource<Namespace, DNSZone> namespaces = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Namespace.class, DNSZone.class)
                        .withName("namespaces")
                        .withWatchAllNamespaces()
                        .withSecondaryToPrimaryMapper(namespace -> {
                            desk.namespaceChanged();
                            return Set.of();
                        })
                        .withOnUpdateFilter((after, before) -> !Objects.equals(
                                after.getMetadata().getLabels(),
                                before.getMetadata().getLabels()))
                        .build(),
                context);
        desk.world().zones = context.getPrimaryCache();
        desk.world().namespaces = namespaces;
        return List.of(namespaces, signals.zones, new PrimaryChanges<>("zone-changes", this::changed, writer));
    }

    private void changed(@Nullable DNSZone before, @Nullable DNSZone after) {
        if (after == null && before != null) {
            forget(Ref.of(before));
        }
        if (before != null && (after == null || !configMap(before).equals(configMap(after)))) {
            configMap(before)
                    .ifPresent(name -> left.computeIfAbsent(Ref.of(before), key -> ConcurrentHashMap.newKeySet())
                            .add(name));
        }
        if (after != null && left.containsKey(Ref.of(after))) {
            // Made anew before its records were gone, and maybe in other ConfigMaps.
            sweepIn(AFTER_MOVE);
        }
        if (after != null) {
            shards.watch(after.getMetadata().getNamespace());
            if (after.getSpec() != null && after.getSpec().externalDNS() != null) {
                endpoints.follow();
            }
        }
        desk.zoneChanged(before, after);
    }

    private void forget(Ref zone) {
        verifier.forget(zone);
        prober.forget(zone);
        lostReloads.forget(zone);
        desk.forgetZone(zone);
        written.remove(zone);
        endpointZones.forget(zone);
        housekeeping.execute(this::sweep);
    }

    /** Watches namespaces that may hold what zones left behind. */
    void watch(Set<String> namespaces) {
        namespaces.forEach(shards::watch);
    }

    private void readable(String namespace) {
        sweep();
        Signals.raise(
                signals.zones,
                desk.world().zones().stream()
                        .map(Ref::of)
                        .filter(zone -> zone.namespace().equals(namespace))
                        .toList());
    }

    /** A shard concerns every zone that is written into it. */
    private Set<Ref> zonesOf(ConfigMap configMap) {
        String name = configMap.getMetadata().getName();
        return desk.world().zones().stream()
                .filter(zone -> zone.getMetadata()
                        .getNamespace()
                        .equals(configMap.getMetadata().getNamespace()))
                .filter(zone -> zone.getSpec() != null
                        && zone.getSpec().coreDNS() != null
                        && name.startsWith(zone.getSpec().coreDNS().configMap().name() + "-"))
                .map(Ref::of)
                .collect(Collectors.toSet());
    }

    @Override
    public ErrorStatusUpdateControl<DNSZone> updateErrorStatus(
            DNSZone resource, Context<DNSZone> context, Exception e) {
        return StatusWriter.afterFailure(e);
    }

    @Override
    public UpdateControl<DNSZone> reconcile(DNSZone zone, Context<DNSZone> context) {
        if (!desk.isOpen()) {
            return UpdateControl.noUpdate();
        }
        Ref ref = Ref.of(zone);
        Judged<AdmittedZone> judged = desk.admission().zones().get(ref);
        if (judged == null) {
            return UpdateControl.noUpdate();
        }
        if (endpoints.knowledge() instanceof EndpointStore.Knowledge.Reading
                && judged.value()
                        .filter(admitted -> admitted.backEnd() instanceof AdmittedZone.ExternalDns)
                        .isPresent()) {
            // It is looked at again once they are known.
            return UpdateControl.noUpdate();
        }
        Optional<Finding> unreadable = judged.value().flatMap(this::unreadable);
        Optional<Duration> retry =
                unreadable.isPresent() ? Optional.empty() : judged.value().flatMap(admitted -> publish(zone, admitted));
        UpdateControl<DNSZone> update = status(zone, judged, unreadable);
        if (!desk.world().hasZone(ref)) {
            // Deleted while it was published; what was swept before that is there again.
            forget(ref);
        }
        return soonest(update, retry);
    }

    /** {@code Programmed} where it cannot be read what is published, so that nothing can be written. */
    private Optional<Finding> unreadable(AdmittedZone zone) {
        return switch (zone.backEnd()) {
            case AdmittedZone.CoreDns coreDns ->
                shards.unreadable(zone.ref().namespace())
                        .map(problem -> Findings.unreadable(zone.ref().namespace(), problem));
            case AdmittedZone.ExternalDns externalDns ->
                switch (endpoints.knowledge()) {
                    case EndpointStore.Knowledge.Pending(String reason) ->
                        Optional.of(Findings.endpointsUnreadable(reason));
                    case EndpointStore.Knowledge.Reading reading ->
                        Optional.of(Findings.endpointsUnreadable("they are being read"));
                    case EndpointStore.Knowledge.Whole whole -> Optional.empty();
                    case EndpointStore.Knowledge.NoKind none -> Optional.empty();
                };
        };
    }

    /** The records may have to wait for another time than the status. */
    private static UpdateControl<DNSZone> soonest(UpdateControl<DNSZone> update, Optional<Duration> retry) {
        Optional<Duration> status = update.getScheduleDelay().map(Duration::ofMillis);
        Stream.concat(status.stream(), retry.stream()).min(Duration::compareTo).ifPresent(update::rescheduleAfter);
        return update;
    }

    private Optional<Duration> publish(DNSZone zone, AdmittedZone admitted) {
        return switch (admitted.backEnd()) {
            case AdmittedZone.CoreDns coreDns -> publish(zone, admitted, coreDns);
            case AdmittedZone.ExternalDns externalDns -> publish(admitted, externalDns);
        };
    }

    private Optional<Duration> publish(DNSZone zone, AdmittedZone admitted, AdmittedZone.CoreDns coreDns) {
        Admission admission = desk.admission();
        Optional<ZoneRecords> published = publisher.published(admitted);
        ZoneComposer.Composed composed = ZoneComposer.compose(admitted, admission, onceEach(desk::planned), published);
        boolean reload = isReloadDue(admitted, coreDns, composed.records());
        ZonePublisher.Outcome outcome = publisher.publish(admitted, composed.records(), floor(zone), reload);
        if (reload && outcome.changed().containsKey(ZonePublisher.home(admitted))) {
            lostReloads.asked(admitted.ref());
            meters.reloadRequested();
            LOG.atInfo()
                    .addKeyValue("zone", admitted.ref())
                    .log("Servers have the files and not the configuration; asked to load it again");
        }
        ZoneStanding standing =
                new ZoneStanding(composed, ZonePublisher.layout(admitted).shards(), outcome.writes());
        if (!outcome.changed().isEmpty()) {
            log(admitted, published, composed.records(), serials(admitted, outcome.changed()));
        }
        if (!outcome.changed().isEmpty() && coreDns.annotate()) {
            refresher.refresh(
                    admitted.ref().namespace(),
                    DnsServers.pods(admitted, desk.world()),
                    serials(admitted, outcome.changed()));
        }
        if (standing.isWritten()) {
            if (written.put(admitted.ref(), Place.of(admitted)) instanceof Place.Endpoints) {
                sweepIn(AFTER_MOVE);
            }
        }
        if (stands(admitted, standing).addresses().isEmpty()) {
            lostReloads.forget(admitted.ref());
        }
        Optional<Duration> left = lostReloads.left(admitted.ref(), pauseForReload(coreDns));
        // Where it is overdue, writing has failed, and is tried again as that says.
        return Stream.concat(outcome.retry().stream(), left.filter(Duration::isPositive).stream())
                .min(Duration::compareTo);
    }

    private Optional<Duration> publish(AdmittedZone admitted, AdmittedZone.ExternalDns externalDns) {
        lostReloads.forget(admitted.ref());
        Admission admission = desk.admission();
        Optional<ZoneRecords> published = endpointZones.published(admitted);
        Function<Ref, Optional<PoolPlan>> plans = onceEach(desk::planned);
        ZoneComposer.Composed composed = ZoneComposer.compose(admitted, admission, plans, published);
        if (endpoints.knowledge() instanceof EndpointStore.Knowledge.NoKind) {
            stands(
                    admitted,
                    ZoneStanding.withoutEndpoints(
                            composed,
                            new ZoneStanding.Write.Refused(
                                    "EndpointKindMissing",
                                    "the cluster does not serve %s of %s; install its definition, which comes with ExternalDNS. It is looked for all the time"
                                            .formatted(DnsEndpoint.KIND, DnsEndpoint.API_VERSION))));
            return Optional.empty();
        }
        EndpointZones.Published outcome = endpointZones.publish(
                admitted,
                externalDns,
                composed.records(),
                service -> desk.world().find(desk.world().services, service),
                (service, address) -> admission
                        .service(service)
                        .flatMap(found -> plans.apply(found.pool()))
                        .filter(plan -> plan.replicas().stream()
                                .map(PoolPlan.Replica::member)
                                .anyMatch(member ->
                                        member.isReady() && member.addresses().contains(address)))
                        .isPresent(),
                service -> admission
                        .service(service)
                        .map(AdmittedService::zone)
                        .filter(zone -> !zone.equals(admitted.ref()))
                        .flatMap(admission::zone)
                        .filter(zone -> zone.backEnd() instanceof AdmittedZone.ExternalDns)
                        .isPresent());
        ZoneStanding standing = ZoneStanding.inEndpoints(composed, outcome.writes());
        if (outcome.changed() > 0) {
            log(admitted, published, composed.records(), outcome.changed() + " DNSEndpoints");
        }
        if (standing.isWritten()) {
            if (written.put(admitted.ref(), Place.of(admitted)) instanceof Place.ConfigMaps) {
                sweepIn(AFTER_MOVE);
            }
        }
        stands(admitted, standing);
        return outcome.retry();
    }

    /** Has the servers asked about a zone that stands whole, and tells whom it concerns. */
    private Servers stands(AdmittedZone admitted, ZoneStanding standing) {
        Servers servers = DnsServers.of(admitted, desk.world());
        if (standing.isWritten()) {
            ZoneRecords records = standing.records();
            verifier.verify(admitted.ref(), records, standing.serials(), servers.addresses());
            prober.probe(
                    admitted.ref(),
                    records,
                    // Servers that draw by themselves have no names that no resolver has heard of.
                    records.answers() == Answers.Drawn ? List.of() : admitted.resolvers(),
                    servers.addresses().isEmpty()
                            ? ResolverProber.Answered.NobodyKnows
                            : verifier.result(admitted.ref())
                                            .filter(found -> found.isOf(records))
                                            .isPresent()
                                    ? ResolverProber.Answered.Everywhere
                                    : ResolverProber.Answered.NotYet);
        }
        desk.stands(admitted.ref(), standing, servers);
        return servers;
    }

    /** What was said of other records than the present ones says nothing of these. */
    private boolean isReloadDue(AdmittedZone zone, AdmittedZone.CoreDns coreDns, ZoneRecords records) {
        Optional<ZoneStanding.Verified> seen =
                verifier.result(zone.ref()).filter(verified -> verified.target().equals(records));
        seen.ifPresent(verified -> lostReloads.saw(zone.ref(), verified.servers()));
        return seen.isPresent()
                && lostReloads
                        .left(zone.ref(), pauseForReload(coreDns))
                        .filter(Duration::isZero)
                        .isPresent();
    }

    private static Duration pauseForReload(AdmittedZone.CoreDns coreDns) {
        return coreDns.annotate() ? LostReloads.FIRST_PAUSE : LostReloads.FIRST_PAUSE_UNTOLD;
    }

    private Desk.Published published(AdmittedZone zone) {
        if (unreadable(zone).isPresent()) {
            return new Desk.Published.Unreadable();
        }
        Optional<ZoneRecords> records = switch (zone.backEnd()) {
            case AdmittedZone.CoreDns coreDns -> publisher.published(zone);
            case AdmittedZone.ExternalDns externalDns -> endpointZones.published(zone);
        };
        return records.<Desk.Published>map(Desk.Published.Records::new).orElse(Desk.Published.NOTHING);
    }

    /** Many services share a pool, whose plan is looked up once for all of them. */
    private static Function<Ref, Optional<PoolPlan>> onceEach(Function<Ref, Optional<PoolPlan>> plans) {
        Map<Ref, Optional<PoolPlan>> known = new HashMap<>();
        return pool -> known.computeIfAbsent(pool, plans);
    }

    private static void log(AdmittedZone zone, Optional<ZoneRecords> before, ZoneRecords after, String objects) {
        Changes changes = Changes.between(before.orElse(after.withHosts(List.of())), after);
        LOG.atInfo()
                .addKeyValue("zone", zone.ref())
                .addKeyValue("serials", objects)
                .addKeyValue("added", changes.added().size())
                .addKeyValue("removed", changes.removed().size())
                .addKeyValue("changed", changes.changed().size())
                .addKeyValue(
                        "movedPercent",
                        changes.streams().stream()
                                .mapToDouble(Changes.StreamChange::movedPercent)
                                .max()
                                .orElse(0))
                .log("Published");
    }

    /**
     * Above every serial that may have been published before a shard is made anew: the status is no state, but a memory where
     * the ConfigMaps were deleted, and time goes on where the zone was. CoreDNS would not read a file again under a serial
     * that it knows.
     */
    private long floor(DNSZone zone) {
        long known = zone.getStatus() == null || zone.getStatus().serial() == null
                ? 0
                : zone.getStatus().serial();
        return Math.max(known, desk.now().getEpochSecond());
    }

    private static String serials(AdmittedZone zone, Map<Integer, Long> changed) {
        return zone.domain()
                + changed.entrySet().stream()
                        .map(entry -> ".s%d-%d".formatted(entry.getKey(), entry.getValue()))
                        .collect(Collectors.joining());
    }

    private UpdateControl<DNSZone> status(DNSZone zone, Judged<AdmittedZone> judged, Optional<Finding> unreadable) {
        Ref ref = Ref.of(zone);
        writer.recall(zone);
        DNSZoneStatus status = statuses.zone(
                zone,
                judged,
                unreadable,
                desk.standing(ref),
                desk.servers(ref),
                verifier.result(ref),
                prober.report(ref));
        return writer.write(zone, new DNSZone(), status);
    }

    /** Takes zones out of the shards that are not theirs any more: deleted while the operator was there or not, or made anew elsewhere. */
    void sweep() {
        if (!desk.isOpen()) {
            return;
        }
        try {
            Set<Ref> zones = desk.world().allZones();
            Optional<Duration> found = shards.all().stream()
                    .flatMap(configMap -> publisher
                            .sweep(
                                    configMap,
                                    state -> isForeign(state, configMap, zones),
                                    desk.now().getEpochSecond())
                            .stream())
                    .max(Duration::compareTo);
            Optional<Duration> again = found;
            if (endpoints.knowledge() instanceof EndpointStore.Knowledge.Whole) {
                Optional<Duration> endpointsAgain = endpointZones.sweep(zone -> !zones.contains(zone)
                        || (written.get(zone) instanceof Place.ConfigMaps
                                && desk.admission()
                                        .zone(zone)
                                        .filter(admitted -> admitted.backEnd() instanceof AdmittedZone.CoreDns)
                                        .isPresent()));
                again = Stream.of(found, endpointsAgain)
                        .flatMap(Optional::stream)
                        .min(Duration::compareTo);
            }
            again.ifPresentOrElse(
                    this::sweepIn,
                    () -> left.keySet().removeIf(zone -> !zones.contains(zone) || written.containsKey(zone)));
        } catch (RuntimeException e) {
            LOG.atWarn().setCause(e).log("Could not remove the records of zones that are gone; trying again later");
        }
    }

    private void sweepIn(Duration pause) {
        if (!housekeeping.isShutdown()) {
            var _ = housekeeping.schedule(this::sweep, pause.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Says whether a zone is gone, or has left a ConfigMap and stands in others by now. Copies that somebody made stay. */
    private boolean isForeign(ShardState.Published state, ConfigMap configMap, Set<Ref> zones) {
        Ref zone = Ref.parse(state.part().owner());
        if (!zones.contains(zone)) {
            return true;
        }
        Optional<AdmittedZone> admitted = desk.admission().zone(zone);
        if (admitted.isEmpty() || !Place.of(admitted.get()).equals(written.get(zone))) {
            return false;
        }
        return admitted.get().backEnd() instanceof AdmittedZone.CoreDns coreDns
                ? isForeign(state, configMap, zone, coreDns)
                : isKnownPlace(configMap, zone);
    }

    private boolean isForeign(ShardState.Published state, ConfigMap configMap, Ref zone, AdmittedZone.CoreDns coreDns) {
        return ZonePublisher.isShard(configMap, zone.namespace(), coreDns.configMap())
                ? state.shard() >= coreDns.shards()
                : isKnownPlace(configMap, zone);
    }

    /** Whether a zone is known to have stood in the ConfigMap before. */
    private boolean isKnownPlace(ConfigMap configMap, Ref zone) {
        return left.getOrDefault(zone, Set.of()).stream()
                .anyMatch(name -> ZonePublisher.isShard(configMap, zone.namespace(), name));
    }

    private static Optional<String> configMap(DNSZone zone) {
        return Optional.ofNullable(zone.getSpec())
                .map(DNSZoneSpec::coreDNS)
                .map(coreDns -> coreDns.configMap().name());
    }

    @Override
    public void close() {
        shards.close();
        endpoints.close();
    }
}
