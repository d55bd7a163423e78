package dev.apportion.reconcile;

import java.time.Duration;

/** What a candidate does next about the lease, from what it sees of it. */
sealed interface LeaseStep {

    /** Nobody holds it, or its holder has not renewed it for too long: take it, under a new epoch. */
    record Take(long epoch) implements LeaseStep {}

    /** It is this candidate's own: renew it. */
    record Renew(long epoch) implements LeaseStep {}

    /** Another one holds it. */
    record Wait(String holder) implements LeaseStep {}

    /**
     * What is seen of a lease.
     *
     * @param holder who holds it, empty if nobody
     * @param transitions how often the holder changed, which numbers the leaderships
     * @param duration how long the holder may stay without renewing it
     * @param unchanged for how long it has been seen without change, by the monotonic clock of this process: the clocks of
     *     two machines may differ, and may jump, so the times that stand in the lease decide nothing
     */
    record Sight(String holder, long transitions, Duration duration, Duration unchanged) {}

    /**
     * Decides. Pure.
     *
     * @param self this candidate
     * @param seen the lease
     * @param floor the highest epoch that was seen anywhere: a lease that was deleted and made anew counts from there
     */
    static LeaseStep of(String self, Sight seen, long floor) {
        if (seen.holder().equals(self)) {
            return seen.transitions() < floor ? new Take(floor + 1) : new Renew(Math.max(1, seen.transitions()));
        }
        if (seen.holder().isEmpty() || seen.unchanged().compareTo(seen.duration()) > 0) {
            return new Take(Math.max(seen.transitions(), floor) + 1);
        }
        return new Wait(seen.holder());
    }
}
