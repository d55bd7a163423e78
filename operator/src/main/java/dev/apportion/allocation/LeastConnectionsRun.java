package dev.apportion.allocation;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.stream.IntStream;

/**
 * The weighted least-connection scheduler at work, request by request: each request opens a connection to the replica with
 * the fewest connections for its weight; the first one wins where several have as few.
 *
 * <p>With a limit L on continuous allocations, a new replica is passed over once L requests in a row went to it, and comes
 * back after L − 1 rounds. A replica is new if at the start it has less than 95 % of the connections that its weight would
 * give it, until it has them all. When every replica is passed over, none is.
 *
 * <p>Source: Choi et al., improved weighted least-connection, 2010. What a round is, and who is new, is our reading.
 */
public final class LeastConnectionsRun {

    /** A replica is new below this part of the connections that its weight would give it. */
    private static final double WARM = 0.95;

    /** What is counted until a replica that was passed over comes back. */
    public enum Round {
        /** Requests: L − 1 of them. */
        ALLOCATION,
        /** Cycles of the other replicas: L − 1 requests for each of them. */
        CYCLE
    }

    private final double[] weights;
    private final double[] connections;
    private final OptionalInt maxContinuousAllocations;
    private final long away;
    private final boolean[] isNew;
    private final double allWeights;
    private final long[] passedOverUntil;

    /** Those that are passed over, in the order in which they come back. */
    private final Queue<Integer> passedOver = new ArrayDeque<>();

    /** By connections for the weight, of those that are not passed over. */
    private final Tournament active;

    private double allConnections;
    private int newCount;
    private long allocations;
    private int last = -1;
    private int inARow;

    /**
     * Begins with open connections.
     *
     * @param weights the weight of each replica; finite and greater than zero; at least one
     * @param connections the open connections of each replica; finite and not negative
     * @param maxContinuousAllocations L; empty for the scheduler without this limit
     */
    public LeastConnectionsRun(
            double[] weights, double[] connections, OptionalInt maxContinuousAllocations, Round round) {
        this.weights = weights.clone();
        this.connections = connections.clone();
        this.maxContinuousAllocations = maxContinuousAllocations;
        away = Math.max(0, maxContinuousAllocations.orElse(1) - 1) * requestsOfRound(round, weights.length);
        allWeights = Arrays.stream(weights).sum();
        allConnections = Arrays.stream(connections).sum();
        passedOverUntil = new long[weights.length];
        active = new Tournament(IntStream.range(0, weights.length)
                .mapToDouble(i -> connections[i] / weights[i])
                .toArray());
        isNew = new boolean[weights.length];
        for (int i = 0; i < weights.length; i++) {
            isNew[i] = !has(i, WARM);
            newCount += isNew[i] ? 1 : 0;
        }
    }

    /** How many requests a round is, among so many replicas. */
    static long requestsOfRound(Round round, int replicas) {
        return switch (round) {
            case ALLOCATION -> 1;
            case CYCLE -> Math.max(1, replicas - 1);
        };
    }

    /**
     * Allocates one request.
     *
     * @return the index of its replica
     */
    public int allocate() {
        return allocate(1);
    }

    /** Allocates a request that counts as so many connections. */
    int allocate(double size) {
        while (!passedOver.isEmpty() && passedOverUntil[passedOver.element()] <= allocations) {
            enter(passedOver.remove());
        }
        boolean allArePassedOver = active.least() < 0;
        int replica = allArePassedOver ? fewest() : active.least();
        connections[replica] += size;
        allConnections += size;
        allocations++;
        inARow = replica == last ? inARow + 1 : 1;
        last = replica;
        if (isNew[replica] && has(replica, 1)) {
            isNew[replica] = false;
            newCount--;
        }
        if (isNew[replica] && maxContinuousAllocations.isPresent() && inARow >= maxContinuousAllocations.getAsInt()) {
            if (allArePassedOver) {
                passedOver.remove(replica);
            }
            passOver(replica);
        } else {
            enter(replica);
        }
        return replica;
    }

    private void passOver(int replica) {
        passedOver.add(replica);
        passedOverUntil[replica] = allocations + away;
        active.set(replica, Double.POSITIVE_INFINITY);
    }

    /** Takes part, unless it is passed over. */
    private void enter(int replica) {
        if (!isPassedOver(replica)) {
            active.set(replica, connections[replica] / weights[replica]);
        }
    }

    private boolean isPassedOver(int replica) {
        return passedOverUntil[replica] > allocations;
    }

    /** Closes connections of a replica; a part of one may close. */
    public void close(int replica, double closed) {
        double fewer = Math.min(closed, connections[replica]);
        connections[replica] -= fewer;
        allConnections -= fewer;
        enter(replica);
    }

    public double connections(int replica) {
        return connections[replica];
    }

    /** Whether some replica is new. */
    public boolean hasNew() {
        return newCount > 0;
    }

    public boolean isNew(int replica) {
        return isNew[replica];
    }

    /** Of all of them, where every one is passed over. */
    private int fewest() {
        int fewest = 0;
        for (int i = 1; i < weights.length; i++) {
            fewest = connections[i] / weights[i] < connections[fewest] / weights[fewest] ? i : fewest;
        }
        return fewest;
    }

    private boolean has(int replica, double part) {
        return connections[replica] >= part * allConnections * (weights[replica] / allWeights);
    }
}
