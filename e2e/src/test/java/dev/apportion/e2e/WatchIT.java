package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.FaultProxy;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Watches that are open and tell nothing are found out: an operator is never healthy and deaf. */
@WithApiServer
class WatchIT {

    private static final Duration NEVER = Duration.ofHours(1);

    @Test
    void anOperatorThatHearsNothingIsNotAlive(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException, InterruptedException {
        try (FaultProxy proxy = FaultProxy.before(server);
                Product product = Product.startBehind(
                        proxy,
                        server,
                        kubectl,
                        folder,
                        Apportion.packaged(),
                        "--watch-audit-interval",
                        "PT1S",
                        "--verify-interval",
                        "PT0.5S")) {
            product.applyPair("deaf");
            product.awaitVerified("deaf");
            Probes probes = Probes.of(product.operator());
            product.await(() -> probes.get("/readyz"), "200 ok\n"::equals, "readiness");

            proxy.delayWatches(NEVER);
            product.setCapacity("deaf", 300);
            String said =
                    product.await(() -> probes.get("/healthz"), answer -> answer.startsWith("503"), "liveness says so");
            assertThat(said).contains("replicapools", "did not arrive by the watch", "deaf");
            assertThat(probes.get("/readyz")).startsWith("503");
            assertThat(probes.metric("apportion_watch_deaf{collection=\"replicapools/namespaces/%s\"}"
                            .formatted(product.namespace())))
                    .isEqualTo(1);
            assertThat(product.weights("trafficservice/deaf")).containsEntry("192.0.2.1", 128L);

            proxy.delayWatches(Duration.ZERO);
            proxy.cutWatches();
            product.await(
                    () -> product.weights("trafficservice/deaf").get("192.0.2.1"),
                    weight -> weight != null && weight == 192,
                    "the change");
            product.await(() -> probes.get("/healthz"), answer -> answer.startsWith("200"), "liveness");
        }
    }
}
