package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for what other threads do. */
final class Patience {

    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final Duration STEP = Duration.ofMillis(5);

    private Patience() {}

    /** Returns as soon as it holds, and fails if it never does. */
    static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + LONGEST.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it never came true").isLessThan(deadline);
            pause();
        }
    }

    /** Fails as soon as it does not hold for once. */
    static void always(Duration time, BooleanSupplier condition) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            assertThat(condition.getAsBoolean()).as("it does not hold").isTrue();
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(STEP);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
