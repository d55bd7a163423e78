package dev.apportion.simulation;

import java.util.List;

/**
 * The resolvers of a population, among which its requests are spread evenly. They keep an answer for its time to live.
 *
 * @param perPopulation how many there are; zero if every request is a question to the DNS server
 * @param habits what some of them do otherwise, the first ones of every population
 * @param leastTtl for how long those that keep answers longer keep them at least, in seconds
 */
public record Resolvers(int perPopulation, List<Share> habits, double leastTtl) {

    /** What many resolvers take for their minimum, in seconds. */
    public static final double MINUTE = 60;

    public Resolvers {
        habits = List.copyOf(habits);
    }

    /** Resolvers whose minimum is a minute, where they have one. */
    public Resolvers(int perPopulation, List<Share> habits) {
        this(perPopulation, habits, MINUTE);
    }

    /** What a resolver does with an answer. */
    public enum Habit {
        /** It gives the answer on as it is. */
        HONEST,
        /** It gives the addresses on in rotation, so that weights are lost. */
        ROTATES,
        /** It gives the addresses on in an order that it draws anew each time, so that weights are lost. */
        SHUFFLES,
        /** It gives the lowest address first, as RFC 6724 has some clients do. */
        SORTS,
        /** It keeps an answer for as long as the address is there, whatever the time to live says. */
        PINS,
        /** It keeps an answer for its own minimum, if the time to live is less. */
        KEEPS_LONGER
    }

    /**
     * A part of the resolvers.
     *
     * @param part of all, greater than zero; together at most one
     */
    public record Share(Habit habit, double part) {}

    /** What a resolver of a population does, by its number. */
    Habit habit(int number) {
        double from = 0;
        double middle = (number + 0.5) / Math.max(1, perPopulation);
        for (Share share : habits) {
            from += share.part();
            if (middle < from) {
                return share.habit();
            }
        }
        return Habit.HONEST;
    }
}
