package dev.apportion.e2e.bed;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The built {@linkplain Tool tools}, in a folder outside the source tree that outlives a run:
 * {@code ${APPORTION_CACHE:-${XDG_CACHE_HOME:-~/.cache}/apportion}/tools/NAME-VERSION/KEY/PROGRAM}, where the key is a digest of
 * {@code go.mod}, {@code go.sum}, the flags and the platform. What is missing is built with the {@code go} client. With
 * {@code APPORTION_TEST_BINARIES=FOLDER} the programs of that folder are taken instead, and nothing is built.
 */
public final class ToolCache {

    /** The variable that names a folder of ready programs. */
    static final String BINARIES = "APPORTION_TEST_BINARIES";

    private static final String GO_RELEASE = "1.26";
    private static final Duration PROGRESS = Duration.ofSeconds(15);
    private static final int KEPT_LINES = 40;
    private static final Pattern REQUIREMENT = Pattern.compile("^\\s*(?:require\\s+)?(\\S+)\\s+(v\\S+)(?:\\s*//.*)?$");

    // A file lock belongs to the whole JVM, so threads need one of their own.
    private static final ReentrantLock IN_THIS_JVM = new ReentrantLock();

    private final Map<String, String> environment;
    private final Path modules;
    private final PrintStream progress;

    /**
     * @param environment the variables that say where things are
     * @param modules the folder that holds one Go module per {@link Tool#folder()}
     * @param progress where a line goes now and then while something is built
     */
    ToolCache(Map<String, String> environment, Path modules, PrintStream progress) {
        this.environment = Map.copyOf(environment);
        this.modules = modules;
        this.progress = progress;
    }

    /** The cache of this user for this source tree. */
    public static ToolCache ofThisUser() {
        return new ToolCache(System.getenv(), SourceTree.root().resolve("e2e/tools"), System.out);
    }

    /** Builds what is missing of the named programs, or of all if none is named; the exit code is 1 if one cannot be had. */
    public static void main(String[] programs) {
        ToolCache cache = ofThisUser();
        List<String> named = List.of(programs);
        try {
            for (Tool tool : Tool.values()) {
                if (named.isEmpty() || named.contains(tool.program())) {
                    cache.progress.println(tool.program() + ": " + cache.path(tool));
                }
            }
        } catch (ToolUnavailableException missing) {
            System.err.println(missing.getMessage());
            System.exit(1);
        }
    }

    /**
     * The program's file, built first if need be.
     *
     * @throws ToolUnavailableException if it is not there and cannot be built
     */
    public Path path(Tool tool) {
        String binaries = environment.get(BINARIES);
        if (binaries != null && !binaries.isBlank()) {
            Path given = Path.of(binaries).toAbsolutePath().resolve(tool.program());
            if (!Files.isExecutable(given)) {
                throw new ToolUnavailableException(
                        "%s=%s has no executable file %s. Put it there, or unset the variable to have it built."
                                .formatted(BINARIES, binaries, tool.program()));
            }
            return given;
        }
        Build build = Build.of(tool, modules.resolve(tool.folder()), folder());
        if (Files.isExecutable(build.target())) {
            return build.target();
        }
        Path go = go().orElseThrow(() -> new ToolUnavailableException(
                "%s %s is needed and not built yet. Install Go %s or later so that the command go is found, or set %s to a folder that holds %s."
                        .formatted(tool.program(), build.version(), GO_RELEASE, BINARIES, tool.program())));
        try {
            return underLock(build.target().resolveSibling(tool.program() + ".lock"), () -> build(build, go));
        } catch (IOException e) {
            throw new UncheckedIOException("Building " + tool.program() + " in " + build.target(), e);
        }
    }

    private Path folder() {
        String own = environment.get("APPORTION_CACHE");
        if (own != null && !own.isBlank()) {
            return Path.of(own).toAbsolutePath().resolve("tools");
        }
        String xdg = environment.get("XDG_CACHE_HOME");
        Path caches = xdg != null && !xdg.isBlank()
                ? Path.of(xdg).toAbsolutePath()
                : Path.of(environment.getOrDefault("HOME", System.getProperty("user.home")))
                        .resolve(".cache");
        return caches.resolve("apportion/tools");
    }

    private Optional<Path> go() {
        for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path candidate = Path.of(folder).resolve("go");
            if (!folder.isEmpty() && Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    private interface Work {
        Path run() throws IOException;
    }

    private static Path underLock(Path lockFile, Work work) throws IOException {
        IN_THIS_JVM.lock();
        try {
            Files.createDirectories(lockFile.getParent());
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = channel.lock()) {
                return work.run();
            }
        } finally {
            IN_THIS_JVM.unlock();
        }
    }

    private Path build(Build build, Path go) throws IOException {
        if (Files.isExecutable(build.target())) {
            return build.target(); // another run was faster
        }
        String what = build.tool().program() + " " + build.version();
        Path folder = Files.createTempDirectory(build.target().getParent(), ".build-");
        Path made = folder.resolve(build.tool().program());
        List<String> command = new ArrayList<>(List.of(go.toString(), "build", "-v", "-o", made.toString()));
        command.addAll(build.flags());
        command.add(build.tool().goPackage());
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(build.module().toFile()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().putAll(Build.ENVIRONMENT);
        builder.environment().putIfAbsent("GOGC", "400"); // memory for time: the compiler collects a quarter as often
        Instant start = Instant.now();
        progress.println("building " + what + " with " + go + " (minutes, the first time)");
        try {
            Process process = builder.start();
            AtomicInteger packages = new AtomicInteger();
            Deque<String> tail = new ArrayDeque<>();
            Thread reader = Thread.ofPlatform().daemon().start(() -> read(process, packages, tail));
            while (!process.waitFor(PROGRESS)) {
                progress.println(
                        "building " + what + ": " + seconds(start) + " s, " + packages + " packages or downloads");
            }
            reader.join();
            if (process.exitValue() != 0) {
                throw new ToolUnavailableException("%s could not be built: go ended with %d.%n%s%n%s"
                        .formatted(
                                what,
                                process.exitValue(),
                                String.join(System.lineSeparator(), command),
                                String.join(System.lineSeparator(), tail)));
            }
            Files.move(made, build.target(), StandardCopyOption.ATOMIC_MOVE);
            progress.println("built " + what + " in " + seconds(start) + " s");
            return build.target();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while building " + what, e);
        } finally {
            Folders.delete(folder);
        }
    }

    private static void read(Process process, AtomicInteger packages, Deque<String> tail) {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                packages.incrementAndGet();
                tail.addLast(line);
                if (tail.size() > KEPT_LINES) {
                    tail.removeFirst();
                }
            }
        } catch (IOException e) {
            tail.addLast(e.toString());
        }
    }

    private static long seconds(Instant start) {
        return Duration.between(start, Instant.now()).toSeconds();
    }

    /** What one tool is built from, and where it goes. */
    private record Build(Tool tool, Path module, String version, List<String> flags, Path target) {

        private static final String GOFLAGS = "-mod=readonly -trimpath -buildvcs=false";

        static final Map<String, String> ENVIRONMENT = Map.of(
                "CGO_ENABLED", "0",
                "GOFLAGS", GOFLAGS,
                "GOTOOLCHAIN", "local",
                "GOWORK", "off");

        static Build of(Tool tool, Path module, Path cache) {
            try {
                String goMod = Files.readString(module.resolve("go.mod"));
                String version = version(tool, goMod);
                StringBuilder linker = new StringBuilder("-s -w");
                tool.stamps(version).forEach(stamp -> linker.append(" -X ").append(stamp));
                List<String> flags = List.of("-ldflags", linker.toString());
                String key = digest(
                        goMod,
                        Files.readString(module.resolve("go.sum")),
                        flags.toString(),
                        GOFLAGS,
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"));
                Path target = cache.resolve(tool.folder() + "-" + version)
                        .resolve(key)
                        .resolve(tool.program());
                return new Build(tool, module, version, flags, target);
            } catch (IOException e) {
                throw new UncheckedIOException("Reading the Go module in " + module, e);
            }
        }

        /** The version of the required module that holds the program: the one with the longest path. */
        private static String version(Tool tool, String goMod) {
            String version = "";
            int longest = 0;
            for (String line : goMod.lines().toList()) {
                Matcher requirement = REQUIREMENT.matcher(line);
                if (requirement.matches()) {
                    String module = requirement.group(1);
                    boolean holds =
                            tool.goPackage().equals(module) || tool.goPackage().startsWith(module + "/");
                    if (holds && module.length() > longest) {
                        longest = module.length();
                        version = requirement.group(2);
                    }
                }
            }
            if (longest == 0) {
                throw new ToolUnavailableException(
                        "%s/go.mod requires no module that holds %s".formatted(tool.folder(), tool.goPackage()));
            }
            return version;
        }

        private static String digest(String... parts) {
            try {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                for (String part : parts) {
                    digest.update(part.getBytes(StandardCharsets.UTF_8));
                    digest.update((byte) 0);
                }
                return HexFormat.of().formatHex(digest.digest(), 0, 6);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("Every Java platform has SHA-256", e);
            }
        }
    }
}
