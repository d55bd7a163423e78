package dev.apportion.e2e.bed;

import java.io.File;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Assumptions;

/**
 * A program that comes with a Debian package and that only some tests need. Where this process may install packages, it does; where it
 * may not, those tests are skipped.
 */
public enum DebianPackage {
    BIND("bind9", "named"),
    DNSPERF("dnsperf", "dnsperf"),
    DOCKER("docker.io", "dockerd"),
    GCC("gcc", "gcc"),
    MMDEBSTRAP("mmdebstrap", "mmdebstrap"),
    POWERDNS("pdns-backend-sqlite3", "pdns_server"),
    PROMETHEUS("prometheus", "prometheus"),
    PROMTOOL("prometheus", "promtool"),
    SQLITE("sqlite3", "sqlite3"),
    UNBOUND("unbound", "unbound");

    // Once in a run is enough: what could not be installed for one test cannot be for the next.
    private static final Set<DebianPackage> TRIED = ConcurrentHashMap.newKeySet();

    private final String packageName;
    private final String program;

    DebianPackage(String packageName, String program) {
        this.packageName = packageName;
        this.program = program;
    }

    /** The program's file; the calling test is skipped, with a message that names the package, if it cannot be had. */
    public Path orSkip() {
        Optional<Path> present = find();
        Assumptions.assumeTrue(
                present.isPresent(),
                () -> program + " is not installed. Install the package " + packageName + " to run this test.");
        return present.orElseThrow();
    }

    /** The program's file, installed first if need be; empty if it cannot be had. */
    public Optional<Path> find() {
        Optional<Path> present = onPath(program);
        if (present.isEmpty()
                && TRIED.add(this)
                && onPath("apt-get").isPresent()
                && "root".equals(System.getProperty("user.name"))) {
            install();
            present = onPath(program);
        }
        return present;
    }

    private void install() {
        apt("update");
        apt("install", "-y", "--no-install-recommends", packageName);
    }

    private static void apt(String... arguments) {
        List<String> line = new ArrayList<>(
                List.of("apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=20"));
        line.addAll(List.of(arguments));
        try {
            Command.Result result = Command.of(line)
                    .withEnvironment(Map.of("DEBIAN_FRONTEND", "noninteractive"))
                    .within(Duration.ofMinutes(5))
                    .run();
            if (result.exitCode() != 0) {
                System.out.println(result.command() + " ended with " + result.exitCode() + ": " + result.stderr());
            }
        } catch (UncheckedIOException | AssertionError e) {
            System.out.println(e.getMessage());
        }
    }

    private static Optional<Path> onPath(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        for (String folder : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(folder).resolve(program);
            if (!folder.isEmpty() && Files.isExecutable(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }
}
