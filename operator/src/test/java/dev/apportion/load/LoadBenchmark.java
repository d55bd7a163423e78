package dev.apportion.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * What it costs to scrape 1000 processes every ten seconds, one of which never answers: a program that prints the processor time,
 * the heap, and how long the others take, over as many rounds as its argument says. The processes are one HTTP server on 1000 loopback addresses, in another JVM.
 */
final class LoadBenchmark {

    private static final int TARGETS = 1000;
    private static final int SERIES = 100;
    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final int ROUNDS = 6;
    private static final double MEBIBYTE = 1 << 20;

    private static final Sampler.Meter NO_METER = new Sampler.Meter() {
        @Override
        public void measured(Method method, Duration took) {}

        @Override
        public void missing(Gap gap) {}
    };

    private LoadBenchmark() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length > 0 && arguments[0].equals("serve")) {
            serve();
            return;
        }
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : ROUNDS;
        Process server = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LoadBenchmark.class.getName(),
                        "serve")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var lines = server.inputReader(StandardCharsets.UTF_8);
                ServerSocket mute = new ServerSocket(0, 1, InetAddress.getByName("127.0.200.1"))) {
            measure(Integer.parseInt(lines.readLine()), (InetSocketAddress) mute.getLocalSocketAddress(), rounds);
        } finally {
            server.destroy();
        }
    }

    private static void serve() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < SERIES; i++) {
            text.append("# TYPE some_series_%d gauge%nsome_series_%d{code=\"200\",method=\"GET\"} %d.5%n"
                    .formatted(i, i, i));
        }
        text.append(
                "http_requests_total{code=\"200\"} %d%n".formatted(System.nanoTime() / TimeUnit.SECONDS.toNanos(1)));
        text.append("http_requests_in_flight 3%n".formatted());
        byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress("0.0.0.0", 0), TARGETS);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/metrics", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }

    private static void measure(int port, InetSocketAddress mute, int rounds) throws IOException, InterruptedException {
        List<Target> targets = new ArrayList<>();
        targets.add(new Target("mute", "uid-mute", new Target.Place.At(mute)));
        for (int i = 1; i < TARGETS; i++) {
            InetAddress address = InetAddress.getByName("127.0.%d.%d".formatted(i / 250, i % 250 + 1));
            targets.add(new Target("t" + i, "uid-" + i, new Target.Place.At(new InetSocketAddress(address, port))));
        }
        Method method = new Method.Scrape(
                "/metrics",
                new Series(Map.of(
                        Quantity.REQUESTS, "http_requests_total", Quantity.IN_FLIGHT, "http_requests_in_flight")));
        Slowest slowest = new Slowest();
        try (Scraper scraper = new Scraper();
                Sampler sampler = new Sampler(slowest.around(scraper), pool -> {}, NO_METER)) {
            sampler.follow("web/shop", new Assignment(method, INTERVAL, targets));
            // The first round loads classes and opens connections.
            await(sampler, 2);
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long processor = system.getProcessCpuTime();
            long start = System.nanoTime();
            slowest.forget();
            await(sampler, 2 + rounds);
            double seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
            double used = (system.getProcessCpuTime() - processor) / (double) TimeUnit.SECONDS.toNanos(1);
            long good = sampler.standing("web/shop").tracks().values().stream()
                    .filter(track -> track.good() != null && track.problem().isEmpty())
                    .count();
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            System.out.printf(
                    "%d of %d targets measured; %.1f %% of a core over %.0f s; heap %.1f MiB live, %.1f MiB taken;"
                            + " the slowest but the mute one after %d ms of its round%n",
                    good,
                    targets.size(),
                    100 * used / seconds,
                    seconds,
                    (runtime.totalMemory() - runtime.freeMemory()) / MEBIBYTE,
                    runtime.totalMemory() / MEBIBYTE,
                    slowest.millis());
        }
    }

    private static void await(Sampler sampler, long rounds) throws InterruptedException {
        while (sampler.standing("web/shop").rounds() < rounds) {
            Thread.sleep(20);
        }
    }

    /** How long after the begin of its round the last target was known, the mute one aside. */
    private static final class Slowest {

        private final Map<String, Long> millis = new ConcurrentHashMap<>();

        Source around(Source source) {
            return (method, targets, found) -> {
                long start = System.nanoTime();
                BiConsumer<Target, Readout> timed = (target, readout) -> {
                    if (!target.name().equals("mute")) {
                        millis.merge("slowest", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start), Math::max);
                    }
                    found.accept(target, readout);
                };
                source.read(method, targets, timed);
            };
        }

        void forget() {
            millis.clear();
        }

        long millis() {
            return millis.getOrDefault("slowest", 0L);
        }
    }
}
