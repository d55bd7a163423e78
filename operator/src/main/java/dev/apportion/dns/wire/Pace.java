package dev.apportion.dns.wire;

import java.util.concurrent.TimeUnit;

/** A bound on how many questions are asked in a second, whoever asks them. */
public final class Pace {

    private final long pauseNanos;
    private long next = System.nanoTime();

    /** @param perSecond the most questions in a second */
    public Pace(int perSecond) {
        this.pauseNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
    }

    /** Waits until one more question may be asked. */
    public void await() throws InterruptedException {
        long pause = reserve();
        if (pause > 0) {
            TimeUnit.NANOSECONDS.sleep(pause);
        }
    }

    private synchronized long reserve() {
        long now = System.nanoTime();
        // What was not asked is not made up for.
        next = next - now < 0 ? now : next;
        long pause = next - now;
        next += pauseNanos;
        return pause;
    }
}
