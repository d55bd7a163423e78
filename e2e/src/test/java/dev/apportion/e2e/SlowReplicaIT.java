package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LocalNetwork;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import dev.apportion.e2e.bed.WorkServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * The loop is closed by real requests: they follow the answers of a real CoreDNS, servers of which one takes twice as long serve
 * them, and what the servers show of themselves decides the answers.
 */
@WithApiServer
class SlowReplicaIT {

    private static final int PORT = 19200;
    private static final int FIRST_HOST = 90;
    private static final int TTL = 8;

    /** Each with a cache of its own. */
    private static final int CLIENTS = 360;

    /** Of all clients together, in a second. */
    private static final double RATE = 180;

    private static final Duration SERVICE_TIME = Duration.ofMillis(800);
    private static final Question NAME = Question.of("slow.slow.example", Type.A);

    private final List<WorkServer> servers = new ArrayList<>();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicLong failed = new AtomicLong();

    @SuppressWarnings("NullAway.Init") // set before each test
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before each test
    private LocalNetwork network;

    @BeforeEach
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        network = LocalNetwork.orSkip();
        product = Product.start(server, kubectl, folder);
    }

    @AfterEach
    void stop() throws IOException {
        clients.shutdownNow();
        http.shutdownNow();
        servers.forEach(WorkServer::close);
        if (product != null) {
            product.close();
        }
        if (network != null) {
            network.close();
        }
    }

    private String address(int replica) {
        return network.address(FIRST_HOST + replica);
    }

    /** Somebody who keeps an answer for its time to live, and sends requests there at random times. */
    private void client(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long expires = System.nanoTime();
        String address = "";
        try {
            while (true) {
                double wait = -Math.log(1 - random.nextDouble()) * CLIENTS / RATE;
                Thread.sleep(Duration.ofNanos(Math.round(wait * 1e9)));
                if (System.nanoTime() - expires >= 0) {
                    address = product.dns()
                            .ask(NAME.withId(random.nextInt(1 << 16)))
                            .addresses(Type.A)
                            .getFirst();
                    expires = System.nanoTime() + TimeUnit.SECONDS.toNanos(TTL);
                }
                request(address);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void request(String address) {
        var _ = http.sendAsync(
                        HttpRequest.newBuilder(URI.create("http://%s:%d/work".formatted(address, PORT)))
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.discarding())
                .whenComplete((response, e) -> {
                    if (e != null || response.statusCode() != 200) {
                        failed.incrementAndGet();
                    }
                });
    }

    /** The share of the slow one over the mean of the others'. */
    private double ratio() {
        Map<String, Long> slots = product.dns().slots(NAME).counts();
        double slow = slots.getOrDefault(address(2), 0L);
        return 2 * slow / (256 - slow);
    }

    @Test
    void theShareOfWhoServesHalfAsFastSettlesAtHalfOfTheOthersAndStays() throws InterruptedException {
        servers.add(WorkServer.start(address(0), PORT, SERVICE_TIME));
        servers.add(WorkServer.start(address(1), PORT, SERVICE_TIME));
        servers.add(WorkServer.start(address(2), PORT, SERVICE_TIME.multipliedBy(2)));
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: slow}
            spec: {domain: slow.example, ttlSeconds: %5$d, coreDNS: {answers: Single}}
            ---
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: slow-1, labels: {kubernetes.io/service-name: slow}}
            addressType: IPv4
            ports: [{name: metrics, port: %4$d}]
            endpoints:
            - {addresses: [%1$s], targetRef: {kind: Pod, name: slow-0, uid: slow-uid-0}}
            - {addresses: [%2$s], targetRef: {kind: Pod, name: slow-1, uid: slow-uid-1}}
            - {addresses: [%3$s], targetRef: {kind: Pod, name: slow-2, uid: slow-uid-2}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: slow}
            spec:
              sites: [{name: main, service: {name: slow}}]
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: slow}
            spec: {zoneRef: {name: slow}, hostname: slow.slow.example, poolRef: {name: slow}}
            """.formatted(address(0), address(1), address(2), PORT, TTL));
        product.await(() -> ratio(), found -> Math.abs(found - 1) < 0.03, "equal shares while nothing is measured");
        for (int i = 0; i < CLIENTS; i++) {
            int seed = i;
            clients.execute(() -> client(seed));
        }
        // Until all requests are under way as they go on.
        Thread.sleep(SERVICE_TIME.multipliedBy(4));

        product.kubectl("patch", "replicapool/slow", "--type=merge", "-p", """
            {"spec": {"load": {"intervalSeconds": 1, "scrape": {"port": "metrics", "series":
              {"requests": "http_requests_total", "inFlight": "http_requests_in_flight"}}}}}
            """);
        long begin = System.nanoTime();
        List<String> course = new ArrayList<>();
        double settled = 0;
        double before = -1;
        for (double second = 0; second < 25 * TTL; second = (System.nanoTime() - begin) / 1e9) {
            double ratio = ratio();
            if (ratio != before) {
                course.add("%.1f s: %.3f".formatted(second, ratio));
                before = ratio;
            }
            if (ratio < 0.4 || ratio > 0.6) {
                settled = second;
            }
            Thread.sleep(500);
        }
        System.out.printf(
                "The share of the slow one over the mean of the others: %s; served %s, %d failed%n",
                course, servers.stream().map(WorkServer::served).toList(), failed.get());

        assertThat(settled)
                .as("when the ratio was last not within 20 %% of a half, after which it stayed: %s", course)
                .isLessThanOrEqualTo(5 * TTL);
        assertThat(failed).as("requests that failed").hasValue(0);
    }
}
