package dev.apportion.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * The HTTP port for probes and metrics: {@code /healthz} (liveness), {@code /readyz} (readiness) and {@code /metrics}
 * (Prometheus' text format). Probes answer 200 or 503, with the problems as text.
 */
public final class HttpPort implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private HttpPort(HttpServer server) {
        this.server = server;
    }

    /**
     * Listens.
     *
     * @param address where; port 0 takes a free one
     * @param metrics the text of {@code /metrics}
     * @throws IOException if the address cannot be had
     */
    public static HttpPort open(InetSocketAddress address, Supplier<Health> health, Supplier<String> metrics)
            throws IOException {
        HttpPort port = new HttpPort(HttpServer.create(address, 0));
        port.server.setExecutor(port.threads);
        port.server.createContext("/healthz", exchange -> {
            Health now = health.get();
            answer(exchange, now.alive(), now.text());
        });
        port.server.createContext("/readyz", exchange -> {
            Health now = health.get();
            answer(exchange, now.alive() && now.ready(), now.text());
        });
        port.server.createContext("/metrics", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            answer(exchange, true, metrics.get());
        });
        port.server.start();
        return port;
    }

    private static void answer(HttpExchange exchange, boolean well, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(UTF_8);
            exchange.sendResponseHeaders(
                    well ? HttpURLConnection.HTTP_OK : HttpURLConnection.HTTP_UNAVAILABLE, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    public InetSocketAddress address() {
        return server.getAddress();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
