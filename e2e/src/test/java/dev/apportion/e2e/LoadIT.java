package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LocalNetwork;
import dev.apportion.e2e.bed.LoopbackPorts;
import dev.apportion.e2e.bed.MetricsServer;
import dev.apportion.e2e.bed.Prometheus;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** What processes show of their load decides what a real CoreDNS answers. The pods are HTTP servers of this test. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LoadIT {

    private static final int PORT = 19100;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private LocalNetwork network;

    private final List<MetricsServer> servers = new ArrayList<>();
    private int lastHost = 10;
    private int prometheusPort;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer apiServer;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder, @TempDir Path configuration)
            throws IOException {
        network = LocalNetwork.orSkip();
        apiServer = server;
        prometheusPort = LoopbackPorts.free();
        Path sources = Files.writeString(
                Files.createDirectories(configuration).resolve("sources.yaml"),
                "- {name: default, url: \"http://127.0.0.1:%d\"}%n".formatted(prometheusPort));
        product = Product.start(server, kubectl, folder, "--prometheus-sources", sources.toString());
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: load}
            spec: {domain: load.example, ttlSeconds: 1, coreDNS: {answers: Single}}
            """);
    }

    @AfterAll
    void stop() throws IOException {
        if (product != null) {
            product.close();
        }
        if (network != null) {
            network.close();
        }
    }

    @AfterEach
    void stopServers() {
        servers.forEach(MetricsServer::close);
        servers.clear();
    }

    /** A process on an address of its own. */
    private MetricsServer process() {
        MetricsServer started = MetricsServer.start(network.address(lastHost + servers.size()), PORT);
        servers.add(started);
        return started;
    }

    private String address(int process) {
        return network.address(lastHost + process);
    }

    /** The pods of a Service: one for each process, of which the last ones may not serve yet. */
    private String slice(String service, int serving) {
        return """
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: %1$s-1, labels: {kubernetes.io/service-name: %1$s}}
            addressType: IPv4
            ports: [{name: metrics, port: %3$d}]
            endpoints: [%2$s]
            """.formatted(
                        service,
                        IntStream.range(0, serving)
                                .mapToObj(i ->
                                        "{addresses: [%1$s], targetRef: {kind: Pod, name: %2$s-%3$d, uid: %2$s-uid-%3$d}}"
                                                .formatted(address(i), service, i))
                                .collect(Collectors.joining(", ")),
                        PORT);
    }

    private static String pool(String name, String series, String more) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %1$s}
            spec:
              sites: [{name: main, capacity: 100, service: {name: %1$s}}]
              load:
                scrape: {port: metrics, series: {%2$s}}
                intervalSeconds: 1
                staleAfterSeconds: 4
              %3$s
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %1$s}
            spec: {zoneRef: {name: load}, hostname: %1$s.load.example, poolRef: {name: %1$s}}
            """.formatted(name, series, more);
    }

    private Map<String, Long> slots(String name) {
        return product.dns().slots(Question.of(name + ".load.example", Type.A)).counts();
    }

    private void awaitSlots(String name, Predicate<Map<String, Long>> wanted, String what) {
        System.out.printf("%s: %s%n", what, product.await(() -> slots(name), wanted, what));
    }

    private long slots(Map<String, Long> counts, int process) {
        return counts.getOrDefault(address(process), 0L);
    }

    private String row(String pool, int row, String field) {
        return product.kubectl(
                "get", "replicapool/" + pool, "-o", "jsonpath={.status.rows[%d].%s}".formatted(row, field));
    }

    @Test
    void connectionsThatAreScrapedDecideTheAnswers() {
        lastHost = 10;
        process().gauge("active", 30);
        process().gauge("active", 30);
        process().gauge("active", 0);
        product.apply(slice("lc", 3));
        product.apply(pool(
                "lc", "connections: active", "policy: {type: LeastConnections}\n  behavior: {cooldownSeconds: 1}"));

        product.awaitCondition("replicapool/lc", "LoadAvailable", "True Measured: all 3 ready replicas are measured");
        awaitSlots("lc", counts -> slots(counts, 2) == 256, "the idle one has all");
        assertThat(row("lc", 2, "measured")).startsWith("0 connections; since ");

        servers.get(0).gauge("active", 0);
        servers.get(2).gauge("active", 30);
        awaitSlots("lc", counts -> slots(counts, 0) == 256, "another one is idle");
        assertThat(product.kubectl("get", "replicapool/lc", "-o", "jsonpath={.status.lastChange.reason}"))
                // Or the cooldown after the change before had to end first.
                .isIn("LoadChanged", "Continued");
    }

    @Test
    void whatIsServedIsTheRateAndWhoIsSlowHasLess() {
        lastHost = 20;
        process().counter("requests_total", 40).gauge("in_flight", 8);
        process().counter("requests_total", 40).gauge("in_flight", 24);
        product.apply(slice("slow", 2));
        product.apply(pool("slow", "requests: requests_total, inFlight: in_flight", "behavior: {cooldownSeconds: 1}"));

        product.await(
                () -> product.kubectl("get", "trafficservice/slow", "-o", "jsonpath={.status.rate}"),
                rate -> !rate.isEmpty() && Math.abs(Double.parseDouble(rate) - 80) <= 4,
                "80 requests/s in all");
        awaitSlots("slow", counts -> slots(counts, 1) > 0 && slots(counts, 1) <= 96, "the slow one has less");
        product.await(
                () -> row("slow", 1, "because"),
                because -> because.contains("estimated ") && because.contains("of 100 declared, from 24.0 in flight"),
                "why");
    }

    @Test
    void whoIsSilentIsHeldAndThenGainsNothing() {
        lastHost = 30;
        process().gauge("load1", 1);
        process().gauge("load1", 1);
        process().gauge("load1", 2);
        product.apply(slice("silent", 3));
        product.apply(
                pool("silent", "loadAverage: load1", "policy: {type: LoadAverage}\n  behavior: {cooldownSeconds: 1}"));
        awaitSlots("silent", counts -> slots(counts, 2) > 0 && slots(counts, 2) <= 52, "a fifth for the busy one");

        servers.get(2).stop();
        product.awaitCondition("replicapool/silent", "LoadAvailable", "True Holding: of silent-2 the last measurement");
        assertThat(slots(slots("silent"), 2)).isBetween(1L, 52L);
        assertThat(missing("Unreachable")).isPositive();
        product.awaitCondition(
                "replicapool/silent", "LoadAvailable", "True SomeSilent: 2 of 3 ready replicas are measured; silent-2");
        long before = slots(slots("silent"), 2);
        servers.get(0).gauge("load1", 8);
        servers.get(1).gauge("load1", 8.5);
        product.await(
                () -> row("silent", 0, "measured"),
                found -> found.startsWith("load average 8; since "),
                "the others become busier");
        // Longer than a cooldown and an interval: it does not gain.
        product.await(
                () -> product.kubectl("get", "replicapool/silent", "-o", "jsonpath={.status.rows[1].measured}"),
                found -> found.startsWith("load average 8.5; since "),
                "both");
        assertThat(slots(slots("silent"), 2)).isLessThanOrEqualTo(before);

        servers.get(0).stop();
        servers.get(1).stop();
        product.awaitCondition("replicapool/silent", "LoadAvailable", "False NoSamples: ");
        awaitSlots("silent", counts -> slots(counts, 2) >= 85, "capacity decides alone");
        assertThat(product.kubectl("get", "replicapool/silent", "-o", "jsonpath={.status.replicas.silent}"))
                .isEqualTo("3");

        servers.forEach(MetricsServer::resume);
        product.awaitCondition("replicapool/silent", "LoadAvailable", "True Measured");
    }

    /** How many samples are missing by now, for a reason. */
    private double missing(String reason) {
        return Probes.of(product.operator())
                .metrics()
                .getOrDefault("apportion_load_missing_total{reason=\"%s\"}".formatted(reason), 0.0);
    }

    /** The right that a source lacks is named, and so is what is missing once it is there. */
    @Test
    void theMetricsApiIsAskedAndWhatItLacksIsSaid() {
        lastHost = 80;
        process();
        product.apply(slice("api", 1));
        product.apply(pool("api", "connections: active", "")
                .replace("scrape: {port: metrics, series: {connections: active}}", "podMetrics: {resource: cpu}"));
        product.await(
                () -> product.condition("replicapool/api", "LoadAvailable"),
                condition -> condition.startsWith("False NoSamples: ")
                        && condition.contains("the metrics API refuses (403); the operator needs the rule {apiGroups:"
                                + " [metrics.k8s.io], resources: [pods], verbs: [list]} here, which the role"
                                + " apportion-metrics has"),
                "the right is named");
        assertThat(missing("Refused")).isPositive();

        Rights.bind(apiServer, product.namespace(), product.namespace(), "apportion-metrics", "apportion");
        product.await(
                () -> product.condition("replicapool/api", "LoadAvailable"),
                condition -> condition.contains("there is no metrics API (404)"),
                "this API server has none");
        awaitSlots("api", counts -> slots(counts, 0) == 256, "the service goes on");
    }

    @Test
    void aNewReplicaWarmsUp() {
        lastHost = 40;
        for (int i = 0; i < 3; i++) {
            process().gauge("load1", 1);
        }
        product.apply(slice("warm", 2));
        product.apply(pool(
                "warm",
                "loadAverage: load1",
                "policy: {type: WeightedRoundRobin}\n"
                        + "  behavior: {cooldownSeconds: 1, slowStart: {windowSeconds: 10, minPercent: 10}}"));
        awaitSlots("warm", counts -> slots(counts, 0) == 128, "two");

        product.apply(slice("warm", 3));
        awaitSlots("warm", counts -> slots(counts, 2) > 0 && slots(counts, 2) < 40, "the third begins");
        product.await(() -> row("warm", 2, "state"), "Warming"::equals, "it is said");
        assertThat(product.kubectl("get", "replicapool/warm", "-o", "jsonpath={.status.replicas.warming}"))
                .isEqualTo("1");
        awaitSlots("warm", counts -> slots(counts, 2) >= 85, "it has its whole share");
        product.await(() -> row("warm", 2, "state"), "Ready"::equals, "it is warm");
    }

    /** Clients of the service {@code prom} whose rate a query gives. */
    private static String stream(String name, String clients, String query) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: %s}
            spec:
              serviceRef: {name: prom}
              clients: {cidrs: [%s]}
              rateFrom: {prometheus: {source: default, query: "%s"}}
            """.formatted(name, clients, query);
    }

    private void awaitRate(String resource, double wanted, double within) {
        product.await(
                () -> product.kubectl("get", resource, "-o", "jsonpath={.status.rate}"),
                rate -> !rate.isEmpty() && Math.abs(Double.parseDouble(rate) - wanted) <= within,
                "%s of %s requests/s".formatted(resource, wanted));
    }

    @Test
    void whatARealPrometheusKnowsDecidesTheAnswers() throws IOException {
        lastHost = 60;
        process().gauge("active", 30).counter("requests_total", 60);
        process().gauge("active", 0).counter("requests_total", 20);
        product.apply(slice("prom", 2));
        String series = "connections: active, requests: requests_total";
        product.apply(pool("prom", series, "policy: {type: LeastConnections}\n  behavior: {cooldownSeconds: 1}")
                .replace("scrape: {port: metrics,", "prometheus: {"));
        product.apply(stream("prom-inside", "10.9.0.0/16", "sum(active) / 2"));
        product.apply(stream("prom-wrong", "10.8.0.0/16", "active"));
        product.awaitCondition("replicapool/prom", "LoadAvailable", "False NoSamples: ");
        assertThat(product.condition("replicapool/prom", "LoadAvailable"))
                .contains("the Prometheus source \"default\": ");
        product.awaitCondition("trafficstream/prom-inside", "LoadAvailable", "False NoSamples: ");

        try (Prometheus _ = Prometheus.ofPods(
                prometheusPort,
                product.namespace(),
                Map.of("prom-0", address(0) + ":" + PORT, "prom-1", address(1) + ":" + PORT))) {
            product.awaitCondition("replicapool/prom", "LoadAvailable", "True Measured");
            // Of 80 requests in a time to live, 30 go to the idle one until both are alike, and then each has half of
            // the rest.
            // The rates of streams are numbers that it gives: half of 30 connections, and no single one.
            product.awaitCondition("trafficstream/prom-inside", "LoadAvailable", "True Measured");
            awaitRate("trafficstream/prom-inside", 15, 0.1);
            product.await(
                    () -> product.condition("trafficstream/prom-wrong", "LoadAvailable"),
                    condition -> condition.startsWith("False NoSamples: ")
                            && condition.contains("the query gives 2 series, and one is needed; maybe sum them"),
                    "what is wrong with the query");
            servers.get(0).gauge("active", 50);
            awaitRate("trafficstream/prom-inside", 25, 0.1);
            servers.get(0).gauge("active", 30);
            product.kubectl("delete", "trafficstream/prom-inside", "trafficstream/prom-wrong");
            awaitSlots("prom", counts -> Math.abs(slots(counts, 1) - 176) <= 6, "55 of 80 to the idle one");
            awaitRate("trafficservice/prom", 80, 4);
            product.apply(stream("prom-inside", "10.9.0.0/16", "sum(active) / 2"));
            awaitRate("trafficstream/prom-inside", 15, 0.1);
        }
        // The last rate is held, and then counts no more.
        product.awaitCondition("trafficstream/prom-inside", "LoadAvailable", "True Holding: ");
        assertThat(product.kubectl("get", "trafficstream/prom-inside", "-o", "jsonpath={.status.rate}"))
                .isEqualTo("15");
        product.awaitCondition("trafficstream/prom-inside", "LoadAvailable", "False NoSamples: ");
        // It is gone, and what it said grows old.
        product.awaitCondition("replicapool/prom", "LoadAvailable", "False NoSamples: ");
        product.apply(pool("prom", series, "").replace("scrape: {port: metrics,", "prometheus: {source: other, "));
        product.await(
                () -> product.condition("replicapool/prom", "LoadAvailable"),
                condition -> condition.contains("\"other\": the operator has no source of this name"),
                "who adds it");
    }

    @Test
    void nobodyHasTheOperatorAskWhereItMustNot() {
        lastHost = 50;
        MetricsServer secret = process().gauge("active", 3);
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: curious}
            spec:
              sites: [{name: main, endpoints: [{name: a, address: %s}, {name: b, address: 169.254.169.254}]}]
              load: {scrape: {port: %d, series: {connections: active}}, intervalSeconds: 1}
            """.formatted(address(0), PORT));

        product.awaitCondition(
                "replicapool/curious",
                "LoadAvailable",
                "False NoSamples: there is no measurement of any of 2 ready replicas that counts, so capacity and"
                        + " declared rates decide alone: no pod stands behind " + address(0));
        assertThat(secret.scrapes()).isZero();
    }
}
