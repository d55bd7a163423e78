package dev.apportion.cli;

import static dev.apportion.cli.Bounds.MOST;
import static dev.apportion.cli.Bounds.MOST_SECONDS;
import static dev.apportion.cli.Bounds.PERCENT;
import static dev.apportion.cli.Bounds.above;
import static dev.apportion.cli.Bounds.millis;
import static dev.apportion.cli.Bounds.required;
import static dev.apportion.cli.Bounds.whole;
import static dev.apportion.cli.Bounds.within;

import dev.apportion.cli.ScenarioSpec.LawSpec;
import dev.apportion.cli.ScenarioSpec.NetworkSpec;
import dev.apportion.cli.ScenarioSpec.ParetoSpec;
import dev.apportion.cli.ScenarioSpec.ReplaySpec;
import dev.apportion.cli.ScenarioSpec.ResolversSpec;
import dev.apportion.simulation.ArrivalLog;
import dev.apportion.simulation.Law;
import dev.apportion.simulation.Population;
import dev.apportion.simulation.Resolvers;
import dev.apportion.simulation.Rhythm;
import dev.apportion.simulation.Server;
import dev.apportion.simulation.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes a setting of what is written; everything is bounded. */
final class SettingReader {

    private static final int MOST_RESOLVERS = 10_000_000;
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final double WARM_UP = 0.1;

    private final ScenarioSpec spec;
    private final Logs logs;

    /** Where logs are taken from. */
    @FunctionalInterface
    interface Logs {

        /** Reads a log, whose file is given. */
        ArrivalLog read(ReplaySpec spec) throws Refused, ScenarioException;
    }

    private SettingReader(ScenarioSpec spec, Logs logs) {
        this.spec = spec;
        this.logs = logs;
    }

    /**
     * Reads a setting.
     *
     * @param logs read those that it replays
     * @throws ScenarioException if such a log cannot be read
     */
    static Setting read(ScenarioSpec spec, Logs logs) throws Refused, ScenarioException {
        return new SettingReader(spec, logs).setting();
    }

    private Setting setting() throws Refused, ScenarioException {
        Optional<Rhythm.Replay> replay =
                spec.replay() == null ? Optional.empty() : Optional.of(replay(spec.replay(), logs));
        double seconds = spec.seconds() == null && replay.isPresent()
                ? replay.get().log().seconds() / replay.get().speedup()
                : above(required(spec.seconds(), "seconds"), "seconds", 0, MOST_SECONDS);
        double warmUp = spec.warmUpSeconds() == null
                ? WARM_UP * seconds
                : within(spec.warmUpSeconds(), "warmUpSeconds", 0, seconds);
        if (warmUp >= seconds) {
            throw new Refused("warmUpSeconds", "%s: must be less than seconds, %s".formatted(warmUp, seconds));
        }
        Law size = law(required(required(spec.requests(), "requests").size(), "requests.size"), "requests.size");
        List<Server> servers = ServerReader.read(spec.servers());
        NetworkSpec network = spec.network() == null ? new NetworkSpec(null, null) : spec.network();
        Set<String> sites = servers.stream().map(Server::site).collect(Collectors.toSet());
        List<Population> populations = replay.isPresent()
                ? new TrafficReader(spec).populations(replay.get(), sites)
                : new TrafficReader(spec).populations(servers, size, sites);
        Resolvers resolvers = resolvers(populations.size());
        Setting setting = new Setting(
                servers,
                populations,
                size,
                millis(network.remoteDelayMillis(), "network.remoteDelayMillis"),
                network.bandwidth() == null
                        ? Double.POSITIVE_INFINITY
                        : above(network.bandwidth(), "network.bandwidth", 0, MOST),
                resolvers,
                DispatchReader.read(required(spec.dispatch(), "dispatch"), servers),
                replay.isPresent() ? replay.get() : TrafficReader.rhythm(spec.rhythm()),
                seconds,
                warmUp);
        return spec.newcomerSeconds() == null
                ? setting
                : setting.withNewFor(above(spec.newcomerSeconds(), "newcomerSeconds", 0, MOST_SECONDS));
    }

    private static Rhythm.Replay replay(ReplaySpec replay, Logs logs) throws Refused, ScenarioException {
        required(replay.file(), "replay.file");
        if (replay.prefixLength() != null) {
            whole(replay.prefixLength(), 0, "replay.prefixLength", 0, IPV4_BITS);
        }
        if (replay.prefixLength6() != null) {
            whole(replay.prefixLength6(), 0, "replay.prefixLength6", 0, IPV6_BITS);
        }
        double speedup = replay.speedup() == null ? 1 : above(replay.speedup(), "replay.speedup", 0, MOST);
        return new Rhythm.Replay(logs.read(replay), speedup);
    }

    private Resolvers resolvers(int populations) throws Refused {
        ResolversSpec resolvers = spec.resolvers();
        if (resolvers == null) {
            return new Resolvers(0, List.of());
        }
        int count = whole(resolvers.perPopulation(), 1, "resolvers.perPopulation", 0, MOST_RESOLVERS / populations);
        List<Resolvers.Share> shares = new ArrayList<>();
        double sum = 0;
        Map<String, Double> habits = resolvers.habits() == null ? Map.of() : new TreeMap<>(resolvers.habits());
        for (Map.Entry<String, Double> habit : habits.entrySet()) {
            String path = "resolvers.habits." + habit.getKey();
            Resolvers.Habit known = ScenarioSpec.habit(habit.getKey());
            if (known == null) {
                throw new Refused(
                        path, "there is no such habit; maybe one of Rotates, Shuffles, Sorts, Pins, KeepsLonger");
            }
            double percent = above(required(habit.getValue(), path), path, 0, PERCENT);
            sum += percent;
            shares.add(new Resolvers.Share(known, percent / PERCENT));
        }
        if (sum > PERCENT) {
            throw new Refused("resolvers.habits", "together they are %s percent; at most 100".formatted(sum));
        }
        double least = resolvers.leastTtlSeconds() == null
                ? Resolvers.MINUTE
                : within(resolvers.leastTtlSeconds(), "resolvers.leastTtlSeconds", 0, MOST_SECONDS);
        return new Resolvers(count, shares, least);
    }

    private static Law law(LawSpec law, String path) throws Refused {
        long given = Stream.of(law.fixed(), law.exponential(), law.boundedPareto())
                .filter(Objects::nonNull)
                .count();
        if (given != 1) {
            throw new Refused(path, "exactly one of fixed, exponential and boundedPareto is required");
        }
        if (law.fixed() != null) {
            return new Law.Fixed(above(law.fixed(), path + ".fixed", 0, MOST));
        }
        if (law.exponential() != null) {
            return new Law.Exponential(above(law.exponential(), path + ".exponential", 0, MOST));
        }
        ParetoSpec pareto = required(law.boundedPareto(), path);
        String place = path + ".boundedPareto";
        double least = above(required(pareto.least(), place + ".least"), place + ".least", 0, MOST);
        return new Law.BoundedPareto(
                above(required(pareto.shape(), place + ".shape"), place + ".shape", 0, PERCENT),
                least,
                above(required(pareto.most(), place + ".most"), place + ".most", least, MOST));
    }
}
