package dev.apportion.reconcile;

import dev.apportion.load.Assignment;
import dev.apportion.load.Method;
import dev.apportion.load.Sampler;
import dev.apportion.load.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** What is measured of the replicas of all pools. It has what they ask for measured, and keeps what was made of it. */
final class Loads implements AutoCloseable {

    private final Sampler sampler;
    private final ScrapeNetworks networks;
    private final LongSupplier nanoTime;
    private final Map<Ref, Estimates> estimates = new ConcurrentHashMap<>();
    private final Map<Ref, Newcomers> newcomers = new ConcurrentHashMap<>();

    /** Since when a pool is measured, in nanoseconds of the monotonic clock. */
    private final Map<Ref, Long> since = new ConcurrentHashMap<>();

    Loads(Sampler sampler, ScrapeNetworks networks, LongSupplier nanoTime) {
        this.sampler = sampler;
        this.networks = networks;
        this.nanoTime = nanoTime;
    }

    /** What a process is known by; a pod that was replaced by one of its name is another process. */
    static String key(Member.Server process) {
        return process.uid().isEmpty() ? process.name() : process.uid();
    }

    /**
     * Has a pool measured as it asks for, and judges what is known by now.
     *
     * @param before the plan that is in force
     */
    Estimates.Judged look(AdmittedPool pool, List<Member> found, List<Demand> demands, Optional<PoolPlan> before) {
        Ref ref = pool.ref();
        long now = nanoTime.getAsLong();
        Newcomers serving = newcomers.getOrDefault(ref, Newcomers.UNSEEN).next(found, now);
        newcomers.put(ref, serving);
        List<Member> members = found.stream()
                .map(member -> pool.behavior()
                        .slowStart()
                        .filter(ramp -> member.isReady())
                        .map(ramp -> ramp.part(serving.age(member, now)))
                        .filter(part -> part < 1)
                        .map(member::warm)
                        .orElse(member))
                .toList();
        if (pool.load().isEmpty()) {
            stop(ref);
            return new Estimates.Judged(Estimates.NONE, members, demands);
        }
        AdmittedPool.Load load = pool.load().get();
        since.putIfAbsent(ref, now);
        sampler.follow(
                ref.toString(), new Assignment(method(pool, load.from()), load.interval(), targets(load, members)));
        Sampler.Standing standing = sampler.standing(ref.toString());
        Estimates.Judged judged = estimates
                .getOrDefault(ref, Estimates.NONE)
                .next(
                        members,
                        demands,
                        process -> standing.track(target(load, process)).at(now, load.staleAfter()),
                        member -> serving.age(member, now).compareTo(load.staleAfter()) >= 0,
                        before);
        estimates.put(ref, judged.estimates());
        return judged;
    }

    /** The demands of a pool with the rates that were estimated last. */
    List<Demand> withRates(Ref pool, List<Demand> demands) {
        return estimates.getOrDefault(pool, Estimates.NONE).withRates(demands);
    }

    /**
     * Whether a pool is measured for too short a time for what is published to be judged by it. That of the operator that was
     * there before rests on longer experience.
     */
    boolean isSettling(AdmittedPool pool) {
        Long first = since.get(pool.ref());
        return pool.load().isPresent()
                && (first == null || nanoTime.getAsLong() - first < Estimates.HALF_LIFE.toNanos());
    }

    /** How soon a pool whose replicas warm up is to be planned again; empty if none does. */
    static Optional<Duration> nextStep(AdmittedPool pool, PoolPlan plan) {
        return plan.warming() == 0
                ? Optional.empty()
                : pool.behavior().slowStart().map(AdmittedPool.SlowStart::step);
    }

    void forget(Ref pool) {
        stop(pool);
        newcomers.remove(pool);
    }

    private void stop(Ref pool) {
        sampler.forget(pool.toString());
        estimates.remove(pool);
        since.remove(pool);
    }

    /** Called when this operator leads no more. */
    void rest() {
        Set<Ref> all = new HashSet<>(since.keySet());
        all.addAll(newcomers.keySet());
        all.forEach(this::forget);
    }

    private static Method method(AdmittedPool pool, AdmittedPool.From from) {
        return switch (from) {
            case AdmittedPool.From.Scrape scrape -> new Method.Scrape(scrape.path(), scrape.series());
            case AdmittedPool.From.PodMetrics metrics ->
                new Method.PodMetrics(pool.ref().namespace(), metrics.resource());
            case AdmittedPool.From.Prometheus prometheus ->
                new Method.Prometheus(prometheus.source(), pool.ref().namespace(), prometheus.series());
        };
    }

    private List<Target> targets(AdmittedPool.Load load, List<Member> members) {
        List<Target> targets = new ArrayList<>();
        Set<String> keys = new HashSet<>();
        for (Member member : members) {
            if (member.isReady()) {
                for (Member.Server process : member.processes()) {
                    Target target = target(load, process);
                    if (keys.add(target.key())) {
                        targets.add(target);
                    }
                }
            }
        }
        return targets;
    }

    private Target target(AdmittedPool.Load load, Member.Server process) {
        Target.Place place = switch (load.from()) {
            case AdmittedPool.From.Scrape scrape -> networks.place(process, scrape.port());
            case AdmittedPool.From.PodMetrics metrics -> podOnly(process);
            case AdmittedPool.From.Prometheus prometheus -> podOnly(process);
        };
        return new Target(process.name(), process.uid(), place);
    }

    private static Target.Place podOnly(Member.Server process) {
        return new Target.Place.Nowhere(
                process.isPod()
                        ? "it is asked for by the name of its pod"
                        : "no pod stands behind " + process.address());
    }

    @Override
    public void close() {
        sampler.close();
    }
}
