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
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The built {@linkplain Tool tools}, in a folder outside the source tree that outlives a run:
 * {@code ${APPORTION_CACHE:-${XDG_CACHE_HOME:-~/.cache}/apportion}/tools/NAME-VERSION/KEY/PROGRAM}, where the key is a digest of
 * {@code go.mod}, {@code go.sum}, the flags and the platform. What is missing is built with the {@code go} client. With
 * {@code APPORTION_TEST_BINARIES=FOLDER} the programs of that folder are taken instead, and nothing is built.
 */
public final class ToolCache {

    /** The variable that names a folder of ready programs. */
    static final String BINARIES = "APPORTION_TEST_BINARIES";

    /** The word that leaves the processors to whatever else runs. */
    public static final String BESIDE = "--beside";

    private static final List<String> YIELDING = List.of("nice", "-n", "19");
    private static final String GO_RELEASE = "1.26";
    private static final Duration PROGRESS = Duration.ofSeconds(15);
    private static final int KEPT_LINES = 40;
    private static final Pattern REQUIREMENT = Pattern.compile("^\\s*(?:require\\s+)?(\\S+)\\s+(v\\S+)(?:\\s*//.*)?$");

    // A file lock belongs to the whole JVM, so threads need one of their own.
    private static final ReentrantLock IN_THIS_JVM = new ReentrantLock();

    private final Map<String, String> environment;
    private final Path modules;
    private final PrintStream progress;
    private final List<String> prefix;

    /**
     * @param environment the variables that say where things are
     * @param modules the folder that holds one Go module per {@link Tool#folder()}
     * @param progress where a line goes now and then while something is built
     */
    ToolCache(Map<String, String> environment, Path modules, PrintStream progress) {
        this(environment, modules, progress, List.of());
    }

    /** @param prefix the words that the command line of each build begins with */
    private ToolCache(Map<String, String> environment, Path modules, PrintStream progress, List<String> prefix) {
        this.environment = Map.copyOf(environment);
        this.modules = modules;
        this.progress = progress;
        this.prefix = prefix;
    }

    /** The cache of this user for this source tree. */
    public static ToolCache ofThisUser() {
        return new ToolCache(System.getenv(), SourceTree.root().resolve("e2e/tools"), System.out);
    }

    /**
     * Builds what is missing of the named programs, or, if none is named, of those that run as processes; the exit code is 1 if one
     * cannot be had. With {@code --beside} as the first word it leaves the processors to whatever else runs, and without a name it
     * builds all programs.
     */
    public static void main(String[] words) {
        boolean beside = words.length > 0 && words[0].equals(BESIDE);
        List<String> named = List.of(words).subList(beside ? 1 : 0, words.length);
        ToolCache user = ofThisUser();
        ToolCache cache = beside ? new ToolCache(user.environment, user.modules, user.progress, YIELDING) : user;
        try {
            // Those of the tests that come first, first.
            cache.paths(Stream.of(Tool.values())
                            .sorted(Comparator.comparing(Tool::isForClusters))
                            .filter(tool ->
                                    named.isEmpty() ? beside || !tool.isForClusters() : named.contains(tool.program()))
                            .toList())
                    .forEach((tool, path) -> cache.progress.println(tool.program() + ": " + path));
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
        return Objects.requireNonNull(paths(List.of(tool)).get(tool));
    }

    /**
     * The files of programs, built first if need be: what is missing of one Go module in one go.
     *
     * @throws ToolUnavailableException if one is not there and cannot be built
     */
    public Map<Tool, Path> paths(Collection<Tool> tools) {
        Map<Tool, Path> paths = new EnumMap<>(Tool.class);
        String binaries = environment.get(BINARIES);
        if (binaries != null && !binaries.isBlank()) {
            tools.forEach(tool -> paths.put(tool, given(tool, binaries)));
            return paths;
        }
        Map<Build, List<Tool>> builds = new LinkedHashMap<>();
        for (Tool tool : tools) {
            Build build = Build.of(tool, modules.resolve(tool.folder()), folder());
            paths.put(tool, build.target(tool));
            builds.computeIfAbsent(build, _ -> new ArrayList<>()).add(tool);
        }
        builds.forEach(this::provide);
        return paths;
    }

    /** A text that differs for programs that differ; nothing is built. */
    public String identity(Tool tool) {
        String binaries = environment.get(BINARIES);
        if (binaries != null && !binaries.isBlank()) {
            Path given = given(tool, binaries);
            try {
                return given + " of " + Files.getLastModifiedTime(given);
            } catch (IOException e) {
                throw new UncheckedIOException("Looking at " + given, e);
            }
        }
        return folder().relativize(
                        Build.of(tool, modules.resolve(tool.folder()), folder()).target(tool))
                .toString();
    }

    private static Path given(Tool tool, String binaries) {
        Path given = Path.of(binaries).toAbsolutePath().resolve(tool.program());
        if (!Files.isExecutable(given)) {
            throw new ToolUnavailableException(
                    "%s=%s has no executable file %s. Put it there, or unset the variable to have it built."
                            .formatted(BINARIES, binaries, tool.program()));
        }
        return given;
    }

    private void provide(Build build, List<Tool> tools) {
        if (build.missing(tools).isEmpty()) {
            return;
        }
        String names = names(build.missing(tools));
        Path go = go().orElseThrow(() -> new ToolUnavailableException(
                "%s %s is needed and not built yet. Install Go %s or later so that the command go is found, or set %s to a folder that holds %s."
                        .formatted(names, build.version(), GO_RELEASE, BINARIES, names)));
        try {
            underLock(build.folder().resolve("build.lock"), () -> build(build, build.missing(tools), go));
        } catch (IOException e) {
            throw new UncheckedIOException("Building " + names + " in " + build.folder(), e);
        }
    }

    private static String names(List<Tool> tools) {
        return tools.stream().map(Tool::program).collect(Collectors.joining(", "));
    }

    private Path folder() {
        return root().resolve("tools");
    }

    /** The folder that everything that is kept from one run to the next is in. */
    public Path root() {
        String own = environment.get("APPORTION_CACHE");
        if (own != null && !own.isBlank()) {
            return Path.of(own).toAbsolutePath();
        }
        String xdg = environment.get("XDG_CACHE_HOME");
        Path caches = xdg != null && !xdg.isBlank()
                ? Path.of(xdg).toAbsolutePath()
                : Path.of(environment.getOrDefault("HOME", System.getProperty("user.home")))
                        .resolve(".cache");
        return caches.resolve("apportion");
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
        void run() throws IOException;
    }

    private static void underLock(Path lockFile, Work work) throws IOException {
        IN_THIS_JVM.lock();
        try {
            Files.createDirectories(lockFile.getParent());
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = channel.lock()) {
                work.run();
            }
        } finally {
            IN_THIS_JVM.unlock();
        }
    }

    private void build(Build build, List<Tool> tools, Path go) throws IOException {
        if (tools.isEmpty()) {
            return; // another run was faster
        }
        String what = names(tools) + " " + build.version();
        Path folder = Files.createTempDirectory(build.folder(), ".build-");
        // Of several packages go takes the last element of each import path as the program's name.
        String output =
                tools.size() == 1 ? folder.resolve(tools.getFirst().program()).toString() : folder + "/";
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(go.toString(), "build", "-v", "-o", output));
        command.addAll(build.flags());
        tools.forEach(tool -> command.add(tool.goPackage()));
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
            for (Tool tool : tools) {
                Files.move(folder.resolve(tool.program()), build.target(tool), StandardCopyOption.ATOMIC_MOVE);
            }
            progress.println("built " + what + " in " + seconds(start) + " s");
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

    /** What the tools of one Go module are built from, and the folder that they go to. */
    private record Build(Path module, String version, List<String> flags, Path folder) {

        private static final String GOFLAGS = "-mod=readonly -trimpath -buildvcs=false";

        private static final String OWN = "own";

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
                List<String> flags = new ArrayList<>(List.of("-ldflags", linker.toString()));
                if (!tool.tags().isEmpty()) {
                    flags.add("-tags=" + String.join(",", tool.tags()));
                }
                String key = digest(
                        goMod + sources(module),
                        Files.readString(module.resolve("go.sum")),
                        flags.toString(),
                        GOFLAGS,
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"));
                return new Build(
                        module,
                        version,
                        List.copyOf(flags),
                        cache.resolve(tool.folder() + "-" + version).resolve(key));
            } catch (IOException e) {
                throw new UncheckedIOException("Reading the Go module in " + module, e);
            }
        }

        Path target(Tool tool) {
            return folder.resolve(tool.program());
        }

        List<Tool> missing(List<Tool> tools) {
            return tools.stream()
                    .filter(tool -> !Files.isExecutable(target(tool)))
                    .toList();
        }

        /** The module's own Go files, if it has any. */
        private static String sources(Path module) throws IOException {
            StringBuilder text = new StringBuilder();
            try (Stream<Path> files = Files.list(module)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".go"))
                        .sorted()
                        .toList()) {
                    text.append(Files.readString(file));
                }
            }
            return text.toString();
        }

        /** The version of the required module that holds the program: the one with the longest path. */
        private static String version(Tool tool, String goMod) {
            if (goMod.startsWith("module " + tool.goPackage() + "\n")) {
                return OWN;
            }
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
