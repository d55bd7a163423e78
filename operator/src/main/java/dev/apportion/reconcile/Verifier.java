package dev.apportion.reconcile;

import dev.apportion.dns.Serial;
import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.dns.wire.Verification;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.records.Answers;
import dev.apportion.records.Changes;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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

    private static final Duration LONGEST_DRAWN_PAUSE = Duration.ofSeconds(15);

    /** Hosts that did not change and are asked all the same, in one round. */
    private static final int SAMPLE = 32;

    /** As many where others did change: under a stream of changes there is a round for each of them. */
    private static final int SAMPLE_BESIDE = 4;

    /**
     * Pauses between questions.
     *
     * @param interval between two rounds while nothing changes
     * @param grace how long servers may lag after a change, or fail after they were right, before it is said
     * @param externalDns how much longer they may where ExternalDNS and a provider are on the way
     */
    record Timing(Duration interval, Duration grace, Duration externalDns) {

        Duration grace(ZoneRecords target) {
            return isDrawn(target) ? grace.plus(externalDns) : grace;
        }
    }

    /** ExternalDNS looks once in a minute, and a server that draws is asked many questions. */
    private static boolean isDrawn(ZoneRecords target) {
        return target.answers() == Answers.Drawn;
    }

    private static Duration firstPause(ZoneRecords target) {
        return isDrawn(target) ? LONGEST_PAUSE : FIRST_PAUSE;
    }

    private static Duration longestPause(ZoneRecords target) {
        return isDrawn(target) ? LONGEST_DRAWN_PAUSE : LONGEST_PAUSE;
    }

    private record Task(ZoneRecords target, Map<String, Serial> serials, List<InetSocketAddress> servers) {}

    /** Is told of verdicts. */
    @FunctionalInterface
    interface Listener {

        /**
         * Something else is known of a zone than before.
         *
         * @param hosts the hosts concerned; empty if all are
         */
        void verified(Ref zone, Optional<Set<String>> hosts);
    }

    private final Asker asker;
    private final Timing timing;
    private final Listener listener;
    private final Meters meters;
    private final Map<Ref, Watch> watches = new ConcurrentHashMap<>();

    /**
     * A verifier.
     *
     * @param listener is told whenever the verdict on a zone changes
     */
    Verifier(Asker asker, Timing timing, Listener listener, Meters meters) {
        this.meters = meters;
        this.asker = asker;
        this.timing = timing;
        this.listener = listener;
    }

    /**
     * Asks these servers about this zone from now on. Does nothing when that is what it does already.
     *
     * @param serials the serial of each of its zone files, by the name of the file's zone
     */
    void verify(Ref zone, ZoneRecords target, Map<String, Serial> serials, List<InetSocketAddress> servers) {
        if (servers.isEmpty()) {
            forget(zone);
            return;
        }
        watches.computeIfAbsent(zone, Watch::new).set(new Task(target, Map.copyOf(serials), servers));
    }

    void forget(Ref zone) {
        Watch watch = watches.remove(zone);
        if (watch != null) {
            watch.stop();
        }
    }

    /** How long a server may lag before it is said. */
    Duration grace() {
        return timing.grace();
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
            Map<InetSocketAddress, ZoneRecords> proved = new HashMap<>();
            ZoneRecords everywhere = null;
            long since = System.nanoTime();
            Duration pause = FIRST_PAUSE;
            while (!stopped) {
                wake = new CountDownLatch(1);
                Task next = task.get();
                if (next != null && !next.equals(current)) {
                    current = next;
                    since = System.nanoTime();
                    pause = firstPause(next.target());
                }
                Duration wait = timing.interval();
                if (current != null) {
                    Verified verified = ask(current, proved, round++);
                    boolean late = System.nanoTime() - since
                            > timing.grace(current.target()).toNanos();
                    if (verified.everywhere()) {
                        if (!current.target().equals(everywhere)) {
                            meters.verifiedAfter(Duration.ofNanos(System.nanoTime() - since));
                            everywhere = current.target();
                        }
                        since = System.nanoTime();
                        pause = firstPause(current.target());
                        conclude(verified);
                    } else {
                        if (late) {
                            conclude(verified);
                        }
                        wait = pause;
                        Duration longest = longestPause(current.target());
                        pause = pause.multipliedBy(2).compareTo(longest) < 0 ? pause.multipliedBy(2) : longest;
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

        /** Each server is asked about what is not known of it: of one that is new, or was away, everything. */
        private Verified ask(Task current, Map<InetSocketAddress, ZoneRecords> proved, long round) {
            proved.keySet().retainAll(current.servers());
            Map<InetSocketAddress, Verdict> verdicts = new ConcurrentHashMap<>();
            List<Thread> threads = new ArrayList<>();
            for (InetSocketAddress server : current.servers()) {
                Set<String> hosts = changedHosts(proved.get(server), current.target());
                verdicts.put(server, new Verdict.Silent("it was not asked"));
                threads.add(Thread.ofVirtual()
                        .start(() -> verdicts.put(
                                server,
                                Verification.of(
                                                current.target(),
                                                current.serials(),
                                                hosts,
                                                hosts.isEmpty() ? SAMPLE : SAMPLE_BESIDE,
                                                round)
                                        .ask(asker, server))));
            }
            for (Thread one : threads) {
                try {
                    one.join();
                } catch (InterruptedException e) {
                    stopped = true;
                    break;
                }
            }
            SortedMap<String, Verdict> byName = new TreeMap<>();
            Map.copyOf(verdicts).forEach((server, verdict) -> {
                byName.put(DnsServers.text(server), verdict);
                switch (verdict) {
                    case Verdict.Verified done -> proved.put(server, current.target());
                    case Verdict.Silent silent -> proved.remove(server);
                    case Verdict.Lags lags -> {}
                    case Verdict.IgnoresWeights ignores -> {}
                }
            });
            return new Verified(current.target(), byName);
        }

        private void conclude(Verified verified) {
            Verified before = result.getAndSet(verified);
            if (!stopped && (before == null || verified.isNewsAfter(before))) {
                LOG.atDebug()
                        .addKeyValue("zone", zone)
                        .addKeyValue("servers", verified.servers())
                        .log("Verified");
                listener.verified(zone, before == null ? Optional.empty() : verified.hostsWithNewsAfter(before));
            }
        }
    }

    /** The hosts that are not as they were when last proved, those that are gone among them. */
    private static Set<String> changedHosts(@Nullable ZoneRecords proved, ZoneRecords target) {
        Changes changes = Changes.between(proved == null ? target.withHosts(List.of()) : proved, target);
        return Stream.of(changes.added(), changes.removed(), changes.changed())
                .flatMap(List::stream)
                .collect(Collectors.toSet());
    }
}
