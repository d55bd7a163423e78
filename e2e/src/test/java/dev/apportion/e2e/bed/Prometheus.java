package dev.apportion.e2e.bed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A Prometheus on a port of 127.0.0.1, in a temporary folder of its own. */
public final class Prometheus implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path folder;
    private final ServerProcess process;
    private final String url;
    private final HttpClient client = HttpClient.newHttpClient();

    private Prometheus(Path folder, ServerProcess process, String url) {
        this.folder = folder;
        this.process = process;
        this.url = url;
    }

    /**
     * Starts one that scrapes one target twice a second, whose labels win over its own, as the chart's monitors ask for; the calling
     * test is skipped if it is not installed and cannot be.
     *
     * @param target the address that is scraped
     * @param rules a file of rules that it evaluates every second
     */
    public static Prometheus scraping(String target, Path rules) throws IOException {
        return start(LoopbackPorts.free(), """
            global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s}
            rule_files: ["%s"]
            scrape_configs:
            - job_name: apportion
              honor_labels: true
              static_configs: [{targets: ["%s"], labels: {namespace: operators, pod: apportion-1}}]
            """.formatted(rules, target));
    }

    /**
     * Starts one that scrapes processes every second; the calling test is skipped if it is not installed and cannot be.
     *
     * @param namespace the namespace that the processes are labelled with
     * @param pods the addresses and ports of processes by the names of the pods that they are labelled with
     */
    public static Prometheus ofPods(int port, String namespace, Map<String, String> pods) throws IOException {
        StringBuilder configuration = new StringBuilder("""
            global: {scrape_interval: 1s, scrape_timeout: 1s}
            scrape_configs:
            - job_name: pods
              static_configs:
            """);
        pods.forEach((pod, address) -> configuration.append(
                "  - {targets: [\"%s\"], labels: {namespace: %s, pod: %s}}%n".formatted(address, namespace, pod)));
        return start(port, configuration.toString());
    }

    private static Prometheus start(int port, String configuration) throws IOException {
        Path program = DebianPackage.PROMETHEUS.orSkip();
        Path folder = Files.createTempDirectory("apportion-prometheus-");
        Path file = Files.writeString(folder.resolve("prometheus.yaml"), configuration);
        String address = "127.0.0.1:" + port;
        ServerProcess process = ServerProcess.start(
                "prometheus",
                List.of(
                        program.toString(),
                        "--config.file=" + file,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--web.listen-address=" + address),
                folder,
                Map.of(),
                folder.resolve("log"));
        Prometheus started = new Prometheus(folder, process, "http://" + address);
        process.await("readiness", START, started::isReady);
        return started;
    }

    private boolean isReady() {
        try {
            return get("/-/ready").statusCode() == 200;
        } catch (UncheckedIOException notYet) {
            return false;
        }
    }

    private HttpResponse<String> get(String path) {
        try {
            return client.send(
                    HttpRequest.newBuilder(URI.create(url + path))
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private JsonNode data(String path) {
        HttpResponse<String> response = get(path);
        try {
            JsonNode answer = new ObjectMapper().readTree(response.body());
            if (response.statusCode() != 200) {
                throw new AssertionError(answer.path("error").asText());
            }
            return answer.path("data");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The labels of each series that an expression gives now.
     *
     * @throws AssertionError with the words of Prometheus if it is no expression
     */
    public List<JsonNode> series(String expression) {
        List<JsonNode> series = new ArrayList<>();
        data("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .path("result")
                .forEach(result -> series.add(result.path("metric")));
        return series;
    }

    /** The rules, with what their last evaluation gave. */
    public List<JsonNode> rules() {
        List<JsonNode> rules = new ArrayList<>();
        data("/api/v1/rules")
                .path("groups")
                .forEach(group -> group.path("rules").forEach(rules::add));
        return rules;
    }

    @Override
    public void close() throws IOException {
        client.close();
        process.close();
        Folders.delete(folder);
    }
}
