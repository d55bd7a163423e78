package dev.apportion.dns;

import java.util.Optional;

/**
 * An SOA serial: a number from 1 to 2³² − 1 that grows by the arithmetic of RFC 1982. Zero is left out, since some
 * servers take it for "not loaded".
 *
 * @param value the number
 */
public record Serial(long value) {

    private static final long MOST = 0xffff_ffffL;

    public static final Serial FIRST = new Serial(1);

    public Serial {
        if (value < 1 || value > MOST) {
            throw new IllegalArgumentException("serial " + value + " is not within 1 and " + MOST);
        }
    }

    /** The serial that the decimal digits say, or nothing if they say none. */
    public static Optional<Serial> parse(String digits) {
        if (!digits.matches("[1-9][0-9]{0,9}")) {
            return Optional.empty();
        }
        long value = Long.parseLong(digits);
        return value > MOST ? Optional.empty() : Optional.of(new Serial(value));
    }

    /**
     * The serial that follows a floor.
     *
     * @param floor the highest serial that may have been seen, zero or less if none
     */
    public static Serial after(long floor) {
        return floor < 1 ? FIRST : new Serial(floor).next();
    }

    public Serial next() {
        return value == MOST ? FIRST : new Serial(value + 1);
    }

    /** Whether this one is newer (RFC 1982, section 3.2). */
    public boolean isAfter(Serial other) {
        return (int) (value - other.value) > 0;
    }

    @Override
    public String toString() {
        return Long.toString(value);
    }
}
