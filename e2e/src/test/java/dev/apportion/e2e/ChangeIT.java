package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/** How fast a change of resources is answered by a real CoreDNS, through operator and sync. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChangeIT {

    private static final int CHANGES = 20;
    private static final Duration GIVEN_UP = Duration.ofSeconds(20);
    private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

    /** Slot 0x96 of 256, between a half and three quarters: its digits are the last and the second of the query's id. */
    private static final int BETWEEN = 0x0609;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder) throws IOException {
        this.client = client;
        product = Product.start(server, kubectl, folder);
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: single}
            spec:
              domain: single.example
              coreDNS: {answers: Single}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: list}
            spec:
              domain: list.example
              coreDNS: {answers: List}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: fixed}
            spec:
              sites:
              - name: main
                endpoints:
                - {name: a, address: 192.0.2.1, capacity: 100}
                - {name: b, address: 192.0.2.2, capacity: 100}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: fixed}
            spec: {zoneRef: {name: single}, hostname: fixed.single.example, poolRef: {name: fixed}}
            ---
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: pods-1, labels: {kubernetes.io/service-name: pods}}
            addressType: IPv4
            endpoints:
            - {addresses: [10.0.0.1], conditions: {ready: true, serving: true}}
            - {addresses: [10.0.0.2], conditions: {ready: true, serving: true}}
            - {addresses: [10.0.0.3], conditions: {ready: true, serving: true}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: pods}
            spec:
              sites: [{name: main, service: {name: pods}, capacity: 100}]
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: pods}
            spec: {zoneRef: {name: single}, hostname: pods.single.example, poolRef: {name: pods}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: apex}
            spec: {zoneRef: {name: single}, hostname: single.example, poolRef: {name: pods}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: listed}
            spec: {zoneRef: {name: list}, hostname: pods.list.example, poolRef: {name: pods}}
            """);
        for (String service : new String[] {"fixed", "pods", "apex", "listed"}) {
            product.awaitVerified(service);
        }
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    @Test
    void aReweightIsServedWithoutReload() {
        awaitLastReload();
        int reloads = reloads();
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < CHANGES; i++) {
            // a gets 1/2 or 3/4: that slot is b's in the first case, a's in the second.
            boolean more = i % 2 == 0;
            long since = System.nanoTime();
            client.genericKubernetesResources("apportion.dev/v1alpha1", "ReplicaPool")
                    .withName("fixed")
                    .patch(
                            JSON_PATCH,
                            "[{\"op\":\"replace\",\"path\":\"/spec/sites/0/endpoints/0/capacity\",\"value\":%d}]"
                                    .formatted(more ? 300 : 100));
            Question slot = Question.of("fixed.single.example", Type.A).withId(BETWEEN);
            times.add(until(
                    since,
                    () -> product.dns().ask(slot).addresses(Type.A).equals(List.of(more ? "192.0.2.1" : "192.0.2.2"))));
        }
        report("re-weight served", times);
        assertThat(median(times)).isLessThan(500);
        assertThat(reloads()).isEqualTo(reloads);
    }

    /** The last configuration is given to CoreDNS twice, some seconds apart. */
    private void awaitLastReload() {
        AtomicInteger last = new AtomicInteger();
        Awaitility.await("the last reload")
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofSeconds(7))
                .until(() -> last.getAndSet(reloads()) == reloads());
    }

    private int reloads() {
        return product.coreDns().log().split("Reloading", -1).length - 1;
    }

    @ParameterizedTest
    @CsvSource({
        "pods.single.example, Single, 1000, 20",
        "pods.list.example, List, 1000, 20",
        "single.example, Single at the apex, 3000, 8"
    })
    void anUnreadyReplicaIsGoneFromAllAnswers(String host, String kind, long limit, int changes) {
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < changes; i++) {
            setServing(0, true);
            product.await("10.0.0.1 is back", () -> answers(host).contains("10.0.0.1"));
            long since = System.nanoTime();
            setServing(0, false);
            times.add(until(since, () -> !answers(host).contains("10.0.0.1")));
        }
        setServing(0, true);
        product.await("10.0.0.1 is back", () -> answers(host).contains("10.0.0.1"));
        report("unready replica gone, " + kind, times);
        assertThat(median(times)).isLessThan(limit);
    }

    private void setServing(int endpoint, boolean serving) {
        client.resources(EndpointSlice.class)
                .withName("pods-1")
                .patch(
                        JSON_PATCH,
                        "[{\"op\":\"replace\",\"path\":\"/endpoints/%d/conditions\",\"value\":{\"ready\":%b,\"serving\":%b}}]"
                                .formatted(endpoint, serving, serving));
    }

    /** Every address that some slot, or the list, holds. */
    private List<String> answers(String host) {
        return IntStream.iterate(0, slot -> slot < 256, slot -> slot + 16)
                .mapToObj(slot -> product.dns()
                        .ask(Question.of(host, Type.A).withId(DnsServer.slotId(slot)))
                        .addresses(Type.A))
                .flatMap(List::stream)
                .distinct()
                .toList();
    }

    private static long until(long since, BooleanSupplier holds) {
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - since > GIVEN_UP.toNanos()) {
                throw new AssertionError("not served within " + GIVEN_UP);
            }
            pause();
        }
        return Duration.ofNanos(System.nanoTime() - since).toMillis();
    }

    private static void pause() {
        try {
            Thread.sleep(Duration.ofMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static void report(String what, List<Long> times) {
        System.out.printf(
                "%s: median %d ms, max %d ms of %d%n",
                what,
                median(times),
                times.stream().mapToLong(Long::longValue).max().orElse(0),
                times.size());
    }

    private static long median(List<Long> times) {
        return times.stream().sorted().toList().get(times.size() / 2);
    }
}
