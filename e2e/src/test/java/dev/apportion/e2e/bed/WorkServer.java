package dev.apportion.e2e.bed;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A process that takes a time for each request, and shows at {@code /metrics} how many it has served and how many it is serving. */
public final class WorkServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicLong served = new AtomicLong();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Duration time;

    private WorkServer(InetSocketAddress address, Duration time) throws IOException {
        this.time = time;
        server = HttpServer.create(address, 0);
        server.setExecutor(threads);
        server.createContext("/metrics", exchange -> send(exchange, """
            http_requests_total{code="200"} %d
            http_requests_in_flight %d
            """.formatted(served.get(), inFlight.get())));
        server.createContext("/work", this::work);
        server.start();
    }

    /**
     * Starts one.
     *
     * @param time for each request
     */
    public static WorkServer start(String host, int port, Duration time) {
        try {
            return new WorkServer(new InetSocketAddress(host, port), time);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void work(HttpExchange exchange) throws IOException {
        inFlight.incrementAndGet();
        try {
            Thread.sleep(time);
            served.incrementAndGet();
            send(exchange, "done");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            inFlight.decrementAndGet();
        }
    }

    private static void send(HttpExchange exchange, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** How many requests it has served. */
    public long served() {
        return served.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
