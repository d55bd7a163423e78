package dev.apportion.cli;

import org.jspecify.annotations.Nullable;

/** The bounds of what is written in scenarios: whatever is beyond them is refused, with its place. */
final class Bounds {

    static final double MILLIS = 1000;
    static final double PERCENT = 100;

    /** A year. */
    static final double MOST_SECONDS = 366 * 86400.0;

    static final double MOST = 1e9;
    static final int MOST_SERVERS = 10_000;
    static final int MOST_SLOTS = 1_000_000;
    static final int MOST_POPULATIONS = 200_000;

    private Bounds() {}

    static <T> T required(@Nullable T value, String path) throws Refused {
        if (value == null) {
            throw new Refused(path, "is required");
        }
        return value;
    }

    static double percent(@Nullable Double value, double otherwise, String path) throws Refused {
        return (value == null ? otherwise : within(value, path, 0, MOST)) / PERCENT;
    }

    static double millis(@Nullable Double value, String path) throws Refused {
        return value == null ? 0 : within(value, path, 0, MOST) / MILLIS;
    }

    static double within(double value, String path, double least, double most) throws Refused {
        if (!(value >= least && value <= most)) {
            throw new Refused(path, "%s: must be from %s to %s".formatted(text(value), text(least), text(most)));
        }
        return value;
    }

    static double above(double value, String path, double bound, double most) throws Refused {
        if (!(value > bound && value <= most)) {
            throw new Refused(path, "%s: must be above %s, at most %s".formatted(text(value), text(bound), text(most)));
        }
        return value;
    }

    static int whole(@Nullable Integer value, int otherwise, String path, int least, int most) throws Refused {
        int given = value == null ? otherwise : value;
        if (given < least || given > most) {
            throw new Refused(path, "%d: must be from %d to %d".formatted(given, least, most));
        }
        return given;
    }

    static String text(double value) {
        return value == Math.rint(value) && Math.abs(value) < MOST * MILLIS
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
