package dev.apportion.load;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the replicas of each pool at its interval. A pool that is measured has one virtual thread, which sleeps between two
 * rounds; without any there is nothing.
 */
public final class Sampler implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    /** How long what was measured of many waits for the slowest. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Source source;
    private final Consumer<String> listener;
    private final Meter meter;
    private final Map<String, Rounds> pools = new ConcurrentHashMap<>();

    /** Is told how measuring goes. */
    public interface Meter {

        /** All targets of a pool have been measured once. */
        void measured(Method method, Duration took);

        /** A sample is missing. */
        void missing(Gap gap);
    }

    /**
     * What is known of a pool's targets.
     *
     * @param tracks the history of each, by {@link Target#key()}
     * @param rounds how many times all of them have been measured
     */
    public record Standing(Map<String, Track> tracks, long rounds) {

        public static final Standing NOTHING = new Standing(Map.of(), 0);

        public Standing {
            tracks = Map.copyOf(tracks);
        }

        public Track track(Target target) {
            return tracks.getOrDefault(target.key(), Track.NEW);
        }
    }

    /**
     * A sampler of nothing.
     *
     * @param source where to read
     * @param listener told the name of a pool when more is known of it
     * @param meter told how it went
     */
    public Sampler(Source source, Consumer<String> listener, Meter meter) {
        this.source = source;
        this.listener = listener;
        this.meter = meter;
    }

    /** Measures a pool from now on as an assignment says; a target that is new is measured at once. */
    public void follow(String pool, Assignment assignment) {
        pools.compute(pool, (name, rounds) -> {
            if (rounds != null && rounds.assignment.method().equals(assignment.method())) {
                rounds.set(assignment);
                return rounds;
            }
            if (rounds != null) {
                rounds.stop();
            }
            return new Rounds(name, assignment);
        });
    }

    /** Measures a pool no more. */
    public void forget(String pool) {
        Rounds rounds = pools.remove(pool);
        if (rounds != null) {
            rounds.stop();
        }
    }

    public void forgetAll() {
        Set.copyOf(pools.keySet()).forEach(this::forget);
    }

    public Standing standing(String pool) {
        Rounds rounds = pools.get(pool);
        return rounds == null ? Standing.NOTHING : new Standing(rounds.tracks, rounds.done.get());
    }

    /** How many pools are measured. */
    public int pools() {
        return pools.size();
    }

    @Override
    public void close() {
        forgetAll();
    }

    /** The rounds of one pool, on a thread of its own. */
    private final class Rounds {

        private final String pool;
        private final Map<String, Track> tracks = new ConcurrentHashMap<>();
        private final AtomicLong done = new AtomicLong();
        private final Thread thread;
        private volatile Assignment assignment;
        private volatile CountDownLatch wake = new CountDownLatch(1);
        private volatile boolean stopped;

        Rounds(String pool, Assignment assignment) {
            this.pool = pool;
            this.assignment = assignment;
            this.thread = Thread.ofVirtual().name("measure " + pool).unstarted(this::run);
            thread.start();
        }

        void set(Assignment next) {
            if (!next.equals(assignment)) {
                assignment = next;
                wake.countDown();
            }
        }

        void stop() {
            stopped = true;
            thread.interrupt();
        }

        private void run() {
            try {
                long next = System.nanoTime();
                while (!stopped) {
                    wake = new CountDownLatch(1);
                    Assignment now = assignment;
                    tracks.keySet()
                            .retainAll(now.targets().stream().map(Target::key).collect(Collectors.toSet()));
                    if (System.nanoTime() - next >= 0) {
                        next = System.nanoTime() + now.interval().toNanos();
                        long begin = System.nanoTime();
                        round(now, now.targets());
                        meter.measured(now.method(), Duration.ofNanos(System.nanoTime() - begin));
                        done.incrementAndGet();
                    } else {
                        round(now, fresh(now));
                    }
                    next = Math.min(next, System.nanoTime() + now.interval().toNanos());
                    var _ = wake.await(Math.max(0, next - System.nanoTime()), TimeUnit.NANOSECONDS);
                }
            } catch (InterruptedException e) {
                LOG.atDebug().addKeyValue("pool", pool).log("Measured no more");
            }
        }

        private List<Target> fresh(Assignment now) {
            return now.targets().stream()
                    .filter(target -> !tracks.containsKey(target.key()))
                    .toList();
        }

        /** Tells of most targets without waiting for those that take long. */
        private void round(Assignment now, Collection<Target> targets) throws InterruptedException {
            if (targets.isEmpty()) {
                return;
            }
            Map<String, Target> open = new ConcurrentHashMap<>();
            targets.forEach(target -> open.put(target.key(), target));
            CountDownLatch over = new CountDownLatch(1);
            Thread herald = Thread.ofVirtual().name("tell of " + pool).start(() -> {
                try {
                    if (!over.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                        listener.accept(pool);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            try {
                source.read(now.method(), targets, (target, readout) -> {
                    open.remove(target.key());
                    take(target, readout, now);
                });
                open.values()
                        .forEach(target ->
                                take(target, new Readout.Failed(Gap.Absent, "the source does not have it"), now));
            } catch (RuntimeException e) {
                LOG.atWarn().addKeyValue("pool", pool).setCause(e).log("Could not measure");
                Readout failed = new Readout.Failed(Gap.Unreachable, String.valueOf(e.getMessage()));
                targets.forEach(target -> take(target, failed, now));
            } finally {
                over.countDown();
                herald.interrupt();
            }
            if (!stopped) {
                listener.accept(pool);
            }
        }

        private void take(Target target, Readout readout, Assignment now) {
            Track next = tracks.compute(
                    target.key(),
                    (key, track) -> (track == null ? Track.NEW : track)
                            .next(readout, now.method().series()));
            next.gaps().forEach(meter::missing);
        }
    }
}
