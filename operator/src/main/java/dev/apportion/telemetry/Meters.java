package dev.apportion.telemetry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Every meter, by its name. Gauges that concern resources are computed from what is there at the moment of a scrape, so the
 * series of a resource vanish with it; counters and timers bear no names of resources.
 */
public final class Meters implements AutoCloseable {

    /** A value that is looked up when it is asked for. */
    public enum Gauge {
        LEADER("apportion.leader", "1 while this operator leads"),
        EPOCH("apportion.leadership.epoch", "The number of the leadership; 0 while it does not lead"),
        READY("apportion.ready", "1 while /readyz says so"),
        WATCH_DEAF("apportion.watch.deaf", "1 while changes of a kind do not arrive by its watch"),
        WATCH_REFUSED("apportion.watch.refused", "1 while the API server refuses to tell of a kind"),
        RESOURCES("apportion.resources", "Resources of a kind, by whether they are accepted"),
        POOL_MAKESPAN("apportion.pool.makespan", "The largest load of a replica: requests/s over capacity"),
        POOL_AVERAGE("apportion.pool.average", "The sum of the rates over the sum of the capacities"),
        POOL_LOWER_BOUND("apportion.pool.lower.bound", "No allocation whatever has a smaller makespan"),
        POOL_OPTIMALITY_GAP("apportion.pool.optimality.gap", "Makespan over lower bound, less one"),
        POOL_WORST_OVER_LEVEL("apportion.pool.worst.over.level", "The largest load over level of a replica"),
        POOL_REPLICAS("apportion.pool.replicas", "Replicas of a pool, by state"),
        POOL_MEASURED(
                "apportion.pool.measured", "Ready replicas of a pool that is measured, by what is known of their load"),
        LOAD_AGE("apportion.load.age.seconds", "The age of the oldest measurement of a pool's replicas, in seconds"),
        REPLICA_LOAD("apportion.replica.load", "Planned requests/s over capacity of a replica"),
        REPLICA_LEVEL("apportion.replica.level", "The load that the bound of its block says a replica has to bear"),
        ANSWER_WEIGHT("apportion.answer.weight", "The published weight of an address in the answers of a stream"),
        ZONE_SERIAL("apportion.zone.serial", "The largest serial of the zone's shards"),
        ZONE_HOSTS("apportion.zone.hosts", "Published host names of a zone"),
        ZONE_PROGRAMMED("apportion.zone.programmed", "1 while everything of a zone is written"),
        SERVER_VERIFIED("apportion.server.verified", "1 while a DNS server answers as published"),
        WEIGHTS_HONORED(
                "apportion.weights.honored",
                "1 while clients of a zone's resolvers get the published shares, 0 if not");

        private final String meter;
        private final String description;

        Gauge(String meter, String description) {
            this.meter = meter;
            this.description = description;
        }
    }

    /**
     * A value of a gauge.
     *
     * @param labels names and values by turns
     */
    public record Row(double value, List<String> labels) {

        public Row {
            labels = List.copyOf(labels);
        }

        public static Row of(double value, String... labels) {
            return new Row(value, List.of(labels));
        }
    }

    private static final String RECONCILE = "apportion.reconcile";
    private static final String PLAN_CHANGES = "apportion.plan.changes";
    private static final String MOVED = "apportion.plan.moved.ratio";
    private static final String PUBLICATIONS = "apportion.publications";
    private static final String FENCED = "apportion.publications.fenced";
    private static final String RELOADS = "apportion.reloads.requested";
    private static final String PUBLISH_LAG = "apportion.publish.lag";
    private static final String VERIFY_LAG = "apportion.verify.lag";
    private static final String EVENTS = "apportion.events";
    private static final String LOAD_ROUND = "apportion.load.round";
    private static final String LOAD_MISSING = "apportion.load.missing";

    private static final Duration[] BUCKETS = {
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(250),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofMillis(2500),
        Duration.ofSeconds(5),
        Duration.ofSeconds(15),
        Duration.ofMinutes(1),
        Duration.ofMinutes(5)
    };

    private static final double[] PARTS = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Map<Gauge, MultiGauge> gauges = new EnumMap<>(Gauge.class);
    private final JvmGcMetrics garbage = new JvmGcMetrics();
    private final Counter planChanges;
    private final DistributionSummary moved;
    private final Counter fenced;
    private final Counter reloads;
    private final Timer publishLag;
    private final Timer verifyLag;

    public Meters() {
        for (Gauge gauge : Gauge.values()) {
            gauges.put(
                    gauge,
                    MultiGauge.builder(gauge.meter)
                            .description(gauge.description)
                            .register(registry));
        }
        planChanges = Counter.builder(PLAN_CHANGES)
                .description("Plans of pools that differ from the one before")
                .register(registry);
        moved = DistributionSummary.builder(MOVED)
                .description("The part of a pool's traffic that a changed plan moved, 0 to 1")
                .serviceLevelObjectives(PARTS)
                .register(registry);
        fenced = Counter.builder(FENCED)
                .description("Writes that were refused since another writer was faster, or leads now")
                .register(registry);
        reloads = Counter.builder(RELOADS)
                .description("Configurations written anew since servers had the files and did not load them")
                .register(registry);
        publishLag = timer(PUBLISH_LAG, "From a changed plan until it is written");
        verifyLag = timer(VERIFY_LAG, "From a written change until every server was seen to answer so");
        new JvmMemoryMetrics().bindTo(registry);
        garbage.bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    private Timer timer(String name, String description) {
        return Timer.builder(name)
                .description(description)
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    /** A reconciliation took place. */
    public void reconciled(String controller, boolean succeeded, Duration took) {
        Timer.builder(RECONCILE)
                .description("Reconciliations")
                .tags("controller", controller, "outcome", succeeded ? "success" : "error")
                .register(registry)
                .record(took);
    }

    /**
     * A pool has another plan.
     *
     * @param part the part of its traffic that moves, 0 to 1
     */
    public void planChanged(double part) {
        planChanges.increment();
        moved.record(part);
    }

    /** A shard was to be written, with this outcome. */
    public void published(String outcome) {
        Counter.builder(PUBLICATIONS)
                .description("Attempts to write a shard, by outcome")
                .tags("outcome", outcome)
                .register(registry)
                .increment();
    }

    public void fenced() {
        fenced.increment();
    }

    /** A configuration was written anew so that it is loaded. */
    public void reloadRequested() {
        reloads.increment();
    }

    public void publishedAfter(Duration lag) {
        publishLag.record(lag);
    }

    public void verifiedAfter(Duration lag) {
        verifyLag.record(lag);
    }

    /**
     * The replicas of a pool have been measured once.
     *
     * @param source what was asked
     */
    public void measured(String source, Duration took) {
        Timer.builder(LOAD_ROUND)
                .description("Rounds of measuring all replicas of a pool, by source")
                .tags("source", source)
                .register(registry)
                .record(took);
    }

    /**
     * Samples of load are missing.
     *
     * @param reason one of few
     * @param samples how many more; none, to have the series from the beginning
     */
    public void missing(String reason, int samples) {
        Counter.builder(LOAD_MISSING)
                .description("Samples of load, and rates from queries, that are missing, by reason")
                .tags("reason", reason)
                .register(registry)
                .increment(samples);
    }

    /** An Event was sent for a resource. */
    public void event(String type) {
        Counter.builder(EVENTS)
                .description("Events sent for resources")
                .tags("type", type)
                .register(registry)
                .increment();
    }

    /** Everything in Prometheus' text format, the gauges as they are now. */
    public synchronized String scrape(Supplier<Map<Gauge, List<Row>>> now) {
        Map<Gauge, List<Row>> rows = now.get();
        gauges.forEach((gauge, meter) -> meter.register(
                rows.getOrDefault(gauge, List.of()).stream()
                        .<MultiGauge.Row<?>>map(
                                row -> MultiGauge.Row.of(Tags.of(row.labels().toArray(String[]::new)), row.value()))
                        .toList(),
                true));
        return registry.scrape();
    }

    @Override
    public void close() {
        garbage.close();
        registry.close();
    }
}
