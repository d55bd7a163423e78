package dev.apportion.simulation;

import java.util.random.RandomGenerator;
import java.util.random.RandomGenerator.SplittableGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The random numbers of one run, independent of each other, so that what differs between two runs of one seed differs by what
 * was decided, and not by the luck of arrivals.
 */
record Chance(RandomGenerator arrivals, RandomGenerator sizes, RandomGenerator answers) {

    /** Splits without overlap (Steele and Vigna, LXM, OOPSLA 2021). */
    private static final String ALGORITHM = "L64X128MixRandom";

    static Chance of(long seed) {
        SplittableGenerator root =
                RandomGeneratorFactory.<SplittableGenerator>of(ALGORITHM).create(seed);
        return new Chance(root.split(), root.split(), root.split());
    }
}
