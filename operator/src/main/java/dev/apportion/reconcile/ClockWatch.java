package dev.apportion.reconcile;

import java.time.Clock;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Notices when the clock of this machine is set. The framework's timers go by it: what was to be tried again in a second
 * would be tried an hour later when the clock is set back by an hour.
 */
final class ClockWatch {

    /** Clocks that are kept in step by slewing stay well below this. */
    private static final Duration JUMP = Duration.ofSeconds(2);

    private final Clock clock;
    private final LongSupplier monotonic;
    private final Consumer<Duration> jumped;
    private long offset;

    /**
     * A watch that starts now.
     *
     * @param monotonic nanoseconds that nobody sets
     * @param jumped told by how much the clock was set forward, or back where it is negative
     */
    ClockWatch(Clock clock, LongSupplier monotonic, Consumer<Duration> jumped) {
        this.clock = clock;
        this.monotonic = monotonic;
        this.jumped = jumped;
        this.offset = offset();
    }

    private long offset() {
        return clock.millis() - Duration.ofNanos(monotonic.getAsLong()).toMillis();
    }

    /** Looks at the clock; to be called every now and then, by one thread. */
    void look() {
        long now = offset();
        Duration jump = Duration.ofMillis(now - offset);
        if (jump.abs().compareTo(JUMP) > 0) {
            offset = now;
            jumped.accept(jump);
        }
    }
}
