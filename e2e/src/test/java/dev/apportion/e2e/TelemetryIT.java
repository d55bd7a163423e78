package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What the operator tells of itself: metrics, Events and logs. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TelemetryIT {

    private static final int MANY = 200;
    private static final Duration QUIET = Duration.ofSeconds(1);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, KubernetesClient ownClient, @TempDir Path folder) throws IOException {
        client = ownClient;
        product = Product.start(server, kubectl, folder, "--verify-interval", "PT0.5S");
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: told}
            spec:
              domain: told.example
              coreDNS: {answers: Single}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            """ + pool("told", 100) + service("told", "told"));
        product.awaitVerified("told");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    private static String pool(String name, int capacity) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %s}
            spec:
              sites:
              - name: main
                endpoints: [{name: a, address: 192.0.2.1, capacity: %d}, {name: b, address: 192.0.2.2, capacity: 100}]
            """.formatted(name, capacity);
    }

    private static String service(String name, String pool) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %1$s}
            spec: {zoneRef: {name: told}, hostname: %1$s.told.example, poolRef: {name: %2$s}}
            """.formatted(name, pool);
    }

    private Map<String, Double> metrics() {
        return Probes.of(product.operator()).metrics();
    }

    @Test
    void metersShowWhatIsPublished() {
        String namespace = product.namespace();
        Map<String, Double> metrics = metrics();
        assertThat(metrics)
                .containsEntry("apportion_leader", 1.0)
                .containsEntry("apportion_ready", 1.0)
                .containsEntry(
                        "apportion_answer_weight{address=\"192.0.2.1\",namespace=\"%s\",service=\"told\",stream=\"\"}"
                                .formatted(namespace),
                        128.0)
                .containsEntry("apportion_pool_makespan{namespace=\"%s\",pool=\"told\"}".formatted(namespace), 0.005)
                .containsEntry(
                        "apportion_replica_load{namespace=\"%s\",pool=\"told\",replica=\"a\"}".formatted(namespace),
                        0.005)
                .containsEntry("apportion_zone_programmed{namespace=\"%s\",zone=\"told\"}".formatted(namespace), 1.0)
                .containsEntry(
                        "apportion_server_verified{namespace=\"%s\",server=\"127.0.0.1:%d\",zone=\"told\"}"
                                .formatted(namespace, product.coreDns().port()),
                        1.0);
        assertThat(metrics.keySet().stream().map(series -> series.replaceAll("[{].*", "")))
                .contains(
                        "apportion_reconcile_seconds_count",
                        "apportion_plan_changes_total",
                        "apportion_plan_moved_ratio_bucket",
                        "apportion_publications_total",
                        "apportion_publications_fenced_total",
                        "apportion_reloads_requested_total",
                        "apportion_load_missing_total",
                        "apportion_publish_lag_seconds_bucket",
                        "apportion_verify_lag_seconds_bucket",
                        "apportion_pool_optimality_gap",
                        "apportion_replica_level",
                        "apportion_zone_serial");
        assertThat(Probes.of(product.operator()).get("/metrics")).doesNotContain("NaN");
    }

    @Test
    void theSeriesOfWhatIsDeletedVanish() {
        long before = ofResources();
        String manifests = IntStream.range(0, MANY)
                .mapToObj(i -> pool("many-" + i, 100) + service("many-" + i, "many-" + i))
                .collect(Collectors.joining())
                .replaceAll("(metadata: [{]name: many-[0-9]+)[}]", "$1, labels: {many: all}}");
        product.apply(manifests);
        // A makespan for each pool, and a weight for each of two addresses of each service.
        product.await(
                () -> metrics().keySet().stream()
                        .filter(series -> series.contains("\"many-"))
                        .filter(series -> series.startsWith("apportion_answer_weight")
                                || series.startsWith("apportion_pool_makespan"))
                        .count(),
                count -> count == 3L * MANY,
                "the series of all");
        long most = ofResources();
        product.kubectl("delete", "--wait=false", "trafficservices,replicapools", "-l", "many=all");
        product.await(
                () -> metrics().keySet().stream()
                        .filter(series -> series.contains("\"many-"))
                        .count(),
                count -> count == 0,
                "no series of them");
        assertThat(ofResources()).isEqualTo(before);
        System.out.printf("series: %d before, %d with %d pools and services%n", before, most, MANY);
    }

    /** The series that concern resources, but for those of the other tests. */
    private long ofResources() {
        return metrics().keySet().stream()
                .filter(series -> series.contains("\"told\"") || series.contains("\"many-"))
                .count();
    }

    @Test
    void eventsTellTransitionsAndNothingElse() throws InterruptedException {
        product.apply(pool("eventful", 100) + service("eventful", "eventful"));
        product.awaitReady("trafficservice/eventful");
        Thread.sleep(QUIET);
        assertThat(events("eventful")).isEmpty();

        product.kubectl("delete", "replicapool/eventful");
        product.await(
                () -> events("eventful"),
                found -> found.contains("Warning PoolNotFound"),
                "an Event of what is missing");
        product.apply(pool("eventful", 100));
        product.await(() -> events("eventful"), found -> found.contains("Normal Ready"), "an Event of the return");
        Thread.sleep(QUIET);
        Set<String> told = events("eventful");
        product.apply(pool("eventful", 300));
        product.await(
                () -> product.weights("trafficservice/eventful").get("192.0.2.1"),
                weight -> weight != null && weight == 192,
                "the new weight");
        Thread.sleep(QUIET);
        assertThat(events("eventful")).isEqualTo(told);
    }

    private Set<String> events(String service) {
        return client.resources(Event.class).list().getItems().stream()
                .filter(event -> event.getRegarding().getKind().equals("TrafficService")
                        && event.getRegarding().getName().equals(service))
                .map(event -> event.getType() + " " + event.getReason())
                .collect(Collectors.toSet());
    }

    @Test
    void oneLineTellsOfEachChangedPlan() {
        product.apply(pool("logged", 100) + service("logged", "logged"));
        product.awaitReady("trafficservice/logged");
        long before = planLines();
        for (int capacity : new int[] {200, 300, 400}) {
            product.apply(pool("logged", capacity));
            long wanted = Math.round(256.0 * capacity / (capacity + 100));
            product.await(
                    () -> product.weights("trafficservice/logged").get("192.0.2.1"),
                    weight -> weight != null && Math.abs(weight - wanted) <= 1,
                    "the weight of " + capacity);
        }
        assertThat(planLines() - before).isEqualTo(3);
    }

    private long planLines() {
        return product.operator()
                .log()
                .lines()
                .filter(line -> line.contains(" INFO ")
                        && line.contains("Plan changed")
                        && line.contains("pool=\"%s/logged\"".formatted(product.namespace())))
                .count();
    }

    @Test
    void logsCanBeJson() throws IOException {
        try (ServerProcess standby = product.newJsonOperator()) {
            standby.await(
                    "what it does", Duration.ofSeconds(10), () -> standby.log().contains("standing by"));
            ObjectMapper json = new ObjectMapper();
            for (String line : standby.log().lines().toList()) {
                JsonNode object = json.readTree(line);
                assertThat(object.path("level").asText()).isNotEmpty();
                assertThat(object.path("message").asText()).isNotEmpty();
                assertThat(object.path("timestamp").asLong()).isPositive();
            }
            assertThat(standby.log()).contains("\"holder\"");
        }
    }
}
