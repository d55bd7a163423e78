package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Tool;
import dev.apportion.e2e.bed.ToolCache;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Whether this machine can have a cluster, as far as that can be told before anything is started. */
final class ClusterOutlook {

    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final Path STATUS = Path.of("/proc/self/status");

    /** An engine gives containers networks and mounts: CAP_NET_ADMIN and CAP_SYS_ADMIN, capabilities(7). */
    private static final long NEEDED_CAPABILITIES = 1L << 12 | 1L << 21;

    private ClusterOutlook() {}

    /**
     * Builds programs for a cluster as {@link ToolCache} does, unless there can be none: then, without a name, those alone that tests
     * without a cluster need. Runs from its source, too, while nothing is compiled yet: {@code java ClusterOutlook.java --beside}.
     */
    public static void main(String[] words) {
        Optional<String> obstacle = obstacle();
        if (obstacle.isEmpty()) {
            ToolCache.main(words);
            return;
        }
        System.out.println("No programs for a cluster are built: " + obstacle.get());
        if (List.of(words).equals(List.of(ToolCache.BESIDE))) {
            ToolCache.main(Stream.concat(
                            Stream.of(words),
                            Stream.of(Tool.values())
                                    .filter(tool -> !tool.isForClusters())
                                    .map(Tool::program))
                    .toArray(String[]::new));
        }
    }

    /** Why there can be no cluster; empty if there may be one. */
    static Optional<String> obstacle() {
        return answers()
                ? Optional.empty()
                : obstacleToAnEngine().map("no Docker engine answers to \"docker info\", and "::concat);
    }

    /** Whether a Docker engine runs already. */
    static boolean answers() {
        try {
            return Command.of(List.of("docker", "info")).within(ANSWER).run().exitCode() == 0;
        } catch (UncheckedIOException | AssertionError none) {
            return false;
        }
    }

    /** Why none can be started; empty if it may be tried. */
    static Optional<String> obstacleToAnEngine() {
        String user = System.getProperty("user.name");
        if (!"root".equals(user)) {
            return Optional.of("none can be started: this is user " + user + ", not root. Start one");
        }
        if (!mayMount()) {
            return Optional.of(
                    "none can be started: this root may neither mount nor set up networks, as in a container that is"
                            + " not privileged. Start one outside, or run this in a privileged container");
        }
        if (!isOnPath("dockerd") && !isOnPath("apt-get")) {
            return Optional.of("none can be started: dockerd is not installed. Install it (Debian: docker.io)");
        }
        return Optional.empty();
    }

    private static boolean mayMount() {
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith("CapEff:"))
                    .map(line -> Long.parseUnsignedLong(
                            line.substring("CapEff:".length()).strip(), 16))
                    .allMatch(effective -> (effective & NEEDED_CAPABILITIES) == NEEDED_CAPABILITIES);
        } catch (IOException notLinux) {
            return false;
        }
    }

    private static boolean isOnPath(String program) {
        return onPath(program).isPresent();
    }

    /** The file of a program that a shell would find. */
    static Optional<Path> onPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
