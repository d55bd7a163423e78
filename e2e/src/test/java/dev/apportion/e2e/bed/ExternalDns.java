package dev.apportion.e2e.bed;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** An ExternalDNS process that reads the DNSEndpoints of one namespace. */
public final class ExternalDns implements AutoCloseable {

    private static final String MODULE = "sigs.k8s.io/external-dns";
    private static final Duration START = Duration.ofSeconds(60);

    private final Path folder;
    private final ServerProcess process;

    private ExternalDns(Path folder, ServerProcess process) {
        this.folder = folder;
        this.process = process;
    }

    /**
     * Starts it; it looks every second. Its log stays in {@code e2e/target/logs}.
     *
     * @param environment variables that are added to those of this JVM
     * @param options which provider it writes to, and how it knows what is its own
     */
    public static ExternalDns start(Kubectl kubectl, Map<String, String> environment, String... options)
            throws IOException {
        Path folder = Files.createTempDirectory("apportion-external-dns-");
        List<String> command = new ArrayList<>(List.of(
                ToolCache.ofThisUser().path(Tool.EXTERNAL_DNS).toString(),
                "--source=crd",
                "--kubeconfig=" + kubectl.kubeconfig(),
                "--namespace=" + kubectl.namespace(),
                "--policy=sync",
                "--interval=1s",
                "--events",
                "--min-event-sync-interval=500ms",
                "--log-level=debug",
                "--metrics-address=127.0.0.1:" + LoopbackPorts.free()));
        command.addAll(List.of(options));
        Path logs = Files.createDirectories(SourceTree.root().resolve("e2e/target/logs"));
        ServerProcess process = ServerProcess.start(
                "external-dns", command, folder, environment, Files.createTempFile(logs, "external-dns-", ".log"));
        ExternalDns started = new ExternalDns(folder, process);
        try {
            process.await(
                    "look at endpoints",
                    START,
                    () -> process.log().contains("Records fetched")
                            || process.log().contains("All records are already up to date")
                            || process.log().contains("requesting URL"));
        } catch (AssertionError e) {
            started.close();
            throw e;
        }
        return started;
    }

    public String log() {
        return process.log();
    }

    /**
     * Installs the definition of DNSEndpoint that comes with ExternalDNS's module; the calling test is skipped where there is no Go to get
     * it by.
     */
    public static void installDefinition(ApiServer server) throws IOException {
        server.install(definitions());
    }

    /** Removes the definition, and every DNSEndpoint with it. */
    public static void removeDefinition(ApiServer server) {
        server.kubectl("default")
                .run("delete", "crd", "dnsendpoints.externaldns.k8s.io", "--ignore-not-found")
                .orThrow();
    }

    /** The folder of the definition of DNSEndpoint; the calling test is skipped where there is no Go to get it by. */
    public static Path definitions() throws IOException {
        Optional<Path> go = go();
        Assumptions.assumeTrue(
                go.isPresent(), "The definition of DNSEndpoint is in a Go module. Install Go to run this test.");
        Path tool = SourceTree.root().resolve("e2e/tools/external-dns");
        Command.Result found = Command.of(
                        List.of(go.orElseThrow().toString(), "-C", tool.toString(), "mod", "download", "-json", MODULE))
                .withEnvironment(Map.of("GOTOOLCHAIN", "local", "GOWORK", "off"))
                .within(Duration.ofMinutes(5))
                .run()
                .orThrow();
        Path module =
                Path.of(new ObjectMapper().readTree(found.stdout()).path("Dir").asText());
        return module.resolve("config/crd/standard");
    }

    private static Optional<Path> go() {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path candidate = Path.of(folder).resolve("go");
            if (!folder.isEmpty() && Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    @Override
    public void close() throws IOException {
        process.close();
        Folders.delete(folder);
    }
}
