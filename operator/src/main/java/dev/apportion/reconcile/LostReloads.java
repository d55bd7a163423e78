package dev.apportion.reconcile;

import dev.apportion.dns.wire.Verdict;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.LongSupplier;

/**
 * Remembers which servers have the files of a zone but not the configuration that names them, and says when they are to load it again.
 *
 * <p>A server is asked a bounded number of times, after pauses that double, until it was seen to answer as published. What one zone
 * asks for, all zones of that server get; so pauses and numbers are those of a server, whichever zone has asked.
 */
final class LostReloads {

    /** CoreDNS looks every 2 s, and loads 14,000 blocks in 5 s. */
    static final Duration FIRST_PAUSE = Duration.ofSeconds(10);

    /** Where no kubelet is told, a mounted file may be 80 s late. */
    static final Duration FIRST_PAUSE_UNTOLD = Duration.ofSeconds(90);

    /** With the first pause of 10 s, the last one comes after three quarters of an hour. */
    static final int MOST_TIMES = 8;

    private final LongSupplier monotonic;
    private final Duration late;

    /** Since when servers have lagged, by zone and server, in nanoseconds. */
    private final Map<Ref, Map<String, Long>> lagging = new HashMap<>();

    private final Map<String, Asked> asked = new HashMap<>();

    /**
     * How often a server was asked to load, by whatever zone.
     *
     * @param at when it was asked last, in nanoseconds
     */
    private record Asked(int times, long at) {}

    /**
     * A memory of nothing.
     *
     * @param monotonic nanoseconds that nobody sets
     * @param late how long a server has lagged when it is first said
     */
    LostReloads(LongSupplier monotonic, Duration late) {
        this.monotonic = monotonic;
        this.late = late;
    }

    /**
     * Takes in what the servers of a zone answer.
     *
     * @param verdicts the verdicts on what is published now
     */
    synchronized void saw(Ref zone, SortedMap<String, Verdict> verdicts) {
        Map<String, Long> since = lagging.computeIfAbsent(zone, absent -> new HashMap<>());
        since.keySet().retainAll(verdicts.keySet());
        long now = monotonic.getAsLong();
        verdicts.forEach((server, verdict) -> {
            switch (verdict) {
                case Verdict.Lags lags when lags.hasEveryFile() -> since.putIfAbsent(server, now - late.toNanos());
                // It has yet to get a file, or is down: it will load what it finds.
                case Verdict.Lags late -> since.remove(server);
                case Verdict.Silent silent -> since.remove(server);
                // Nothing that CoreDNS does: what it was told to load has weights.
                case Verdict.IgnoresWeights ignores -> since.remove(server);
                case Verdict.Verified verified -> {
                    since.remove(server);
                    if (lagging.values().stream().noneMatch(zones -> zones.containsKey(server))) {
                        asked.remove(server);
                    }
                }
            }
        });
        if (since.isEmpty()) {
            lagging.remove(zone);
        }
    }

    /**
     * How long to wait before the servers of a zone are to load their configuration again: zero if it is time, nothing if there is no
     * reason to, or if it was in vain too often.
     */
    synchronized Optional<Duration> left(Ref zone, Duration firstPause) {
        long now = monotonic.getAsLong();
        return lagging.getOrDefault(zone, Map.of()).entrySet().stream()
                .flatMap(server -> left(server.getKey(), server.getValue(), firstPause, now).stream())
                .min(Duration::compareTo);
    }

    private Optional<Duration> left(String server, long since, Duration firstPause, long now) {
        Asked before = asked.get(server);
        if (before == null) {
            return Optional.of(atLeastZero(firstPause.minusNanos(now - since)));
        }
        if (before.times() >= MOST_TIMES) {
            return Optional.empty();
        }
        Duration pause = firstPause.multipliedBy(1L << before.times());
        return Optional.of(
                atLeastZero(longer(firstPause.minusNanos(now - since), pause.minusNanos(now - before.at()))));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static Duration atLeastZero(Duration duration) {
        return duration.isNegative() ? Duration.ZERO : duration;
    }

    /** The servers of a zone were asked to load their configuration again, by writing it anew. */
    synchronized void asked(Ref zone) {
        long now = monotonic.getAsLong();
        lagging.getOrDefault(zone, Map.of())
                .keySet()
                .forEach(server ->
                        asked.merge(server, new Asked(1, now), (before, first) -> new Asked(before.times() + 1, now)));
    }

    synchronized void forget(Ref zone) {
        lagging.remove(zone);
    }
}
