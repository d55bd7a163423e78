package dev.apportion.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Tolerance;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.cli.ScenarioSpec.BurstsSpec;
import dev.apportion.cli.ScenarioSpec.ConnectionsSpec;
import dev.apportion.cli.ScenarioSpec.DispatchSpec;
import dev.apportion.cli.ScenarioSpec.DnsSpec;
import dev.apportion.cli.ScenarioSpec.GlobalQueueSpec;
import dev.apportion.cli.ScenarioSpec.LawSpec;
import dev.apportion.cli.ScenarioSpec.NetworkSpec;
import dev.apportion.cli.ScenarioSpec.ParetoSpec;
import dev.apportion.cli.ScenarioSpec.PatternSpec;
import dev.apportion.cli.ScenarioSpec.PopulationSpec;
import dev.apportion.cli.ScenarioSpec.ResolversSpec;
import dev.apportion.cli.ScenarioSpec.RhythmSpec;
import dev.apportion.cli.ScenarioSpec.ServerSpec;
import dev.apportion.cli.ScenarioSpec.SlowStartSpec;
import dev.apportion.cli.ScenarioSpec.TrafficSpec;
import dev.apportion.reconcile.Policies;
import dev.apportion.records.Answers;
import dev.apportion.simulation.Dispatch;
import dev.apportion.simulation.Law;
import dev.apportion.simulation.Population;
import dev.apportion.simulation.Resolvers;
import dev.apportion.simulation.Rhythm;
import dev.apportion.simulation.Server;
import dev.apportion.simulation.Setting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes a setting of what is written; everything is bounded. */
final class SettingReader {

    private static final double MILLIS = 1000;
    private static final double PERCENT = 100;

    /** A year. */
    private static final double MOST_SECONDS = 366 * 86400.0;

    private static final double MOST = 1e9;
    private static final int MOST_SERVERS = 10_000;
    private static final int MOST_SLOTS = 1_000_000;
    private static final int MOST_POPULATIONS = 200_000;
    private static final int MOST_RESOLVERS = 10_000_000;
    private static final double WARM_UP = 0.1;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ScenarioSpec spec;

    /** Why it is no setting. */
    static final class Refused extends Exception {
        private final String path;
        private final String reason;

        Refused(String path, String reason) {
            super(path + ": " + reason);
            this.path = path;
            this.reason = reason;
        }

        /** Where, as in {@code populations[0].rate}. */
        String path() {
            return path;
        }

        String reason() {
            return reason;
        }
    }

    private SettingReader(ScenarioSpec spec) {
        this.spec = spec;
    }

    static Setting read(ScenarioSpec spec) throws Refused {
        return new SettingReader(spec).setting();
    }

    private Setting setting() throws Refused {
        double seconds = above(required(spec.seconds(), "seconds"), "seconds", 0, MOST_SECONDS);
        double warmUp = spec.warmUpSeconds() == null
                ? WARM_UP * seconds
                : within(spec.warmUpSeconds(), "warmUpSeconds", 0, seconds);
        if (warmUp >= seconds) {
            throw new Refused("warmUpSeconds", "%s: must be less than seconds, %s".formatted(warmUp, seconds));
        }
        Law size = law(required(required(spec.requests(), "requests").size(), "requests.size"), "requests.size");
        List<Server> servers = servers();
        NetworkSpec network = spec.network() == null ? new NetworkSpec(null, null) : spec.network();
        Set<String> sites = servers.stream().map(Server::site).collect(Collectors.toSet());
        List<Population> populations = populations(servers, size, sites);
        Resolvers resolvers = resolvers(populations.size());
        return new Setting(
                servers,
                populations,
                size,
                millis(network.remoteDelayMillis(), "network.remoteDelayMillis"),
                network.bandwidth() == null
                        ? Double.POSITIVE_INFINITY
                        : above(network.bandwidth(), "network.bandwidth", 0, MOST),
                resolvers,
                dispatch(required(spec.dispatch(), "dispatch"), servers),
                rhythm(spec.rhythm()),
                seconds,
                warmUp);
    }

    private List<Server> servers() throws Refused {
        List<ServerSpec> specs = required(spec.servers(), "servers");
        List<Server> servers = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int s = 0; s < specs.size(); s++) {
            String path = "servers[%d]".formatted(s);
            ServerSpec each = required(specs.get(s), path);
            int count = whole(each.count(), 1, path + ".count", 1, MOST_SERVERS);
            String name = each.name() == null ? "server" : each.name();
            String site = each.site() == null ? "main" : each.site();
            double speed = each.speed() == null ? 1 : above(each.speed(), path + ".speed", 0, MOST);
            int slots = whole(each.slots(), 1, path + ".slots", 1, MOST_SLOTS);
            Server.Discipline discipline = each.discipline() == ScenarioSpec.Discipline.Sharing
                    ? Server.Discipline.SHARING
                    : Server.Discipline.FIFO;
            for (int i = 1; i <= count; i++) {
                String own = numbered(name, i, count);
                if (!names.add(own)) {
                    throw new Refused(path + ".name", "two servers have the name \"%s\"".formatted(own));
                }
                servers.add(new Server(
                        own, site, speed, slots, discipline, absence(each, path), slowStart(each.slowStart(), path)));
            }
        }
        if (servers.isEmpty() || servers.size() > MOST_SERVERS) {
            throw new Refused(
                    "servers", "%d: there must be from 1 to %d of them".formatted(servers.size(), MOST_SERVERS));
        }
        return servers;
    }

    /** Numbers that sort as they count. */
    private static String numbered(String name, int number, int count) {
        int digits = Integer.toString(count).length();
        return count == 1 ? name : name + "-" + ("%0" + digits + "d").formatted(number);
    }

    private static Optional<Server.Absence> absence(ServerSpec server, String path) throws Refused {
        if (server.absentFrom() == null && server.absentUntil() == null) {
            return Optional.empty();
        }
        double from =
                server.absentFrom() == null ? 0 : within(server.absentFrom(), path + ".absentFrom", 0, MOST_SECONDS);
        double until = server.absentUntil() == null
                ? Double.POSITIVE_INFINITY
                : above(server.absentUntil(), path + ".absentUntil", from, MOST_SECONDS);
        return Optional.of(new Server.Absence(from, until));
    }

    private static Optional<Server.SlowStart> slowStart(@Nullable SlowStartSpec start, String path) throws Refused {
        if (start == null) {
            return Optional.empty();
        }
        String place = path + ".slowStart";
        return Optional.of(new Server.SlowStart(
                above(required(start.seconds(), place + ".seconds"), place + ".seconds", 0, MOST_SECONDS),
                above(required(start.percent(), place + ".percent"), place + ".percent", 0, PERCENT) / PERCENT));
    }

    private List<Population> populations(List<Server> servers, Law size, Set<String> sites) throws Refused {
        List<PopulationSpec> specs = required(spec.populations(), "populations");
        List<Population> populations = new ArrayList<>();
        Set<String> names = new HashSet<>();
        boolean given = spec.traffic() != null;
        for (int p = 0; p < specs.size(); p++) {
            String path = "populations[%d]".formatted(p);
            PopulationSpec each = required(specs.get(p), path);
            int count = whole(each.count(), 1, path + ".count", 1, MOST_POPULATIONS);
            if (given == (each.rate() != null)) {
                throw new Refused(
                        path + ".rate",
                        given
                                ? "traffic gives the rates already; leave out one of the two"
                                : "a rate is required, or traffic for all of them");
            }
            double rate = each.rate() == null ? 1 : within(each.rate(), path + ".rate", 0, MOST);
            double delay = millis(each.delayMillis(), path + ".delayMillis");
            if (each.home() != null && !sites.contains(each.home())) {
                throw new Refused(
                        path + ".home",
                        "no server is at the site \"%s\"; maybe one of %s"
                                .formatted(
                                        each.home(),
                                        String.join(
                                                ", ", sites.stream().sorted().toList())));
            }
            String name = each.name() == null ? "population" : each.name();
            for (int i = 1; i <= count; i++) {
                String own = numbered(name, i, count);
                if (!names.add(own)) {
                    throw new Refused(path + ".name", "two populations have the name \"%s\"".formatted(own));
                }
                populations.add(new Population(own, rate, Optional.ofNullable(each.home()), delay));
            }
        }
        if (populations.isEmpty() || populations.size() > MOST_POPULATIONS) {
            throw new Refused(
                    "populations",
                    "%d: there must be from 1 to %d of them".formatted(populations.size(), MOST_POPULATIONS));
        }
        List<Population> rated =
                spec.traffic() == null ? populations : spread(spec.traffic(), populations, servers, size);
        if (!(rated.stream().mapToDouble(Population::rate).sum() > 0)) {
            throw new Refused("populations", "some rate must be above 0");
        }
        return rated;
    }

    private static List<Population> spread(
            TrafficSpec traffic, List<Population> populations, List<Server> servers, Law size) throws Refused {
        if ((traffic.utilisation() == null) == (traffic.rate() == null)) {
            throw new Refused("traffic", "exactly one of utilisation and rate is required");
        }
        double capacity = servers.stream()
                .mapToDouble(server -> server.capacity(size.mean()))
                .sum();
        double rate = traffic.rate() == null
                ? above(required(traffic.utilisation(), "traffic.utilisation"), "traffic.utilisation", 0, PERCENT)
                        * capacity
                : above(traffic.rate(), "traffic.rate", 0, MOST);
        double[] parts = parts(traffic.pattern(), populations.size());
        List<Population> spread = new ArrayList<>();
        for (int p = 0; p < parts.length; p++) {
            Population each = populations.get(p);
            spread.add(new Population(each.name(), rate * parts[p], each.home(), each.delay()));
        }
        return spread;
    }

    private static double[] parts(@Nullable PatternSpec pattern, int count) throws Refused {
        double[] parts = new double[count];
        if (pattern != null && pattern.zipf() != null && pattern.oneHotPercent() != null) {
            throw new Refused("traffic.pattern", "at most one of zipf and oneHotPercent");
        }
        if (pattern != null && pattern.oneHotPercent() != null) {
            double hot = above(pattern.oneHotPercent(), "traffic.pattern.oneHotPercent", 0, PERCENT) / PERCENT;
            Arrays.fill(parts, count > 1 ? (1 - hot) / (count - 1) : 1);
            parts[0] = count > 1 ? hot : 1;
            return parts;
        }
        double exponent = pattern == null || pattern.zipf() == null
                ? 0
                : within(pattern.zipf(), "traffic.pattern.zipf", 0, PERCENT);
        double sum = 0;
        for (int p = 0; p < count; p++) {
            parts[p] = Math.pow(p + 1.0, -exponent);
            sum += parts[p];
        }
        for (int p = 0; p < count; p++) {
            parts[p] /= sum;
        }
        return parts;
    }

    private static Rhythm rhythm(@Nullable RhythmSpec rhythm) throws Refused {
        if (rhythm == null || (rhythm.diurnal() == null && rhythm.bursts() == null)) {
            return new Rhythm.Steady();
        }
        if (rhythm.diurnal() != null && rhythm.bursts() != null) {
            throw new Refused("rhythm", "at most one of diurnal and bursts");
        }
        if (rhythm.diurnal() != null) {
            String path = "rhythm.diurnal.";
            return new Rhythm.Diurnal(
                    above(
                            required(rhythm.diurnal().periodSeconds(), path + "periodSeconds"),
                            path + "periodSeconds",
                            0,
                            MOST_SECONDS),
                    within(required(rhythm.diurnal().percent(), path + "percent"), path + "percent", 0, PERCENT)
                            / PERCENT);
        }
        return bursts(required(rhythm.bursts(), "rhythm.bursts"));
    }

    private static Rhythm bursts(BurstsSpec bursts) throws Refused {
        String path = "rhythm.bursts.";
        double on = above(required(bursts.onSeconds(), path + "onSeconds"), path + "onSeconds", 0, MOST_SECONDS);
        double off = above(required(bursts.offSeconds(), path + "offSeconds"), path + "offSeconds", 0, MOST_SECONDS);
        double most = (on + off) / on;
        return new Rhythm.Bursts(within(required(bursts.times(), path + "times"), path + "times", 1, most), on, off);
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
                throw new Refused(path, "there is no such habit; maybe one of Rotates, Sorts, Pins, KeepsLonger");
            }
            double percent = above(required(habit.getValue(), path), path, 0, PERCENT);
            sum += percent;
            shares.add(new Resolvers.Share(known, percent / PERCENT));
        }
        if (sum > PERCENT) {
            throw new Refused("resolvers.habits", "together they are %s percent; at most 100".formatted(sum));
        }
        return new Resolvers(count, shares);
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

    private Dispatch dispatch(DispatchSpec dispatch, List<Server> servers) throws Refused {
        long given = Stream.of(
                        dispatch.dns(),
                        dispatch.turns(),
                        dispatch.draws(),
                        dispatch.connections(),
                        dispatch.globalQueue(),
                        dispatch.central())
                .filter(Objects::nonNull)
                .count();
        if (given != 1) {
            throw new Refused(
                    "dispatch", "exactly one of dns, turns, draws, connections, globalQueue and central is required");
        }
        if (dispatch.dns() != null) {
            return dns(dispatch.dns());
        }
        if (dispatch.connections() != null) {
            ConnectionsSpec connections = dispatch.connections();
            Integer most = connections.maxContinuousAllocations();
            return new Dispatch.Connections(
                    most == null
                            ? OptionalInt.empty()
                            : OptionalInt.of(
                                    whole(most, 1, "dispatch.connections.maxContinuousAllocations", 1, MOST_SLOTS)),
                    connections.round() == null ? LeastConnectionsRun.Round.ALLOCATION : connections.round().round);
        }
        if (dispatch.globalQueue() != null || dispatch.central() != null) {
            return sites(dispatch, servers);
        }
        return dispatch.turns() != null ? new Dispatch.Turns() : new Dispatch.Draws();
    }

    private static Dispatch sites(DispatchSpec dispatch, List<Server> servers) throws Refused {
        for (int i = 0; i < servers.size(); i++) {
            Server server = servers.get(i);
            if (server.speed() != servers.getFirst().speed()
                    || server.discipline() != Server.Discipline.FIFO
                    || server.absence().isPresent()
                    || server.slowStart().isPresent()) {
                throw new Refused(
                        "dispatch",
                        "globalQueue and central take servers of one speed that are FIFO and always there; %s is not"
                                .formatted(server.name()));
            }
        }
        GlobalQueueSpec queue = dispatch.globalQueue();
        if (queue == null) {
            return new Dispatch.Central();
        }
        double budget = queue.linkBudget() == null
                ? Double.POSITIVE_INFINITY
                : within(queue.linkBudget(), "dispatch.globalQueue.linkBudget", 0, MOST);
        return new Dispatch.GlobalQueue(budget, Boolean.TRUE.equals(queue.reclaim()));
    }

    private static Dispatch dns(DnsSpec dns) throws Refused {
        String path = "dispatch.dns.";
        return new Dispatch.Dns(
                policy(dns.policy(), path + "policy"),
                dns.answers() == null ? Answers.Single : dns.answers(),
                whole(dns.maxReplicas(), MOST_SERVERS, path + "maxReplicas", 1, MOST_SERVERS),
                dns.ttlSeconds() == null ? 15 : within(dns.ttlSeconds(), path + "ttlSeconds", 0, MOST_SECONDS),
                dns.replanSeconds() == null
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(within(dns.replanSeconds(), path + "replanSeconds", 0.1, MOST_SECONDS)),
                dns.detectSeconds() == null ? 0 : within(dns.detectSeconds(), path + "detectSeconds", 0, MOST_SECONDS),
                new Tolerance(
                        percent(dns.actAbovePercent(), 10, path + "actAbovePercent"),
                        percent(dns.repairToPercent(), 2, path + "repairToPercent"),
                        1));
    }

    /** The policy as a ReplicaPool has it, with the same bounds. */
    private static Policy policy(@Nullable JsonNode policy, String path) throws Refused {
        if (policy == null) {
            return Policies.of(ReplicaPoolSpec.Policy.DEFAULT);
        }
        ObjectNode pool = JSON.createObjectNode();
        ObjectNode spec = pool.putObject("spec");
        ObjectNode site = spec.putArray("sites").addObject().put("name", "main");
        site.putArray("endpoints").addObject().put("name", "any").put("address", "192.0.2.1");
        spec.set("policy", policy);
        try {
            JSON.treeToValue(policy, ReplicaPoolSpec.Policy.class);
            ReplicaPool read = JSON.treeToValue(pool, ReplicaPool.class);
            ReplicaPoolSpec known = read.getSpec();
            if (known == null) {
                throw new Refused(path, String.valueOf(read.unreadable()));
            }
            return Policies.of(known.policy());
        } catch (UnrecognizedPropertyException e) {
            throw new Refused(
                    path + "." + e.getPropertyName(),
                    "there is no such field; maybe one of %s"
                            .formatted(e.getKnownPropertyIds().stream()
                                    .map(String::valueOf)
                                    .sorted()
                                    .collect(Collectors.joining(", "))));
        } catch (JsonProcessingException e) {
            throw new Refused(path, e.getOriginalMessage());
        }
    }

    private static <T> T required(@Nullable T value, String path) throws Refused {
        if (value == null) {
            throw new Refused(path, "is required");
        }
        return value;
    }

    private static double percent(@Nullable Double value, double otherwise, String path) throws Refused {
        return (value == null ? otherwise : within(value, path, 0, MOST)) / PERCENT;
    }

    private static double millis(@Nullable Double value, String path) throws Refused {
        return value == null ? 0 : within(value, path, 0, MOST) / MILLIS;
    }

    private static double within(double value, String path, double least, double most) throws Refused {
        if (!(value >= least && value <= most)) {
            throw new Refused(path, "%s: must be from %s to %s".formatted(text(value), text(least), text(most)));
        }
        return value;
    }

    private static double above(double value, String path, double bound, double most) throws Refused {
        if (!(value > bound && value <= most)) {
            throw new Refused(path, "%s: must be above %s, at most %s".formatted(text(value), text(bound), text(most)));
        }
        return value;
    }

    private static int whole(@Nullable Integer value, int otherwise, String path, int least, int most) throws Refused {
        int given = value == null ? otherwise : value;
        if (given < least || given > most) {
            throw new Refused(path, "%d: must be from %d to %d".formatted(given, least, most));
        }
        return given;
    }

    private static String text(double value) {
        return value == Math.rint(value) && Math.abs(value) < MOST * MILLIS
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
