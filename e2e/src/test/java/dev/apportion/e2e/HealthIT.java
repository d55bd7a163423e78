package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LoopbackPorts;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** Fixed endpoints, real HTTP servers on loopback addresses, leave the answers when they fail their checks, and come back. */
@WithApiServer
class HealthIT {

    private static final String WORLD = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: health}
        spec:
          domain: health.example
          coreDNS: {answers: Single, configMap: {shards: 1}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: health}
        spec:
          sites:
          - name: main
            endpoints:
            - {name: a, address: 127.0.1.1}
            - {name: b, address: 127.0.1.2}
            - {name: c, address: 127.0.1.3}
            - {name: d, address: 127.0.1.4}
            healthCheck: {http: {port: CHECKED, path: /healthz}, intervalSeconds: 1, unhealthyAfter: 2, healthyAfter: 2}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: health}
        spec: {zoneRef: {name: health}, hostname: www.health.example, poolRef: {name: health}}
        """;

    private static final Question QUESTION = Question.of("www.health.example", Type.A);
    private static final Set<String> ALL = Set.of("127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4");
    private static final Set<String> WITHOUT_THE_LAST = Set.of("127.0.1.1", "127.0.1.2", "127.0.1.3");

    private int port;
    private final Map<String, HttpServer> servers = new TreeMap<>();

    private void serve(String address, int status) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral(address), port), 0);
        server.createContext("/healthz", exchange -> {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
        HttpServer before = servers.put(address, server);
        assertThat(before).isNull();
    }

    private void stop(String address) {
        HttpServer server = servers.remove(address);
        assertThat(server).isNotNull();
        server.stop(0);
    }

    @AfterEach
    void stopAll() {
        servers.values().forEach(server -> server.stop(0));
    }

    @Test
    void whatFailsItsChecksLeavesTheAnswersAndComesBack(ApiServer api, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        port = LoopbackPorts.free();
        for (String address : ALL) {
            serve(address, 200);
        }
        try (Product product = Product.start(api, kubectl, folder)) {
            product.apply(WORLD.replace("CHECKED", Integer.toString(port)));
            awaitAnswers(product, ALL);
            product.awaitReady("trafficservice/health");

            stop("127.0.1.4");
            long stopped = System.nanoTime();
            awaitAnswers(product, WITHOUT_THE_LAST);
            Duration gone = Duration.ofNanos(System.nanoTime() - stopped);
            System.out.printf(
                    "An endpoint that stopped was out of the answers after %d ms (two checks, 1 s apart)%n",
                    gone.toMillis());
            assertThat(gone).isLessThan(Duration.ofSeconds(4));
            product.await(
                    () -> because(product, "d"),
                    text -> text.contains("fails its health check: 127.0.1.4:" + port + ": Connection refused"),
                    "why d is out");

            // Who starts anew has asked nobody, and lets in nobody who is out.
            product.stopOperator();
            product.startOperator();
            product.await(
                    () -> because(product, "d"), text -> text.contains("fails its health check"), "a new check of d");
            assertThat(answers(product)).isEqualTo(WITHOUT_THE_LAST);

            serve("127.0.1.4", 503);
            product.await(() -> because(product, "d"), text -> text.contains("fails"), "d");
            assertThat(answers(product)).isEqualTo(WITHOUT_THE_LAST);
            stop("127.0.1.4");
            serve("127.0.1.4", 200);
            awaitAnswers(product, ALL);
            product.awaitVerified("health");

            // Where nobody is well, the last answers stay.
            ALL.forEach(this::stop);
            product.awaitCondition("replicapool/health", "Allocated", "False NoReadyReplicas");
            assertThat(answers(product)).isNotEmpty().isSubsetOf(ALL);
        }
    }

    private static void awaitAnswers(Product product, Set<String> addresses) {
        product.await(() -> answers(product), addresses::equals, "the answers " + addresses);
    }

    private static Set<String> answers(Product product) {
        return product.dns().slots(QUESTION).counts().keySet();
    }

    private static String because(Product product, String replica) {
        return product.kubectl(
                "get",
                "replicapool/health",
                "-o",
                "jsonpath={.status.rows[?(@.name==\"%s\")].because}".formatted(replica));
    }
}
