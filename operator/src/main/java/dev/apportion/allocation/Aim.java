package dev.apportion.allocation;

/** What of a policy's allocation a running one has to keep up with; the rest may differ, so that less traffic moves. */
public enum Aim {

    /** The level of each replica: pieces may have any size and stand anywhere. */
    LEVELS,

    /** Equal pieces, as many as the policy gives, on loads that are not above those of the policy. */
    EQUAL_PIECES,

    /** Pieces in proportion to capacity, as many as the policy gives, on loads that are not above those of the policy. */
    PIECES_BY_CAPACITY,

    /** The load that the policy gives each replica, which is another one than the others even where capacities are equal. */
    LOADS,

    /** The policy's allocation as it is. */
    AS_IS
}
