package dev.apportion.reconcile;

import dev.apportion.load.Assignment;
import dev.apportion.load.Method;
import dev.apportion.load.Sampler;
import dev.apportion.load.Target;
import dev.apportion.load.Track;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** Has the replicas of all pools measured as they ask for. */
final class Loads implements AutoCloseable {

    private final Sampler sampler;
    private final ScrapeNetworks networks;
    private final LongSupplier nanoTime;
    private final Set<Ref> followed = ConcurrentHashMap.newKeySet();

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
     * Has the replicas of a pool measured as it asks for from now on.
     *
     * @return what counts of each process now
     */
    Function<Member.Server, Track.Load> follow(AdmittedPool pool, List<Member> members) {
        Ref ref = pool.ref();
        if (pool.load().isEmpty()) {
            forget(ref);
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

    /** Has a pool measured no more. */
    void forget(Ref pool) {
        sampler.forget(pool.toString());
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
