package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LocalNetwork;
import dev.apportion.e2e.bed.MetricsServer;
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

    private static final int PORT = 19300;

    private static final List<Integer> JUMPS = List.of(-5, -3600, 3600, 0);

    @Test
    void aClockThatIsSetStopsNothing(ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder)
            throws IOException {
        WallClock clock = WallClock.in(folder);
        LocalNetwork network = LocalNetwork.orSkip();
        Path dns = Files.createDirectory(folder.resolve("dns"));
        try (network;
                MetricsServer one = MetricsServer.start(network.address(70), PORT);
                MetricsServer other = MetricsServer.start(network.address(71), PORT);
                Product product = Product.start(server, kubectl, dns, "--verify-interval", "PT0.5S")) {
            product.stopOperator();
            product.startOperator(clock.environment());
            product.applyPair("clock");
            product.awaitVerified("clock");
            product.apply(measured(network));
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
                // The loop goes on: whoever is idle now has all, and then the other one.
                for (int idle = 0; idle < 2; idle++) {
                    one.gauge("active", idle == 0 ? 0 : 30);
                    other.gauge("active", idle == 0 ? 30 : 0);
                    String address = network.address(70 + idle);
                    product.await(
                            () -> product.dns()
                                    .slots(Question.of("measured.tick.example", Type.A))
                                    .counts()
                                    .getOrDefault(address, 0L),
                            slots -> slots == 256,
                            "the answers of what is measured, after " + jump);
                }
                product.awaitCondition("replicapool/measured", "LoadAvailable", "True Measured");
            }
            assertThat(product.operator().isAlive()).isTrue();
            assertThat(product.operator().log())
                    .contains("The clock was set")
                    .doesNotContain("could not be renewed in time")
                    .doesNotContain("lost to another operator");
        }
    }

    /** A zone of its own, so that serials of the other one can be counted, and a pool of two processes, of which the one with fewer connections has all. */
    private static String measured(LocalNetwork network) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: tick}
            spec: {domain: tick.example, ttlSeconds: 1, coreDNS: {answers: Single, configMap: {shards: 1}}}
            ---
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: measured-1, labels: {kubernetes.io/service-name: measured}}
            addressType: IPv4
            ports: [{name: metrics, port: %3$d}]
            endpoints:
            - {addresses: [%1$s], targetRef: {kind: Pod, name: measured-0, uid: uid-0}}
            - {addresses: [%2$s], targetRef: {kind: Pod, name: measured-1, uid: uid-1}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: measured}
            spec:
              sites: [{name: main, service: {name: measured}}]
              policy: {type: LeastConnections}
              load: {scrape: {port: metrics, series: {connections: active}}, intervalSeconds: 1, staleAfterSeconds: 10}
              behavior: {cooldownSeconds: 1}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: measured}
            spec: {zoneRef: {name: tick}, hostname: measured.tick.example, poolRef: {name: measured}}
            """.formatted(network.address(70), network.address(71), PORT);
    }

    private static long serial(KubernetesClient client) {
        ConfigMap shard = Objects.requireNonNull(
                client.configMaps().withName("apportion-coredns-0").get());
        return Long.parseLong(shard.getData().get("clock.example.s0.serial"));
    }
}
