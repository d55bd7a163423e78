package dev.apportion.reconcile;

import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.dns.wire.Verification;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.records.Changes;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the servers of each zone whether they answer as published: at once after a change, and then from time to time. */
final class Verifier implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Verifier.class);

    /** The first pause between two rounds of questions after a change; it doubles up to {@link #LONGEST_PAUSE}. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    /** Hosts that did not change and are asked all the same, in one round. */
    private static final int SAMPLE = 32;

    /**
     * Pauses between questions.
     *
     * @param interval between two rounds while nothing changes
     * @param grace how long servers may lag after a change, or fail after they were right, before it is said
     */
    record Timing(Duration interval, Duration grace) {}

    private record Task(ZoneRecords target, List<InetSocketAddress> servers) {}

    private final Asker asker;
    private final Timing timing;
    private final Consumer<Ref> changed;
    private final Meters meters;
    private final Map<Ref, Watch> watches = new ConcurrentHashMap<>();

    /**
     * A verifier.
     *
     * @param changed is told the zone whenever the verdict on it changes
     */
    Verifier(Asker asker, Timing timing, Consumer<Ref> changed, Meters meters) {
        this.meters = meters;
        this.asker = asker;
        this.timing = timing;
        this.changed = changed;
    }

    /** Asks these servers about this zone from now on. Does nothing when that is what it does already. */
    void verify(Ref zone, ZoneRecords target, List<InetSocketAddress> servers) {
        if (servers.isEmpty()) {
            forget(zone);
            return;
        }
        watches.computeIfAbsent(zone, Watch::new).set(new Task(target, servers));
    }

    void forget(Ref zone) {
        Watch watch = watches.remove(zone);
        if (watch != null) {
            watch.stop();
        }
    }

    /** What the servers said last; empty while they have not been asked, or have had no time yet. */
    Optional<Verified> result(Ref zone) {
        return Optional.ofNullable(watches.get(zone)).flatMap(watch -> Optional.ofNullable(watch.result.get()));
    }

    @Override
    public void close() {
        List.copyOf(watches.keySet()).forEach(this::forget);
    }

    /** One zone's loop of questions, on a thread of its own. */
    private final class Watch {

        private final Ref zone;
        private final AtomicReference<@Nullable Verified> result = new AtomicReference<>();
        private final AtomicReference<@Nullable Task> task = new AtomicReference<>();
        private final Thread thread;
        private volatile boolean stopped;
        private volatile CountDownLatch wake = new CountDownLatch(1);

        Watch(Ref zone) {
            this.zone = zone;
            this.thread = Thread.ofVirtual().name("verify " + zone).start(this::run);
        }

        void set(Task next) {
            if (!next.equals(task.getAndSet(next))) {
                wake.countDown();
            }
        }

        void stop() {
            stopped = true;
            thread.interrupt();
        }

        private void run() {
            long round = 0;
            Task current = null;
            ZoneRecords proved = null;
            long since = System.nanoTime();
            Duration pause = FIRST_PAUSE;
            while (!stopped) {
                wake = new CountDownLatch(1);
                Task next = task.get();
                if (next != null && !next.equals(current)) {
                    current = next;
                    since = System.nanoTime();
                    pause = FIRST_PAUSE;
                }
                Duration wait = timing.interval();
                if (current != null) {
                    Verified verified = ask(current, changedHosts(proved, current.target()), round++);
                    boolean late = System.nanoTime() - since > timing.grace().toNanos();
                    if (verified.everywhere()) {
                        if (!current.target().equals(proved)) {
                            meters.verifiedAfter(Duration.ofNanos(System.nanoTime() - since));
                        }
                        proved = current.target();
                        since = System.nanoTime();
                        pause = FIRST_PAUSE;
                        conclude(verified);
                    } else {
                        if (late) {
                            conclude(verified);
                        }
                        wait = pause;
                        pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                                ? pause.multipliedBy(2)
                                : LONGEST_PAUSE;
                    }
                }
                await(wait);
            }
        }

        private void await(Duration wait) {
            try {
                var _ = wake.await(wait.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                stopped = true;
            }
        }

        private Verified ask(Task current, Set<String> hosts, long round) {
            Verification verification = Verification.of(current.target(), hosts, SAMPLE, round);
            SortedMap<String, Verdict> verdicts = new ConcurrentSkipListMap<>();
            current.servers().forEach(server -> verdicts.put(text(server), new Verdict.Silent("it was not asked")));
            List<Thread> threads = current.servers().stream()
                    .map(server ->
                            Thread.ofVirtual().start(() -> verdicts.put(text(server), verification.ask(asker, server))))
                    .toList();
            for (Thread one : threads) {
                try {
                    one.join();
                } catch (InterruptedException e) {
                    stopped = true;
                    break;
                }
            }
            return new Verified(current.target(), new TreeMap<>(verdicts));
        }

        private void conclude(Verified verified) {
            if (!stopped && !verified.equals(result.getAndSet(verified))) {
                LOG.atDebug()
                        .addKeyValue("zone", zone)
                        .addKeyValue("servers", verified.servers())
                        .log("Verified");
                changed.accept(zone);
            }
        }
    }

    private static String text(InetSocketAddress server) {
        String host = server.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + server.getPort();
    }

    /** The hosts that are not as they were when last proved, those that are gone among them. */
    private static Set<String> changedHosts(@Nullable ZoneRecords proved, ZoneRecords target) {
        Changes changes = Changes.between(proved == null ? target.withHosts(List.of()) : proved, target);
        return Stream.of(changes.added(), changes.removed(), changes.changed())
                .flatMap(List::stream)
                .collect(Collectors.toSet());
    }
}
