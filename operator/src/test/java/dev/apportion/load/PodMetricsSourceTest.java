package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against an HTTP server that answers as the metrics API of a cluster does. */
class PodMetricsSourceTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:30Z");

    private static final String METRICS = """
        {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [{
          "metadata": {"name": "shop-0", "namespace": "web", "creationTimestamp": "2026-03-01T12:00:30Z"},
          "timestamp": "TIMESTAMP", "window": "15.2s",
          "containers": [
            {"name": "app", "usage": {"cpu": "CPU", "memory": "96Mi"}},
            {"name": "proxy", "usage": {"cpu": "50m", "memory": "32Mi"}}]}]}
        """;

    private static final String PODS = """
        {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [
          {"metadata": {"name": "shop-0", "namespace": "web", "uid": "uid-0"},
           "spec": {"containers": [
             {"name": "app", "resources": {"requests": {"cpu": "400m", "memory": "128Mi"}}},
             {"name": "proxy", "resources": {"requests": {"cpu": "100m"}}}]},
           "status": {"startTime": "2026-03-01T11:00:00Z"}}]}
        """;

    @SuppressWarnings("NullAway.Init") // set before each test
    private HttpServer server;

    @SuppressWarnings("NullAway.Init") // set before each test
    private KubernetesClient client;

    private final Map<String, String> answers = new HashMap<>();
    private final AtomicInteger podLists = new AtomicInteger();
    private int status = 200;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                String path = exchange.getRequestURI().getPath();
                if (path.equals("/api/v1/namespaces/web/pods")) {
                    podLists.incrementAndGet();
                }
                boolean metrics = path.equals("/apis/metrics.k8s.io/v1beta1/namespaces/web/pods");
                byte[] body = answers.getOrDefault(path, "{\"kind\": \"Status\", \"message\": \"no words\"}")
                        .getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "application/json");
                exchange.sendResponseHeaders(metrics ? status : 200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder()
                        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
        pods(PODS);
        metrics("200m", "2026-03-01T12:00:10Z");
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    private void pods(String text) {
        answers.put("/api/v1/namespaces/web/pods", text);
    }

    private void metrics(String cpu, String timestamp) {
        answers.put(
                "/apis/metrics.k8s.io/v1beta1/namespaces/web/pods",
                METRICS.replace("CPU", cpu).replace("TIMESTAMP", timestamp));
    }

    private PodMetricsSource source() {
        return new PodMetricsSource(client, Clock.fixed(NOW, ZoneOffset.UTC));
    }

    private static Readout read(PodMetricsSource source, String resource, String uid) {
        Map<String, Readout> found = new HashMap<>();
        source.read(
                new Method.PodMetrics("web", resource),
                List.of(new Target("shop-0", uid, new Target.Place.Nowhere("by name"))),
                (target, readout) -> found.put(target.name(), readout));
        return Objects.requireNonNull(found.get("shop-0"));
    }

    @Test
    void useOverRequestsOfAllContainersIsTheUtilisation() {
        PodMetricsSource source = source();

        long before = System.nanoTime();
        Readout read = read(source, "cpu", "uid-0");

        assertThat(read).isInstanceOfSatisfying(Readout.Values.class, values -> {
            assertThat(values.values().get(Quantity.UTILISATION)).isCloseTo(0.5, within(1e-9));
            assertThat(values.stampMillis())
                    .isEqualTo(Instant.parse("2026-03-01T12:00:10Z").toEpochMilli());
            assertThat(Duration.ofNanos(before - values.takenNanos()))
                    .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
        });
        read(source, "cpu", "uid-0");
        assertThat(podLists).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cpu    | uid-0 | 2026-03-01T10:00:00Z | Outdated  | the sample is older than the pod",
                "cpu    | uid-0 | 2026-03-01T13:00:00Z | Future    | the sample is 3570 s in the future",
                "cpu    | uid-0 | then                 | Malformed | the sample has no time",
                "cpu    | uid-1 | 2026-03-01T12:00:10Z | Absent    | the pod is not there any more",
                "memory | uid-0 | 2026-03-01T12:00:10Z | NoRequest | a container of the pod requests no memory, so"
                        + " there is nothing that its use is a part of"
            })
    void whatDoesNotCountIsSaid(String resource, String uid, String timestamp, Gap gap, String reason) {
        metrics("200m", timestamp);

        assertThat(read(source(), resource, uid)).isEqualTo(new Readout.Failed(gap, reason));
    }

    /** A clock that is off by some seconds. */
    private static Clock clock(AtomicLong second, AtomicLong off) {
        return new Clock() {
            @Override
            public Instant instant() {
                return NOW.plusSeconds(second.get() + off.get());
            }

            @Override
            public ZoneOffset getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
                return this;
            }
        };
    }

    /** The clock of this machine is set; that of the cluster goes on. */
    @ParameterizedTest
    @ValueSource(longs = {-5, -3600, 3600})
    void whereTheClockIsSetMeasuringGoesOn(long jump) {
        AtomicLong second = new AtomicLong();
        AtomicLong off = new AtomicLong();
        Clock clock = clock(second, off);
        PodMetricsSource source = new PodMetricsSource(client, clock, () -> TimeUnit.SECONDS.toNanos(second.get()));
        Track track = Track.NEW;
        for (; second.get() <= 600; second.addAndGet(15)) {
            off.set(second.get() >= 300 ? jump : 0);
            metrics("200m", NOW.plusSeconds(second.get() - 5).toString());
            track = track.next(read(source, "cpu", "uid-0"), new Method.PodMetrics("web", "cpu").series());

            assertThat(track.at(TimeUnit.SECONDS.toNanos(second.get()), Duration.ofSeconds(60)))
                    .as("at %s", second)
                    .isInstanceOfSatisfying(
                            Track.Load.Measured.class,
                            load -> assertThat(load.reading().takenNanos())
                                    .isEqualTo(TimeUnit.SECONDS.toNanos(second.get() - 5)));
        }
    }

    /** It was wrong when it was first read, and is right now. */
    @ParameterizedTest
    @ValueSource(longs = {-3600, 3600})
    void aClockThatIsPutRightIsBelieved(long wrong) {
        AtomicLong off = new AtomicLong(wrong);
        AtomicLong second = new AtomicLong();
        PodMetricsSource source =
                new PodMetricsSource(client, clock(second, off), () -> TimeUnit.SECONDS.toNanos(second.get()));
        read(source, "cpu", "uid-0");
        off.set(0);
        second.set(15);
        metrics("200m", NOW.plusSeconds(10).toString());

        assertThat(read(source, "cpu", "uid-0"))
                .isInstanceOfSatisfying(
                        Readout.Values.class,
                        values -> assertThat(values.takenNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(10)));
    }

    @Test
    void aNegativeUseIsHandedOnToBeRefusedAndNotHiddenByAnotherContainer() {
        metrics("-513m", "2026-03-01T12:00:10Z");

        Readout read = read(source(), "cpu", "uid-0");

        Track track = Track.NEW.next(read, new Method.PodMetrics("web", "cpu").series());
        assertThat(track.at(System.nanoTime(), Duration.ofSeconds(60)))
                .isEqualTo(new Track.Load.Missing("utilisation is negative: -1.026"));
    }

    @Test
    void aPodWithoutASampleIsSaid() {
        answers.put(
                "/apis/metrics.k8s.io/v1beta1/namespaces/web/pods",
                "{\"kind\": \"PodMetricsList\", \"apiVersion\": \"metrics.k8s.io/v1beta1\", \"items\": []}");

        assertThat(read(source(), "cpu", "uid-0"))
                .isEqualTo(new Readout.Failed(Gap.Absent, "the metrics API has no sample of the pod yet"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "403 | Refused | the operator needs the rule {apiGroups: [metrics.k8s.io], resources: [pods], verbs:"
                        + " [list]}",
                "404 | Absent  | maybe metrics-server is not installed in this cluster",
                "503 | Refused | maybe metrics-server is not ready"
            })
    void aRefusalSaysWhatIsNeeded(int code, Gap gap, String words) {
        status = code;

        assertThat(read(source(), "cpu", "uid-0")).isInstanceOfSatisfying(Readout.Failed.class, failed -> {
            assertThat(failed.gap()).isEqualTo(gap);
            assertThat(failed.reason()).contains(words);
        });
    }
}
