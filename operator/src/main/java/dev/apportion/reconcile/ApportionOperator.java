package dev.apportion.reconcile;

import dev.apportion.dns.wire.Asker;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator: controllers for the four kinds over one desk. */
public final class ApportionOperator implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApportionOperator.class);

    /** Who owns the fields that are written by server-side apply. */
    static final String FIELD_MANAGER = "apportion";

    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final double RETRY_GROWTH = 2;

    /** Longer than any process lives. */
    private static final Duration NEVER = Duration.ofDays(36500);

    /** How long a DNS server may take for one answer: a second is much within a cluster. */
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);

    /**
     * What can be set.
     *
     * @param namespaces the namespaces to watch; empty for all
     * @param reconcileInterval how often everything is looked at again although nothing happened
     * @param verifyInterval how often the DNS servers are asked although nothing changed
     * @param verifyGrace how long DNS servers may lag behind a change before it is said
     */
    public record Settings(
            Set<String> namespaces, Duration reconcileInterval, Duration verifyInterval, Duration verifyGrace) {

        public static final Settings DEFAULT =
                new Settings(Set.of(), Duration.ofMinutes(10), Duration.ofSeconds(30), Duration.ofSeconds(10));

        public Settings {
            namespaces = Set.copyOf(namespaces);
        }
    }

    private final Settings settings;
    private final Desk desk;
    private final Verifier verifier;
    private final Operator operator;
    private final DNSZoneReconciler zones;
    private @Nullable ScheduledFuture<?> sweeps;
    private final ScheduledExecutorService housekeeping = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("housekeeping").factory());

    /**
     * An operator that has not started yet.
     *
     * @param client the cluster; it is not closed by the operator
     */
    public ApportionOperator(KubernetesClient client, Settings settings, Clock clock) {
        this.settings = settings;
        Signals signals = new Signals();
        this.desk = new Desk(new ClusterWorld(), signals, clock);
        this.verifier = new Verifier(
                new Asker(ASK_TIMEOUT),
                new Verifier.Timing(settings.verifyInterval(), settings.verifyGrace()),
                desk::verified);
        Statuses statuses = new Statuses(new Conditions(clock));
        RetryAfter retryAfter = RetryAfter.of(client, clock);
        StatusWriter writer = new StatusWriter(client, retryAfter, clock);
        this.operator = new Operator(configuration -> configuration
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                // While the API server fails, the start waits: nothing is decided on caches that are not filled.
                .withStopOnInformerErrorDuringStartup(false)
                .withCacheSyncTimeout(NEVER)
                .withUseSSAToPatchPrimaryResource(true));
        this.zones = new DNSZoneReconciler(desk, signals, verifier, statuses, writer, client, retryAfter, housekeeping);
        register(zones);
        register(new ReplicaPoolReconciler(desk, signals, statuses, writer));
        register(new TrafficServiceReconciler(desk, signals, verifier, statuses, writer));
        register(new TrafficStreamReconciler(desk, signals, verifier, statuses, writer));
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

    /** Starts, and returns once every cache is filled and decisions are made. */
    public void start() {
        operator.start();
        desk.open();
        long pause = settings.reconcileInterval().toMillis();
        sweeps = housekeeping.scheduleWithFixedDelay(zones::sweep, 0, pause, TimeUnit.MILLISECONDS);
        LOG.info("Started");
    }

    @Override
    public void close() {
        if (sweeps != null) {
            sweeps.cancel(true);
        }
        housekeeping.shutdownNow();
        operator.stop();
        verifier.close();
        LOG.info("Stopped");
    }
}
