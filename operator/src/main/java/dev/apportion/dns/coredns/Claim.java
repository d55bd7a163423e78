package dev.apportion.dns.coredns;

/**
 * What a writer brings along.
 *
 * @param floor the highest serial that was ever seen for the zone and shard, zero if none. It counts only where no serial
 *     is published
 * @param epoch the number of the leadership that writes (a fencing token: every new leader has a higher one), zero where
 *     nobody is elected. What a higher one has written is not written over, however fresh the view of it is
 * @param reload whether CoreDNS is to load the zone's configuration again although it says nothing new
 */
public record Claim(long floor, long epoch, boolean reload) {

    /** A writer that knows of nothing and was not elected. */
    public static final Claim NONE = new Claim(0, 0);

    /** A writer that has something new to say, or nothing. */
    public Claim(long floor, long epoch) {
        this(floor, epoch, false);
    }

    public Claim {
        if (floor < 0 || epoch < 0) {
            throw new IllegalArgumentException("floor %d and epoch %d must not be negative".formatted(floor, epoch));
        }
    }
}
