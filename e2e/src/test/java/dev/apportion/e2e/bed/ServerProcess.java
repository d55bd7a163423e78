package dev.apportion.e2e.bed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server started by a test: its process and its log, which ends with {@link #close()} or, at the latest, with this JVM. */
public final class ServerProcess implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration GRACE = Duration.ofSeconds(10);

    private final String name;
    private final Path logFile;
    private final Process process;
    private final Thread atJvmEnd;

    private ServerProcess(String name, Path logFile, Process process) {
        this.name = name;
        this.logFile = logFile;
        this.process = process;
        this.atJvmEnd = Thread.ofPlatform().unstarted(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(atJvmEnd);
    }

    /**
     * Starts a command; standard output and error both go into the log file, which is begun anew.
     *
     * @param environment variables that are added to those of this JVM
     */
    public static ServerProcess start(
            String name, List<String> command, Path folder, Map<String, String> environment, Path logFile)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(logFile.toFile());
        builder.environment().putAll(environment);
        return new ServerProcess(name, logFile, builder.start());
    }

    public long pid() {
        return process.pid();
    }

    /** Sends a signal such as {@code STOP} or {@code CONT}. */
    public void signal(String signal) {
        Command.of(List.of("kill", "-" + signal, Long.toString(pid()))).run().orThrow();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** What the process has written so far. */
    public String log() {
        try {
            return Files.readString(logFile, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Reading the log of " + name, e);
        }
    }

    /** The memory that the process holds, in KiB; Linux only. */
    public long residentKibibytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/" + pid() + "/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", ""));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(name + " with process id " + pid() + " is gone", e);
        }
        throw new IllegalStateException("No VmRSS line for " + name + ": it has ended");
    }

    /**
     * Waits until the log has a line in which the pattern is found, and returns the match.
     *
     * @throws AssertionError with the log, if the time is over or the process has ended before
     */
    public Matcher awaitLine(Pattern pattern, Duration atMost) {
        await("a log line with " + pattern, atMost, () -> line(pattern).isPresent());
        return line(pattern).orElseThrow();
    }

    private Optional<Matcher> line(Pattern pattern) {
        return log().lines().map(pattern::matcher).filter(Matcher::find).findFirst();
    }

    /**
     * Waits until a condition holds.
     *
     * @throws AssertionError with the log, if the time is over or the process has ended before
     */
    public void await(String what, Duration atMost, BooleanSupplier condition) {
        Instant end = Instant.now().plus(atMost);
        while (!condition.getAsBoolean()) {
            if (!isAlive() && !condition.getAsBoolean()) {
                throw new AssertionError(
                        "%s ended with %d before %s. Its log:%n%s".formatted(name, process.exitValue(), what, log()));
            }
            if (Instant.now().isAfter(end)) {
                throw new AssertionError("%s: no %s within %s. Its log:%n%s".formatted(name, what, atMost, log()));
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted", e);
        }
    }

    /**
     * Waits for the process to end by itself and returns its exit code.
     *
     * @throws AssertionError with the log, if it still runs when the time is over
     */
    public int awaitExit(Duration atMost) {
        try {
            if (!process.waitFor(atMost)) {
                throw new AssertionError("%s still runs after %s. Its log:%n%s".formatted(name, atMost, log()));
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted", e);
        }
    }

    /** Asks the process to end (SIGTERM), as Kubernetes does, and returns at once. */
    public void terminate() {
        process.destroy();
    }

    /** Ends the process without asking (SIGKILL). */
    public void kill() {
        process.destroyForcibly();
        awaitExit(GRACE);
    }

    /** Ends the process: asks first, and insists after ten seconds. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(GRACE)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(atJvmEnd);
        } catch (IllegalStateException ending) {
            // the hook is running already
        }
    }
}
