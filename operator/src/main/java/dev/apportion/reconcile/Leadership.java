package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This operator's part in the election of one leader among several, by a Lease (coordination.k8s.io/v1).
 *
 * <p>The client library's elector compares the times in the lease with the clock of this machine: a clock that jumps keeps
 * a dead leader in office, or ends a living one. Here only the monotonic clock counts. The lease alone fences nobody, since
 * a leader may be stopped between looking at it and writing: therefore each leadership has an epoch, which is published
 * with what it writes (see {@link dev.apportion.dns.coredns.Claim}).
 */
final class Leadership implements Mandate, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

    /** The parts of the lease's duration within which it has to be renewed, and after which it is: as client-go has them. */
    private static final double RENEW_WITHIN = 2.0 / 3;

    private static final double RENEW_EVERY = 2.0 / 15;

    /** How often giving the lease back is tried while somebody else changes it; that is this operator's own last renewal. */
    private static final int GIVE_BACK_TRIES = 3;

    /**
     * The lease and the candidate.
     *
     * @param identity the candidate's name, unlike all others
     * @param duration how long a leader may stay without renewing the lease, whole seconds
     */
    record Terms(String namespace, String name, String identity, Duration duration) {

        Duration renewWithin() {
            return Duration.ofMillis((long) (duration.toMillis() * RENEW_WITHIN));
        }

        Duration renewEvery() {
            return Duration.ofMillis((long) (duration.toMillis() * RENEW_EVERY));
        }
    }

    /** Is told of what changes, on the thread that renews the lease. */
    interface Listener {

        /** This operator leads. */
        void elected(long epoch);

        /** The lease could not be renewed in time: until it can, nothing may be done. */
        void suspended();

        /** Another operator leads, although this one did. */
        void replaced(String holder);
    }

    private record Term(long epoch, long renewedAt) {}

    private final KubernetesClient client;
    private final Terms terms;
    private final Clock clock;
    private final Listener listener;
    private final AtomicLong floor = new AtomicLong();
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final Thread thread;

    private volatile @Nullable Term term;
    private boolean suspended;
    private String followed = "";
    private String seenVersion = "";
    private long seenAt;

    /** When the lease was last read or written, by the monotonic clock. */
    private volatile long heardAt = System.nanoTime();

    Leadership(KubernetesClient client, Terms terms, Clock clock, Listener listener) {
        this.client = client;
        this.terms = terms;
        this.clock = clock;
        this.listener = listener;
        this.thread = Thread.ofPlatform().daemon().name("leadership").unstarted(this::run);
    }

    void campaign() {
        thread.start();
    }

    @Override
    public OptionalLong epoch() {
        Term current = term;
        return current != null && elapsed(current.renewedAt()).compareTo(terms.renewWithin()) < 0
                ? OptionalLong.of(current.epoch())
                : OptionalLong.empty();
    }

    @Override
    public void outranked(long epoch) {
        floor.accumulateAndGet(epoch, Math::max);
    }

    /** For how long nothing was heard of the lease. */
    Duration silence() {
        return elapsed(heardAt);
    }

    /** Whether this operator still takes part in the election. */
    boolean isAlive() {
        return thread.isAlive();
    }

    Duration duration() {
        return terms.duration();
    }

    private static Duration elapsed(long since) {
        return Duration.ofNanos(System.nanoTime() - since);
    }

    private void run() {
        try {
            do {
                step();
            } while (!stopping.await(terms.renewEvery().toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            // It is closed.
        }
    }

    private void step() {
        try {
            long asked = System.nanoTime();
            Lease lease = client.leases()
                    .inNamespace(terms.namespace())
                    .withName(terms.name())
                    .get();
            heardAt = System.nanoTime();
            switch (lease == null ? new LeaseStep.Take(floor.get() + 1) : decide(lease)) {
                case LeaseStep.Take(long epoch) -> {
                    write(lease, epoch, true);
                    lead(epoch, asked);
                }
                case LeaseStep.Renew(long epoch) -> {
                    write(lease, epoch, false);
                    lead(epoch, asked);
                }
                case LeaseStep.Wait(String holder) -> follow(holder);
            }
        } catch (KubernetesClientException e) {
            // A conflict means that another candidate was faster; the next look says who.
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                LOG.atWarn()
                        .addKeyValue("lease", terms.namespace() + "/" + terms.name())
                        .addKeyValue("error", e.getMessage())
                        .log("Could not take or renew the lease; trying again");
            }
        }
        if (term != null && !suspended && epoch().isEmpty()) {
            suspended = true;
            LOG.warn("The lease could not be renewed in time; nothing is written until it can");
            listener.suspended();
        }
    }

    private LeaseStep decide(Lease lease) {
        String version =
                lease.getMetadata().getUid() + "/" + lease.getMetadata().getResourceVersion();
        if (!version.equals(seenVersion)) {
            seenVersion = version;
            seenAt = System.nanoTime();
        }
        var spec = lease.getSpec();
        Integer seconds = spec == null ? null : spec.getLeaseDurationSeconds();
        Integer transitions = spec == null ? null : spec.getLeaseTransitions();
        return LeaseStep.of(
                terms.identity(),
                new LeaseStep.Sight(
                        spec == null ? "" : Objects.requireNonNullElse(spec.getHolderIdentity(), ""),
                        transitions == null ? 0 : transitions,
                        seconds == null ? terms.duration() : Duration.ofSeconds(seconds),
                        elapsed(seenAt)),
                floor.get());
    }

    private void lead(long epoch, long since) {
        Term before = term;
        term = new Term(epoch, since);
        heardAt = System.nanoTime();
        if (before == null || before.epoch() != epoch || suspended) {
            suspended = false;
            followed = "";
            LOG.atInfo()
                    .addKeyValue("lease", terms.namespace() + "/" + terms.name())
                    .addKeyValue("identity", terms.identity())
                    .addKeyValue("epoch", epoch)
                    .log("Leading");
            listener.elected(epoch);
        }
    }

    private void follow(String holder) {
        if (term != null) {
            term = null;
            LOG.atError().addKeyValue("holder", holder).log("The lease was lost to another operator");
            listener.replaced(holder);
        } else if (!holder.equals(followed)) {
            followed = holder;
            LOG.atInfo().addKeyValue("holder", holder).log("Another operator leads; standing by");
        }
    }

    /** Fails with a conflict if somebody else wrote it meanwhile. */
    private void write(@Nullable Lease before, long epoch, boolean taken) {
        ZonedDateTime now = ZonedDateTime.ofInstant(clock.instant(), ZoneOffset.UTC);
        if (before == null) {
            client.resource(new LeaseBuilder()
                            .withNewMetadata()
                            .withNamespace(terms.namespace())
                            .withName(terms.name())
                            .endMetadata()
                            .withNewSpec()
                            .withHolderIdentity(terms.identity())
                            .withLeaseDurationSeconds((int) terms.duration().toSeconds())
                            .withAcquireTime(now)
                            .withRenewTime(now)
                            .withLeaseTransitions((int) epoch)
                            .endSpec()
                            .build())
                    .create();
            return;
        }
        LeaseBuilder after = new LeaseBuilder(before)
                .editOrNewSpec()
                .withHolderIdentity(terms.identity())
                .withLeaseDurationSeconds((int) terms.duration().toSeconds())
                .withRenewTime(now)
                .withLeaseTransitions((int) epoch)
                .endSpec();
        client.resource(taken ? after.editSpec().withAcquireTime(now).endSpec().build() : after.build())
                .update();
    }

    /** Gives the lease back, so that another operator need not wait until it ends. */
    @Override
    public void close() {
        stopping.countDown();
        try {
            // A renewal that is on its way comes to its end: one that is cut off may yet be done, after the lease was
            // read to be given back.
            if (thread.isAlive() && !thread.join(terms.renewEvery())) {
                thread.interrupt();
                thread.join(terms.renewWithin());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean held = epoch().isPresent();
        term = null;
        for (int tries = 1; held; tries++) {
            try {
                giveBack();
                held = false;
            } catch (KubernetesClientException e) {
                held = e.getCode() == HttpURLConnection.HTTP_CONFLICT && tries < GIVE_BACK_TRIES;
                if (!held) {
                    LOG.atWarn()
                            .addKeyValue("error", e.getMessage())
                            .log("Could not give the lease back; it ends by itself");
                }
            }
        }
    }

    private void giveBack() {
        Lease lease = client.leases()
                .inNamespace(terms.namespace())
                .withName(terms.name())
                .get();
        if (lease != null && terms.identity().equals(lease.getSpec().getHolderIdentity())) {
            client.resource(new LeaseBuilder(lease)
                            .editSpec()
                            .withHolderIdentity("")
                            .endSpec()
                            .build())
                    .update();
        }
    }
}
