package dev.apportion.simulation;

import dev.apportion.records.Answers;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** The resolvers at work: each keeps the answer that it was given, and some do other things with it. */
final class Resolving {

    private final Answering answering;
    private final RandomGenerator random;
    private final boolean list;
    private final int perPopulation;
    private final Resolvers.Habit[] habits;
    private final boolean honest;
    private final double ttl;
    private final double leastTtl;
    private final double[] expiry;
    private final int[] server;

    /** The servers of a list, and which of them is next, for resolvers that do not only give on the first. */
    private final int[][] lists;

    private final int[] next;
    long asked;
    long cached;

    Resolving(Setting setting, Dispatch.Dns dns, Answering answering, RandomGenerator random) {
        this.answering = answering;
        this.random = random;
        list = dns.answers() == Answers.List;
        ttl = dns.ttl();
        leastTtl = setting.resolvers().leastTtl();
        perPopulation = setting.resolvers().perPopulation();
        int all = setting.populations().size() * perPopulation;
        habits = new Resolvers.Habit[perPopulation];
        Arrays.setAll(habits, setting.resolvers()::habit);
        honest = Arrays.stream(habits).allMatch(habit -> habit == Resolvers.Habit.HONEST);
        expiry = new double[all];
        Arrays.fill(expiry, Double.NEGATIVE_INFINITY);
        server = new int[all];
        lists = honest ? new int[0][] : new int[all][];
        next = new int[honest ? 0 : all];
    }

    /**
     * The server that a client of a resolver goes to; -1 if it gets no address.
     *
     * @param resolver the resolver's number among all; the population's where there are none
     */
    int ask(double time, int resolver) {
        asked++;
        if (perPopulation == 0) {
            int at = answering.first(resolver, random);
            return at < 0 ? -1 : answering.servers(resolver)[at];
        }
        if (time < expiry[resolver]) {
            cached++;
            return honest ? server[resolver] : again(resolver, habits[resolver % perPopulation]);
        }
        int population = resolver / perPopulation;
        int at = answering.first(population, random);
        expiry[resolver] = time + ttl;
        if (at < 0) {
            server[resolver] = -1;
        } else {
            server[resolver] = answering.servers(population)[at];
        }
        return honest ? server[resolver] : keep(resolver, habits[resolver % perPopulation], population, at, time);
    }

    private int keep(int resolver, Resolvers.Habit habit, int population, int at, double time) {
        lists[resolver] = answering.servers(population);
        next[resolver] = Math.max(0, at);
        if (server[resolver] < 0) {
            return -1;
        }
        switch (habit) {
            case PINS -> expiry[resolver] = Double.POSITIVE_INFINITY;
            case KEEPS_LONGER -> expiry[resolver] = time + Math.max(ttl, leastTtl);
            case SORTS -> {
                if (list) {
                    server[resolver] = lists[resolver][0];
                }
            }
            case SHUFFLES -> server[resolver] = shuffled(resolver);
            case HONEST, ROTATES -> {}
        }
        return server[resolver];
    }

    private int shuffled(int resolver) {
        int[] all = lists[resolver];
        return list ? all[random.nextInt(all.length)] : server[resolver];
    }

    private int again(int resolver, Resolvers.Habit habit) {
        if (habit == Resolvers.Habit.SHUFFLES && server[resolver] >= 0) {
            return shuffled(resolver);
        }
        if (habit == Resolvers.Habit.ROTATES && list && server[resolver] >= 0) {
            int[] all = lists[resolver];
            next[resolver] = next[resolver] + 1 < all.length ? next[resolver] + 1 : 0;
            return all[next[resolver]];
        }
        return server[resolver];
    }

    /** Resolvers that pin an address ask again when it is gone. */
    void gone(int gone) {
        if (!honest) {
            for (int r = 0; r < server.length; r++) {
                if (server[r] == gone && habits[r % perPopulation] == Resolvers.Habit.PINS) {
                    expiry[r] = Double.NEGATIVE_INFINITY;
                }
            }
        }
    }
}
