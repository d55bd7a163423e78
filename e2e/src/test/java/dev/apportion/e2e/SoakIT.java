package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * Changes without end: none is lost, memory stays, and a pool whose replicas flap does not keep the others waiting. Lasts 30 s;
 * {@code -Dapportion.soak=PT10M} says otherwise.
 */
@WithApiServer
class SoakIT {

    private static final Duration LENGTH = Duration.parse(System.getProperty("apportion.soak", "PT30S"));
    private static final int SERVICES = 200;
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration FLAP = Duration.ofMillis(500);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int READINGS = 5;
    private static final Duration GIVEN_UP = Duration.ofSeconds(60);
    private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

    /** The first replica has 1/4 or 3/4 of the slots, so this one tells which: the last digit of the query's id counts most. */
    private static final int MIDDLE = 0x0008;

    private final Map<Integer, Boolean> more = new ConcurrentHashMap<>();
    private volatile boolean flaps = true;
    private final List<Long> millis = Collections.synchronizedList(new ArrayList<>());

    @Test
    void changesAreServedForAsLongAsTheyCome(
            ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder)
            throws IOException, InterruptedException {
        try (Product product = Product.start(server, kubectl, folder)) {
            product.apply("""
                apiVersion: apportion.dev/v1alpha1
                kind: DNSZone
                metadata: {name: soak}
                spec:
                  domain: soak.example
                  coreDNS: {answers: Single}
                  verifyAt: {addresses: ["127.0.0.1:PORT"]}
                """);
            IntStream.range(0, SERVICES).forEach(i -> create(client, i));
            for (int i = 0; i < SERVICES; i++) {
                more.put(i, false);
                int service = i;
                product.await("service " + i, () -> isServed(product, service, false));
            }
            Random random = new Random(1);
            long half = System.nanoTime() + LENGTH.toNanos() / 2;
            long end = System.nanoTime() + LENGTH.toNanos();
            long before = 0;
            List<Thread> waiting = new ArrayList<>();
            Thread flapping = Thread.ofVirtual().start(() -> flap(client));
            int changes = 0;
            for (long next = System.nanoTime(); System.nanoTime() < end; next += PAUSE.toNanos()) {
                if (before == 0 && System.nanoTime() > half) {
                    before = liveKibibytes(product);
                }
                List<Integer> idle =
                        more.keySet().stream().filter(i -> i > 0).sorted().toList();
                if (!idle.isEmpty()) {
                    int service = idle.get(random.nextInt(idle.size()));
                    // Taken out while its change is under way, so that one is not overtaken by the next.
                    boolean now = Objects.requireNonNull(more.remove(service));
                    changes++;
                    waiting.add(Thread.ofVirtual().start(() -> change(product, client, service, !now)));
                }
                Thread.sleep(Duration.ofNanos(Math.max(0, next + PAUSE.toNanos() - System.nanoTime())));
            }
            for (Thread thread : waiting) {
                thread.join();
            }
            flaps = false;
            flapping.join();
            long after = liveKibibytes(product);
            report(changes, before, after);
            assertThat(millis).as("every change was served").hasSize(waiting.size());
            assertThat(more).as("every service has its last change").hasSize(SERVICES);
            more.remove(0);
            more.forEach((service, wanted) ->
                    product.await("the last change of " + service, () -> isServed(product, service, wanted)));
            assertThat(after).as("live heap, KiB").isLessThan(before + before / 8 + 4096);
        }
    }

    private void change(Product product, KubernetesClient client, int service, boolean wanted) {
        long since = System.nanoTime();
        setCapacity(client, service, wanted ? 300 : 33);
        while (!isServed(product, service, wanted)) {
            if (System.nanoTime() - since > GIVEN_UP.toNanos()) {
                System.out.printf("the capacity of soak-%d is not served after %d s%n", service, GIVEN_UP.toSeconds());
                return;
            }
            pause(POLL);
        }
        millis.add(Duration.ofNanos(System.nanoTime() - since).toMillis());
        more.put(service, wanted);
    }

    /** The replicas of the first service are ready and not, each second anew. */
    private void flap(KubernetesClient client) {
        for (boolean drained = true; flaps; drained = !drained) {
            pool(client, 0)
                    .patch(
                            JSON_PATCH,
                            "[{\"op\":\"add\",\"path\":\"/spec/sites/0/endpoints/0/drain\",\"value\":%b}]"
                                    .formatted(drained));
            pause(FLAP);
        }
        pool(client, 0)
                .patch(JSON_PATCH, "[{\"op\":\"add\",\"path\":\"/spec/sites/0/endpoints/0/drain\",\"value\":false}]");
    }

    private static Resource<GenericKubernetesResource> pool(KubernetesClient client, int service) {
        // With the object and not by its name, which would be read first.
        return client.resource(resource("ReplicaPool", service, Map.of()));
    }

    private static void setCapacity(KubernetesClient client, int service, int capacity) {
        pool(client, service)
                .patch(
                        JSON_PATCH,
                        "[{\"op\":\"replace\",\"path\":\"/spec/sites/0/endpoints/0/capacity\",\"value\":%d}]"
                                .formatted(capacity));
    }

    private static boolean isServed(Product product, int service, boolean more) {
        return product.dns()
                .ask(Question.of("s%d.soak.example".formatted(service), Type.A).withId(MIDDLE))
                .addresses(Type.A)
                .equals(List.of(more ? "192.0.2.1" : "192.0.2.2"));
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void create(KubernetesClient client, int service) {
        client.resource(resource(
                        "ReplicaPool",
                        service,
                        Map.of(
                                "sites",
                                List.of(Map.of(
                                        "name",
                                        "main",
                                        "endpoints",
                                        List.of(
                                                Map.of("name", "a", "address", "192.0.2.1", "capacity", 33),
                                                Map.of("name", "b", "address", "192.0.2.2", "capacity", 100)))))))
                .create();
        client.resource(resource(
                        "TrafficService",
                        service,
                        Map.of(
                                "zoneRef",
                                Map.of("name", "soak"),
                                "hostname",
                                "s%d.soak.example".formatted(service),
                                "poolRef",
                                Map.of("name", "soak-" + service))))
                .create();
    }

    private static GenericKubernetesResource resource(String kind, int service, Map<String, Object> spec) {
        return new GenericKubernetesResourceBuilder()
                .withApiVersion("apportion.dev/v1alpha1")
                .withKind(kind)
                .withNewMetadata()
                .withName("soak-" + service)
                .endMetadata()
                .withAdditionalProperties(Map.of("spec", spec))
                .build();
    }

    /** What the operator's heap holds after a collection: the least of several readings, since the operator is at work. */
    private static long liveKibibytes(Product product) {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        String pid = Long.toString(product.operator().pid());
        Probes probes = Probes.of(product.operator());
        return IntStream.range(0, READINGS)
                .mapToLong(reading -> {
                    Command.of(List.of(jcmd, pid, "GC.run")).run().orThrow();
                    double bytes = probes.get("/metrics")
                            .lines()
                            .filter(line -> line.startsWith("jvm_memory_used_bytes{area=\"heap\""))
                            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                            .sum();
                    return (long) bytes / 1024;
                })
                .min()
                .orElseThrow();
    }

    private void report(int changes, long before, long after) {
        List<Long> sorted = millis.stream().sorted().toList();
        System.out.printf(
                "soak of %s: %d changes, %d served; change to answer: median %d ms, p99 %d ms, max %d ms; live heap"
                        + " %d KiB at half-time, %d at the end%n",
                LENGTH,
                changes,
                sorted.size(),
                sorted.get(sorted.size() / 2),
                sorted.get(sorted.size() * 99 / 100),
                sorted.getLast(),
                before,
                after);
    }
}
