package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneSpec;
import dev.apportion.api.DNSZoneStatus;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.reconcile.ZoneStanding.Servers;
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
    private final Map<Ref, CoreDnsLayout> written = new ConcurrentHashMap<>();

    private final ShardStore shards;
    private final LostReloads lostReloads;
    private final Meters meters;

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
            ScheduledExecutorService housekeeping) {
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
        desk.publishedBy(this::published);
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
            verifier.forget(Ref.of(before));
            prober.forget(Ref.of(before));
            lostReloads.forget(Ref.of(before));
            desk.forgetZone(Ref.of(before));
            written.remove(Ref.of(before));
            housekeeping.execute(this::sweep);
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
        }
        desk.zoneChanged(before, after);
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
        Optional<String> unreadable = judged.value().flatMap(admitted -> shards.unreadable(ref.namespace()));
        Optional<Duration> retry =
                unreadable.isPresent() ? Optional.empty() : judged.value().flatMap(admitted -> publish(zone, admitted));
        UpdateControl<DNSZone> update = status(zone, judged, unreadable);
        return soonest(update, retry);
    }

    /** The records may have to wait for another time than the status. */
    private static UpdateControl<DNSZone> soonest(UpdateControl<DNSZone> update, Optional<Duration> retry) {
        Optional<Duration> status = update.getScheduleDelay().map(Duration::ofMillis);
        Stream.concat(status.stream(), retry.stream()).min(Duration::compareTo).ifPresent(update::rescheduleAfter);
        return update;
    }

    private Optional<Duration> publish(DNSZone zone, AdmittedZone admitted) {
        Admission admission = desk.admission();
        Optional<ZoneRecords> published = publisher.published(admitted);
        ZoneComposer.Composed composed = ZoneComposer.compose(admitted, admission, onceEach(desk::planned), published);
        boolean reload = isReloadDue(admitted, composed.records());
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
            log(admitted, published, composed.records(), outcome);
        }
        if (!outcome.changed().isEmpty() && admitted.coreDns().annotate()) {
            refresher.refresh(
                    admitted.ref().namespace(),
                    DnsServers.pods(admitted, desk.world()),
                    serials(admitted, outcome.changed()));
        }
        Servers servers = DnsServers.of(admitted, desk.world());
        if (servers.addresses().isEmpty()) {
            lostReloads.forget(admitted.ref());
        }
        if (standing.isWritten()) {
            written.put(admitted.ref(), ZonePublisher.layout(admitted));
            verifier.verify(admitted.ref(), composed.records(), standing.serials(), servers.addresses());
            prober.probe(
                    admitted.ref(),
                    composed.records(),
                    admitted.resolvers(),
                    servers.addresses().isEmpty()
                            ? ResolverProber.Answered.NobodyKnows
                            : verifier.result(admitted.ref())
                                            .filter(found -> found.isOf(composed.records()))
                                            .isPresent()
                                    ? ResolverProber.Answered.Everywhere
                                    : ResolverProber.Answered.NotYet);
        }
        desk.stands(admitted.ref(), standing, servers);
        Optional<Duration> left = lostReloads.left(admitted.ref(), pauseForReload(admitted));
        // Where it is overdue, writing has failed, and is tried again as that says.
        return Stream.concat(outcome.retry().stream(), left.filter(Duration::isPositive).stream())
                .min(Duration::compareTo);
    }

    /** What was said of other records than the present ones says nothing of these. */
    private boolean isReloadDue(AdmittedZone zone, ZoneRecords records) {
        Optional<ZoneStanding.Verified> seen =
                verifier.result(zone.ref()).filter(verified -> verified.target().equals(records));
        seen.ifPresent(verified -> lostReloads.saw(zone.ref(), verified.servers()));
        return seen.isPresent()
                && lostReloads
                        .left(zone.ref(), pauseForReload(zone))
                        .filter(Duration::isZero)
                        .isPresent();
    }

    private static Duration pauseForReload(AdmittedZone zone) {
        return zone.coreDns().annotate() ? LostReloads.FIRST_PAUSE : LostReloads.FIRST_PAUSE_UNTOLD;
    }

    private Desk.Published published(AdmittedZone zone) {
        if (shards.unreadable(zone.ref().namespace()).isPresent()) {
            return new Desk.Published.Unreadable();
        }
        return publisher
                .published(zone)
                .<Desk.Published>map(Desk.Published.Records::new)
                .orElse(Desk.Published.NOTHING);
    }

    /** Many services share a pool, whose plan is looked up once for all of them. */
    private static Function<Ref, Optional<PoolPlan>> onceEach(Function<Ref, Optional<PoolPlan>> plans) {
        Map<Ref, Optional<PoolPlan>> known = new HashMap<>();
        return pool -> known.computeIfAbsent(pool, plans);
    }

    private static void log(
            AdmittedZone zone, Optional<ZoneRecords> before, ZoneRecords after, ZonePublisher.Outcome outcome) {
        Changes changes = Changes.between(before.orElse(after.withHosts(List.of())), after);
        LOG.atInfo()
                .addKeyValue("zone", zone.ref())
                .addKeyValue("serials", serials(zone, outcome.changed()))
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

    private UpdateControl<DNSZone> status(DNSZone zone, Judged<AdmittedZone> judged, Optional<String> unreadable) {
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
            Optional<Duration> again = shards.all().stream()
                    .flatMap(configMap -> publisher
                            .sweep(
                                    configMap,
                                    state -> isForeign(state, configMap, zones),
                                    desk.now().getEpochSecond())
                            .stream())
                    .max(Duration::compareTo);
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
        if (admitted.isEmpty() || !ZonePublisher.layout(admitted.get()).equals(written.get(zone))) {
            return false;
        }
        AdmittedZone.CoreDns coreDns = admitted.get().coreDns();
        return ZonePublisher.isShard(configMap, zone.namespace(), coreDns.configMap())
                ? state.shard() >= coreDns.shards()
                : left.getOrDefault(zone, Set.of()).stream()
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
    }
}
