package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WallClock;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** The clock of the operator's machine is set while it runs. */
@WithApiServer
class ClockIT {

    private static final List<Integer> JUMPS = List.of(-5, -3600, 3600, 0);

    @Test
    void aClockThatIsSetStopsNothing(ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder)
            throws IOException {
        WallClock clock = WallClock.in(folder);
        Path dns = Files.createDirectory(folder.resolve("dns"));
        try (Product product = Product.start(server, kubectl, dns, "--verify-interval", "PT0.5S")) {
            product.stopOperator();
            product.startOperator(clock.environment());
            product.applyPair("clock");
            product.awaitVerified("clock");
            long serial = serial(client);
            int capacity = 100;
            for (int jump : JUMPS) {
                // A write that fails is to be tried again when the clock is set.
                product.kubectl("delete", "rolebinding", "apportion-zone");
                capacity += 100;
                product.setCapacity("clock", capacity);
                product.awaitCondition("dnszone/clock", "Programmed", "False WriteFailed");
                clock.set(Duration.ofSeconds(jump));
                Rights.bind(server, product.namespace(), product.namespace(), "apportion-zone", "apportion");
                long wanted = Math.round(256.0 * capacity / (capacity + 100));
                product.await(
                        () -> product.dns()
                                .slots(Question.of("www.clock.example", Type.A))
                                .counts()
                                .get("192.0.2.1"),
                        found -> found != null && Math.abs(found - wanted) <= 1,
                        "the answers after " + jump);
                assertThat(serial(client)).as("the serial after " + jump).isEqualTo(++serial);
                product.awaitCondition("trafficservice/clock", "Ready", "True");
            }
            assertThat(product.operator().isAlive()).isTrue();
            assertThat(product.operator().log())
                    .contains("The clock was set")
                    .doesNotContain("could not be renewed in time")
                    .doesNotContain("lost to another operator");
        }
    }

    private static long serial(KubernetesClient client) {
        ConfigMap shard = Objects.requireNonNull(
                client.configMaps().withName("apportion-coredns-0").get());
        return Long.parseLong(shard.getData().get("clock.example.s0.serial"));
    }
}
