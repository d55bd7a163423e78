package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.HealthChecks;
import dev.apportion.health.Target;
import dev.apportion.load.RateQuery;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.net.InetAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What the reconcilers share: the caches, the verdicts on all resources, the plan of each pool and the standing of each
 * zone. It decides who has to look again when one of them changes.
 */
final class Desk {

    private static final Logger LOG = LoggerFactory.getLogger(Desk.class);

    private static final double PERCENT = 100;

    private final Clock clock;
    private final ClusterWorld world;
    private final Signals signals;
    private final HealthChecks<Ref> checks;
    private final Mandate mandate;
    private final Meters meters;
    private final Loads loads;
    private final Supplier<Optional<String>> doubts;
    private final Duration cycle;
    private final Admission.Memory memory = new Admission.Memory();
    private final AtomicLong version = new AtomicLong();
    private final Map<Ref, Control> controls = new ConcurrentHashMap<>();
    private final Map<Ref, Object> planning = new ConcurrentHashMap<>();
    private final Map<Ref, PlanChange> changes = new ConcurrentHashMap<>();

    private final Map<Ref, ZoneStanding> standings = new ConcurrentHashMap<>();
    private final Map<Ref, Servers> servers = new ConcurrentHashMap<>();

    /** Since when a changed plan waits to be written, by zone, in nanoseconds of the monotonic clock. */
    private final Map<Ref, Long> unwritten = new ConcurrentHashMap<>();

    private volatile Function<AdmittedZone, Published> published = zone -> Published.NOTHING;
    private volatile boolean open;
    private volatile @Nullable Judgement latest;

    /** What is known of what DNS says of a zone. */
    sealed interface Published {

        Published NOTHING = new Nothing();

        record Records(ZoneRecords records) implements Published {}

        record Nothing() implements Published {}

        /** It cannot be read yet. */
        record Unreadable() implements Published {}
    }

    private record Judgement(long version, Admission admission) {}

    /**
     * A desk that is not open yet.
     *
     * @param doubts why what is known of replicas may not be all; empty if nothing speaks for it
     * @param cycle how long doubts are given to clear up
     */
    Desk(
            ClusterWorld world,
            Signals signals,
            HealthChecks<Ref> checks,
            Mandate mandate,
            Meters meters,
            Loads loads,
            Supplier<Optional<String>> doubts,
            Duration cycle,
            Clock clock) {
        this.doubts = doubts;
        this.cycle = cycle;
        this.checks = checks;
        this.meters = meters;
        this.loads = loads;
        this.mandate = mandate;
        this.clock = clock;
        this.world = world;
        this.signals = signals;
        world.health = this::health;
    }

    /** Says from where it is known what DNS says of a zone. */
    void publishedBy(Function<AdmittedZone, Published> source) {
        published = source;
    }

    Instant now() {
        return clock.instant();
    }

    ClusterWorld world() {
        return world;
    }

    /**
     * Whether every cache has been filled and this operator leads. Before the one nothing is decided, because what is missing
     * may just not be here yet; without the other, another operator may have decided already.
     */
    boolean isOpen() {
        return open && mandate.epoch().isPresent();
    }

    /** Called when this operator leads and every cache has been filled. */
    void open() {
        open = true;
        lookAtEverything();
    }

    /** Called when this operator leads no more. */
    void shut() {
        open = false;
        controls.replaceAll((pool, control) -> control.rested());
        loads.rest();
    }

    /** The verdicts on all resources as they are now. */
    Admission admission() {
        return known().orElseGet(this::judge);
    }

    private Optional<Admission> known() {
        long now = version.get();
        return Optional.ofNullable(latest)
                .filter(judgement -> judgement.version() == now)
                .map(Judgement::admission);
    }

    /** One thread judges, the others wait for its verdict. */
    private synchronized Admission judge() {
        return known().orElseGet(() -> {
            long now = version.get();
            Admission admission = Admission.of(world, memory);
            latest = new Judgement(now, admission);
            return admission;
        });
    }

    /** Plans a pool with what is known now. */
    PoolPlan plan(AdmittedPool pool) {
        Ref ref = pool.ref();
        synchronized (planning.computeIfAbsent(ref, key -> new Object())) {
            Control control = controls.getOrDefault(ref, Control.NEW);
            Control next = control.next(see(pool, control));
            controls.put(ref, next);
            PoolPlan plan = next.plan().orElseThrow();
            PoolPlan before = control.inForce().orElse(null);
            if (!plan.equals(before)) {
                log(plan, before == null ? Level.DEBUG : Level.INFO);
                if (before != null && !plan.answers().equals(before.answers())) {
                    PlanChange change = PlanChange.between(before, plan, clock.instant());
                    changes.put(ref, change);
                    meters.planChanged(change.movedPercent() / PERCENT);
                }
                tellOf(plan, before);
            }
            return plan;
        }
    }

    /** Gathers what there is to know of a pool. */
    private Control.Seen see(AdmittedPool pool, Control control) {
        Admission admission = admission();
        List<Member> members = Members.of(pool, world);
        List<Demand> demands = Demands.of(pool.ref(), admission);
        List<ZoneRecords> records = new ArrayList<>();
        boolean unread = false;
        if (!control.answersAll(demands)) {
            for (Ref zone : admission.servicesSharing(pool.ref()).stream()
                    .map(AdmittedService::zone)
                    .collect(Collectors.toSet())) {
                switch (admission.zone(zone).map(published).orElse(Published.NOTHING)) {
                    case Published.Records(ZoneRecords found) -> records.add(found);
                    case Published.Nothing nothing -> {}
                    case Published.Unreadable unreadable -> unread = true;
                }
            }
        }
        return new Control.Seen(
                pool,
                members,
                demands,
                Demands.longestTtl(pool.ref(), admission),
                Past.answers(records),
                unread,
                loads.follow(pool, members),
                loads.rates(pool, queries(demands, admission)),
                doubts.get().or(() -> missingSlices(pool, members, control)),
                cycle,
                System.nanoTime());
    }

    /** The queries that give rates, by {@link Demand#key()}. */
    private static Map<String, RateQuery> queries(List<Demand> demands, Admission admission) {
        Map<String, RateQuery> queries = new HashMap<>();
        for (Demand demand : demands) {
            Judged<AdmittedStream> stream = demand.stream().isEmpty()
                    ? null
                    : admission.streams().get(new Ref(demand.service().namespace(), demand.stream()));
            if (stream != null) {
                stream.value().flatMap(AdmittedStream::rateFrom).ifPresent(query -> queries.put(demand.key(), query));
            }
        }
        return queries;
    }

    /** What counts of the rate that a stream's query gives; empty if it has none. */
    Optional<Finding> rateOf(AdmittedStream stream) {
        return stream.rateFrom()
                .flatMap(query -> admission()
                        .service(stream.service())
                        .flatMap(service -> admission().pool(service.pool()))
                        .map(pool -> Findings.rate(query, loads.rate(pool, query), Loads.staleAfter(pool))));
    }

    /** A Service whose endpoints are gone with the slices that listed them was deleted, or somebody made a mistake. */
    private Optional<String> missingSlices(AdmittedPool pool, List<Member> members, Control control) {
        Set<String> found = members.stream().map(Member::site).collect(Collectors.toSet());
        Set<String> served =
                control.removals().served().stream().map(Member::site).collect(Collectors.toSet());
        return pool.sites().stream()
                .filter(site -> served.contains(site.name()) && !found.contains(site.name()))
                .flatMap(site -> site.source() instanceof AdmittedPool.Source.Service(String name, var publish)
                        ? Stream.of(name)
                        : Stream.empty())
                .filter(name -> world.endpointSlices(new Ref(pool.ref().namespace(), name))
                        .isEmpty())
                .findFirst()
                .map("no EndpointSlice belongs to the Service %s any more"::formatted);
    }

    /** Until it has been asked, an address stays as it was: in answers if it is in some. */
    private EndpointHealth health(Target target) {
        EndpointHealth known = checks.of(target);
        return known instanceof EndpointHealth.Unchecked && isAnswered(target.address())
                ? new EndpointHealth.Healthy()
                : known;
    }

    private boolean isAnswered(InetAddress address) {
        return admission().zones().values().stream()
                .flatMap(judged -> judged.value().stream())
                .map(published)
                .anyMatch(known -> switch (known) {
                    case Published.Records(ZoneRecords records) ->
                        records.hosts().stream()
                                .flatMap(host -> host.streams().stream())
                                .flatMap(stream -> stream.answers().stream())
                                .anyMatch(answer ->
                                        answer.address().toInetAddress().equals(address));
                    case Published.Nothing nothing -> false;
                    case Published.Unreadable unreadable -> true;
                });
    }

    /** Checks the addresses of a pool from now on. */
    void check(Ref pool, Optional<AdmittedPool> admitted) {
        checks.check(pool, admitted.map(AdmittedPool::targets).orElse(Set.of()));
    }

    /** When a pool is to be planned again without anything else happening; empty if it need not. */
    Optional<Duration> again(AdmittedPool pool) {
        return controls.getOrDefault(pool.ref(), Control.NEW)
                .again(pool, Demands.longestTtl(pool.ref(), admission()), cycle, System.nanoTime());
    }

    private static void log(PoolPlan plan, Level level) {
        LOG.atLevel(level)
                .addKeyValue("pool", plan.pool())
                .addKeyValue("ready", plan.ready())
                .addKeyValue("streams", plan.streams().size())
                .addKeyValue("makespan", Statuses.decimal(plan.makespan()))
                .addKeyValue("gap", Statuses.decimal(plan.optimalityGap()))
                .addKeyValue("course", plan.course().what())
                .log("Plan changed");
    }

    private void tellOf(PoolPlan plan, @Nullable PoolPlan before) {
        Set<Ref> services = servicesOf(plan);
        if (before != null) {
            services.addAll(servicesOf(before));
        }
        Admission admission = admission();
        Set<Ref> zones = services.stream()
                .flatMap(service -> admission.service(service).stream())
                .map(AdmittedService::zone)
                .collect(Collectors.toSet());
        long now = System.nanoTime();
        zones.forEach(zone -> unwritten.putIfAbsent(zone, now));
        Signals.raise(signals.zones, zones);
        Signals.raise(signals.pools, List.of(plan.pool()));
        tell(services);
    }

    /** The plan of a pool; made now where there is none, or none that knows all of the pool's streams. */
    Optional<PoolPlan> planned(Ref pool) {
        Admission admission = admission();
        return admission.pool(pool).map(admitted -> {
            Control control = controls.getOrDefault(pool, Control.NEW);
            List<Demand> demands = control.estimates().withRates(Demands.of(pool, admission));
            return control.inForce().filter(plan -> covers(plan, demands)).orElseGet(() -> plan(admitted));
        });
    }

    private static boolean covers(PoolPlan plan, List<Demand> demands) {
        Set<Demand> planned =
                plan.streams().stream().map(PoolPlan.Stream::demand).collect(Collectors.toSet());
        return planned.containsAll(demands);
    }

    /** The age of the oldest measurement of a pool's replicas; empty if there is none. */
    Optional<Duration> loadAge(Ref pool) {
        return loads.oldest(pool);
    }

    /** The plan of a pool as it was last made. */
    Optional<PoolPlan> known(Ref pool) {
        return controls.getOrDefault(pool, Control.NEW).plan();
    }

    /** The last change of a pool's plan that was seen; empty since the start until there is one. */
    Optional<PlanChange> lastChange(Ref pool) {
        return Optional.ofNullable(changes.get(pool));
    }

    /** Called when a pool is not admitted: its plan stays, and nothing is measured for it. */
    void rest(Ref pool) {
        controls.computeIfPresent(pool, (ref, control) -> control.rested());
        loads.forget(pool);
    }

    void forgetPlan(Ref pool) {
        checks.check(pool, Set.of());
        controls.remove(pool);
        changes.remove(pool);
        planning.remove(pool);
        loads.forget(pool);
    }

    Optional<ZoneStanding> standing(Ref zone) {
        return Optional.ofNullable(standings.get(zone));
    }

    Servers servers(Ref zone) {
        return servers.getOrDefault(zone, Servers.NONE);
    }

    /** Notes where a zone stands now, and tells its services when that is news. */
    void stands(Ref zone, ZoneStanding standing, Servers asked) {
        if (standing.isWritten()) {
            Long since = unwritten.remove(zone);
            if (since != null) {
                meters.publishedAfter(Duration.ofNanos(System.nanoTime() - since));
            }
        } else if (standing.isPutOff()) {
            // What waits on purpose does not lag.
            unwritten.remove(zone);
        }
        // In this order: whoever sees a standing also sees the servers that it is about.
        Servers askedBefore = servers.put(zone, asked);
        ZoneStanding before = standings.put(zone, standing);
        if (before == null || !asked.equals(askedBefore)) {
            lookAtServicesOf(zone);
        } else {
            tell(standing.servicesThatDiffer(before));
        }
    }

    void forgetZone(Ref zone) {
        unwritten.remove(zone);
        standings.remove(zone);
        servers.remove(zone);
    }

    /**
     * Called when the servers of a zone were found to answer otherwise than before.
     *
     * @param hosts the hosts concerned; empty if all are
     */
    void verified(Ref zone, Optional<Set<String>> hosts) {
        Signals.raise(signals.zones, List.of(zone));
        Optional<ZoneStanding> standing = standing(zone);
        if (hosts.isEmpty() || standing.isEmpty()) {
            lookAtServicesOf(zone);
        } else {
            tell(standing.get().records().hosts().stream()
                    .filter(host -> hosts.get().contains(host.name()))
                    .map(host -> Ref.parse(host.owner()))
                    .collect(Collectors.toSet()));
        }
    }

    /** Called when something else is known of what resolvers give for hosts of a zone; for no host, if for all of them. */
    void heard(Ref zone, List<Host> hosts) {
        Signals.raise(signals.zones, List.of(zone));
        if (hosts.isEmpty()) {
            lookAtServicesOf(zone);
        } else {
            Signals.raise(
                    signals.services,
                    hosts.stream().map(host -> Ref.parse(host.owner())).toList());
        }
    }

    void zoneChanged(@Nullable DNSZone before, @Nullable DNSZone after) {
        version.incrementAndGet();
        if (open) {
            lookAtEverything();
        }
    }

    void poolChanged(@Nullable ReplicaPool before, @Nullable ReplicaPool after) {
        version.incrementAndGet();
        if (open) {
            Ref pool = Ref.of(after != null ? after : Objects.requireNonNull(before));
            lookAtServices(world.services().stream()
                    .filter(service ->
                            ServiceAdmission.pool(service).filter(pool::equals).isPresent())
                    .toList());
        }
    }

    void serviceChanged(@Nullable TrafficService before, @Nullable TrafficService after) {
        version.incrementAndGet();
        if (open) {
            Set<String> hosts = present(before, after)
                    .flatMap(service -> ServiceAdmission.hostname(service).stream())
                    .collect(Collectors.toSet());
            lookAtServices(Stream.concat(
                            present(before, after),
                            world.services().stream()
                                    .filter(service -> ServiceAdmission.hostname(service)
                                            .filter(hosts::contains)
                                            .isPresent()))
                    .toList());
            // A zone may have lost its domain to a service's host name, or get it back.
            Signals.raise(signals.zones, refs(world.zones()));
        }
    }

    void streamChanged(@Nullable TrafficStream before, @Nullable TrafficStream after) {
        world.follow(Ref.of(after != null ? after : Objects.requireNonNull(before)));
        version.incrementAndGet();
        if (open) {
            lookAtStreams(present(before, after));
        }
    }

    /** Has the ConfigMaps followed that streams name, of whatever streams there are. */
    void followConfigMaps() {
        refs(world.streams()).forEach(world::follow);
    }

    /** Called when something else is known of a ConfigMap that streams name. */
    void configMapChanged(Ref configMap) {
        version.incrementAndGet();
        if (open) {
            lookAtStreams(world.streams().stream()
                    .filter(stream -> StreamAdmission.configMap(stream)
                            .filter(configMap::equals)
                            .isPresent()));
        }
    }

    /** Streams and their services. */
    private void lookAtStreams(Stream<TrafficStream> streams) {
        Set<Ref> services = streams.flatMap(stream -> StreamAdmission.service(stream).stream())
                .collect(Collectors.toSet());
        lookAtServices(world.services().stream()
                .filter(service -> services.contains(Ref.of(service)))
                .toList());
        Signals.raise(signals.streams, streamsOf(services));
    }

    void namespaceChanged() {
        version.incrementAndGet();
        if (open) {
            lookAtEverything();
        }
    }

    /** Services, with their streams, pools and zones. */
    private void lookAtServices(Collection<TrafficService> services) {
        Set<Ref> serviceRefs = refs(services);
        Set<Ref> pools = new HashSet<>();
        Set<Ref> zones = new HashSet<>();
        for (TrafficService service : services) {
            ServiceAdmission.zone(service).ifPresent(zones::add);
            ServiceAdmission.pool(service).ifPresent(pools::add);
        }
        tell(serviceRefs);
        Signals.raise(signals.pools, pools);
        Signals.raise(signals.zones, zones);
    }

    private void lookAtServicesOf(Ref zone) {
        tell(world.services().stream()
                .filter(service ->
                        ServiceAdmission.zone(service).filter(zone::equals).isPresent())
                .map(Ref::of)
                .collect(Collectors.toSet()));
    }

    /** Services and their streams. */
    private void tell(Set<Ref> services) {
        Signals.raise(signals.services, services);
        Signals.raise(signals.streams, streamsOf(services));
    }

    private static <T> Stream<T> present(@Nullable T before, @Nullable T after) {
        return Stream.concat(Stream.ofNullable(before), Stream.ofNullable(after));
    }

    /** Has everything looked at again. */
    void lookAtEverything() {
        Signals.raise(signals.pools, refs(world.pools()));
        Signals.raise(signals.zones, refs(world.zones()));
        Signals.raise(signals.services, refs(world.services()));
        Signals.raise(signals.streams, refs(world.streams()));
    }

    private Set<Ref> streamsOf(Set<Ref> services) {
        return world.streams().stream()
                .filter(stream -> StreamAdmission.service(stream)
                        .filter(services::contains)
                        .isPresent())
                .map(Ref::of)
                .collect(Collectors.toSet());
    }

    private static Set<Ref> servicesOf(PoolPlan plan) {
        return plan.streams().stream().map(stream -> stream.demand().service()).collect(Collectors.toSet());
    }

    private static Set<Ref> refs(Collection<? extends HasMetadata> resources) {
        return resources.stream().map(Ref::of).collect(Collectors.toSet());
    }
}
