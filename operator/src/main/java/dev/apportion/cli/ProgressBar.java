package dev.apportion.cli;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One line that says how far something is, and is gone when it has ended. */
final class ProgressBar implements AutoCloseable {

    private static final int WIDTH = 30;
    private static final double MILLION = 1e6;
    private static final double NANOS = 1e9;
    private static final long PAUSE = 200_000_000;

    private final @Nullable PrintWriter out;
    private final String name;
    private final int runs;
    private final double all;
    private final long begin = System.nanoTime();
    private long shown;
    private int ended;
    private double requests;

    /** @param out where it is shown; nowhere if null */
    ProgressBar(@Nullable PrintWriter out, String name, int runs, double all) {
        this.out = out;
        this.name = name;
        this.runs = runs;
        this.all = all;
    }

    /** Whether somebody looks at a terminal. */
    @SuppressWarnings("SystemConsoleNull") // without one it is null again since JDK 25
    static boolean isSeen() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    /** A run of so many requests has ended. */
    synchronized void done(double more) {
        ended++;
        requests += more;
        long now = System.nanoTime();
        if (out != null && (now - shown > PAUSE || ended == runs)) {
            shown = now;
            int filled = (int) (WIDTH * Math.min(1, requests / all));
            out.print(String.format(
                    Locale.ROOT,
                    "\r%s [%s%s] %d of %d runs, %.1f million requests/s ",
                    name,
                    "#".repeat(filled),
                    ".".repeat(WIDTH - filled),
                    ended,
                    runs,
                    requests / MILLION / ((now - begin) / NANOS)));
            out.flush();
        }
    }

    @Override
    public synchronized void close() {
        if (out != null) {
            out.print("\r\u001b[K");
            out.flush();
        }
    }
}
