package dev.apportion.e2e.bed;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** A process that shows its load at {@code /metrics}: gauges that a test sets, and counters that grow at the rates that it sets. */
public final class MetricsServer implements AutoCloseable {

    private final InetSocketAddress address;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, Double> gauges = new ConcurrentHashMap<>();
    private final Map<String, Double> rates = new ConcurrentHashMap<>();
    private final AtomicLong scrapes = new AtomicLong();
    private final long start = System.nanoTime();
    private HttpServer server;

    private MetricsServer(InetSocketAddress address) throws IOException {
        this.server = open(address);
        this.address = server.getAddress();
    }

    /** Starts one; port 0 takes a free one. */
    public static MetricsServer start(String host, int port) {
        try {
            return new MetricsServer(new InetSocketAddress(host, port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpServer open(InetSocketAddress where) throws IOException {
        HttpServer opened = HttpServer.create(where, 0);
        opened.setExecutor(threads);
        opened.createContext("/metrics", exchange -> {
            try (exchange) {
                scrapes.incrementAndGet();
                byte[] body = text().getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        opened.start();
        return opened;
    }

    private String text() {
        double seconds = (System.nanoTime() - start) / 1e9;
        Map<String, Double> all = new TreeMap<>(gauges);
        rates.forEach((name, rate) -> all.put(name, rate * seconds));
        return all.entrySet().stream()
                .map(entry -> "%s{instance=\"%s\"} %s%n".formatted(entry.getKey(), address, entry.getValue()))
                .collect(Collectors.joining());
    }

    public MetricsServer gauge(String series, double value) {
        gauges.put(series, value);
        return this;
    }

    /** A counter that grows by so much in a second. */
    public MetricsServer counter(String series, double perSecond) {
        rates.put(series, perSecond);
        return this;
    }

    public int port() {
        return address.getPort();
    }

    /** How many times it was asked. */
    public long scrapes() {
        return scrapes.get();
    }

    /** Refuses connections until it is resumed. */
    public void stop() {
        server.stop(0);
    }

    public void resume() {
        try {
            server = open(address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
