package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** One of several operators leads; whoever leads no more writes nothing. */
@WithApiServer
class LeadershipIT {

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @SuppressWarnings("NullAway.Init") // set before each test
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before each test
    private KubernetesClient client;

    @SuppressWarnings("NullAway.Init") // set before each test
    private ApiServer server;

    @BeforeEach
    void start(ApiServer apiServer, Kubectl kubectl, KubernetesClient ownClient, @TempDir Path folder)
            throws IOException {
        server = apiServer;
        client = ownClient;
        product = Product.start(
                apiServer, kubectl, folder, "--lease-duration", LEASE.toString(), "--verify-interval", "PT0.5S");
        product.applyPair("led");
        product.awaitVerified("led");
    }

    @AfterEach
    void stop() throws IOException {
        product.close();
    }

    private Map<String, Long> answers() {
        return product.dns().slots(Question.of("www.led.example", Type.A)).counts();
    }

    private void awaitAnswers(long first, long second) {
        Map<String, Long> wanted = Map.of("192.0.2.1", first, "192.0.2.2", second);
        product.await(this::answers, wanted::equals, "the answers " + wanted);
    }

    /** The keys of the zone, over all shards. */
    private Map<String, String> published() {
        Map<String, String> data = new TreeMap<>();
        for (ConfigMap shard : client.configMaps()
                .withLabel("apportion.dev/part-of", "coredns")
                .list()
                .getItems()) {
            data.putAll(Objects.requireNonNullElse(shard.getData(), Map.of()));
        }
        return data;
    }

    private String holder() {
        return product.kubectl("get", "lease", "apportion", "-o", "jsonpath={.spec.holderIdentity}");
    }

    private static boolean leads(ServerProcess operator) {
        return operator.log().contains(" Leading ");
    }

    private static void awaitLeading(ServerProcess operator) {
        operator.await("leadership", PATIENCE, () -> leads(operator));
    }

    @Test
    void aCleanStopGivesTheLeaseBack() throws IOException {
        assertThat(holder()).isNotEmpty();
        try (ServerProcess standby = product.newOperator()) {
            assertThat(leads(standby)).isFalse();
            assertThat(Probes.of(standby).get("/readyz")).startsWith("200");
            assertThat(Probes.of(standby).metric("apportion_leader")).isZero();
            long since = System.nanoTime();
            product.stopOperator();
            awaitLeading(standby);
            Duration took = Duration.ofNanos(System.nanoTime() - since);
            System.out.printf("taken over %d ms after a clean stop%n", took.toMillis());
            // Far less than the lease would have lasted.
            assertThat(took).isLessThan(LEASE);
            assertThat(Probes.of(standby).metric("apportion_leader")).isEqualTo(1);
            product.setCapacity("led", 300);
            awaitAnswers(192, 64);
            product.startOperator();
        }
        product.await("nobody holds it, or the other does", () -> leads(product.operator()));
    }

    @Test
    void aDeadLeaderIsReplacedWhenItsLeaseEnds() throws IOException {
        try (ServerProcess standby = product.newOperator()) {
            Map<String, String> before = published();
            product.operator().kill();
            long since = System.nanoTime();
            product.setCapacity("led", 300);
            awaitLeading(standby);
            awaitAnswers(192, 64);
            System.out.printf(
                    "change served %d ms after the leader died, of a lease of %d s%n",
                    Duration.ofNanos(System.nanoTime() - since).toMillis(), LEASE.toSeconds());
            assertThat(before).isNotEmpty().containsOnlyKeys(published().keySet());
            assertThat(epochs()).contains("2");
            product.awaitVerified("led");
        }
    }

    private String epochs() {
        return published().entrySet().stream()
                .filter(entry -> entry.getKey().endsWith(".epoch"))
                .map(Map.Entry::getValue)
                .distinct()
                .sorted()
                .reduce("", (all, next) -> all + " " + next);
    }

    @Test
    void aLeaderThatWasFrozenWritesNothingAndEnds() throws IOException {
        try (ServerProcess standby = product.newOperator()) {
            product.operator().signal("STOP");
            awaitLeading(standby);
            product.setCapacity("led", 300);
            awaitAnswers(192, 64);
            product.await(
                    "its status", () -> product.weights("trafficservice/led").containsValue(192L));
            Map<String, String> newer = published();
            product.operator().signal("CONT");
            assertThat(product.operator().awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(product.operator().log()).contains("The lease was lost to another operator");
            assertThat(published()).isEqualTo(newer);
            assertThat(answers()).isEqualTo(Map.of("192.0.2.1", 192L, "192.0.2.2", 64L));
            product.setCapacity("led", 100);
            awaitAnswers(128, 128);
        }
    }

    @Test
    void whileNobodyReachesTheApiServerAnswersStayAndThenALeaderReturnsUnaided() throws Exception {
        try (ServerProcess standby = product.newOperator()) {
            Map<String, Long> before = answers();
            Map<String, String> data = published();
            server.freeze();
            try {
                product.operator()
                        .await(
                                "suspension",
                                PATIENCE,
                                () -> product.operator().log().contains("The lease could not be renewed in time"));
                product.await(
                        () -> Probes.of(product.operator()).get("/readyz"),
                        answer -> answer.startsWith("503") && answer.contains("the API server"),
                        "readiness says so");
                assertThat(Probes.of(product.operator()).get("/healthz")).startsWith("200");
                assertThat(Probes.of(standby).get("/healthz")).startsWith("200");
                assertThat(answers()).isEqualTo(before);
            } finally {
                server.thaw();
            }
            product.await("a leader", () -> leader(product.operator()) || leader(standby));
            assertThat(published()).isEqualTo(data);
            product.setCapacity("led", 300);
            awaitAnswers(192, 64);
        }
    }

    private static boolean leader(ServerProcess operator) {
        return operator.isAlive() && Probes.of(operator).metric("apportion_leader") == 1;
    }

    @Test
    void aLeaseThatWasDeletedIsNumberedAboveWhatIsPublished() throws IOException {
        product.operator().kill();
        product.startOperator();
        awaitLeading(product.operator());
        product.setCapacity("led", 300);
        awaitAnswers(192, 64);
        assertThat(epochs()).contains("2");
        product.operator().kill();
        product.kubectl("delete", "lease", "apportion");
        product.startOperator();
        awaitLeading(product.operator());
        product.setCapacity("led", 100);
        awaitAnswers(128, 128);
        product.await("a higher epoch", () -> epochs().contains("3"));
    }
}
