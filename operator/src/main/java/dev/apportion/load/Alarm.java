package dev.apportion.load;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Interrupts the thread that sets it once a time has passed. The timeout of an HTTP request ends with the head of its answer; this
 * covers the body too.
 */
final class Alarm implements AutoCloseable {

    private final Duration time;
    private final CompletableFuture<Void> off = new CompletableFuture<>();

    Alarm(Duration time) {
        this.time = time;
        Thread sleeper = Thread.currentThread();
        var _ = off.orTimeout(time.toMillis(), TimeUnit.MILLISECONDS).exceptionally(e -> {
            if (e instanceof TimeoutException) {
                sleeper.interrupt();
            }
            return null;
        });
    }

    boolean hasRung() {
        return off.isCompletedExceptionally();
    }

    String words() {
        return "no whole answer within " + time.toSeconds() + " s";
    }

    @Override
    public void close() {
        off.complete(null);
    }
}
