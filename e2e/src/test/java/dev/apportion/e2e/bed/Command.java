package dev.apportion.e2e.bed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program with its arguments, to be run to its end.
 *
 * @param line the program and its arguments
 * @param environment variables that are added to those of this JVM
 * @param stdin what the program reads
 * @param atMost how long it may run
 */
public record Command(List<String> line, Map<String, String> environment, String stdin, Duration atMost) {

    private static final Duration USUAL = Duration.ofSeconds(60);

    public Command {
        line = List.copyOf(line);
        environment = Map.copyOf(environment);
    }

    public static Command of(List<String> line) {
        return new Command(line, Map.of(), "", USUAL);
    }

    public Command withEnvironment(Map<String, String> variables) {
        return new Command(line, variables, stdin, atMost);
    }

    public Command withStdin(String text) {
        return new Command(line, environment, text, atMost);
    }

    public Command within(Duration limit) {
        return new Command(line, environment, stdin, limit);
    }

    /**
     * Runs the program and waits for its end.
     *
     * @throws AssertionError if it takes longer than it may
     */
    public Result run() {
        try {
            Path folder = Files.createTempDirectory("apportion-command-");
            try {
                return run(folder);
            } finally {
                Folders.delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Running " + String.join(" ", line), e);
        }
    }

    private Result run(Path folder) throws IOException {
        // Files, not pipes: a pipe that nobody reads stops the program.
        Path in = Files.writeString(folder.resolve("stdin"), stdin);
        Path out = folder.resolve("stdout");
        Path err = folder.resolve("stderr");
        ProcessBuilder builder = new ProcessBuilder(line)
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(atMost);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            Result result = new Result(String.join(" ", line), process.exitValue(), read(out), read(err));
            if (!ended) {
                throw new AssertionError("Not finished after " + atMost + ": " + result);
            }
            return result;
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted", e);
        }
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** How a program ended, and what it wrote. */
    public record Result(String command, int exitCode, String stdout, String stderr) {

        /**
         * This result, if the program ended with 0.
         *
         * @throws AssertionError with all that it wrote, if not
         */
        public Result orThrow() {
            if (exitCode != 0) {
                throw new AssertionError("%s%nended with %d.%n%s%n%s".formatted(command, exitCode, stdout, stderr));
            }
            return this;
        }
    }
}
