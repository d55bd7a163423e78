package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A Prometheus server on a port of 127.0.0.1, which scrapes processes every second. */
public final class Prometheus implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(30);

    private final ServerProcess process;

    private Prometheus(ServerProcess process) {
        this.process = process;
    }

    /**
     * Starts it; the calling test is skipped if it is not installed and cannot be.
     *
     * @param folder a folder of its own
     * @param namespace the namespace that the processes are labelled with
     * @param pods the addresses and ports of processes by the names of the pods that they are labelled with
     */
    public static Prometheus start(Path folder, int port, String namespace, Map<String, String> pods)
            throws IOException {
        Path program = DebianPackage.PROMETHEUS.orSkip();
        StringBuilder configuration = new StringBuilder("""
            global: {scrape_interval: 1s, scrape_timeout: 1s}
            scrape_configs:
            - job_name: pods
              static_configs:
            """);
        pods.forEach((pod, address) -> configuration.append(
                "  - {targets: [\"%s\"], labels: {namespace: %s, pod: %s}}%n".formatted(address, namespace, pod)));
        Path file = Files.writeString(folder.resolve("prometheus.yml"), configuration.toString());
        ServerProcess started = ServerProcess.start(
                "prometheus",
                List.of(
                        program.toString(),
                        "--config.file=" + file,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port),
                folder,
                Map.of(),
                folder.resolve("log"));
        started.await("start", START, () -> started.log().contains("Server is ready to receive web requests"));
        return new Prometheus(started);
    }

    @Override
    public void close() {
        process.terminate();
        process.close();
    }
}
