package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/**
 * The shares of every policy that lives from measurements, as a real CoreDNS answers them: they are those of the plan and of
 * the status, and those that the policy's definition gives by hand.
 */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PoliciesIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: policies, namespace: NAMESPACE}
        spec:
          domain: policies.example
          ttlSeconds: 15
          coreDNS: {answers: Single}
        """;

    /** Ratings are 1090, 1300, 150 and 275; 300 requests come within one time to live. */
    private static final String POOL = """
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: NAME, namespace: NAMESPACE}
        spec:
          sites:
          - name: main
            endpoints:
            - {name: a, address: 192.0.2.1, measured: {connections: 300, users: 5, uniqueUsers: 3, loadAverage: "2.5"}}
            - {name: b, address: 192.0.2.2, measured: {connections: 300, users: 10, uniqueUsers: 10, loadAverage: 1}}
            - {name: c, address: 192.0.2.3, measured: {connections: 300, users: 0, uniqueUsers: 0, loadAverage: "0.5"}}
            - {name: d, address: 192.0.2.4, measured: {connections: 0, users: 2, uniqueUsers: 2, loadAverage: "0.25"}}
          policy: POLICY
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: NAME, namespace: NAMESPACE}
        spec: {zoneRef: {name: policies}, hostname: NAME.policies.example, poolRef: {name: NAME}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: NAME-all, namespace: NAMESPACE}
        spec: {serviceRef: {name: NAME}, rate: 20}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @TempDir
    @SuppressWarnings("NullAway.Init") // set before all tests
    private Path manifests;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        product = Product.start(server, kubectl, folder);
        product.apply(ZONE.replace("NAMESPACE", product.namespace()));
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    private String pool(String name, String policy) {
        return POOL.replace("NAMESPACE", product.namespace())
                .replace("NAME", name)
                .replace("POLICY", policy);
    }

    private Map<String, Long> slots(String name) {
        return product.dns()
                .slots(Question.of(name + ".policies.example", Type.A))
                .counts();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lc        | {type: LeastConnections}         | 0      | 0      | 0      | 1      | 0 connections",
                "wlc       | {type: WeightedLeastConnections} | 0      | 0      | 0      | 1      | 0 connections",
                "wlc-five  | {type: WeightedLeastConnections, weightedLeastConnections: {maxContinuousAllocations: 5}}"
                        + "                                   | 0.1481 | 0.1481 | 0.1481 | 0.5556"
                        + " | 0 connections, new: at most 5 requests in a row",
                "wlc-cycle | {type: WeightedLeastConnections,"
                        + " weightedLeastConnections: {maxContinuousAllocations: 5, round: Cycle}}"
                        + "                                   | 0.2353 | 0.2353 | 0.2353 | 0.2941"
                        + " | 0 connections, new: at most 5 requests in a row",
                "load      | {type: LoadAverage}              | 0.0541 | 0.1351 | 0.2703 | 0.5405 | load average 0.25",
                "rating    | {type: Rating}                   | 0.1210 | 0.1041 | 0.4461 | 0.3287"
                        + " | rating 275: 2 users, 2 distinct, load average 0.25",
                "best      | {type: Rating, rating: {mode: Best}} | 0   | 0      | 1      | 0"
                        + " | rating 275: 2 users, 2 distinct, load average 0.25"
            })
    void coreDnsAnswersTheSharesOfThePlan(
            String name, String policy, double a, double b, double c, double d, String because) throws IOException {
        String pool = pool(name, policy);
        JsonNode planned = plan(name, pool);
        Map<String, Long> weights = new TreeMap<>();
        planned.path("streams")
                .path(0)
                .path("answers")
                .forEach(row -> weights.put(
                        row.path("address").asText(), row.path("weight").asLong()));

        product.apply(pool);
        product.awaitReady("trafficservice/" + name);
        product.await(() -> slots(name), weights::equals, name + " as planned: " + weights);

        assertThat(product.weights("trafficstream/" + name + "-all")).isEqualTo(weights);
        Map<String, Long> answered = slots(name);
        System.out.printf("%s: %s of 256 slots%n", name, answered);
        Map<String, Double> byHand =
                new TreeMap<>(Map.of("192.0.2.1", a, "192.0.2.2", b, "192.0.2.3", c, "192.0.2.4", d));
        byHand.forEach((address, share) -> assertThat(answered.getOrDefault(address, 0L) / 256.0)
                .as(address)
                .isCloseTo(share, within(0.006)));

        assertThat(planned.path("replicas").path(3).path("because").asText()).isEqualTo(because);
        assertThat(product.kubectl("get", "replicapool/" + name, "-o", "jsonpath={.status.rows[3].because}"))
                .isEqualTo("capacity of the site; " + because);
        assertThat(product.condition("replicapool/" + name, "LoadAvailable"))
                .isEqualTo(
                        "True FixedSamples: spec.sites has samples of 4 of 4 ready replicas; nothing is measured anew");
    }

    @Test
    void anotherSampleGivesOtherAnswers() {
        String pool = pool("changing", "{type: Rating, rating: {mode: Best}}");
        product.apply(pool);
        product.await(() -> slots("changing"), Map.of("192.0.2.3", 256L)::equals, "the third is the best");

        product.apply(pool.replace("users: 0, uniqueUsers: 0", "users: 7, uniqueUsers: 7"));
        product.await(() -> slots("changing"), Map.of("192.0.2.4", 256L)::equals, "the fourth is the best");

        product.await(
                () -> product.kubectl(
                        "get",
                        "replicapool/changing",
                        "-o",
                        "jsonpath={.status.lastChange.reason} {.status.lastChange.movedPercent}"
                                + " {.status.rows[2].measured}"),
                "LoadChanged 100 300 connections, 7 users, 7 distinct, load average 0.5; a fixed sample"::equals,
                "status of the change");
    }

    private JsonNode plan(String name, String pool) throws IOException {
        Path file = Files.writeString(
                manifests.resolve(name + ".yaml"), ZONE.replace("NAMESPACE", product.namespace()) + "---\n" + pool);
        Command.Result result = Apportion.packaged().run("plan", "-o", "json", "-f", file.toString());
        assertThat(result.exitCode()).as(result.toString()).isZero();
        return JSON.readTree(result.stdout()).path("pools").path(0);
    }
}
