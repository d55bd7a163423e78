package dev.apportion.simulation;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * All that one run needs but its seed.
 *
 * @param servers in the order of their names
 * @param populations with unique names
 * @param size the law of the sizes of requests
 * @param remoteDelay what the network adds for a server at another site than the population's home, in seconds
 * @param bandwidth the size that the network carries in a second for one request; infinite if it takes no time
 * @param rhythm how the rate of arrivals changes with time
 * @param seconds when the last request comes; the measurement begins after {@code warmUp}
 * @param warmUp the seconds at the begin that do not count
 * @param newFor for how many seconds a server that comes is a newcomer
 */
public record Setting(
        List<Server> servers,
        List<Population> populations,
        Law size,
        double remoteDelay,
        double bandwidth,
        Resolvers resolvers,
        Dispatch dispatch,
        Rhythm rhythm,
        double seconds,
        double warmUp,
        double newFor) {

    /** By default a newcomer is new for this part of the time that a request of mean size takes. */
    private static final double NEW = 0.25;

    public Setting {
        servers = List.copyOf(servers);
        populations = List.copyOf(populations);
    }

    /** A setting whose newcomers are new for a quarter of what a request of mean size takes. */
    public Setting(
            List<Server> servers,
            List<Population> populations,
            Law size,
            double remoteDelay,
            double bandwidth,
            Resolvers resolvers,
            Dispatch dispatch,
            Rhythm rhythm,
            double seconds,
            double warmUp) {
        this(
                servers,
                populations,
                size,
                remoteDelay,
                bandwidth,
                resolvers,
                dispatch,
                rhythm,
                seconds,
                warmUp,
                NEW * size.mean());
    }

    /** A setting of which the rate of arrivals is always the same. */
    public Setting(
            List<Server> servers,
            List<Population> populations,
            Law size,
            double remoteDelay,
            double bandwidth,
            Resolvers resolvers,
            Dispatch dispatch,
            double seconds,
            double warmUp) {
        this(
                servers,
                populations,
                size,
                remoteDelay,
                bandwidth,
                resolvers,
                dispatch,
                new Rhythm.Steady(),
                seconds,
                warmUp);
    }

    /** The same with newcomers that are new for other seconds. */
    public Setting withNewFor(double other) {
        return new Setting(
                servers,
                populations,
                size,
                remoteDelay,
                bandwidth,
                resolvers,
                dispatch,
                rhythm,
                seconds,
                warmUp,
                other);
    }

    /** The requests/s of all populations. */
    public double rate() {
        return populations.stream().mapToDouble(Population::rate).sum();
    }

    /** The requests that a run will have, about. */
    public double requests() {
        return rate() * seconds;
    }

    /** The streams that a run will plan, all plans together, about. */
    public double planned() {
        return dispatch instanceof Dispatch.Dns dns && dns.replan().isPresent()
                ? seconds / dns.replan().getAsDouble() * (populations.size() + servers.size())
                : 0;
    }

    /** The part of all servers that is busy on average, if all are there and the work is spread as they bear it. */
    public double utilisation() {
        return rate()
                / servers.stream()
                        .mapToDouble(server -> server.capacity(size.mean()))
                        .sum();
    }

    /** The servers that are there. */
    int[] present(double time) {
        return IntStream.range(0, servers.size())
                .filter(i -> servers.get(i)
                        .absence()
                        .map(absence -> !absence.covers(time))
                        .orElse(true))
                .toArray();
    }

    /** When the next server comes or goes, and it is known, so many seconds later. */
    double nextChange(double time, double detect) {
        return servers.stream()
                .flatMap(server -> server.absence().stream())
                .flatMapToDouble(absence -> DoubleStream.of(absence.from() + detect, absence.to() + detect))
                .filter(change -> change > time)
                .min()
                .orElse(Double.POSITIVE_INFINITY);
    }
}
