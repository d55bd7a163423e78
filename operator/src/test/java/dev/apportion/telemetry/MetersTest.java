package dev.apportion.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.telemetry.Meters.Gauge;
import dev.apportion.telemetry.Meters.Row;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MetersTest {

    private static final int MANY = 5000;

    private static Map<Gauge, List<Row>> pools(int from, int to) {
        Map<Gauge, List<Row>> rows = new EnumMap<>(Gauge.class);
        rows.put(
                Gauge.POOL_MAKESPAN,
                IntStream.range(from, to)
                        .mapToObj(i -> Row.of(i / 4.0, "namespace", "web", "pool", "pool-" + i))
                        .toList());
        return rows;
    }

    private static long series(String scrape) {
        return scrape.lines().filter(line -> line.startsWith("apportion_")).count();
    }

    @Test
    void theSeriesOfWhatIsDeletedVanish() {
        try (Meters meters = new Meters()) {
            long before = series(meters.scrape(() -> pools(0, 2)));
            assertThat(series(meters.scrape(() -> pools(0, MANY)))).isEqualTo(before + MANY - 2);
            String after = meters.scrape(() -> pools(MANY - 2, MANY));
            assertThat(series(after)).isEqualTo(before);
            assertThat(after).contains("apportion_pool_makespan{namespace=\"web\",pool=\"pool-4999\"} 1249.75");
        }
    }

    @Test
    @SuppressWarnings("ExplicitGC") // What a collection takes away is the question.
    void valuesOutliveGarbageCollection() {
        try (Meters meters = new Meters()) {
            meters.scrape(() -> pools(0, MANY));
            System.gc();
            assertThat(meters.scrape(() -> pools(0, MANY))).doesNotContain("NaN");
        }
    }

    @Test
    void namesHaveBaseUnitsAndSuffixes() {
        try (Meters meters = new Meters()) {
            meters.reconciled("dnszones", true, Duration.ofMillis(20));
            meters.planChanged(0.3);
            meters.published("written");
            meters.fenced();
            meters.reloadRequested();
            meters.publishedAfter(Duration.ofMillis(120));
            meters.verifiedAfter(Duration.ofMillis(320));
            meters.event("Warning");
            meters.measured("scrape", Duration.ofMillis(40));
            meters.missing("Negative", 0);
            meters.missing("Absent", 3);
            assertThat(meters.scrape(Map::of))
                    .contains("apportion_reconcile_seconds_count{controller=\"dnszones\",outcome=\"success\"} 1")
                    .contains("apportion_plan_changes_total 1.0")
                    .contains("apportion_plan_moved_ratio_sum 0.3")
                    .contains("apportion_publications_total{outcome=\"written\"} 1.0")
                    .contains("apportion_publications_fenced_total 1.0")
                    .contains("apportion_reloads_requested_total 1.0")
                    .contains("apportion_publish_lag_seconds_bucket{le=\"0.25\"} 1")
                    .contains("apportion_verify_lag_seconds_bucket{le=\"0.25\"} 0")
                    .contains("apportion_events_total{type=\"Warning\"} 1.0")
                    .contains("apportion_load_round_seconds_count{source=\"scrape\"} 1")
                    .contains("apportion_load_missing_total{reason=\"Negative\"} 0.0")
                    .contains("apportion_load_missing_total{reason=\"Absent\"} 3.0")
                    .contains("jvm_memory_used_bytes");
        }
    }

    @Test
    void probesSayWhatIsWrong() throws IOException, InterruptedException {
        AtomicReference<Health> health = new AtomicReference<>(new Health(true, true, List.of()));
        try (Meters meters = new Meters();
                HttpPort port = HttpPort.open(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        health::get,
                        () -> meters.scrape(Map::of))) {
            assertThat(get(port, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(port, "/readyz").statusCode()).isEqualTo(200);
            assertThat(get(port, "/metrics").body()).contains("process_uptime_seconds");
            health.set(new Health(true, false, List.of("the API server refuses to tell of pods")));
            assertThat(get(port, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(port, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(port, "/readyz").body()).contains("refuses to tell of pods");
            health.set(new Health(false, true, List.of("deaf")));
            assertThat(get(port, "/healthz").statusCode()).isEqualTo(503);
            assertThat(get(port, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(port, "/elsewhere").statusCode()).isEqualTo(404);
        }
    }

    private static HttpResponse<String> get(HttpPort port, String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create(
                                    "http://127.0.0.1:" + port.address().getPort() + path))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }
}
