package dev.apportion.simulation;

import dev.apportion.allocation.KSplittable;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AliasMethodDiscreteSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * One run of a setting with one seed.
 *
 * <p>Arrivals of all populations are drawn as one process. Servers compute the end of a service when a request comes
 * ({@link Station}), so that the only events that have to be kept in order are the few that plan anew.
 */
public final class Replication {

    /** After so many requests it is asked whether to go on. */
    private static final int PATIENCE = 1 << 16;

    private final Setting setting;
    private final Chance chance;
    private final Tally tally;
    private final Station[] stations;
    private final Router router;
    private final SharedStateDiscreteSampler population;
    private final int perPopulation;

    private Replication(Setting setting, long seed) {
        this.setting = setting;
        chance = Chance.of(seed);
        tally = new Tally(setting.servers().size(), setting.warmUp());
        boolean counting = switch (setting.dispatch()) {
            case Dispatch.Dns dns -> dns.replan().isPresent();
            case Dispatch.Connections connections -> true;
            case Dispatch.Turns turns -> false;
            case Dispatch.Draws draws -> false;
            case Dispatch.GlobalQueue queue -> false;
            case Dispatch.Central central -> false;
        };
        stations = new Station[setting.servers().size()];
        Arrays.setAll(stations, i -> Station.of(setting.servers().get(i), i, tally, counting));
        perPopulation = setting.resolvers().perPopulation();
        UniformRandomProvider uniform = chance.arrivals()::nextLong;
        population = AliasMethodDiscreteSampler.of(
                uniform,
                setting.populations().stream().mapToDouble(Population::rate).toArray());
        router = switch (setting.dispatch()) {
            case Dispatch.Dns dns -> new DnsRouter(setting, ofRun(dns, seed), stations, chance);
            case Dispatch.Connections connections -> new ConnectionsRouter(setting, connections, stations);
            case Dispatch.Turns turns -> new Router.Turns(stations.length);
            case Dispatch.Draws draws -> new Router.Draws(setting.servers(), chance);
            case Dispatch.GlobalQueue queue -> new Router.Turns(stations.length);
            case Dispatch.Central central -> new Router.Turns(stations.length);
        };
    }

    /**
     * Runs.
     *
     * @param stop asked now and then; true ends the run
     * @return what was measured; empty if the run was stopped
     */
    public static Optional<Outcome> run(Setting setting, long seed, BooleanSupplier stop) {
        return switch (setting.dispatch()) {
            case Dispatch.GlobalQueue queue -> new SiteQueues(setting, queue, seed).run(stop);
            case Dispatch.Central central -> new SiteQueues(setting, central, seed).run(stop);
            case Dispatch.Dns dns -> new Replication(setting, seed).run(stop);
            case Dispatch.Connections connections -> new Replication(setting, seed).run(stop);
            case Dispatch.Turns turns -> new Replication(setting, seed).run(stop);
            case Dispatch.Draws draws -> new Replication(setting, seed).run(stop);
        };
    }

    /** What a policy draws differs between runs, as all chance does. */
    static Dispatch.Dns ofRun(Dispatch.Dns dns, long seed) {
        return dns.policy() instanceof KSplittable(KSplittable.Split split, long own)
                ? dns.with(new KSplittable(split, own + seed))
                : dns;
    }

    private Optional<Outcome> run(BooleanSupplier stop) {
        RandomGenerator arrivals = chance.arrivals();
        RandomGenerator sizes = chance.sizes();
        Rhythm.Arrivals times = setting.rhythm().begin(setting.rate(), arrivals);
        Network network = new Network(setting);
        Newcomers newcomers = new Newcomers(setting, tally);
        double due = router.due(0);
        double time = 0;
        for (int requests = 1; ; requests++) {
            time = times.after(time);
            if (time >= setting.seconds()) {
                break;
            }
            while (due <= time) {
                if (stop.getAsBoolean()) {
                    return Optional.empty();
                }
                due = router.due(due);
            }
            int from = times.population(population::sample);
            int resolver = perPopulation > 0 ? from * perPopulation + arrivals.nextInt(perPopulation) : from;
            double size = setting.size().draw(sizes);
            int server = router.route(time, from, resolver);
            newcomers.chosen(server, time);
            if (server < 0) {
                tally.lost(time);
            } else {
                if (network.isRemote(from, server) && tally.counts(time)) {
                    tally.remote++;
                }
                stations[server].arrive(time, size, network.delay(from, server, size));
            }
            if (requests == PATIENCE) {
                requests = 0;
                if (stop.getAsBoolean()) {
                    return Optional.empty();
                }
            }
        }
        for (Station station : stations) {
            station.advance(Double.POSITIVE_INFINITY);
        }
        return Optional.of(outcome(newcomers));
    }

    private Outcome outcome(Newcomers newcomers) {
        EnumMap<Metric, Double> values = new EnumMap<>(Metric.class);
        Measured.delays(tally, values);
        values.put(Metric.REMOTE, tally.requests == 0 ? Double.NaN : (double) tally.remote / tally.requests);
        newcomers.measure(values);
        router.measure(values);
        return new Outcome(values, Measured.servers(setting, tally, values));
    }
}
