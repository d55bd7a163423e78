package dev.apportion.simulation;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import dev.apportion.allocation.Tolerance;
import dev.apportion.records.Answers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** Settings for tests. */
final class Settings {

    static final Tolerance TIGHT = new Tolerance(0.1, 0.02, 1);

    private Settings() {}

    /** Servers of one queue each, whose requests are drawn for them: so many independent queues of one kind. */
    static Setting queues(
            int count, int slots, Server.Discipline discipline, Law size, double utilisation, double seconds) {
        List<Server> servers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            servers.add(new Server("s" + i, "here", 1, slots, discipline));
        }
        double rate = utilisation * count * slots / size.mean();
        return new Setting(
                servers,
                List.of(new Population("all", rate, Optional.empty(), 0)),
                size,
                0,
                Double.POSITIVE_INFINITY,
                new Resolvers(0, List.of()),
                new Dispatch.Draws(),
                seconds,
                seconds / 20);
    }

    /** The published experiment: many streams of Zipf rates, ten identical servers, resolvers that cache. */
    static Setting kSplittable(KSplittable.Split split, int k, double utilisation, double seconds) {
        int streams = 50;
        double exponent = 0.8;
        Law size = new Law.Exponential(0.01);
        List<Server> servers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            servers.add(new Server("s" + i, "here", 1, 1, Server.Discipline.FIFO));
        }
        double sum = 0;
        for (int j = 1; j <= streams; j++) {
            sum += Math.pow(j, -exponent);
        }
        List<Population> populations = new ArrayList<>();
        for (int j = 1; j <= streams; j++) {
            double rate = utilisation * 10 / size.mean() * Math.pow(j, -exponent) / sum;
            populations.add(new Population("p" + j, rate, Optional.empty(), 0.02));
        }
        return new Setting(
                servers,
                populations,
                size,
                0,
                Double.POSITIVE_INFINITY,
                new Resolvers(20, List.of()),
                new Dispatch.Dns(new KSplittable(split, 1), Answers.Single, k, 15, OptionalDouble.empty(), 0, TIGHT),
                seconds,
                seconds / 20);
    }

    static Setting with(Setting setting, Dispatch dispatch) {
        return new Setting(
                setting.servers(),
                setting.populations(),
                setting.size(),
                setting.remoteDelay(),
                setting.bandwidth(),
                setting.resolvers(),
                dispatch,
                setting.seconds(),
                setting.warmUp());
    }

    static Dispatch.Connections leastConnections(int limit) {
        return new Dispatch.Connections(limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit), Round.ALLOCATION);
    }
}
