package dev.apportion.allocation;

import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;

/** Problems to try policies on. */
final class Problems {

    private Problems() {}

    static Replica replica(String name, double capacity) {
        return new Replica(name, "main", capacity);
    }

    static Replica replica(String name, String site, double capacity) {
        return new Replica(name, site, capacity);
    }

    static Replica replica(String name, double capacity, Sample measured) {
        return new Replica(name, "main", capacity, 1, measured);
    }

    static Sample connections(double connections) {
        return new Sample(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.of(connections),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty());
    }

    static Sample loadAverage(double loadAverage) {
        return new Sample(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.of(loadAverage));
    }

    static Sample users(double users, double uniqueUsers, double loadAverage) {
        return new Sample(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.of(users),
                OptionalDouble.of(uniqueUsers),
                OptionalDouble.of(loadAverage));
    }

    static Stream stream(String name, double rate, int maxReplicas, String... sites) {
        return new Stream(name, rate, maxReplicas, Set.of(sites));
    }

    static List<Replica> identical(int count) {
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            replicas.add(replica("r%05d".formatted(i), 1));
        }
        return replicas;
    }

    /** Replicas whose capacities are drawn evenly from 1 to 8. */
    static List<Replica> upToEightfold(int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            replicas.add(replica("r%05d".formatted(i), 1 + 7 * random.nextDouble()));
        }
        return replicas;
    }

    /** Streams with rates in proportion to rank^−exponent. */
    static List<Stream> zipf(int count, double exponent, int maxReplicas) {
        return streams(count, maxReplicas, rank -> 1000 * Math.pow(rank, -exponent));
    }

    /** Streams whose rates are drawn evenly from 0 to 1. */
    static List<Stream> uniform(int count, int maxReplicas, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return streams(count, maxReplicas, rank -> random.nextDouble());
    }

    static List<Stream> streams(int count, int maxReplicas, DoubleUnaryOperator rateOfRank) {
        List<Stream> streams = new ArrayList<>();
        for (int j = 0; j < count; j++) {
            streams.add(stream("s%06d".formatted(j), rateOfRank.applyAsDouble(j + 1), maxReplicas));
        }
        return streams;
    }
}
