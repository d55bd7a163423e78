package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.FaultProxy;
import dev.apportion.e2e.bed.FaultProxy.Action;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An operator that is killed at any write request, before or after the API server did it, leaves answers of the old plan or the new one
 * behind, and the next operator goes on to the new one.
 */
@WithApiServer
class KillPointsIT {

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    /** How long nothing is written before a change counts as over: longer than from one write to what follows from it. */
    private static final Duration QUIET = Duration.ofMillis(400);

    private static final String WORLD = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: single}
        spec:
          domain: single.example
          coreDNS: {answers: Single, configMap: {shards: 2}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: list}
        spec:
          domain: list.example
          coreDNS: {answers: List, configMap: {shards: 1}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: pool}
        spec: {sites: [{name: main, endpoints: ENDPOINTS}]}
        """;

    private static final Set<String> LASTING = Set.of("one.single.example", "two.single.example", "www.list.example");

    /** What is published before or after a change. */
    private enum Plan {
        FIRST(100, "c", "192.0.2.3", "old.single.example"),
        SECOND(300, "d", "192.0.2.4", "new.single.example");

        private final int capacity;
        private final String third;
        private final String address;
        private final String passing;

        Plan(int capacity, String third, String address, String passing) {
            this.capacity = capacity;
            this.third = third;
            this.address = address;
            this.passing = passing;
        }

        String endpoints() {
            return """
                [{"name":"a","address":"192.0.2.1","capacity":%d},{"name":"b","address":"192.0.2.2","capacity":100},\
                {"name":"%s","address":"%s","capacity":100}]\
                """.formatted(capacity, third, address);
        }

        Set<String> addresses() {
            return Set.of("192.0.2.1", "192.0.2.2", address);
        }

        Plan other() {
            return this == FIRST ? SECOND : FIRST;
        }

        Set<String> hosts() {
            Set<String> hosts = new TreeSet<>(LASTING);
            hosts.add(passing);
            return hosts;
        }
    }

    private enum Moment {
        BEFORE,
        AFTER
    }

    @Test
    void aKilledOperatorLeavesTheOldPlanOrTheNewOneAndTheNextGoesOn(
            ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder) throws Exception {
        try (FaultProxy proxy = FaultProxy.before(server);
                Product product = Product.startBehind(
                        proxy,
                        server,
                        kubectl,
                        folder,
                        Apportion.packaged(),
                        // The lease of a killed operator has to end before the next one goes on.
                        "--lease-duration",
                        "PT1S")) {
            product.apply(WORLD.replace("ENDPOINTS", Plan.FIRST.endpoints()));
            for (String host : Plan.FIRST.hosts()) {
                product.apply(service(host));
            }
            Scene scene = new Scene(product, proxy, client);
            scene.awaitPlan(Plan.FIRST, Map.of());
            try (AnswerWatch watch = AnswerWatch.start(
                    product.dns(),
                    LASTING,
                    Set.of(Plan.FIRST.passing, Plan.SECOND.passing),
                    Set.of(Plan.FIRST.addresses(), Plan.SECOND.addresses()))) {
                scene.killAtEveryWrite(watch);
                watch.check();
            }
        }
    }

    private static String service(String host) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %s}
            spec: {zoneRef: {name: %s}, hostname: %s, poolRef: {name: pool}}
            """.formatted(name(host), host.substring(host.indexOf('.') + 1, host.lastIndexOf('.')), host);
    }

    private static String name(String host) {
        return host.replace('.', '-');
    }

    private record Scene(Product product, FaultProxy proxy, KubernetesClient client) {

        void killAtEveryWrite(AnswerWatch watch) throws IOException {
            Plan stands = Plan.FIRST;
            int writes = 0;
            for (Plan next : List.of(Plan.SECOND, Plan.FIRST)) {
                Map<String, Long> serials = PublishedShards.of(client).serials();
                proxy.forgetRequests();
                watch.leaves(next.other().passing);
                change(next);
                awaitPlan(next, serials);
                writes = Math.max(writes, proxy.writes().size());
            }
            List<String> killedAt = new ArrayList<>();
            int beyond = 0;
            long since = System.nanoTime();
            for (int k = 1; k <= writes; k++) {
                for (Moment moment : Moment.values()) {
                    stands = stands.other();
                    watch.leaves(stands.other().passing);
                    boolean killed = killAt("", k, moment, stands, killedAt);
                    beyond += killed ? 0 : 1;
                    watch.check();
                }
            }
            // The order of the requests is not always the same: what it left out is met by name.
            for (String resource :
                    List.of("configmaps", "dnszones/status", "trafficservices/status", "replicapools/status")) {
                for (Moment moment : Moment.values()) {
                    if (killedAt.stream().noneMatch(point -> point.endsWith(moment + " " + resource))) {
                        stands = stands.other();
                        watch.leaves(stands.other().passing);
                        killAt(resource, 1, moment, stands, killedAt);
                        watch.check();
                    }
                }
            }
            System.out.printf(
                    "kill points: W = %d write requests, %d operators killed, %d times the change took fewer requests,"
                            + " %d answers seen, %d s%n%s%n",
                    writes,
                    killedAt.size(),
                    beyond,
                    watch.answers(),
                    Duration.ofNanos(System.nanoTime() - since).toSeconds(),
                    killedAt);
            assertThat(killedAt).as("requests at which the operator was killed").hasSizeGreaterThan(writes);
            for (String resource :
                    List.of("configmaps", "dnszones/status", "trafficservices/status", "replicapools/status")) {
                for (Moment moment : Moment.values()) {
                    assertThat(killedAt).anySatisfy(point -> assertThat(point).endsWith(moment + " " + resource));
                }
            }
        }

        /** Whether there was a k-th write, of the resource if one is named. */
        private boolean killAt(String resource, int k, Moment moment, Plan next, List<String> killedAt)
                throws IOException {
            Map<String, Long> serials = PublishedShards.of(client).serials();
            AtomicInteger count = new AtomicInteger();
            Runnable kill = () -> product.operator().kill();
            FaultProxy.Rule rule = proxy.next(
                    1,
                    request -> request.isWrite()
                            && (resource.isEmpty() || request.resource().equals(resource))
                            && count.incrementAndGet() == k,
                    switch (moment) {
                        case BEFORE -> new Action.Before(kill, new Action.Drop());
                        case AFTER -> new Action.After(kill);
                    });
            proxy.forgetRequests();
            change(next);
            product.await(
                    "the end of the operator, or of the change",
                    () -> !product.operator().isAlive() || isDone(next, serials));
            boolean killed = rule.hits() == 1;
            rule.end();
            if (killed) {
                product.await(
                        "the end of the operator", () -> !product.operator().isAlive());
                killedAt.add("%d %s %s"
                        .formatted(
                                k,
                                moment,
                                resource.isEmpty()
                                        ? proxy.writes().get(k - 1).request().resource()
                                        : resource));
                product.startOperator();
            }
            awaitPlan(next, serials);
            return killed;
        }

        private void change(Plan next) {
            client.genericKubernetesResources("apportion.dev/v1alpha1", "ReplicaPool")
                    .withName("pool")
                    .patch(
                            MERGE,
                            "{\"spec\":{\"sites\":[{\"name\":\"main\",\"endpoints\":%s}]}}"
                                    .formatted(next.endpoints()));
            client.genericKubernetesResources("apportion.dev/v1alpha1", "TrafficService")
                    .withName(name(next.other().passing))
                    .delete();
            client.resource(service(next.passing)).create();
        }

        void awaitPlan(Plan plan, Map<String, Long> serialsBefore) {
            product.await(plan + " stands", () -> isDone(plan, serialsBefore));
            PublishedShards.of(client).check();
        }

        private boolean isDone(Plan plan, Map<String, Long> serialsBefore) {
            boolean quiet = proxy.writes().isEmpty()
                    || System.nanoTime() - proxy.writes().getLast().request().nanos() > QUIET.toNanos();
            if (!quiet) {
                return false;
            }
            PublishedShards shards = PublishedShards.of(client);
            return shards.hosts().keySet().equals(plan.hosts())
                    && shards.hosts().values().stream().allMatch(plan.addresses()::equals)
                    && serialsBefore.entrySet().stream()
                            .allMatch(before -> shards.serials().getOrDefault(before.getKey(), 0L) > before.getValue())
                    && plan.hosts().stream().allMatch(host -> answers(host, plan))
                    && says("TrafficService", plan)
                    && says("DNSZone", plan);
        }

        private boolean answers(String host, Plan plan) {
            return AnswerWatch.ask(product.dns(), host).stream().allMatch(plan.addresses()::containsAll)
                    && AnswerWatch.isGone(product.dns(), plan.other().passing);
        }

        /** Whether all resources of a kind say that the plan is what they publish, and that the servers answer so. */
        private boolean says(String kind, Plan plan) {
            List<GenericKubernetesResource> found = client.genericKubernetesResources("apportion.dev/v1alpha1", kind)
                    .list()
                    .getItems();
            return found.stream()
                    .allMatch(resource -> isTrue(resource, "Ready")
                            && isTrue(resource, "Verified")
                            && (kind.equals("DNSZone") || addresses(resource).equals(plan.addresses())));
        }

        private static boolean isTrue(GenericKubernetesResource resource, String condition) {
            return resource.get("status", "conditions") instanceof List<?> conditions
                    && conditions.stream()
                            .anyMatch(found -> found instanceof Map<?, ?> fields
                                    && condition.equals(fields.get("type"))
                                    && "True".equals(fields.get("status")));
        }

        private static Set<String> addresses(GenericKubernetesResource resource) {
            Set<String> addresses = new TreeSet<>();
            if (resource.get("status", "answers") instanceof List<?> answers) {
                answers.forEach(answer -> {
                    if (answer instanceof Map<?, ?> fields) {
                        addresses.add(String.valueOf(fields.get("address")));
                    }
                });
            }
            return addresses;
        }
    }
}
