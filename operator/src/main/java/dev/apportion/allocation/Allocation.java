package dev.apportion.allocation;

import java.util.Collections;
import java.util.List;

/**
 * The solution of a {@link Problem}: which replicas each stream uses, and for what part.
 *
 * @param streams the pieces of each stream, in the order of {@link Problem#streams()}; a stream with no eligible replica has
 *     no pieces
 * @param levels the level of each replica, in the order of {@link Problem#replicas()}: the load (rate over capacity) that
 *     the bound of its block says it has to bear; where no allocation at that load was found, the load at which one was; for
 *     a replica that is left over, the lowest of the others; zero if no stream may use it
 * @param lowerBound no allocation whatever has a smaller makespan than this
 * @param because what the policy saw in each replica and made of it, for people, in the order of {@link
 *     Problem#replicas()}; empty where capacity and rates say all
 */
public record Allocation(List<List<Piece>> streams, List<Double> levels, double lowerBound, List<String> because) {

    /** An allocation that capacities and rates explain. */
    public Allocation(List<List<Piece>> streams, List<Double> levels, double lowerBound) {
        this(streams, levels, lowerBound, Collections.nCopies(levels.size(), ""));
    }

    /** The same allocation with the reasons of its policy, one for each replica. */
    Allocation because(List<String> reasons) {
        return new Allocation(streams, levels, lowerBound, List.copyOf(reasons));
    }

    /**
     * A part of one stream on one replica.
     *
     * @param replica the index in {@link Problem#replicas()}
     * @param share the part of the stream, greater than zero; the shares of a stream add up to one
     */
    public record Piece(int replica, double share) {}
}
