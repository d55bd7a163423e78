package dev.apportion.allocation;

import java.util.Set;

/** What becomes of a running allocation. */
public sealed interface Change {

    Effect effect();

    /** For people: what the loads are, or why it had to be this. */
    String reason();

    /** Nothing moves. Streams that are new were placed. */
    record Kept(Effect effect, String reason) implements Change {}

    /** Some of the traffic moves, and what need not does not. */
    record Repaired(Effect effect, String reason) implements Change {}

    /** The policy's allocation takes the place of the running one; replicas that are alike were exchanged so that less moves. */
    record Resolved(Effect effect, String reason) implements Change {}

    /**
     * What a change does.
     *
     * @param allocation the allocation from now on; the levels are those of the policy's allocation
     * @param kept the names of the streams whose shares are exactly those that are running
     * @param moved the part of the running traffic, by rate, that goes to another replica than before
     * @param unavoidable the part of it that had to: the traffic of replicas that are not there any more, all that replicas
     *     have above their goals and the tolerance, and what streams that outgrew their replicas have to give up for others
     * @param worst the largest load over its goal
     * @param unfinished true if more is to follow, because it is too early or more may not move at a time
     */
    record Effect(
            Allocation allocation,
            Set<String> kept,
            double moved,
            double unavoidable,
            double worst,
            boolean unfinished) {}
}
