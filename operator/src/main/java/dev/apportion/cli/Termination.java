package dev.apportion.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/**
 * The end of a command that runs until it is told to stop by a signal. Once the command has closed it, a process that was
 * told to stop ends well, with exit code 0.
 */
final class Termination implements AutoCloseable {

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook;

    /**
     * Waits for a signal from now on.
     *
     * @param patience how long the process lives on, at most, for the command to close this
     * @param wake called when the signal comes
     */
    Termination(Duration patience, Runnable wake) {
        hook = new Thread(() -> {
            asked.countDown();
            wake.run();
            end(patience);
        });
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Left to itself, the Java runtime ends with the number of the signal, which supervisors take for a failure. */
    private void end(Duration patience) {
        try {
            if (finished.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                Runtime.getRuntime().halt(CommandLine.ExitCode.OK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Waits, and says whether the signal came. */
    boolean await(Duration atMost) throws InterruptedException {
        return asked.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        if (isAsked()) {
            finished.countDown();
            return;
        }
        try {
            // The command ended by itself: its exit code counts.
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The signal came just now.
            finished.countDown();
        }
    }
}
