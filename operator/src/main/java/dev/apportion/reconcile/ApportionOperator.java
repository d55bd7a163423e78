package dev.apportion.reconcile;

import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Pace;
import dev.apportion.dns.wire.WeightProbe;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.security.SecureRandom;
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

    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final double RETRY_GROWTH = 2;

    /** How long a DNS server may take for one answer: a second is much within a cluster. */
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);

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
     * @param reconcileInterval how often everything is looked at again although nothing happened
     * @param verifyInterval how often the DNS servers are asked although nothing changed
     * @param verifyGrace how long DNS servers may lag behind a change before it is said
     * @param resolverInterval how often resolvers are asked although nothing changed
     */
    public record Settings(
            Set<String> namespaces,
            Duration reconcileInterval,
            Duration verifyInterval,
            Duration verifyGrace,
            Duration resolverInterval) {

        public static final Settings DEFAULT = new Settings(
                Set.of(),
                Duration.ofMinutes(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                Duration.ofMinutes(5));

        public Settings {
            namespaces = Set.copyOf(namespaces);
        }
    }

    private final Settings settings;
    private final Desk desk;
    private final Verifier verifier;
    private final ResolverProber prober;
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
        this.prober = new ResolverProber(
                new WeightProbe(Asker.ofResolvers(RESOLVE_TIMEOUT), new Pace(RESOLVER_QUESTIONS), new SecureRandom()),
                new ResolverProber.Timing(
                        settings.resolverInterval(), settings.verifyGrace(), settings.verifyGrace(), FORGETTING),
                desk::heard);
        Statuses statuses = new Statuses(new Conditions(clock));
        StatusWriter writer = new StatusWriter(client, clock);
        this.operator = new Operator(configuration -> configuration
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                .withUseSSAToPatchPrimaryResource(true));
        this.zones = new DNSZoneReconciler(desk, signals, verifier, prober, statuses, writer, client, housekeeping);
        register(zones);
        register(new ReplicaPoolReconciler(desk, signals, statuses, writer));
        register(new TrafficServiceReconciler(desk, signals, verifier, prober, statuses, writer));
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
                    .withFieldManager("apportion");
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
        prober.close();
        LOG.info("Stopped");
    }
}
