package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Pace;
import dev.apportion.dns.wire.WeightProbe;
import dev.apportion.health.HealthChecks;
import dev.apportion.load.Gap;
import dev.apportion.load.Method;
import dev.apportion.load.PodMetricsSource;
import dev.apportion.load.PrometheusServer;
import dev.apportion.load.PrometheusSource;
import dev.apportion.load.Queries;
import dev.apportion.load.Sampler;
import dev.apportion.load.Scraper;
import dev.apportion.load.Sources;
import dev.apportion.telemetry.Health;
import dev.apportion.telemetry.HttpPort;
import dev.apportion.telemetry.Meters;
import dev.apportion.telemetry.Meters.Gauge;
import dev.apportion.telemetry.Meters.Row;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.RegisteredController;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator: controllers for the four kinds over one desk, of which one operator at a time decides and writes. */
public final class ApportionOperator implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApportionOperator.class);

    /** Who owns the fields that are written by server-side apply. */
    static final String FIELD_MANAGER = "apportion";

    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final double RETRY_GROWTH = 2;

    /** How long a DNS server may take for one answer: a second is much within a cluster. */
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);

    /** How long the start of a controller waits for its caches before it goes on; decisions wait for all of them anyway. */
    private static final Duration SYNC_WAIT = Duration.ofSeconds(3);

    private static final Duration SYNC_PAUSE = Duration.ofMillis(50);
    /** How long a resolver may take, which has to ask others. */
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    /** How much longer than their time to live caches may keep answers: that of CoreDNS keeps them five seconds at least. */
    private static final Duration FORGETTING = Duration.ofSeconds(5);

    /** The most questions that all resolvers together are asked in a second. */
    private static final int RESOLVER_QUESTIONS = 50;

    /**
     * What can be set.
     *
     * @param namespaces the namespaces to watch; empty for all
     * @param zoneNamespaces namespaces whose ConfigMaps are watched even while they have no DNSZone, for what zones that are
     *     gone left there
     * @param reconcileInterval how often everything is looked at again although nothing happened
     * @param verifyInterval how often the DNS servers are asked although nothing changed
     * @param verifyGrace how long DNS servers may lag behind a change before it is said
     * @param externalDnsGrace how much longer they may lag where ExternalDNS and a provider are on the way
     * @param route53Interval the shortest time between two changes of a zone at Route 53, unless a replica is gone
     * @param resolverInterval how often resolvers are asked although nothing changed
     * @param auditInterval how often it is looked after whether the watches still tell what happens
     * @param lease by which one of several operators is elected
     * @param http where probes and metrics are served
     * @param scrapeNetworks where processes may be asked for their metrics
     * @param prometheusSources the Prometheus servers that pools may name
     */
    public record Settings(
            Set<String> namespaces,
            Set<String> zoneNamespaces,
            Duration reconcileInterval,
            Duration verifyInterval,
            Duration verifyGrace,
            Duration externalDnsGrace,
            Duration route53Interval,
            Duration resolverInterval,
            Duration auditInterval,
            Lease lease,
            InetSocketAddress http,
            ScrapeNetworks scrapeNetworks,
            Map<String, PrometheusServer> prometheusSources) {

        public Settings {
            namespaces = Set.copyOf(namespaces);
            zoneNamespaces = Set.copyOf(zoneNamespaces);
            prometheusSources = Map.copyOf(prometheusSources);
        }
    }

    /**
     * The lease.
     *
     * @param identity the name of this operator, unlike all others
     * @param duration how long a leader may stay without renewing it, whole seconds
     */
    public record Lease(String namespace, String name, String identity, Duration duration) {}

    private final Settings settings;
    private final Clock clock;
    private final Meters meters = new Meters();
    private final HealthChecks<Ref> checks;
    private final Scraper scraper = new Scraper();
    private final PrometheusSource prometheus;
    private final Loads loads;
    private final Desk desk;
    private final Verifier verifier;
    private final KubernetesClient client;
    private final ResolverProber prober;
    private final Operator operator;
    private final DNSZoneReconciler zones;
    private final KubernetesClient leaseClient;
    private final Leadership leadership;
    private final WatchAudit audit;
    private final NamedConfigMaps configMaps;
    private final ClockWatch clockWatch;
    private final Consumer<String> replaced;
    private final Map<String, String> ended = new ConcurrentHashMap<>();
    private final ScheduledExecutorService housekeeping = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("housekeeping").factory());
    private final ScheduledExecutorService auditing = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("watch-audit").factory());
    private volatile boolean synced;
    private volatile boolean closing;
    private @Nullable HttpPort http;

    /**
     * An operator that has not started yet.
     *
     * @param client the cluster; it is not closed by the operator
     * @param replaced told the name of another operator that has taken over, although this one was leading; then this one has
     *     to be closed
     */
    public ApportionOperator(KubernetesClient client, Settings settings, Clock clock, Consumer<String> replaced) {
        this.settings = settings;
        this.clock = clock;
        this.replaced = replaced;
        this.client = client;
        Signals signals = new Signals();
        Leadership.Terms terms = new Leadership.Terms(
                settings.lease().namespace(),
                settings.lease().name(),
                settings.lease().identity(),
                settings.lease().duration());
        // The lease is renewed aside from all other traffic, and no request may outlast the time for it.
        this.leaseClient = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(client.getConfiguration())
                        .withRequestTimeout(
                                (int) terms.renewEvery().multipliedBy(2).toMillis())
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .withKubernetesSerialization(client.getKubernetesSerialization())
                .build();
        this.leadership = new Leadership(leaseClient, terms, clock, new Turns());
        this.checks = new HealthChecks<>(pool -> Signals.raise(signals.pools, List.of(pool)));
        this.prometheus = new PrometheusSource(settings.prometheusSources());
        for (Gap gap : Gap.values()) {
            meters.missing(gap.name(), 0);
        }
        LoadMeter meter = new LoadMeter();
        this.loads = new Loads(
                new Sampler(
                        new Sources(scraper, new PodMetricsSource(client, clock), prometheus),
                        pool -> Signals.raise(signals.pools, List.of(Ref.parse(pool))),
                        meter),
                new Queries(
                        prometheus::number,
                        pool -> Signals.raise(signals.pools, List.of(Ref.parse(pool))),
                        meter::missing),
                settings.scrapeNetworks(),
                System::nanoTime);
        this.audit = new WatchAudit(client);
        this.desk = new Desk(
                new ClusterWorld(),
                signals,
                checks,
                leadership,
                meters,
                loads,
                this::doubts,
                settings.auditInterval(),
                clock);
        this.configMaps = new NamedConfigMaps(client, desk::configMapChanged);
        desk.world().configMaps = configMaps;
        this.verifier = new Verifier(
                new Asker(ASK_TIMEOUT),
                new Verifier.Timing(settings.verifyInterval(), settings.verifyGrace(), settings.externalDnsGrace()),
                desk::verified,
                meters);
        this.prober = new ResolverProber(
                new WeightProbe(Asker.ofResolvers(RESOLVE_TIMEOUT), new Pace(RESOLVER_QUESTIONS), new SecureRandom()),
                new ResolverProber.Timing(
                        settings.resolverInterval(), settings.verifyGrace(), settings.verifyGrace(), FORGETTING),
                desk::heard);
        this.clockWatch = new ClockWatch(clock, System::nanoTime, jump -> {
            LOG.atWarn().addKeyValue("by", jump).log("The clock was set; looking at everything again");
            if (desk.isOpen()) {
                desk.lookAtEverything();
            }
        });
        Statuses statuses = new Statuses(new Conditions(clock));
        RetryAfter retryAfter = RetryAfter.of(client, clock);
        StatusWriter writer = new StatusWriter(client, retryAfter, new EventWriter(client, clock, meters));
        this.operator = new Operator(configuration -> configuration
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                .withUseSSAToPatchPrimaryResource(true)
                // While the API server fails, the start waits: nothing is decided on caches that are not filled.
                .withStopOnInformerErrorDuringStartup(false)
                .withCacheSyncTimeout(SYNC_WAIT)
                .withInformerStoppedHandler(
                        (informer, e) -> ended(informer.getApiTypeClass().getSimpleName(), e))
                .withMetrics(new ReconcileTimes(meters)));
        this.zones = new DNSZoneReconciler(
                desk,
                signals,
                verifier,
                prober,
                statuses,
                writer,
                client,
                retryAfter,
                leadership,
                meters,
                housekeeping,
                settings.namespaces(),
                settings.route53Interval());
        register(zones);
        register(new ReplicaPoolReconciler(desk, signals, statuses, writer));
        register(new TrafficServiceReconciler(desk, signals, verifier, prober, statuses, writer));
        register(new TrafficStreamReconciler(desk, signals, verifier, statuses, writer));
    }

    /** Why what the caches say of replicas may not be all. */
    private Optional<String> doubts() {
        if (leadership.silence().compareTo(leadership.duration().dividedBy(2)) > 0) {
            return Optional.of("the API server does not answer");
        }
        return audit.hearings().entrySet().stream()
                .filter(entry -> entry.getKey().startsWith("endpointslices")
                        && !(entry.getValue() instanceof WatchAudit.Hearing.Well))
                .map(entry -> "the watch of %s is not sure to tell all".formatted(entry.getKey()))
                .findFirst();
    }

    private <P extends HasMetadata> void register(Reconciler<P> reconciler) {
        operator.register(reconciler, configuration -> {
            configuration
                    .withRetry(new GenericRetry()
                            .setInitialInterval(FIRST_RETRY)
                            .setIntervalMultiplier(RETRY_GROWTH)
                            .setMaxInterval(LONGEST_RETRY.toMillis())
                            .withoutMaxAttempts())
                    .withReconciliationMaxInterval(settings.reconcileInterval())
                    .withFieldManager(FIELD_MANAGER);
            if (settings.namespaces().isEmpty()) {
                configuration.watchingAllNamespaces();
            } else {
                configuration.settingNamespaces(settings.namespaces());
            }
        });
    }

    private void ended(String kind, @Nullable Throwable e) {
        if (!closing) {
            LOG.atError().addKeyValue("kind", kind).setCause(e).log("A watch has ended for good");
            ended.put(kind, e == null ? "it was stopped" : String.valueOf(e.getMessage()));
        }
    }

    private final class LoadMeter implements Sampler.Meter {

        @Override
        public void measured(Method method, Duration took) {
            meters.measured(method.field(), took);
        }

        @Override
        public void missing(Gap gap) {
            meters.missing(gap.name(), 1);
        }
    }

    /** Whether this operator leads, as the lease says. */
    private final class Turns implements Leadership.Listener {

        @Override
        public void elected(long epoch) {
            desk.open();
            housekeeping.execute(zones::sweep);
        }

        @Override
        public void suspended() {
            desk.shut();
        }

        @Override
        public void replaced(String holder) {
            desk.shut();
            replaced.accept(holder);
        }
    }

    /**
     * Starts, and returns once every cache is filled; from then on it decides whenever it leads. While the API server refuses
     * to tell of a kind it waits, and {@code /readyz} says why.
     *
     * @throws IOException if the address of the HTTP port cannot be had
     * @throws IllegalStateException if the custom resource definitions are not installed
     */
    public void start() throws IOException, InterruptedException {
        http = HttpPort.open(settings.http(), this::health, () -> meters.scrape(this::gauges));
        LOG.atInfo().addKeyValue("address", http.address()).log("Serving /healthz, /readyz and /metrics");
        InstalledSchemas.require(client);
        long audits = settings.auditInterval().toMillis();
        var _ = auditing.scheduleWithFixedDelay(
                () -> {
                    audit.audit(collections(), synced);
                    configMaps.audit();
                },
                0,
                audits,
                TimeUnit.MILLISECONDS);
        operator.start();
        SortedSet<String> told = new TreeSet<>();
        for (SortedSet<String> missing = unsynced(); !missing.isEmpty(); missing = unsynced()) {
            if (!missing.equals(told)) {
                told = missing;
                LOG.atWarn().addKeyValue("kinds", missing).log("Still waiting for what the API server tells");
            }
            Thread.sleep(SYNC_PAUSE);
        }
        synced = true;
        zones.watch(settings.zoneNamespaces());
        leadership.campaign();
        // Nothing waits for it.
        Thread.ofVirtual().name("definitions").start(() -> InstalledSchemas.compare(client));
        var _ = housekeeping.scheduleWithFixedDelay(clockWatch::look, 1, 1, TimeUnit.SECONDS);
        long pause = settings.reconcileInterval().toMillis();
        var _ = housekeeping.scheduleWithFixedDelay(zones::sweep, pause, pause, TimeUnit.MILLISECONDS);
        ProcessHandle.current()
                .info()
                .startInstant()
                .map(begin -> Duration.between(begin, clock.instant()).toMillis() + " ms")
                .ifPresentOrElse(
                        after -> LOG.atInfo().addKeyValue("after", after).log("Started"), () -> LOG.info("Started"));
    }

    /** The kinds whose caches are not filled yet; once all are, the ConfigMaps that streams name and that are not read yet. */
    private SortedSet<String> unsynced() {
        SortedSet<String> missing = new TreeSet<>();
        for (RegisteredController<?> controller : operator.getRuntimeInfo().getRegisteredControllers()) {
            String name = controller.getConfiguration().getName();
            for (Map.Entry<String, ?> source : controller
                    .getControllerHealthInfo()
                    .informerEventSourceHealthIndicators()
                    .entrySet()) {
                if (source.getValue() instanceof InformerWrappingEventSourceHealthIndicator<?> informers) {
                    informers.informerHealthIndicators().forEach((namespace, informer) -> {
                        if (!informer.hasSynced()) {
                            missing.add("%s of %s in %s".formatted(source.getKey(), name, namespace));
                        }
                    });
                }
            }
        }
        if (missing.isEmpty()) {
            desk.followConfigMaps();
            missing.addAll(configMaps.unread());
        }
        return missing;
    }

    private List<WatchAudit.Collection> collections() {
        List<WatchAudit.Collection> all = new ArrayList<>();
        ClusterWorld world = desk.world();
        add(all, DNSZone.class, ref -> world.find(world.zones, ref));
        add(all, ReplicaPool.class, ref -> world.find(world.pools, ref));
        add(all, TrafficService.class, ref -> world.find(world.services, ref));
        add(all, TrafficStream.class, ref -> world.find(world.streams, ref));
        add(
                all,
                io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice.class,
                ref -> world.find(world.endpointSlices, ref));
        add(all, io.fabric8.kubernetes.api.model.Pod.class, ref -> world.find(world.pods, ref));
        add(all, io.fabric8.kubernetes.api.model.Service.class, ref -> world.find(world.kubernetesServices, ref));
        return all;
    }

    private void add(
            List<WatchAudit.Collection> all,
            Class<? extends HasMetadata> kind,
            Function<Ref, Optional<? extends HasMetadata>> cached) {
        String group = HasMetadata.getGroup(kind);
        String base = group.isEmpty()
                ? "/api/" + HasMetadata.getVersion(kind)
                : "/apis/" + group + "/" + HasMetadata.getVersion(kind);
        String plural = HasMetadata.getPlural(kind);
        Stream<String> scopes = settings.namespaces().isEmpty()
                ? Stream.of("")
                : settings.namespaces().stream().sorted().map(namespace -> "/namespaces/" + namespace);
        scopes.forEach(
                scope -> all.add(new WatchAudit.Collection(plural + scope, base + scope + "/" + plural, cached)));
    }

    private Health health() {
        List<String> fatal = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        ended.forEach((kind, why) -> fatal.add("the watch of %s has ended: %s".formatted(kind, why)));
        if (!synced) {
            problems.add("starting: not everything is known yet of what the API server has");
        } else {
            if (!leadership.isAlive() && !closing) {
                fatal.add("this operator takes no part in the election any more");
            }
            if (leadership.silence().compareTo(leadership.duration()) > 0) {
                problems.add("nothing was heard of the lease for %d s; maybe the API server cannot be reached"
                        .formatted(leadership.silence().toSeconds()));
            }
        }
        audit.hearings().forEach((name, hearing) -> {
            switch (hearing) {
                case WatchAudit.Hearing.Well() -> {}
                case WatchAudit.Hearing.Deaf(String what) -> fatal.add(what);
                case WatchAudit.Hearing.Refused(String message) ->
                    problems.add("the API server refuses to tell of %s: %s".formatted(name, message));
                case WatchAudit.Hearing.Unreachable(String message) -> problems.add("%s: %s".formatted(name, message));
            }
        });
        boolean alive = fatal.isEmpty();
        fatal.addAll(problems);
        return new Health(alive, problems.isEmpty(), fatal);
    }

    private Map<Gauge, List<Row>> gauges() {
        Map<Gauge, List<Row>> rows = Gauges.of(desk, verifier, prober);
        long epoch = leadership.epoch().orElse(0);
        rows.put(Gauge.LEADER, List.of(Row.of(epoch > 0 ? 1 : 0)));
        rows.put(Gauge.EPOCH, List.of(Row.of((double) epoch)));
        Health health = health();
        rows.put(Gauge.READY, List.of(Row.of(health.alive() && health.ready() ? 1 : 0)));
        List<Row> deaf = new ArrayList<>();
        List<Row> refused = new ArrayList<>();
        audit.hearings().forEach((name, hearing) -> {
            deaf.add(Row.of(hearing instanceof WatchAudit.Hearing.Deaf ? 1 : 0, "collection", name));
            refused.add(Row.of(hearing instanceof WatchAudit.Hearing.Refused ? 1 : 0, "collection", name));
        });
        rows.put(Gauge.WATCH_DEAF, deaf);
        rows.put(Gauge.WATCH_REFUSED, refused);
        return rows;
    }

    @Override
    public void close() {
        closing = true;
        desk.shut();
        loads.close();
        scraper.close();
        prometheus.close();
        housekeeping.shutdownNow();
        auditing.shutdownNow();
        operator.stop();
        configMaps.close();
        checks.close();
        verifier.close();
        prober.close();
        zones.close();
        // Last of all, so that whoever takes over finds everything written.
        leadership.close();
        leaseClient.close();
        if (http != null) {
            http.close();
        }
        meters.close();
        LOG.info("Stopped");
    }
}
