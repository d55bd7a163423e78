package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.FaultProxy;
import dev.apportion.e2e.bed.FaultProxy.Action;
import dev.apportion.e2e.bed.FaultProxy.Exchange;
import dev.apportion.e2e.bed.FaultProxy.Gate;
import dev.apportion.e2e.bed.FaultProxy.Request;
import dev.apportion.e2e.bed.FaultProxy.Rule;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the API server, or the network before it, does to the operator's requests; each test has a zone of its own. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiTroubleIT {

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    /** How long the operator waits for an answer; it stands for the ten seconds of everyday life. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    /** How long the API server is away; it stands for a minute. */
    private static final Duration AWAY = Duration.ofSeconds(15);

    private static final Duration SILENCE = Duration.ofSeconds(5);

    /** How late watches tell what happened. */
    private static final Duration LATE = Duration.ofSeconds(3);

    /** What an overloaded API server asks for. */
    private static final Duration ASKED = Duration.ofSeconds(1);

    private static final int TIMES_ASKED = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Longer than the operator needs to write what it has to. */
    private static final Duration QUIET = Duration.ofMillis(700);

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: NAME}
        spec:
          sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: CAPACITY}, {name: b, address: 192.0.2.2, capacity: 100}]}]
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: NAME}
        spec: {zoneRef: {name: NAME}, hostname: www.NAME.example, poolRef: {name: NAME}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: NAME}
        spec:
          domain: NAME.example
          coreDNS: {answers: Single, configMap: {name: SHARD, shards: 1}}
          verifyAt: {service: {name: dns, port: 53}}
        """;

    /** There is no kubelet: the pod is only an object, which is annotated after writes. Nothing is sent to its endpoint. */
    private static final String DNS = """
        apiVersion: v1
        kind: Pod
        metadata: {name: dns-1}
        spec: {nodeName: node-1, containers: [{name: coredns, image: "none:1"}]}
        ---
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: dns-a, labels: {kubernetes.io/service-name: dns}}
        addressType: IPv4
        ports: [{name: dns, port: 53, protocol: UDP}]
        endpoints:
        - {addresses: [192.0.2.61], conditions: {ready: false, serving: false}, targetRef: {kind: Pod, name: dns-1}}
        """;

    /** What an installation with a lease of its own adds. */
    private static final String OTHER_LEASE = """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: other-lease}
        rules: [{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [other], verbs: [get, update]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: other-lease}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: other-lease}
        subjects: [{kind: ServiceAccount, name: apportion, namespace: HOME}]
        """;

    /** What becomes of a request. */
    enum Trouble {
        CONFLICT,
        GONE,
        UNPROCESSABLE,
        ERROR,
        UNAVAILABLE,
        HELD,
        LOST,
        ANSWER_LOST,
        ANSWER_STALLED;

        /** Whether the API server does what is asked. */
        boolean isDone() {
            return this == ANSWER_LOST || this == ANSWER_STALLED;
        }

        Action action(Gate gate) {
            return switch (this) {
                case CONFLICT -> FaultProxy.failure(409, "Conflict", WORDS);
                case GONE -> FaultProxy.failure(410, "Gone", WORDS);
                case UNPROCESSABLE -> FaultProxy.failure(422, "Invalid", WORDS);
                case ERROR -> FaultProxy.failure(500, "InternalError", WORDS);
                case UNAVAILABLE -> FaultProxy.failure(503, "ServiceUnavailable", WORDS);
                case HELD -> new Action.Hold(gate, new Action.Drop());
                case LOST -> new Action.Drop();
                case ANSWER_LOST -> new Action.DropResponse();
                case ANSWER_STALLED -> new Action.Stall();
            };
        }
    }

    private static final String WORDS = "the proxy does not want it";

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private FaultProxy proxy;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    private final List<Gate> gates = new ArrayList<>();

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, KubernetesClient client, @TempDir Path folder) throws IOException {
        this.client = client;
        proxy = FaultProxy.before(server);
        product = Product.startBehind(
                proxy,
                server,
                kubectl,
                folder,
                Apportion.packaged().with("KUBERNETES_REQUEST_TIMEOUT", Long.toString(REQUEST_TIMEOUT.toMillis())),
                "--lease-duration",
                "PT3S");
        product.apply(OTHER_LEASE.replace("HOME", product.namespace()));
        product.apply(DNS);
    }

    @AfterEach
    void letEverythingThrough() {
        proxy.endRules();
        gates.forEach(Gate::release);
        gates.clear();
        proxy.delayWatches(Duration.ZERO);
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
        proxy.close();
    }

    private Gate gate() {
        Gate gate = new Gate();
        gates.add(gate);
        return gate;
    }

    /** The slots of 256 that two replicas get, the second one's capacity being 100. */
    private static Map<String, Long> weights(int capacity) {
        long first = 256L * capacity / (capacity + 100);
        return Map.of("192.0.2.1", first, "192.0.2.2", 256 - first);
    }

    /** One zone with one service. */
    private final class Zone {

        private final String name;
        private final String shard;

        Zone(String name, String shard) {
            this.name = name;
            this.shard = shard + "-0";
        }

        Set<String> resources() {
            return Set.of("dnszone/" + name, "trafficservice/" + name);
        }

        void setCapacity(int capacity) {
            client.genericKubernetesResources("apportion.dev/v1alpha1", "ReplicaPool")
                    .withName(name)
                    .patch(
                            MERGE,
                            "{\"spec\":{\"sites\":[{\"name\":\"main\",\"endpoints\":[{\"name\":\"a\",\"address\":\"192.0.2.1\",\"capacity\":%d},{\"name\":\"b\",\"address\":\"192.0.2.2\",\"capacity\":100}]}]}}"
                                    .formatted(capacity));
        }

        ConfigMap configMap() {
            return client.configMaps().withName(shard).require();
        }

        PublishedShards published() {
            ConfigMap found = client.configMaps().withName(shard).get();
            return new PublishedShards(found == null ? List.of() : List.of(found));
        }

        long serial() {
            return published().serials().getOrDefault(name + ".example/0", 0L);
        }

        boolean publishes(int capacity) {
            return Objects.equals(published().weights("www." + name + ".example"), weights(capacity));
        }

        boolean says(int capacity) {
            return product.weights("trafficservice/" + name).equals(weights(capacity))
                    && resources().stream()
                            .allMatch(resource ->
                                    product.condition(resource, "Programmed").startsWith("True Programmed"));
        }

        void awaitPlan(int capacity) {
            product.await(name + " publishes " + capacity, () -> publishes(capacity));
            product.await(name + " says " + capacity, () -> says(capacity));
            published().check();
        }

        /** The writes of this zone's ConfigMap that went through the proxy. */
        List<Exchange> writes() {
            return proxy.writes().stream()
                    .filter(exchange -> isWrite(exchange.request()))
                    .toList();
        }

        long writesDone() {
            return writes().stream()
                    .filter(exchange -> exchange.code() / 100 == 2)
                    .count();
        }

        long createsDone() {
            return writes().stream()
                    .filter(exchange -> isCreate(exchange.request()) && exchange.code() / 100 == 2)
                    .count();
        }

        boolean isCreate(Request request) {
            return request.method().equals("POST")
                    && request.resource().equals("configmaps")
                    && request.body().contains("\"" + shard + "\"");
        }

        boolean isPatch(Request request) {
            return request.isWrite()
                    && request.resource().equals("configmaps")
                    && request.name().equals(shard);
        }

        boolean isWrite(Request request) {
            return isCreate(request) || isPatch(request);
        }

        Predicate<Request> status(String plural) {
            return request -> request.resource().equals(plural + "/status")
                    && request.name().equals(name);
        }
    }

    private Zone declare(String name, String shard) {
        product.apply(ZONE.replace("NAME", name).replace("SHARD", shard).replace("CAPACITY", "100"));
        return new Zone(name, shard);
    }

    private Zone publish(String name) {
        Zone zone = declare(name, name);
        zone.awaitPlan(100);
        awaitQuiet();
        proxy.forgetRequests();
        return zone;
    }

    private void awaitQuiet() {
        product.await(
                "quiet",
                () -> proxy.writes().isEmpty()
                        || System.nanoTime()
                                        - proxy.writes().getLast().request().nanos()
                                > QUIET.toNanos());
    }

    private static boolean isAnnotation(Request request) {
        return request.isWrite() && request.resource().equals("pods");
    }

    @ParameterizedTest
    @EnumSource
    void aWriteThatGoesWrongIsMadeUpFor(Trouble trouble) {
        String name = "write-" + trouble.name().toLowerCase(Locale.ROOT).replace('_', '-');
        Gate gate = gate();
        Zone zone = new Zone(name, name);
        proxy.forgetRequests();
        List<Rule> rules = new ArrayList<>();
        for (String plural : List.of("dnszones", "replicapools", "trafficservices")) {
            rules.add(proxy.next(1, zone.status(plural), trouble.action(gate)));
        }
        rules.add(proxy.next(1, zone::isCreate, trouble.action(gate)));
        declare(name, name);
        zone.awaitPlan(100);
        assertThat(rules).allSatisfy(rule -> assertThat(rule.hits()).isEqualTo(1));
        assertThat(zone.createsDone()).as(zone.writes().toString()).isEqualTo(1);
        awaitQuiet();
        proxy.forgetRequests();
        rules.clear();

        long serial = zone.serial();
        for (String plural : List.of("dnszones", "replicapools", "trafficservices")) {
            rules.add(proxy.next(1, zone.status(plural), trouble.action(gate)));
        }
        rules.add(proxy.next(1, zone::isPatch, trouble.action(gate)));
        rules.add(proxy.next(1, ApiTroubleIT::isAnnotation, trouble.action(gate)));
        zone.setCapacity(300);
        zone.awaitPlan(300);
        assertThat(zone.serial()).isEqualTo(serial + 1);
        assertThat(zone.writesDone()).as(zone.writes().toString()).isEqualTo(1);
        if (!trouble.isDone()) {
            product.await("the annotation", () -> annotation().equals(name + ".example.s0-" + zone.serial()));
            assertThat(rules).allSatisfy(rule -> assertThat(rule.hits()).isEqualTo(1));
        }
    }

    private String annotation() {
        Pod pod = client.pods().withName("dns-1").require();
        return Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.<String, String>of())
                .getOrDefault("apportion.dev/serial", "");
    }

    @ParameterizedTest
    @EnumSource(names = {"CONFLICT", "UNPROCESSABLE", "GONE", "ERROR", "UNAVAILABLE"})
    void aWriteThatKeepsGoingWrongIsSaidInTheServersWords(Trouble trouble) {
        Zone zone = publish("keeps-" + trouble.name().toLowerCase(Locale.ROOT));
        Rule rule = proxy.next(Integer.MAX_VALUE, zone::isPatch, trouble.action(gate()));

        zone.setCapacity(300);
        String reason = trouble == Trouble.CONFLICT || trouble == Trouble.UNPROCESSABLE ? "Fenced" : "WriteFailed";
        for (String resource : zone.resources()) {
            product.awaitCondition(resource, "Programmed", "False " + reason);
            assertThat(product.condition(resource, "Programmed")).contains(WORDS);
            product.awaitCondition(resource, "Ready", "False " + reason);
        }
        assertThat(zone.publishes(100)).isTrue();
        rule.end();
        zone.awaitPlan(300);
        assertThat(zone.writesDone()).isEqualTo(1);
        assertThat(rule.hits()).as("tries in some seconds").isLessThan(12);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"CONFLICT", "UNPROCESSABLE"})
    void aReadThatGoesWrongIsMadeUpFor(Trouble trouble) {
        Zone zone = publish("read-" + trouble.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        Gate gate = gate();
        int watches = proxy.openWatches();
        assertThat(watches).isPositive();
        // What a watch says has no end that could be lost.
        Rule watchesFail =
                proxy.next(watches, Request::isWatch, trouble.isDone() ? new Action.Drop() : trouble.action(gate));
        proxy.next(watches, Request::isWatch, new Action.Expire());
        Rule listsFail = proxy.next(watches, Request::isList, trouble.action(gate));

        proxy.cutWatches();
        zone.setCapacity(300);
        zone.awaitPlan(300);
        assertThat(zone.writesDone()).isEqualTo(1);
        assertThat(watchesFail.hits()).isPositive();
        product.await("lists that went wrong", () -> listsFail.hits() > 0);
        assertThat(product.operator().isAlive()).isTrue();
    }

    @Test
    void anOverloadedServerIsNotAskedSooner() {
        Zone one = publish("slow-one");
        Zone two = publish("slow-two");
        Action.Answer header =
                FaultProxy.failure(429, "TooManyRequests", WORDS, Map.of("Retry-After", "" + ASKED.toSeconds()), 0);
        Action.Answer details =
                FaultProxy.failure(429, "TooManyRequests", WORDS, Map.of(), Math.toIntExact(ASKED.toSeconds()));
        Map<String, Predicate<Request>> obeyed = Map.of(
                "shard, header",
                one::isPatch,
                "status, details",
                one.status("trafficservices"),
                "shard, details",
                two::isPatch,
                "status, header",
                two.status("trafficservices"));
        List<Rule> rules = obeyed.entrySet().stream()
                .map(entry ->
                        proxy.next(TIMES_ASKED, entry.getValue(), entry.getKey().endsWith("header") ? header : details))
                .toList();

        one.setCapacity(300);
        two.setCapacity(300);
        product.await("the middle of it", () -> rules.stream().allMatch(rule -> rule.hits() > TIMES_ASKED / 2));
        // An event is no reason to ask sooner, and the plan that counts is the last one.
        one.setCapacity(700);
        two.setCapacity(700);
        one.awaitPlan(700);
        two.awaitPlan(700);
        awaitQuiet();
        obeyed.forEach((what, which) -> {
            List<Exchange> sent = proxy.writes().stream()
                    .filter(exchange -> which.test(exchange.request()))
                    .toList();
            List<Exchange> refused =
                    sent.stream().filter(exchange -> exchange.code() == 429).toList();
            assertThat(refused).as(what).hasSize(TIMES_ASKED);
            IntStream.range(0, TIMES_ASKED)
                    .forEach(i -> assertThat(
                                    Duration.ofNanos(sent.get(i + 1).request().nanos()
                                            - sent.get(i).request().nanos()))
                            .as("%s, pause %d", what, i)
                            .isGreaterThanOrEqualTo(ASKED));
            if (what.startsWith("shard")) {
                assertThat(sent).as(what).hasSize(TIMES_ASKED + 1);
            }
        });
    }

    @Test
    void anOverloadedServerIsNotListedSooner() {
        Zone zone = publish("slow-list");
        int watches = proxy.openWatches();
        proxy.next(watches, Request::isWatch, new Action.Expire());
        Predicate<Request> pools =
                request -> request.isList() && request.resource().equals("replicapools");
        proxy.next(
                2,
                pools,
                FaultProxy.failure(429, "TooManyRequests", WORDS, Map.of("Retry-After", "" + ASKED.toSeconds()), 0));

        proxy.cutWatches();
        zone.setCapacity(300);
        zone.awaitPlan(300);
        List<Exchange> lists = proxy.exchanges().stream()
                .filter(exchange -> pools.test(exchange.request()))
                .toList();
        assertThat(lists).hasSizeGreaterThanOrEqualTo(3);
        IntStream.range(0, 2)
                .forEach(i -> assertThat(
                                Duration.ofNanos(lists.get(i + 1).request().nanos()
                                        - lists.get(i).request().nanos()))
                        .isGreaterThanOrEqualTo(ASKED));
    }

    @Test
    void anotherOperatorCreatesTheShardFirst() throws IOException {
        Zone zone = new Zone("race", "race");
        Gate gate = gate();
        proxy.next(1, zone::isCreate, new Action.Hold(gate, new Action.Forward()));
        proxy.forgetRequests();
        try (ServerProcess other = startOther()) {
            declare("race", "race");
            gate.awaitArrival(PATIENCE);
            product.await("the other operator's shard", () -> zone.publishes(100));
            String version = zone.configMap().getMetadata().getResourceVersion();
            gate.release();

            zone.awaitPlan(100);
            product.await(
                    "the end of the late request",
                    () -> zone.writes().getFirst().code() != 0);
            assertThat(zone.writes().getFirst().code()).isEqualTo(409);
            awaitQuiet();
            assertThat(zone.configMap().getMetadata().getResourceVersion()).isEqualTo(version);
            stop(other);
        }
    }

    @Test
    void aDelayedWriterMeetsANewerPlan() throws IOException {
        Zone zone = publish("delayed");
        Gate gate = gate();
        proxy.next(1, zone::isPatch, new Action.Hold(gate, new Action.DropResponse()));
        try (ServerProcess other = startOther()) {
            zone.setCapacity(300);
            gate.awaitArrival(PATIENCE);
            product.await("the other operator's plan", () -> zone.publishes(300));
            zone.setCapacity(700);
            product.await("the other operator's newer plan", () -> zone.publishes(700));
            gate.release();

            product.await(
                    "the end of the late request",
                    () -> zone.writes().getFirst().code() != 0);
            assertThat(zone.writes().getFirst().code()).isEqualTo(422);
            zone.awaitPlan(700);
            awaitQuiet();
            assertThat(zone.publishes(700)).isTrue();
            assertThat(zone.published().hosts()).containsOnlyKeys("www.delayed.example");
            stop(other);
        }
    }

    /** With a lease of its own, so that both lead: the worst that can be done to zones. */
    private ServerProcess startOther() throws IOException {
        return product.newOperatorPastTheProxy("--lease", "other");
    }

    private static void stop(ServerProcess other) {
        other.terminate();
        other.awaitExit(PATIENCE);
    }

    @Test
    void aShardIsDeletedByAUser() {
        Zone zone = publish("deleted");
        zone.setCapacity(300);
        zone.awaitPlan(300);
        long serial = zone.serial();

        client.configMaps().withName(zone.shard).delete();
        product.await("the shard again", () -> zone.publishes(300));
        assertThat(zone.serial()).isGreaterThan(serial);
        zone.awaitPlan(300);
    }

    @Test
    void aShardIsMadeImmutable() {
        Zone zone = publish("immutable");
        client.configMaps().withName(zone.shard).patch(MERGE, "{\"immutable\":true}");
        Map<String, String> data = zone.configMap().getData();

        zone.setCapacity(300);
        for (String resource : zone.resources()) {
            product.awaitCondition(resource, "Programmed", "False Immutable");
        }
        awaitQuiet();
        assertThat(zone.configMap().getData()).isEqualTo(data);
        assertThat(zone.writes().size()).isLessThanOrEqualTo(1);

        client.configMaps().withName(zone.shard).delete();
        zone.awaitPlan(300);
    }

    @Test
    void aStrangersImmutableConfigMapIsThereFirst() {
        client.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("stranger-0")
                        .endMetadata()
                        .withData(Map.of("note", "mine"))
                        .withImmutable(true)
                        .build())
                .create();
        Zone zone = declare("stranger", "stranger");
        product.awaitCondition("dnszone/stranger", "Programmed", "False Immutable");

        client.configMaps().withName("stranger-0").delete();
        client.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("stranger-0")
                        .endMetadata()
                        .withData(Map.of("note", "mine"))
                        .build())
                .create();
        zone.awaitPlan(100);
        assertThat(zone.configMap().getData()).containsEntry("note", "mine");
    }

    @Test
    void aShardIsEditedBySomebodyElse() {
        Zone zone = publish("edited");
        Map<String, String> data = new HashMap<>(zone.configMap().getData());
        data.keySet().removeIf(key -> key.endsWith(".serial") || key.endsWith(".zone"));

        client.configMaps()
                .withName(zone.shard)
                .patch(
                        MERGE,
                        "{\"metadata\":{\"labels\":{\"team\":\"web\"}},\"data\":{\"note\":\"mine\",\"edited.example.s0.zone\":\"\",\"edited.example.s0.conf\":null}}");
        product.await("the zone again", () -> isWhole(zone));
        assertThat(zone.configMap().getData()).containsEntry("note", "mine").containsAllEntriesOf(data);

        // Without its label it is out of sight.
        client.configMaps()
                .withName(zone.shard)
                .patch(
                        MERGE,
                        "{\"metadata\":{\"labels\":{\"apportion.dev/part-of\":null}},\"data\":{\"edited.example.s0.zone\":\"\"}}");
        product.await("the zone again", () -> isWhole(zone));
        assertThat(zone.configMap().getData()).containsEntry("note", "mine").containsAllEntriesOf(data);
        assertThat(zone.configMap().getMetadata().getLabels())
                .containsEntry("team", "web")
                .containsEntry("apportion.dev/part-of", "coredns");
        zone.awaitPlan(100);
    }

    private static boolean isWhole(Zone zone) {
        return !zone.published().hosts().isEmpty() && zone.published().isWhole();
    }

    @Test
    void listsFailWhileTheOperatorRunsAndWhileItStarts() throws IOException {
        Zone zone = publish("lists");
        List<ConfigMap> before = client.configMaps().list().getItems();
        proxy.always(request -> request.isWatch() && request.resource().equals("trafficservices"), new Action.Expire());
        Rule lists = proxy.always(
                request -> request.isList() && request.resource().equals("trafficservices"),
                FaultProxy.failure(503, "ServiceUnavailable", WORDS));

        proxy.cutWatches();
        product.await("failed lists", () -> lists.hits() >= 3);
        awaitQuiet();
        assertThat(client.configMaps().list().getItems()).isEqualTo(before);

        product.operator().kill();
        proxy.forgetRequests();
        int hits = lists.hits();
        try (ServerProcess restarted = product.launch()) {
            restarted.await("failed lists", PATIENCE, () -> lists.hits() >= hits + 4);
            assertThat(restarted.log()).doesNotContain("Started");
            zone.setCapacity(300);
            restarted.await(
                    "a reason",
                    PATIENCE,
                    () -> restarted.log().contains("trafficservices")
                            && restarted.log().contains(WORDS));
            assertThat(proxy.writes()).isEmpty();
            assertThat(client.configMaps().list().getItems()).isEqualTo(before);

            proxy.endRules();
            Product.awaitStart(restarted);
            zone.awaitPlan(300);
            stop(restarted);
        }
        product.startOperator();
    }

    @Test
    void theServerIsAway() throws Exception {
        Zone zone = declare("away", "apportion-coredns");
        zone.awaitPlan(100);
        awaitQuiet();
        proxy.forgetRequests();
        product.await(
                "answers",
                () -> !AnswerWatch.ask(product.dns(), "www.away.example").isEmpty());
        try (AnswerWatch watch = AnswerWatch.start(
                product.dns(), Set.of("www.away.example"), Set.of(), Set.of(Set.of("192.0.2.1", "192.0.2.2")))) {
            proxy.refuse();
            zone.setCapacity(300);
            long since = System.nanoTime();
            Thread.sleep(AWAY);
            assertThat(zone.publishes(100)).isTrue();
            watch.check();
            proxy.comeBack();
            zone.awaitPlan(300);
            System.out.printf(
                    "the API server was away for %d s: caught up %.1f s later%n",
                    AWAY.toSeconds(), (System.nanoTime() - since) / 1e9 - AWAY.toSeconds());
            awaitQuiet();
            watch.check();
        }
        assertThat(zone.writes()).hasSize(1);
    }

    @Test
    void theNetworkSwallowsEverything() throws Exception {
        Zone zone = publish("silent");
        Gate gate = gate();
        proxy.next(1, zone::isPatch, new Action.Hold(gate, new Action.Drop()));
        zone.setCapacity(300);
        gate.awaitArrival(PATIENCE);
        proxy.fallSilent();
        Thread.sleep(SILENCE);
        zone.setCapacity(700);
        proxy.comeBack();
        zone.awaitPlan(700);
        assertThat(zone.writesDone()).isLessThanOrEqualTo(2);
    }

    @Test
    void eventsComeLate() throws Exception {
        Zone zone = publish("late");
        proxy.delayWatches(LATE);
        long serial = zone.serial();
        zone.setCapacity(300);
        Thread.sleep(LATE.dividedBy(2));
        zone.setCapacity(700);
        product.await("the first plan", () -> zone.publishes(300));
        product.await("the last plan", () -> zone.publishes(700));
        Zone created = declare("late-too", "late-too");
        created.awaitPlan(100);
        Thread.sleep(LATE.plus(QUIET));
        awaitQuiet();

        assertThat(zone.publishes(700)).isTrue();
        assertThat(zone.writesDone()).isEqualTo(2);
        assertThat(zone.writes()).hasSize(2);
        assertThat(zone.serial()).isEqualTo(serial + 2);
        assertThat(created.createsDone()).isEqualTo(1);
        assertThat(created.writes())
                .allSatisfy(write -> assertThat(write.code()).isBetween(200, 299));
    }

    @Test
    void allWatchesAreCutAndOneRelistFails() {
        product.apply(ZONE.replace("NAME", "cut")
                .replace("SHARD", "cut")
                .replace("CAPACITY", "100")
                .replaceFirst("sites: .*", "sites: [{name: main, service: {name: cut}, capacity: 100}]"));
        product.apply(slice("10.0.0.1", "10.0.0.2"));
        Zone zone = new Zone("cut", "cut");
        product.await("two replicas", () -> addresses(zone).equals(Set.of("10.0.0.1", "10.0.0.2")));
        awaitQuiet();
        for (String plural : List.of("endpointslices", "pods")) {
            proxy.next(1, request -> request.isWatch() && request.resource().equals(plural), new Action.Expire());
            proxy.next(
                    1,
                    request -> request.isList() && request.resource().equals(plural),
                    FaultProxy.failure(500, "InternalError", WORDS));
        }

        proxy.cutWatches();
        product.apply(slice("10.0.0.2", "10.0.0.3"));
        product.await("the other two", () -> addresses(zone).equals(Set.of("10.0.0.2", "10.0.0.3")));
    }

    private static Set<String> addresses(Zone zone) {
        return zone.published().weights("www.cut.example").keySet();
    }

    private static String slice(String one, String two) {
        return """
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: cut-1, labels: {kubernetes.io/service-name: cut}}
            addressType: IPv4
            endpoints:
            - {addresses: [%s], conditions: {ready: true, serving: true}}
            - {addresses: [%s], conditions: {ready: true, serving: true}}
            """.formatted(one, two);
    }

    @Test
    void theRemovalOfAZoneFails() {
        Zone zone = publish("removed");
        Rule rule = proxy.next(2, zone::isPatch, Trouble.ERROR.action(gate()));

        client.genericKubernetesResources("apportion.dev/v1alpha1", "TrafficService")
                .withName("removed")
                .delete();
        client.genericKubernetesResources("apportion.dev/v1alpha1", "DNSZone")
                .withName("removed")
                .delete();
        product.await(
                "the end of the records",
                () -> zone.published().hosts().isEmpty()
                        && zone.published().serials().isEmpty());
        assertThat(rule.hits()).isEqualTo(2);
    }

    /** The renewal hangs; it is done in the moment between reading the lease, to give it back, and giving it back. */
    @Test
    void aLeaderThatIsToldToStopWhileItRenewsItsLeaseGivesItBack() throws IOException {
        Predicate<Request> put =
                request -> request.method().equals("PUT") && request.name().equals("apportion");
        Gate gate = gate();
        proxy.next(1, put, new Action.Hold(gate, new Action.Forward()));
        gate.awaitArrival(PATIENCE);
        AtomicBoolean renewed = new AtomicBoolean();
        proxy.next(
                1,
                put,
                new Action.Before(
                        () -> {
                            String before = leaseVersion();
                            gate.release();
                            product.await("the renewal", () -> !leaseVersion().equals(before));
                            renewed.set(true);
                        },
                        new Action.Forward()));
        product.stopOperator();
        try {
            assertThat(renewed).isTrue();
            assertThat(lease().getSpec().getHolderIdentity()).isEmpty();
        } finally {
            product.startOperator();
        }
    }

    private Lease lease() {
        return client.leases()
                .inNamespace(product.namespace())
                .withName("apportion")
                .get();
    }

    private String leaseVersion() {
        return lease().getMetadata().getResourceVersion();
    }
}
