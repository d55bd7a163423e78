package dev.apportion.dns.coredns;

/**
 * What a writer brings along.
 *
 * @param floor the highest serial that was ever seen for the zone and shard, zero if none. It counts only where no serial
 *     is published
 * @param epoch the number of the leadership that writes (a fencing token: every new leader has a higher one), zero where
 *     nobody is elected. What a higher one has written is not written over, however fresh the view of it is
 */
public record Claim(long floor, long epoch) {

    /** A writer that knows of nothing and was not elected. */
    public static final Claim NONE = new Claim(0, 0);

    public Claim {
        if (floor < 0 || epoch < 0) {
            throw new IllegalArgumentException("floor %d and epoch %d must not be negative".formatted(floor, epoch));
        }
    }
}
