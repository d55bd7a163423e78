package dev.apportion.cli;

import static dev.apportion.cli.Bounds.MOST;
import static dev.apportion.cli.Bounds.MOST_POPULATIONS;
import static dev.apportion.cli.Bounds.MOST_SECONDS;
import static dev.apportion.cli.Bounds.PERCENT;
import static dev.apportion.cli.Bounds.above;
import static dev.apportion.cli.Bounds.millis;
import static dev.apportion.cli.Bounds.required;
import static dev.apportion.cli.Bounds.whole;
import static dev.apportion.cli.Bounds.within;

import dev.apportion.cli.ScenarioSpec.BurstsSpec;
import dev.apportion.cli.ScenarioSpec.PatternSpec;
import dev.apportion.cli.ScenarioSpec.PopulationSpec;
import dev.apportion.cli.ScenarioSpec.RhythmSpec;
import dev.apportion.cli.ScenarioSpec.TrafficSpec;
import dev.apportion.simulation.Law;
import dev.apportion.simulation.Population;
import dev.apportion.simulation.Rhythm;
import dev.apportion.simulation.Server;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes populations, and how the rate of their requests changes, of what is written. */
final class TrafficReader {

    /** Populations of a log that are named where another is asked for. */
    private static final int NAMES_SHOWN = 5;

    private final ScenarioSpec spec;

    TrafficReader(ScenarioSpec spec) {
        this.spec = spec;
    }

    List<Population> populations(List<Server> servers, Law size, Set<String> sites) throws Refused {
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
            home(each, path, sites);
            String name = each.name() == null ? "population" : each.name();
            for (int i = 1; i <= count; i++) {
                String own = ServerReader.numbered(name, i, count);
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

    /** The populations of a log, with what is written of those that are named. */
    List<Population> populations(Rhythm.Replay replay, Set<String> sites) throws Refused {
        if (spec.traffic() != null) {
            throw new Refused("traffic", "replay gives the rates already; leave out one of the two");
        }
        if (spec.rhythm() != null) {
            throw new Refused("rhythm", "replay gives the times already; leave out one of the two");
        }
        Map<String, Population> named = new HashMap<>();
        List<PopulationSpec> specs = spec.populations() == null ? List.of() : spec.populations();
        for (int p = 0; p < specs.size(); p++) {
            String path = "populations[%d]".formatted(p);
            PopulationSpec each = required(specs.get(p), path);
            String name = required(each.name(), path + ".name");
            if (each.rate() != null || each.count() != null) {
                throw new Refused(
                        each.rate() != null ? path + ".rate" : path + ".count",
                        "replay gives the populations and their rates already; only home and delayMillis can be said");
            }
            if (!replay.log().populations().contains(name)) {
                throw new Refused(
                        path + ".name",
                        "the log has no population \"%s\"; maybe one of %s"
                                .formatted(
                                        name,
                                        replay.log().populations().stream()
                                                .limit(NAMES_SHOWN)
                                                .collect(Collectors.joining(", "))));
            }
            home(each, path, sites);
            double delay = millis(each.delayMillis(), path + ".delayMillis");
            if (named.put(name, new Population(name, 0, Optional.ofNullable(each.home()), delay)) != null) {
                throw new Refused(path + ".name", "two populations have the name \"%s\"".formatted(name));
            }
        }
        List<Population> populations = new ArrayList<>();
        for (int p = 0; p < replay.log().populations().size(); p++) {
            String name = replay.log().populations().get(p);
            Population own = named.getOrDefault(name, new Population(name, 0, Optional.empty(), 0));
            populations.add(new Population(name, replay.log().rate(p) * replay.speedup(), own.home(), own.delay()));
        }
        return populations;
    }

    private static void home(PopulationSpec population, String path, Set<String> sites) throws Refused {
        if (population.home() != null && !sites.contains(population.home())) {
            throw new Refused(
                    path + ".home",
                    "no server is at the site \"%s\"; maybe one of %s"
                            .formatted(
                                    population.home(),
                                    String.join(", ", sites.stream().sorted().toList())));
        }
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

    static Rhythm rhythm(@Nullable RhythmSpec rhythm) throws Refused {
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
}
