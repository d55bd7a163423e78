package dev.apportion.reconcile;

import dev.apportion.load.Assignment;
import dev.apportion.load.Method;
import dev.apportion.load.Queries;
import dev.apportion.load.Rate;
import dev.apportion.load.RateQuery;
import dev.apportion.load.Sampler;
import dev.apportion.load.Target;
import dev.apportion.load.Track;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** Has the replicas of all pools measured as they ask for. */
final class Loads implements AutoCloseable {

    /** How rates are asked for where the pool says nothing of measuring. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final Duration STALE_AFTER = Duration.ofSeconds(60);

    private final Sampler sampler;
    private final Queries queries;
    private final ScrapeNetworks networks;
    private final LongSupplier nanoTime;
    private final Set<Ref> followed = ConcurrentHashMap.newKeySet();

    Loads(Sampler sampler, Queries queries, ScrapeNetworks networks, LongSupplier nanoTime) {
        this.sampler = sampler;
        this.queries = queries;
        this.networks = networks;
        this.nanoTime = nanoTime;
    }

    /** What a process is known by; a pod that was replaced by one of its name is another process. */
    static String key(Member.Server process) {
        return process.uid().isEmpty() ? process.name() : process.uid();
    }

    /**
     * Has the replicas of a pool measured as it asks for from now on.
     *
     * @return what counts of each process now
     */
    Function<Member.Server, Track.Load> follow(AdmittedPool pool, List<Member> members) {
        Ref ref = pool.ref();
        if (pool.load().isEmpty()) {
            sampler.forget(ref.toString());
            return process -> new Track.Load.Missing("nothing is measured");
        }
        AdmittedPool.Load load = pool.load().get();
        followed.add(ref);
        sampler.follow(
                ref.toString(), new Assignment(method(pool, load.from()), load.interval(), targets(load, members)));
        Sampler.Standing standing = sampler.standing(ref.toString());
        long now = nanoTime.getAsLong();
        return process -> standing.track(target(load, process)).at(now, load.staleAfter());
    }

    /**
     * Has queries for the rates of a pool's streams asked from now on.
     *
     * @return the rate that each query gave, by the keys of these; empty where it gave none that counts
     */
    <K> Map<K, OptionalDouble> rates(AdmittedPool pool, Map<K, RateQuery> wanted) {
        if (!wanted.isEmpty()) {
            followed.add(pool.ref());
        }
        queries.follow(
                pool.ref().toString(),
                Set.copyOf(wanted.values()),
                pool.load().map(AdmittedPool.Load::interval).orElse(INTERVAL));
        Map<K, OptionalDouble> rates = new HashMap<>();
        wanted.forEach((key, query) -> rates.put(
                key,
                switch (rate(pool, query)) {
                    case Rate.Standing.Known(double rate) -> OptionalDouble.of(rate);
                    case Rate.Standing.Held(double rate, String reason) -> OptionalDouble.of(rate);
                    case Rate.Standing.Missing missing -> OptionalDouble.empty();
                }));
        return rates;
    }

    /** The age of the oldest measurement of a pool's replicas; empty if there is none. */
    Optional<Duration> oldest(Ref pool) {
        long now = nanoTime.getAsLong();
        return sampler.standing(pool.toString()).tracks().values().stream()
                .flatMap(track -> Stream.ofNullable(track.good()))
                .map(reading -> Duration.ofNanos(Math.max(0, now - reading.takenNanos())))
                .max(Duration::compareTo);
    }

    /** What counts of a query's rate now. */
    Rate.Standing rate(AdmittedPool pool, RateQuery query) {
        return queries.rate(pool.ref().toString(), query).at(nanoTime.getAsLong(), staleAfter(pool));
    }

    /** The age from which what was measured of a pool does not count. */
    static Duration staleAfter(AdmittedPool pool) {
        return pool.load().map(AdmittedPool.Load::staleAfter).orElse(STALE_AFTER);
    }

    /** Has a pool measured no more. */
    void forget(Ref pool) {
        sampler.forget(pool.toString());
        queries.forget(pool.toString());
        followed.remove(pool);
    }

    /** Called when this operator leads no more. */
    void rest() {
        Set.copyOf(followed).forEach(this::forget);
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
        return new Target(process.name(), process.uid(), place, process.started());
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
        queries.close();
    }
}
