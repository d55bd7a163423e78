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

    /** Waits until so many questions may be asked at once. */
    public void await(int questions) throws InterruptedException {
        long pause = reserve(questions);
        if (pause > 0) {
            TimeUnit.NANOSECONDS.sleep(pause);
        }
    }

    private synchronized long reserve(int questions) {
        long now = System.nanoTime();
        // What was not asked is not made up for.
        next = next - now < 0 ? now : next;
        long pause = next - now;
        next += questions * pauseNanos;
        return pause;
    }
}
