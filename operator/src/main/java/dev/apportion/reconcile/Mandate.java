package dev.apportion.reconcile;

import java.util.OptionalLong;

/** The right to write, which one of several operators has at a time. */
interface Mandate {

    /** The number of the leadership while it is certain; empty while another operator may be leading. */
    OptionalLong epoch();

    /**
     * Called when something published bears a higher epoch than this one: there is a newer leader, or the lease was made
     * anew and its numbers with it.
     */
    void outranked(long epoch);
}
