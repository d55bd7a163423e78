package dev.apportion.simulation;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Sample;
import dev.apportion.simulation.Outcome.Serving;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
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

    /** The time between two samples of the load average, in seconds, and the time over which it is averaged (Linux). */
    private static final double SAMPLE = 5;

    private static final double LOAD_AVERAGE = 60;

    private final Setting setting;
    private final Chance chance;
    private final Tally tally;
    private final Station[] stations;
    private final Router router;
    private final SharedStateDiscreteSampler population;
    private final int perPopulation;

    /** What decides where a request goes. */
    private interface Router {

        /** The server; -1 for none. */
        int route(double time, int population, int resolver);

        /** Does what is due, and says when something is due again. */
        default double due(double time) {
            return Double.POSITIVE_INFINITY;
        }

        default void measure(Map<Metric, Double> values) {}
    }

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
            case Dispatch.Dns dns -> new ByDns(ofRun(dns, seed));
            case Dispatch.Connections connections -> new ByConnections(connections);
            case Dispatch.Turns turns -> new ByTurns();
            case Dispatch.Draws draws -> new ByDraws();
            case Dispatch.GlobalQueue queue -> new ByTurns();
            case Dispatch.Central central -> new ByTurns();
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
    private static Dispatch.Dns ofRun(Dispatch.Dns dns, long seed) {
        return dns.policy() instanceof KSplittable(KSplittable.Split split, long own)
                ? new Dispatch.Dns(
                        new KSplittable(split, own + seed),
                        dns.answers(),
                        dns.maxReplicas(),
                        dns.ttl(),
                        dns.replan(),
                        dns.detect(),
                        dns.tolerance())
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
                due = router.due(due);
            }
            int from = population.sample();
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

    private final class ByTurns implements Router {
        private int last = -1;

        @Override
        public int route(double time, int from, int resolver) {
            last = last + 1 < stations.length ? last + 1 : 0;
            return last;
        }
    }

    private final class ByDraws implements Router {
        private final SharedStateDiscreteSampler server = AliasMethodDiscreteSampler.of(
                (UniformRandomProvider) chance.answers()::nextLong,
                setting.servers().stream().mapToDouble(each -> each.capacity(1)).toArray());

        @Override
        public int route(double time, int from, int resolver) {
            return server.sample();
        }
    }

    /** The shipping scheduler, whose connections close when requests end; it begins anew when a server comes or goes. */
    private final class ByConnections implements Router {
        private final Dispatch.Connections connections;
        private int[] there = new int[0];
        private LeastConnectionsRun run;

        ByConnections(Dispatch.Connections connections) {
            this.connections = connections;
            run = begin(0);
        }

        private LeastConnectionsRun begin(double time) {
            there = present(setting, time);
            return new LeastConnectionsRun(
                    IntStream.of(there)
                            .mapToDouble(i -> setting.servers().get(i).capacity(1))
                            .toArray(),
                    IntStream.of(there).mapToDouble(i -> stations[i].present()).toArray(),
                    connections.maxContinuousAllocations(),
                    connections.round());
        }

        @Override
        public int route(double time, int from, int resolver) {
            if (there.length == 0) {
                return -1;
            }
            for (int p = 0; p < there.length; p++) {
                Station station = stations[there[p]];
                station.advance(time);
                double closed = run.connections(p) - station.present();
                if (closed > 0) {
                    run.close(p, closed);
                }
            }
            return there[run.allocate()];
        }

        @Override
        public double due(double time) {
            if (time > 0) {
                for (Station station : stations) {
                    station.advance(time);
                }
                run = begin(time);
            }
            return nextChange(setting, time, 0);
        }
    }

    /** The servers that are there. */
    private static int[] present(Setting setting, double time) {
        return IntStream.range(0, setting.servers().size())
                .filter(i -> setting.servers()
                        .get(i)
                        .absence()
                        .map(absence -> !absence.covers(time))
                        .orElse(true))
                .toArray();
    }

    /** When the next server comes or goes, and it is known. */
    private static double nextChange(Setting setting, double time, double detect) {
        return setting.servers().stream()
                .flatMap(server -> server.absence().stream())
                .flatMapToDouble(absence -> DoubleStream.of(absence.from() + detect, absence.to() + detect))
                .filter(change -> change > time)
                .min()
                .orElse(Double.POSITIVE_INFINITY);
    }

    private final class ByDns implements Router {
        private final Dispatch.Dns dns;
        private final Answering answering;
        private final Resolving resolving;
        private final double[] loadAverage = new double[stations.length];
        private final long[] routed = new long[stations.length];
        private double nextSample;
        private double nextPlan;
        private double nextChange;

        ByDns(Dispatch.Dns dns) {
            this.dns = dns;
            answering = new Answering(setting, dns);
            resolving = new Resolving(setting, dns, answering, chance.answers());
            nextSample = dns.replan().isPresent() ? SAMPLE : Double.POSITIVE_INFINITY;
            nextPlan = dns.replan().orElse(Double.POSITIVE_INFINITY);
            nextChange = nextChange(setting, 0, dns.detect());
            plan(0, Occasion.INTENT);
        }

        private void plan(double time, Occasion occasion) {
            List<Sample> samples = new ArrayList<>();
            for (int i = 0; i < stations.length; i++) {
                samples.add(time > 0 && dns.replan().isPresent() ? sample(i) : Sample.NONE);
            }
            double seen = Math.max(0, time - dns.detect());
            answering.plan(IntStream.of(present(setting, seen)).boxed().toList(), samples, occasion);
        }

        /** Each request is a user of its own; its connection lasts until it is served. */
        private Sample sample(int i) {
            double present = stations[i].present();
            OptionalDouble known = OptionalDouble.of(present);
            return new Sample(
                    OptionalDouble.of(routed[i] / dns.replan().orElse(1)),
                    known,
                    known,
                    known,
                    known,
                    OptionalDouble.of(loadAverage[i]));
        }

        @Override
        public int route(double time, int from, int resolver) {
            int server = resolving.ask(time, resolver);
            if (server >= 0) {
                routed[server]++;
            }
            return server;
        }

        @Override
        public double due(double time) {
            if (time >= nextSample) {
                double keep = Math.exp(-SAMPLE / LOAD_AVERAGE);
                for (int i = 0; i < stations.length; i++) {
                    stations[i].advance(time);
                    double perSlot = (double) stations[i].present()
                            / setting.servers().get(i).slots();
                    loadAverage[i] = keep * loadAverage[i] + (1 - keep) * perSlot;
                }
                nextSample += SAMPLE;
            }
            if (time >= nextChange) {
                plan(time, Occasion.INTENT);
                leave(time);
                nextChange = nextChange(setting, time, dns.detect());
            }
            if (time >= nextPlan) {
                plan(time, Occasion.DRIFT);
                Arrays.fill(routed, 0);
                nextPlan += dns.replan().orElse(Double.POSITIVE_INFINITY);
            }
            return Math.min(nextSample, Math.min(nextPlan, nextChange));
        }

        private void leave(double time) {
            double seen = Math.max(0, time - dns.detect());
            for (int i = 0; i < stations.length; i++) {
                Optional<Server.Absence> absence = setting.servers().get(i).absence();
                if (absence.isPresent() && absence.get().covers(seen)) {
                    resolving.gone(i);
                }
            }
        }

        @Override
        public void measure(Map<Metric, Double> values) {
            values.put(Metric.MAKESPAN, answering.makespan);
            values.put(Metric.GAP, answering.gap);
            values.put(Metric.COPIES, answering.copies);
            values.put(Metric.MOVED, answering.moved);
            values.put(Metric.CACHED, resolving.asked == 0 ? Double.NaN : (double) resolving.cached / resolving.asked);
        }
    }

    /** What the network adds. */
    private static final class Network {
        private final double bandwidth;
        private final double remoteDelay;
        private final double[] delay;
        private final boolean[][] remote;

        Network(Setting setting) {
            bandwidth = setting.bandwidth();
            remoteDelay = setting.remoteDelay();
            delay = setting.populations().stream()
                    .mapToDouble(Population::delay)
                    .toArray();
            boolean homes =
                    setting.populations().stream().anyMatch(each -> each.home().isPresent());
            remote = new boolean[homes ? delay.length : 0][];
            for (int p = 0; p < remote.length; p++) {
                Optional<String> home = setting.populations().get(p).home();
                remote[p] = new boolean[setting.servers().size()];
                for (int i = 0; i < remote[p].length; i++) {
                    remote[p][i] = home.isPresent()
                            && !home.get().equals(setting.servers().get(i).site());
                }
            }
        }

        boolean isRemote(int population, int server) {
            return remote.length > 0 && remote[population][server];
        }

        double delay(int population, int server, double size) {
            return delay[population] + size / bandwidth + (isRemote(population, server) ? remoteDelay : 0);
        }
    }

    /** What servers get in their first seconds: a quarter of what a request of mean size takes. */
    private static final class Newcomers {
        private static final double NEW = 0.25;

        private final Tally tally;
        private final double[] came;
        private final boolean any;
        private long all;
        private long chosen;
        private int last = -1;
        private long inARow;
        private long longest;

        Newcomers(Setting setting, Tally tally) {
            this.tally = tally;
            came = setting.servers().stream()
                    .mapToDouble(
                            server -> server.absence().map(Server.Absence::to).orElse(Double.POSITIVE_INFINITY))
                    .toArray();
            any = Arrays.stream(came).anyMatch(time -> time < setting.seconds());
            if (any) {
                tally.newcomers(came, NEW * setting.size().mean());
            }
        }

        void chosen(int server, double time) {
            if (!any || server < 0) {
                return;
            }
            inARow = server == last ? inARow + 1 : 1;
            last = server;
            boolean isNew = tally.isNew(server, time);
            boolean someNew = isNew;
            for (int i = 0; i < came.length && !someNew; i++) {
                someNew = tally.isNew(i, time);
            }
            all += someNew ? 1 : 0;
            if (isNew) {
                chosen++;
                longest = Math.max(longest, inARow);
            }
        }

        void measure(Map<Metric, Double> values) {
            if (any) {
                values.put(Metric.NEWCOMER_SHARE, all == 0 ? Double.NaN : (double) chosen / all);
                values.put(Metric.NEWCOMER_RUN, (double) longest);
                values.put(
                        Metric.NEWCOMER_DELAY, tally.newServed == 0 ? Double.NaN : tally.newDelaySum / tally.newServed);
            }
        }
    }

    /** What a tally says. */
    static final class Measured {
        private static final double MEDIAN = 0.5;
        private static final double MOST = 0.95;
        private static final double NEARLY_ALL = 0.99;

        private Measured() {}

        static void delays(Tally tally, Map<Metric, Double> values) {
            values.put(Metric.REQUESTS, (double) tally.requests);
            values.put(Metric.DELAY, tally.mean());
            values.put(Metric.DELAY_P50, tally.quantile(MEDIAN));
            values.put(Metric.DELAY_P95, tally.quantile(MOST));
            values.put(Metric.DELAY_P99, tally.quantile(NEARLY_ALL));
            values.put(Metric.DELAY_MAX, tally.requests == 0 ? Double.NaN : tally.max);
            values.put(Metric.WAIT, tally.meanWait());
            values.put(Metric.LOST, (double) tally.lost / (tally.lost + tally.requests));
        }

        static List<Serving> servers(Setting setting, Tally tally, Map<Metric, Double> values) {
            double measured = setting.seconds() - setting.warmUp();
            double[] shares = tally.shares();
            List<Serving> servers = new ArrayList<>();
            double sum = 0;
            double squares = 0;
            double most = 0;
            for (int i = 0; i < shares.length; i++) {
                Server server = setting.servers().get(i);
                double utilisation = tally.workSum[i] / (measured * server.slots());
                servers.add(new Serving(server.name(), shares[i], utilisation, tally.delaySum[i] / tally.served[i]));
                sum += utilisation;
                squares += utilisation * utilisation;
                most = Math.max(most, utilisation);
            }
            double mean = sum / shares.length;
            values.put(Metric.IMBALANCE, most / mean);
            values.put(Metric.LOAD_VARIATION, Math.sqrt(Math.max(0, squares / shares.length - mean * mean)) / mean);
            return servers;
        }
    }
}
