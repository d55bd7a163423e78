package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneStatus;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.records.Changes;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Publishes zones: the sole publisher of a zone is its reconciler. */
final class DNSZoneReconciler implements Reconciler<DNSZone>, ZonePublisher.ShardCache {

    private static final Logger LOG = LoggerFactory.getLogger(DNSZoneReconciler.class);

    private final Desk desk;
    private final Signals signals;
    private final Verifier verifier;
    private final ResolverProber prober;
    private final Statuses statuses;
    private final StatusWriter writer;
    private final Executor housekeeping;
    private final PodRefresher refresher;
    private final ZonePublisher publisher;
    private @Nullable InformerEventSource<ConfigMap, DNSZone> shards;

    DNSZoneReconciler(
            Desk desk,
            Signals signals,
            Verifier verifier,
            ResolverProber prober,
            Statuses statuses,
            StatusWriter writer,
            KubernetesClient client,
            Executor housekeeping) {
        this.desk = desk;
        this.signals = signals;
        this.verifier = verifier;
        this.prober = prober;
        this.statuses = statuses;
        this.writer = writer;
        this.housekeeping = housekeeping;
        this.refresher = new PodRefresher(client);
        this.publisher = new ZonePublisher(client, this);
    }

    @Override
    public List<EventSource<?, DNSZone>> prepareEventSources(EventSourceContext<DNSZone> context) {
        shards = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(ConfigMap.class, DNSZone.class)
                        .withName("shards")
                        .withLabelSelector(CoreDnsLayout.SELECTOR)
                        .withNamespacesInheritedFromController()
                        .withSecondaryToPrimaryMapper(this::zonesOf)
                        .build(),
                context);
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
        desk.world().shards = shards;
        desk.world().namespaces = namespaces;
        return List.of(shards, namespaces, signals.zones, new PrimaryChanges<>("zone-changes", this::changed));
    }

    private void changed(@Nullable DNSZone before, @Nullable DNSZone after) {
        if (after == null && before != null) {
            verifier.forget(Ref.of(before));
            prober.forget(Ref.of(before));
            desk.forgetZone(Ref.of(before));
            housekeeping.execute(this::sweep);
        }
        desk.zoneChanged(before, after);
    }

    /** A shard concerns every zone that is written into it. */
    private Set<ResourceID> zonesOf(ConfigMap configMap) {
        String name = configMap.getMetadata().getName();
        return desk.world().zones().stream()
                .filter(zone -> zone.getMetadata()
                        .getNamespace()
                        .equals(configMap.getMetadata().getNamespace()))
                .filter(zone -> zone.getSpec() != null
                        && zone.getSpec().coreDNS() != null
                        && name.startsWith(zone.getSpec().coreDNS().configMap().name() + "-"))
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
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
        Optional<Duration> retry = judged.value().flatMap(admitted -> publish(zone, admitted));
        UpdateControl<DNSZone> update = status(zone, judged);
        retry.ifPresent(update::rescheduleAfter);
        return update;
    }

    private Optional<Duration> publish(DNSZone zone, AdmittedZone admitted) {
        Admission admission = desk.admission();
        Optional<ZoneRecords> published = publisher.published(admitted);
        ZoneComposer.Composed composed = ZoneComposer.compose(admitted, admission, onceEach(desk::planned), published);
        ZonePublisher.Outcome outcome = publisher.publish(admitted, composed.records(), floor(zone));
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
        if (standing.isWritten()) {
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
        return outcome.retry();
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

    /** The status is no state, but the best memory where the ConfigMaps were deleted. */
    private static long floor(DNSZone zone) {
        return zone.getStatus() == null || zone.getStatus().serial() == null
                ? 0
                : zone.getStatus().serial();
    }

    private static String serials(AdmittedZone zone, Map<Integer, Long> changed) {
        return zone.domain()
                + changed.entrySet().stream()
                        .map(entry -> ".s%d-%d".formatted(entry.getKey(), entry.getValue()))
                        .collect(Collectors.joining());
    }

    private UpdateControl<DNSZone> status(DNSZone zone, Judged<AdmittedZone> judged) {
        Ref ref = Ref.of(zone);
        DNSZoneStatus status = statuses.zone(
                zone, judged, desk.standing(ref), desk.servers(ref), verifier.result(ref), prober.report(ref));
        return writer.write(zone, new DNSZone(), status);
    }

    /** Takes zones out of the shards whose DNSZone is gone: deleted while the operator was there, or while it was not. */
    void sweep() {
        if (!desk.isOpen()) {
            return;
        }
        try {
            Set<Ref> zones = desk.world().allZones();
            desk.world().shards().forEach(configMap -> publisher.sweep(configMap, zones));
        } catch (RuntimeException e) {
            LOG.atWarn().setCause(e).log("Could not remove the records of zones that are gone; trying again later");
        }
    }

    @Override
    public Optional<ConfigMap> get(Ref configMap) {
        return desk.world().shard(configMap);
    }

    @Override
    public void written(ConfigMap configMap, @Nullable ConfigMap before) {
        InformerEventSource<ConfigMap, DNSZone> source = Objects.requireNonNull(shards);
        ResourceID id = ResourceID.fromResource(configMap);
        if (before == null) {
            source.handleRecentResourceCreate(id, configMap);
        } else {
            source.handleRecentResourceUpdate(id, configMap, before);
        }
    }
}
