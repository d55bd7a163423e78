package dev.apportion.e2e;

import dev.apportion.e2e.bed.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The HTTP port of an operator, as probes and Prometheus see it. */
final class Probes {

    private static final Pattern ADDRESS = Pattern.compile("Serving /healthz.* address=\"?/?([0-9.]+:[0-9]+)");
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final String address;

    private Probes(String address) {
        this.address = address;
    }

    static Probes of(ServerProcess operator) {
        return new Probes(operator.awaitLine(ADDRESS, PATIENCE).group(1));
    }

    /** Where it is, as {@code 127.0.0.1:8080}. */
    String address() {
        return address;
    }

    /** The status and the text, as {@code 503 the watch of pods ...}. */
    String get(String path) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(URI.create("http://" + address + path))
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return response.statusCode() + " " + response.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The samples of the operator's own meters, by series. */
    Map<String, Double> metrics() {
        Map<String, Double> samples = new TreeMap<>();
        get("/metrics").lines().filter(line -> line.startsWith("apportion_")).forEach(line -> {
            int space = line.lastIndexOf(' ');
            samples.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
        });
        return samples;
    }

    double metric(String series) {
        return metrics().getOrDefault(series, Double.NaN);
    }
}
