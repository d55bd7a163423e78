package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against real HTTP servers on loopback. */
class ScraperTest {

    private static final Method.Scrape SCRAPE =
            new Method.Scrape("/metrics", new Series(Map.of(Quantity.IN_FLIGHT, "in_flight")));

    private final Scraper scraper = new Scraper();
    private final List<AutoCloseable> open = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // set before each test
    private HttpServer server;

    private interface Handler {
        void handle(HttpExchange exchange) throws IOException, InterruptedException;
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        server.setExecutor(executor);
        server.start();
        open.add(executor::shutdownNow);
        open.add(() -> server.stop(0));
        open.add(scraper);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }

    private void answer(Handler handler) {
        server.createContext("/metrics", exchange -> {
            try (exchange) {
                handler.handle(exchange);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static void send(HttpExchange exchange, String text, String... headers) throws IOException {
        send(exchange, text.getBytes(StandardCharsets.UTF_8), headers);
    }

    private static void send(HttpExchange exchange, byte[] body, String... headers) throws IOException {
        for (int i = 0; i < headers.length; i += 2) {
            exchange.getResponseHeaders().set(headers[i], headers[i + 1]);
        }
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    private Target target() {
        return new Target("a", "uid-a", new Target.Place.At(server.getAddress()));
    }

    private Readout read() throws InterruptedException {
        return read(target()).values().iterator().next();
    }

    private Map<String, Readout> read(Target... targets) throws InterruptedException {
        Map<String, Readout> found = new ConcurrentHashMap<>();
        scraper.read(SCRAPE, List.of(targets), (target, readout) -> found.put(target.name(), readout));
        return found;
    }

    private String failure() throws InterruptedException {
        return switch (read()) {
            case Readout.Failed(Gap gap, String reason) -> reason;
            case Readout.Values values -> values.toString();
        };
    }

    private static Map<Quantity, Double> values(Readout readout) {
        return switch (readout) {
            case Readout.Failed(Gap gap, String reason) -> throw new AssertionError(reason);
            case Readout.Values values -> values.values();
        };
    }

    @Test
    void whoScrapesNothingHasNoThread() throws InterruptedException {
        Set<Thread> before = clients();
        assertThat(new Scraper()).isNotNull();
        assertThat(clients()).isEqualTo(before);

        answer(exchange -> send(exchange, "in_flight 3\n"));
        read();
        assertThat(clients()).isNotEqualTo(before);
    }

    /** The threads of HTTP clients. */
    private static Set<Thread> clients() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("HttpClient-"))
                .collect(Collectors.toSet());
    }

    @Test
    void plainTextIsRead() throws InterruptedException {
        answer(exchange -> send(exchange, "in_flight 3\nother 4\n", "Content-Type", "text/plain; version=0.0.4"));

        long before = System.nanoTime();
        Readout read = read();

        assertThat(values(read)).isEqualTo(Map.of(Quantity.IN_FLIGHT, 3.0));
        assertThat(read)
                .isInstanceOfSatisfying(
                        Readout.Values.class,
                        values -> assertThat(values.takenNanos()).isBetween(before, System.nanoTime()));
    }

    @Test
    void compressedOpenMetricsIsReadAndItsAgeIsThatOfItsServer() throws InterruptedException {
        answer(exchange -> {
            assertThat(exchange.getRequestHeaders().getFirst("Accept-Encoding")).isEqualTo("gzip");
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            try (OutputStream zip = new GZIPOutputStream(body)) {
                long then = Instant.now().getEpochSecond() - 40;
                zip.write("in_flight{a=\"b\"} 3 %d\n# EOF\n".formatted(then).getBytes(StandardCharsets.UTF_8));
            }
            send(
                    exchange,
                    body.toByteArray(),
                    "Content-Type",
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    "Content-Encoding",
                    "gzip");
        });

        Readout read = read();
        long age = System.nanoTime()
                - switch (read) {
                    case Readout.Failed(Gap gap, String reason) -> throw new AssertionError(reason);
                    case Readout.Values values -> values.takenNanos();
                };

        assertThat(values(read)).isEqualTo(Map.of(Quantity.IN_FLIGHT, 3.0));
        assertThat(Duration.ofNanos(age)).isBetween(Duration.ofSeconds(39), Duration.ofSeconds(43));
    }

    @Test
    void samplesOfTheFutureAreMissing() throws InterruptedException {
        answer(exchange -> send(exchange, "in_flight 3 99999999999999\n"));

        assertThat(failure()).contains("in the future");
    }

    @Test
    void aHundredMegabytesAreCutOffAndNamed() throws InterruptedException {
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] line = ("x".repeat(100) + " 1\n").getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < 1_000_000; i++) {
                exchange.getResponseBody().write(line);
            }
        });

        assertThat(failure()).endsWith("/metrics: it is larger than 16 MiB and was cut off");
    }

    @Test
    void aSmallAnswerThatGrowsIsCutOffToo() throws InterruptedException {
        answer(exchange -> {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            try (OutputStream zip = new GZIPOutputStream(body)) {
                byte[] zeros = new byte[1 << 20];
                for (int i = 0; i < 64; i++) {
                    zip.write(zeros);
                }
            }
            assertThat(body.size()).isLessThan(1 << 20);
            send(exchange, body.toByteArray(), "Content-Encoding", "gzip");
        });

        assertThat(failure()).endsWith("it is larger than 16 MiB and was cut off");
    }

    @Test
    void whoDripsIsGivenUp() throws InterruptedException {
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            for (int i = 0; i < 200; i++) {
                exchange.getResponseBody().write("# drip\n".getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
                Thread.sleep(50);
            }
        });

        long start = System.nanoTime();
        assertThat(failure()).endsWith("no whole answer within 3 s");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(6));
    }

    @Test
    void redirectsAreNotFollowed() throws InterruptedException {
        answer(exchange -> {
            exchange.getResponseHeaders().set("Location", "http://192.0.2.1/");
            exchange.sendResponseHeaders(302, -1);
        });

        assertThat(failure()).endsWith("HTTP status 302");
    }

    @Test
    void whatIsMissingOrMalformedIsNamed() throws InterruptedException {
        answer(exchange -> send(exchange, "in_flights 3\n"));
        assertThat(failure()).endsWith("no sample of in_flight");

        server.removeContext("/metrics");
        answer(exchange -> send(exchange, "in_flight three\n"));
        assertThat(failure()).endsWith("a line is malformed: \"in_flight three\"");
    }

    @Test
    void aPathThatIsNoneIsNamed() throws InterruptedException {
        Map<String, Readout> found = new ConcurrentHashMap<>();
        scraper.read(
                new Method.Scrape("/a[1]%zz", SCRAPE.series()),
                List.of(target()),
                (target, readout) -> found.put(target.name(), readout));

        assertThat(found)
                .containsValue(new Readout.Failed(Gap.NotAsked, "the path \"/a[1]%zz\" cannot stand in a URL"));
    }

    /** One that accepts and never answers, one that refuses, and one without an address hold nobody up. */
    @Test
    void theOthersAreReadMeanwhile() throws Exception {
        answer(exchange -> send(exchange, "in_flight 3\n"));
        int refused;
        try (ServerSocket shut = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            refused = shut.getLocalPort();
        }
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Map<String, Long> times = new ConcurrentHashMap<>();
            Map<String, Readout> found = new ConcurrentHashMap<>();
            List<Target> targets = new ArrayList<>();
            targets.add(new Target("mute", "", at(mute.getLocalPort())));
            targets.add(new Target("shut", "", at(refused)));
            targets.add(new Target("nowhere", "", new Target.Place.Nowhere("it has no port")));
            for (int i = 0; i < 100; i++) {
                targets.add(new Target("t" + i, "", new Target.Place.At(server.getAddress())));
            }

            long start = System.nanoTime();
            scraper.read(SCRAPE, targets, (target, readout) -> {
                found.put(target.name(), readout);
                times.put(target.name(), System.nanoTime() - start);
            });

            assertThat(found).hasSize(103);
            assertThat(found.get("mute"))
                    .isInstanceOfSatisfying(
                            Readout.Failed.class,
                            failed -> assertThat(failed.reason()).endsWith("no whole answer within 3 s"));
            assertThat(found.get("shut"))
                    .isInstanceOfSatisfying(
                            Readout.Failed.class,
                            failed -> assertThat(failed.reason()).contains("no connection"));
            assertThat(found.get("nowhere")).isEqualTo(new Readout.Failed(Gap.NotAsked, "it has no port"));
            for (int i = 0; i < 100; i++) {
                assertThat(found.get("t" + i)).isInstanceOf(Readout.Values.class);
                assertThat(Duration.ofNanos(times.getOrDefault("t" + i, Long.MAX_VALUE)))
                        .isLessThan(Scraper.TIMEOUT);
            }
        }
    }

    private static Target.Place at(int port) {
        return new Target.Place.At(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }
}
