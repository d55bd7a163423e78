package dev.apportion.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** The end of the process, asked for by a signal. */
final class Termination {

    private Termination() {}

    /**
     * A latch that opens when the process is asked to end; the process then waits for the calling thread to finish.
     *
     * @param patience how long it waits at most
     */
    static CountDownLatch awaitedFor(Duration patience) {
        CountDownLatch asked = new CountDownLatch(1);
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            asked.countDown();
            try {
                main.join(patience);
            } catch (InterruptedException e) {
                main.interrupt();
            }
        }));
        return asked;
    }
}
