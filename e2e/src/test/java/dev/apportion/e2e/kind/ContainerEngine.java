package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DebianPackage;
import dev.apportion.e2e.bed.SourceTree;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The Docker engine that the nodes of one cluster run on: the one that answers already, or one that is started for this run, where that
 * is allowed. A process of its own ({@code e2e/kind/hold.sh}) waits for the end of this one, and then deletes the cluster and ends the
 * engine that it started.
 */
final class ContainerEngine implements AutoCloseable {

    private static final Duration COMMAND = Duration.ofMinutes(5);
    private static final Duration END = Duration.ofMinutes(3);
    // The JVM of a test run that is cut short is killed after half a minute.
    private static final Duration END_IN_A_HURRY = Duration.ofSeconds(25);
    private static final Path SOCKETS =
            Path.of("/run/apportion-e2e"); // short: the path of a socket has at most 107 bytes

    private final Process holder;
    private final Map<String, String> environment;
    private final boolean own;
    private final Thread atJvmEnd;

    private ContainerEngine(Process holder, Map<String, String> environment, boolean own) {
        this.holder = holder;
        this.environment = environment;
        this.own = own;
        this.atJvmEnd = Thread.ofPlatform().unstarted(this::endInAHurry);
        Runtime.getRuntime().addShutdownHook(atJvmEnd);
    }

    /**
     * An engine that answers. A run that finds another one's engine of this kind waits for its end.
     *
     * @param kind the program that deletes the cluster
     * @param cluster the cluster's name
     * @param folder what else goes with this run
     * @param cache where an engine that is started keeps its data, for as long as it runs
     * @throws NoClusterException if there is none and none can be started
     */
    static ContainerEngine hold(Path kind, String cluster, Path folder, Path cache) throws IOException {
        List<String> command = new ArrayList<>(List.of(script("hold.sh").toString(), kind.toString(), cluster));
        command.add(folder.toString());
        boolean own = !ClusterOutlook.answers();
        Map<String, String> environment = Map.of();
        if (own) {
            requireStartable();
            command.addAll(List.of(cache.resolve("engine").toString(), SOCKETS.toString()));
            environment = Map.of("DOCKER_HOST", "unix://" + SOCKETS.resolve("docker.sock"));
        }
        Path log = Files.createDirectories(SourceTree.root().resolve("e2e/target/e2e-logs"))
                .resolve(cluster + ".log");
        Process holder = new ProcessBuilder(command).redirectError(log.toFile()).start();
        ContainerEngine engine = new ContainerEngine(holder, environment, own);
        engine.awaitReady();
        return engine;
    }

    /** The file of a script that comes with these tests. */
    static Path script(String name) {
        return SourceTree.root().resolve("e2e/kind").resolve(name);
    }

    private static void requireStartable() {
        ClusterOutlook.obstacleToAnEngine().ifPresent(obstacle -> {
            throw new NoClusterException("no Docker engine answers to \"docker info\", and " + obstacle);
        });
        if (DebianPackage.DOCKER.find().isEmpty()) {
            throw new NoClusterException(
                    "no Docker engine answers to \"docker info\", and none can be started: dockerd could not be"
                            + " installed. Install it (Debian: docker.io)");
        }
    }

    private void awaitReady() throws IOException {
        BufferedReader lines = holder.inputReader(StandardCharsets.UTF_8);
        String line = lines.readLine();
        if ("waiting".equals(line)) {
            System.out.println("Another run has the Docker engine of these tests: waiting for its end");
            line = lines.readLine();
        }
        if (!"ready".equals(line)) {
            String rest = lines.lines().collect(Collectors.joining(System.lineSeparator()));
            close();
            throw new NoClusterException("the Docker engine did not start: " + line + System.lineSeparator() + rest);
        }
    }

    /** Whether this run has started the engine, and nobody else uses it. */
    boolean isOwn() {
        return own;
    }

    /** The variables that lead {@code docker} and {@code kind} to this engine. */
    Map<String, String> environment() {
        return environment;
    }

    /** Runs a program that talks to the engine. */
    Command.Result run(List<String> line, Duration atMost) {
        return Command.of(line).withEnvironment(environment).within(atMost).run();
    }

    /** Runs {@code docker} with arguments such as {@code "ps"}. */
    Command.Result docker(String... arguments) {
        List<String> line = new ArrayList<>(List.of("docker"));
        line.addAll(List.of(arguments));
        return run(line, COMMAND);
    }

    /** Runs {@code docker} with something to read. */
    Command.Result dockerWith(String stdin, String... arguments) {
        List<String> line = new ArrayList<>(List.of("docker"));
        line.addAll(List.of(arguments));
        return Command.of(line)
                .withEnvironment(environment)
                .withStdin(stdin)
                .within(COMMAND)
                .run();
    }

    private void endInAHurry() {
        // What is half-way now would go on and make what is then left over.
        ProcessHandle.current()
                .children()
                .filter(child -> child.pid() != holder.pid())
                .flatMap(child -> Stream.concat(child.descendants(), Stream.of(child)))
                .forEach(ProcessHandle::destroy);
        end(END_IN_A_HURRY);
    }

    private void end(Duration atMost) {
        try {
            holder.getOutputStream().close();
            if (!holder.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
                System.err.println("e2e/kind/hold.sh, process " + holder.pid() + ", still cleans up");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Ending e2e/kind/hold.sh, process " + holder.pid(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Deletes the cluster, and ends the engine if it is this run's own. */
    @Override
    public void close() {
        end(END);
        try {
            Runtime.getRuntime().removeShutdownHook(atJvmEnd);
        } catch (IllegalStateException ending) {
            // the hook is running already
        }
    }
}
