package dev.apportion.allocation;

/** A way to keep running shares, for the streams that it looks after, and to change as little of them as possible. */
sealed interface Mover permits PieceSizes, PiecePlaces, PolicyShares {

    /**
     * Gives a replica to what has none: streams that are new, and the shares whose replica is not there any more. Nothing
     * else moves.
     *
     * @param shares the shares that run; afterwards every stream of this mover is whole
     */
    void place(Shares shares);

    /** Whether all is within a tolerance, as a part of the goals. */
    boolean settled(Shares shares, double tolerance);

    /**
     * Brings all within a tolerance.
     *
     * @param shares whole shares, changed in any case
     * @return whether it succeeded
     */
    boolean repair(Shares shares, double tolerance);
}
