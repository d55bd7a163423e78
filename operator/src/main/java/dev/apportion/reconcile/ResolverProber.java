package dev.apportion.reconcile;

import dev.apportion.dns.wire.Draws;
import dev.apportion.dns.wire.ShareJudgement;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.WeightProbe;
import dev.apportion.dns.wire.WeightedRRset;
import dev.apportion.reconcile.ResolverReport.Heard;
import dev.apportion.reconcile.ResolverReport.Through;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks through the resolvers of each zone whether clients get the published weights: once after each change of a host, and
 * then a few hosts from time to time.
 *
 * <p>A host is asked about when its weights stand still: the authoritative servers have been seen to answer them, and the
 * resolvers' caches have forgotten those before. Where one round of questions is not enough for a verdict, others follow at
 * once, {@value ShareJudgement#MOST_ROUNDS} in all. Counts of different weights are never added up. A verdict stays until there
 * is another one, so that a change of weights by itself changes no verdict.
 */
final class ResolverProber implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ResolverProber.class);

    /** Hosts that did not change and are asked all the same, in one interval. */
    private static final int SAMPLE = 4;

    /** Responses that are added up; after so many, counting begins anew, lest the least deviation should become a verdict. */
    private static final int MOST_DRAWS = ShareJudgement.MOST_ROUNDS * ShareJudgement.MOST_QUESTIONS;

    /** How soon a resolver that did not answer is asked again, at first; the pause doubles up to {@link #LONGEST_PAUSE}. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /**
     * Pauses between questions.
     *
     * @param interval after which hosts that did not change are asked again
     * @param grace how long a resolver may be silent before it is said
     * @param lag how long authoritative servers may lag behind a change, where none of them can be asked
     * @param forgetting how much longer than their time to live caches may keep answers
     */
    record Timing(Duration interval, Duration grace, Duration lag, Duration forgetting) {}

    /** Is told the zone and the hosts on which something else is known than before; no host if all are concerned. */
    interface Listener {
        void heard(Ref zone, List<Host> hosts);
    }

    /** Whether the authoritative servers answer as published. */
    enum Answered {
        /** Each of them was seen to. */
        Everywhere,
        /** Some do not, or have not been asked. */
        NotYet,
        /** There is none to ask; they are given the time that others get. */
        NobodyKnows
    }

    /** What to ask about. */
    private record Task(ZoneRecords target, Answered answered) {}

    private record Way(Ref zone, InetSocketAddress resolver) {}

    private final WeightProbe probe;
    private final Timing timing;
    private final Listener listener;
    private final Map<Way, Watch> watches = new ConcurrentHashMap<>();

    ResolverProber(WeightProbe probe, Timing timing, Listener listener) {
        this.probe = probe;
        this.timing = timing;
        this.listener = listener;
    }

    /**
     * Asks about this zone through these resolvers from now on, and no others.
     *
     * @param answered whether it is known to be answered so: nothing is asked before
     */
    void probe(Ref zone, ZoneRecords target, List<InetSocketAddress> resolvers, Answered answered) {
        Set<InetSocketAddress> wanted = new HashSet<>(resolvers);
        stop(way -> way.zone().equals(zone) && !wanted.contains(way.resolver()));
        for (InetSocketAddress resolver : wanted) {
            watches.computeIfAbsent(new Way(zone, resolver), Watch::new).set(new Task(target, answered));
        }
    }

    void forget(Ref zone) {
        stop(way -> way.zone().equals(zone));
    }

    private void stop(Predicate<Way> unwanted) {
        watches.forEach((way, watch) -> {
            if (unwanted.test(way) && watches.remove(way, watch)) {
                watch.stop();
            }
        });
    }

    /** What is known by now. */
    ResolverReport report(Ref zone) {
        TreeMap<String, Through> resolvers = new TreeMap<>();
        watches.forEach((way, watch) -> {
            if (way.zone().equals(zone)) {
                resolvers.put(DnsServers.text(way.resolver()), watch.result.get());
            }
        });
        return new ResolverReport(resolvers);
    }

    @Override
    public void close() {
        stop(way -> true);
    }

    /** The counts of one host, as it is now. */
    private static final class Subject {

        final Host host;
        final List<WeightedRRset> sets;
        final long ripe;
        final Map<WeightedRRset, Draws> draws = new HashMap<>();
        private int turn;
        private int rounds;

        Subject(Host host, long ripe) {
            this.host = host;
            this.sets = WeightedRRset.of(host);
            this.ripe = ripe;
        }

        boolean isNew() {
            return draws.isEmpty();
        }

        boolean isUndecided() {
            return draws.keySet().stream().anyMatch(this::isUndecided);
        }

        private boolean isUndecided(WeightedRRset set) {
            return ShareJudgement.judge(set, draws.getOrDefault(set, Draws.NONE)) instanceof ShareVerdict.Undecided;
        }

        /** Whether it was asked about, and shall be again at once: the numbers are not clear yet. */
        boolean isOpen() {
            WeightedRRset set = current();
            return rounds < ShareJudgement.MOST_ROUNDS
                    && draws.getOrDefault(set, Draws.NONE).size() > 0
                    && isUndecided(set);
        }

        private WeightedRRset current() {
            return sets.get(Math.floorMod(turn, sets.size()));
        }

        /** A resolver treats all names alike, so one set is asked at a time. */
        WeightedRRset next() {
            if (rounds > 0 && !isOpen()) {
                turn++;
            }
            return current();
        }

        /** It has been asked about once more. */
        void note(WeightedRRset set, Draws counted) {
            rounds++;
            Draws before = draws.getOrDefault(set, Draws.NONE);
            draws.put(set, before.size() >= MOST_DRAWS ? counted : before.plus(counted));
        }
    }

    /** The loop of questions about one zone through one resolver, on a thread of its own. */
    private final class Watch {

        private final Way way;
        private final AtomicReference<Through> result =
                new AtomicReference<>(new Through(Optional.empty(), new TreeMap<>()));
        private final AtomicReference<@Nullable Task> task = new AtomicReference<>();
        private final Map<String, Subject> subjects = new HashMap<>();
        private final Thread thread;
        private volatile boolean stopped;
        private volatile CountDownLatch wake = new CountDownLatch(1);
        private long rotation;
        private long nextRotation = System.nanoTime() + timing.interval().toNanos();
        private Duration pause = FIRST_PAUSE;
        private @Nullable Long silentSince;

        Watch(Way way) {
            this.way = way;
            this.thread = Thread.ofVirtual()
                    .name("resolver " + way.zone() + " " + way.resolver())
                    .start(this::run);
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
            while (!stopped) {
                wake = new CountDownLatch(1);
                Task current = task.get();
                await(current == null || current.answered() == Answered.NotYet ? timing.interval() : round(current));
            }
        }

        private void await(Duration wait) {
            try {
                var _ = wake.await(wait.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                stopped = true;
            }
        }

        /** Asks about the hosts whose turn it is; returns how long there is nothing to do. */
        private Duration round(Task current) {
            note(current);
            long now = System.nanoTime();
            List<Subject> ripe = subjects.values().stream()
                    .filter(subject -> subject.ripe - now <= 0)
                    .sorted(Comparator.comparingLong((Subject subject) -> subject.ripe - now)
                            .thenComparing(subject -> subject.host.name()))
                    .toList();
            List<Subject> chosen = chosen(ripe, now);
            for (Subject subject : chosen) {
                if (stopped || !ask(current, subject)) {
                    Duration wait = pause;
                    pause = longer(pause);
                    return wait;
                }
                pause = FIRST_PAUSE;
            }
            return chosen.isEmpty() ? untilNext(ripe.isEmpty()) : Duration.ZERO;
        }

        private Duration untilNext(boolean idle) {
            long now = System.nanoTime();
            long next = subjects.values().stream()
                    .mapToLong(subject -> subject.ripe - now)
                    .filter(left -> left > 0)
                    .min()
                    .orElse(Long.MAX_VALUE);
            long left = Math.min(next, idle ? timing.interval().toNanos() : Math.max(0, nextRotation - now));
            return Duration.ofNanos(left).plusMillis(1);
        }

        /** The hosts that changed, one by one; or else some of all, those first on which more must be known. */
        private List<Subject> chosen(List<Subject> ripe, long now) {
            Optional<Subject> changed = ripe.stream()
                    .filter(Subject::isNew)
                    .findFirst()
                    .or(() -> ripe.stream().filter(Subject::isOpen).findFirst());
            if (changed.isPresent()) {
                return List.of(changed.get());
            }
            if (ripe.isEmpty()) {
                return List.of();
            }
            if (silentSince != null) {
                return List.of(ripe.getFirst());
            }
            if (nextRotation - now > 0) {
                return List.of();
            }
            nextRotation = now + timing.interval().toNanos();
            List<Subject> order = new ArrayList<>(
                    ripe.stream().filter(Subject::isUndecided).limit(SAMPLE).toList());
            List<Subject> byName = ripe.stream()
                    .sorted(Comparator.comparing(subject -> subject.host.name()))
                    .toList();
            for (int i = order.size(); i < Math.min(SAMPLE, byName.size()); i++) {
                Subject next = byName.get((int) Math.floorMod(rotation++, (long) byName.size()));
                if (!order.contains(next)) {
                    order.add(next);
                }
            }
            return order;
        }

        /** Takes in which hosts there are, and which are not as they were. */
        private void note(Task current) {
            Map<String, Host> hosts = new HashMap<>();
            long now = System.nanoTime();
            for (Host host : current.target().hosts()) {
                hosts.put(host.name(), host);
                Subject known = subjects.get(host.name());
                if (known == null || !known.host.equals(host)) {
                    Duration wait = Duration.ofSeconds(host.ttlSeconds())
                            .plus(timing.forgetting())
                            .plus(current.answered() == Answered.NobodyKnows ? timing.lag() : Duration.ZERO);
                    Subject subject = new Subject(host, now + wait.toNanos());
                    if (subject.sets.isEmpty()) {
                        subjects.remove(host.name());
                    } else {
                        subjects.put(host.name(), subject);
                    }
                }
            }
            subjects.keySet().retainAll(hosts.keySet());
            Through before = result.get();
            if (!subjects.keySet().containsAll(before.hosts().keySet())) {
                TreeMap<String, Heard> left = new TreeMap<>(before.hosts());
                left.keySet().retainAll(subjects.keySet());
                result.set(new Through(before.silence(), left));
            }
        }

        /** Whether the resolver answered. */
        private boolean ask(Task current, Subject subject) {
            WeightedRRset set = subject.next();
            WeightProbe.Outcome outcome =
                    probe.ask(way.resolver(), set, current.target().answers(), () -> isStill(subject.host));
            return switch (outcome) {
                case WeightProbe.Outcome.Abandoned() -> true;
                case WeightProbe.Outcome.Silent(String reason) -> {
                    silent(reason);
                    yield false;
                }
                case WeightProbe.Outcome.Unresolved(String question, String answer) -> {
                    heard(subject, new Heard.Unresolved(question, answer));
                    // Counts as asked; the next turn comes with the others.
                    subject.note(set, Draws.NONE);
                    yield true;
                }
                case WeightProbe.Outcome.Counted(Draws counted) -> {
                    subject.note(set, counted);
                    heard(subject, verdict(subject));
                    yield true;
                }
            };
        }

        private boolean isStill(Host host) {
            Task now = task.get();
            return !stopped && now != null && now.target().hosts().contains(host);
        }

        /** The worst of what is known of the host's streams and families. */
        private Heard verdict(Subject subject) {
            return subject.draws.entrySet().stream()
                    .filter(entry -> entry.getValue().size() > 0)
                    .map(entry ->
                            new Heard.Judged(entry.getKey(), ShareJudgement.judge(entry.getKey(), entry.getValue())))
                    .max(Comparator.comparingInt(judged -> gravity(judged.verdict())))
                    .orElseThrow();
        }

        private void silent(String reason) {
            long now = System.nanoTime();
            long since = Objects.requireNonNullElse(silentSince, now);
            silentSince = since;
            if (now - since >= timing.grace().toNanos()) {
                conclude(new Through(Optional.of(reason), result.get().hosts()), List.of());
            }
        }

        private void heard(Subject subject, Heard heard) {
            Through before = result.get();
            silentSince = null;
            Heard known = before.hosts().get(subject.host.name());
            boolean isNoNews = known == null ? isNothing(heard) : isNoNews(known, heard, subject);
            if (isNoNews && before.silence().isEmpty()) {
                return;
            }
            TreeMap<String, Heard> hosts = new TreeMap<>(before.hosts());
            hosts.put(subject.host.name(), heard);
            conclude(
                    new Through(Optional.empty(), hosts),
                    before.silence().isPresent() ? List.of() : List.of(subject.host));
        }

        private void conclude(Through next, List<Host> hosts) {
            Through before = result.getAndSet(next);
            if (!stopped && !next.equals(before)) {
                LOG.atDebug()
                        .addKeyValue("zone", way.zone())
                        .addKeyValue("resolver", way.resolver())
                        .addKeyValue("hosts", hosts.stream().map(Host::name).toList())
                        .log("Heard through a resolver");
                listener.heard(way.zone(), hosts);
            }
        }
    }

    private static boolean isNothing(Heard heard) {
        return heard instanceof Heard.Judged(WeightedRRset set, ShareVerdict verdict)
                && verdict instanceof ShareVerdict.Undecided;
    }

    /**
     * Whether the verdict is the same, and about the same, or none: only the numbers grew, which nobody needs to be told.
     */
    private static boolean isNoNews(Heard known, Heard heard, Subject subject) {
        return switch (known) {
            case Heard.Unresolved(String question, String answer) ->
                heard instanceof Heard.Unresolved(String other, String otherAnswer) && answer.equals(otherAnswer);
            case Heard.Judged(WeightedRRset set, ShareVerdict verdict) ->
                heard instanceof Heard.Judged(WeightedRRset other, ShareVerdict otherVerdict)
                        && (otherVerdict instanceof ShareVerdict.Undecided
                                || (gravity(verdict) == gravity(otherVerdict)
                                        && (subject.sets.contains(set) || verdict instanceof ShareVerdict.Fit)));
        };
    }

    private static int gravity(ShareVerdict verdict) {
        return switch (verdict) {
            case ShareVerdict.Fit fit -> 0;
            case ShareVerdict.Undecided undecided -> 1;
            case ShareVerdict.Pinned pinned -> pinned.everyName() ? 3 : 2;
            case ShareVerdict.Other other -> 4;
            case ShareVerdict.Even even -> 5;
        };
    }

    private static Duration longer(Duration pause) {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }
}
