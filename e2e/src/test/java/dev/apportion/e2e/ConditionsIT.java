package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Type;

/** Conditions say what holds, name what does not, and go with what was wrong. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConditionsIT {

    /** Creation times have whole seconds. */
    private static final Duration A_SECOND = Duration.ofMillis(1100);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    /** A namespace beside that of the zones. */
    private String neighbour = "";

    @BeforeAll
    void start(ApiServer apiServer, Kubectl kubectl, KubernetesClient ownClient, @TempDir Path folder)
            throws IOException {
        server = apiServer;
        client = ownClient;
        neighbour = apiServer.newNamespace();
        product = Product.start(
                apiServer,
                kubectl,
                folder,
                "--namespaces",
                neighbour,
                "--verify-grace",
                "PT1S",
                "--verify-interval",
                "PT0.5S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
        server.deleteNamespace(neighbour);
    }

    private static String zone(String name, String domain) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: %s}
            spec:
              domain: %s
              coreDNS: {answers: Single}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            """.formatted(name, domain);
    }

    /** A pool of fixed replicas a, b, c ... with these addresses. */
    private static String pool(String name, String... addresses) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %s}
            spec:
              sites:
              - name: main
                endpoints: [%s]
            """.formatted(
                        name,
                        IntStream.range(0, addresses.length)
                                .mapToObj(i -> "{name: r%d, address: %s}".formatted(i, addresses[i]))
                                .collect(Collectors.joining(", ")));
    }

    private static String service(String name, String zone, String host, String pool) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %s}
            spec: {zoneRef: {name: %s}, hostname: %s, poolRef: {name: %s}}
            """.formatted(name, zone, host, pool);
    }

    /** The addresses that all slots together hold. */
    private Set<String> answered(String host) {
        return product.dns().slots(Question.of(host, Type.A)).counts().keySet();
    }

    private void patch(String resource, String change) {
        product.kubectl("patch", resource, "--type=merge", "-p", change);
    }

    private void setCapacities(String pool, int... capacities) {
        patch(
                "replicapool/" + pool,
                "{\"spec\":{\"sites\":[{\"name\":\"main\",\"endpoints\":[%s]}]}}"
                        .formatted(IntStream.range(0, capacities.length)
                                .mapToObj(i -> "{\"name\":\"r%d\",\"address\":\"192.0.2.%d\",\"capacity\":%d}"
                                        .formatted(i, i + 1, capacities[i]))
                                .collect(Collectors.joining(","))));
    }

    @Test
    void everyKindBecomesReadyAndShowsWhatItIs() {
        product.apply(zone("shown", "shown.example")
                + pool("shown", "192.0.2.1", "192.0.2.2")
                + service("shown", "shown", "www.shown.example", "shown")
                + """
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficStream
                metadata: {name: shown}
                spec: {serviceRef: {name: shown}, clients: {cidrs: [127.0.0.2/32]}, rate: 3}
                """);
        product.awaitReady("dnszone/shown", "replicapool/shown", "trafficservice/shown", "trafficstream/shown");
        for (String resource : List.of("dnszone/shown", "trafficservice/shown", "trafficstream/shown")) {
            product.awaitCondition(resource, "Verified", "True Verified");
        }
        assertThat(row("dnszone/shown"))
                .containsEntry("DOMAIN", "shown.example")
                .containsEntry("SERVICES", "1")
                .containsEntry("READY", "True");
        assertThat(row("replicapool/shown"))
                .containsEntry("POLICY", "KSplittable")
                .containsEntry("REPLICAS", "2")
                .containsKey("MAKESPAN")
                .containsEntry("READY", "True");
        assertThat(row("trafficservice/shown"))
                .containsEntry("HOST", "www.shown.example")
                .containsEntry("ZONE", "shown")
                .containsEntry("POOL", "shown")
                .containsEntry("READY", "True");
        assertThat(row("trafficstream/shown"))
                .containsEntry("SERVICE", "shown")
                .containsEntry("RATE", "3")
                .containsEntry("READY", "True");
        assertThat(product.kubectl("get", "dns", "-o", "name").lines())
                .contains(
                        "dnszone.apportion.dev/shown",
                        "replicapool.apportion.dev/shown",
                        "trafficservice.apportion.dev/shown",
                        "trafficstream.apportion.dev/shown");
    }

    /** What {@code kubectl get} shows of a resource, by column. */
    private Map<String, String> row(String resource) {
        List<String> lines = product.kubectl("get", resource).lines().toList();
        String[] columns = lines.getFirst().split(" +");
        String[] cells = lines.getLast().split(" +");
        assertThat(cells).as(lines.toString()).hasSameSizeAs(columns);
        return IntStream.range(0, columns.length).boxed().collect(Collectors.toMap(i -> columns[i], i -> cells[i]));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dnszone.spec",
                "dnszone.spec.coreDNS",
                "dnszone.status",
                "replicapool.spec",
                "replicapool.spec.sites",
                "replicapool.spec.sites.endpoints",
                "replicapool.spec.behavior",
                "replicapool.status",
                "trafficservice.spec",
                "trafficservice.status",
                "trafficstream.spec",
                "trafficstream.status"
            })
    void explainHasATextForEveryField(String path) {
        String text = product.kubectl("explain", path);
        assertThat(text).contains("DESCRIPTION:", "FIELDS:").doesNotContain("<empty>", "<no description>");
    }

    @Test
    void aServerThatLagsOrIsSilentIsNamed() throws IOException {
        product.apply(zone("lags", "lags.example")
                + pool("lags", "192.0.2.1", "192.0.2.2")
                + service("lags", "lags", "www.lags.example", "lags"));
        product.awaitReady("dnszone/lags", "trafficservice/lags");
        product.awaitVerified("lags");
        String address = "127.0.0.1:" + product.coreDns().port();

        product.stopSync();
        setCapacities("lags", 300, 100);
        for (String resource : List.of("dnszone/lags", "trafficservice/lags")) {
            product.awaitCondition(resource, "Verified", "False ServerLags: " + address);
            product.awaitCondition(resource, "Ready", "False ServerLags: " + address);
        }
        product.startSync();
        for (String resource : List.of("dnszone/lags", "trafficservice/lags")) {
            product.awaitCondition(resource, "Verified", "True Verified");
            product.awaitCondition(resource, "Ready", "True");
        }

        try (DatagramSocket silent = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            String other = "127.0.0.1:" + silent.getLocalPort();
            patch(
                    "dnszone/lags",
                    "{\"spec\":{\"verifyAt\":{\"addresses\":[\"%s\",\"%s\"]}}}".formatted(address, other));
            for (String resource : List.of("dnszone/lags", "trafficservice/lags")) {
                product.awaitCondition(resource, "Verified", "False ServerSilent: " + other);
                product.awaitCondition(resource, "Ready", "False ServerSilent: " + other);
            }
        }
        patch("dnszone/lags", "{\"spec\":{\"verifyAt\":{\"addresses\":[\"%s\"]}}}".formatted(address));
        product.awaitCondition("dnszone/lags", "Ready", "True");
        product.awaitVerified("lags");
    }

    @Test
    void theOlderOfTwoHostsWinsAndTheYoungerFollows() throws InterruptedException {
        product.apply(zone("hosts", "hosts.example")
                + pool("hosts-old", "192.0.2.1")
                + pool("hosts-new", "192.0.2.2")
                + service("hosts-z-old", "hosts", "www.hosts.example", "hosts-old"));
        Thread.sleep(A_SECOND);
        product.apply(service("hosts-a-new", "hosts", "WWW.Hosts.Example.", "hosts-new"));
        product.awaitCondition("trafficservice/hosts-a-new", "Accepted", "False HostConflict");
        assertThat(product.condition("trafficservice/hosts-a-new", "Accepted"))
                .contains("www.hosts.example", "hosts-z-old");
        product.awaitVerified("hosts-z-old");
        assertThat(answered("www.hosts.example")).containsExactly("192.0.2.1");

        product.kubectl("delete", "trafficservice/hosts-z-old");
        product.awaitReady("trafficservice/hosts-a-new");
        product.await("promotion", () -> answered("www.hosts.example").equals(Set.of("192.0.2.2")));
    }

    @Test
    void theOlderOfTwoZonesWinsAndTheYoungerFollows() throws InterruptedException {
        product.apply(zone("zones-z-old", "zones.example") + pool("zones", "192.0.2.3"));
        Thread.sleep(A_SECOND);
        product.apply(
                zone("zones-a-new", "Zones.Example") + service("zones", "zones-a-new", "www.zones.example", "zones"));
        product.awaitCondition("dnszone/zones-a-new", "Accepted", "False DomainConflict");
        assertThat(product.condition("dnszone/zones-a-new", "Accepted")).contains("zones.example", "zones-z-old");
        product.awaitCondition("trafficservice/zones", "ResolvedRefs", "False ZoneNotAccepted");
        product.awaitReady("dnszone/zones-z-old");

        product.kubectl("delete", "dnszone/zones-z-old");
        product.awaitReady("dnszone/zones-a-new", "trafficservice/zones");
        product.await("promotion", () -> answered("www.zones.example").equals(Set.of("192.0.2.3")));
    }

    @Test
    void aZoneSaysWhichNamespacesMayPublish() {
        product.apply(zone("gate", "gate.example"));
        Kubectl beside = server.kubectl(neighbour);
        beside.runWith(
                        pool("gate", "192.0.2.4")
                                + service(
                                        "gate", "gate, namespace: " + product.namespace(), "www.gate.example", "gate"),
                        "apply",
                        "-f",
                        "-")
                .orThrow();
        awaitBeside(beside, "Accepted", "False NotAllowedByZone");
        allow("{\"from\":\"All\"}");
        awaitBeside(beside, "Ready", "True");
        product.await("the neighbour's host", () -> answered("www.gate.example").equals(Set.of("192.0.2.4")));

        allow("{\"from\":\"Selector\",\"selector\":{\"matchLabels\":{\"team\":\"web\"}}}");
        awaitBeside(beside, "Accepted", "False NotAllowedByZone");
        product.await("no host", () -> answered("www.gate.example").equals(Set.of("NXDOMAIN")));
        beside.run("label", "namespace", neighbour, "team=web").orThrow();
        awaitBeside(beside, "Ready", "True");
        beside.run("label", "namespace", neighbour, "team-").orThrow();
        awaitBeside(beside, "Accepted", "False NotAllowedByZone");
        allow("null");
        awaitBeside(beside, "Accepted", "False NotAllowedByZone");
    }

    private void allow(String namespaces) {
        patch("dnszone/gate", "{\"spec\":{\"allowedNamespaces\":null}}");
        patch("dnszone/gate", "{\"spec\":{\"allowedNamespaces\":%s}}".formatted(namespaces));
    }

    private void awaitBeside(Kubectl beside, String type, String start) {
        String path = "jsonpath={range .status.conditions[?(@.type==\"%s\")]}{.status} {.reason}{end}".formatted(type);
        product.await(
                () -> beside.run("get", "trafficservice/gate", "-o", path)
                        .orThrow()
                        .stdout(),
                found -> found.startsWith(start),
                "gate " + type + " " + start);
    }

    @Test
    void whatIsMissingIsNamedAndFoundLater() {
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: late}
            spec: {serviceRef: {name: late}, rate: 1}
            """);
        product.awaitCondition("trafficstream/late", "ResolvedRefs", "False ServiceNotFound");
        product.apply(service("late", "late", "www.late.example", "late"));
        product.awaitCondition("trafficservice/late", "ResolvedRefs", "False ZoneNotFound");
        product.apply(zone("late", "late.example"));
        product.awaitCondition("trafficservice/late", "ResolvedRefs", "False PoolNotFound");
        product.awaitCondition("dnszone/late", "Ready", "True");
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: late}
            spec: {sites: [{name: main, service: {name: late}}]}
            """);
        product.awaitCondition("replicapool/late", "ResolvedRefs", "False EndpointSlicesNotFound");
        product.awaitCondition("replicapool/late", "Allocated", "False NoReadyReplicas");
        product.apply(slice("late", 1, 1));
        product.awaitReady("replicapool/late", "trafficservice/late", "trafficstream/late");
        product.await("its address", () -> answered("www.late.example").equals(Set.of("10.0.0.1")));
    }

    /** An EndpointSlice of a Service with addresses 10.0.0.1, 10.0.0.2 ..., of which the first ones serve. */
    private static String slice(String service, int endpoints, int serving) {
        return """
            ---
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: %1$s-1, labels: {kubernetes.io/service-name: %1$s}}
            addressType: IPv4
            endpoints: [%2$s]
            """.formatted(
                        service,
                        IntStream.rangeClosed(1, endpoints)
                                .mapToObj(i -> "{addresses: [10.0.0.%d], conditions: {ready: %b, serving: %b}}"
                                        .formatted(i, i <= serving, i <= serving))
                                .collect(Collectors.joining(", ")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "policy: {type: RoundRobin}",
                "policy: {type: WeightedRoundRobin}",
                "policy: {type: LeastConnections}",
                "policy: {type: WeightedLeastConnections, weightedLeastConnections: {maxContinuousAllocations: 5,"
                        + " round: Cycle}}",
                "policy: {type: LoadAverage}",
                "policy: {type: ZipfZones, zipfZones: {zones: Continuous}}",
                "policy: {type: GlobalQueue, globalQueue: {reclaim: false}}",
                "policy: {type: Rating, rating: {mode: Best, dispatchPenalty: 100}}",
                "policy: {type: KSplittable, seed: 3, kSplittable: {split: Optimal}}",
                "policy: {type: KSplittable, seed: 3, kSplittable: {split: EqualRandom}}",
                "policy: {kSplittable: {split: EqualScheduled}}",
                "behavior: {actAbovePercent: 20, slowStart: {windowSeconds: 5}}",
                "load: {podMetrics: {resource: cpu}}",
                "load: {prometheus: {series: {requests: x_total}}}",
                "mode: Observe"
            })
    void theRestOfAPoolIsAccepted(String field) {
        String name = "finished-" + Integer.toHexString(field.hashCode());
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %s}
            spec:
              %s
              sites:
              - {name: m, priority: 3, endpoints: [{name: a, address: 192.0.2.1, drain: true}, {name: b, address: 192.0.2.2}]}
            """.formatted(name, field));
        product.awaitCondition("replicapool/" + name, "Accepted", "True");
        product.awaitCondition("replicapool/" + name, "Ready", "True");
    }

    @Test
    void aDeletedZoneTakesItsOwnKeysOnly() {
        client.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("shared-0")
                        .endMetadata()
                        .withData(Map.of("foreign.conf", "# somebody else's\n"))
                        .build())
                .create();
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: first}
            spec: {domain: first.example, coreDNS: {configMap: {name: shared, shards: 1}}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: second}
            spec: {domain: second.example, coreDNS: {configMap: {name: shared, shards: 1}}}
            """);
        product.awaitReady("dnszone/first", "dnszone/second");
        Map<String, String> both = shared();
        Set<String> ofSecond = keysOf("second.example", both);
        assertThat(keysOf("first.example", both)).isNotEmpty();
        assertThat(ofSecond).isNotEmpty();
        assertThat(both).containsEntry("foreign.conf", "# somebody else's\n");

        product.kubectl("delete", "dnszone/first");
        product.await(
                "its keys are gone", () -> keysOf("first.example", shared()).isEmpty());
        Map<String, String> left = shared();
        assertThat(left).containsEntry("foreign.conf", "# somebody else's\n");
        assertThat(keysOf("second.example", left)).isEqualTo(ofSecond);
        ofSecond.forEach(key -> assertThat(left).containsEntry(key, both.get(key)));

        product.kubectl("delete", "dnszone/second");
        product.await("only the foreign key is left", () -> shared().keySet().equals(Set.of("foreign.conf")));
    }

    private Map<String, String> shared() {
        ConfigMap found = client.configMaps().withName("shared-0").get();
        return found == null || found.getData() == null ? Map.of() : found.getData();
    }

    private static Set<String> keysOf(String domain, Map<String, String> data) {
        return data.keySet().stream().filter(key -> key.contains(domain)).collect(Collectors.toSet());
    }

    @Test
    void deadReplicasLeaveUntilNoneIsLeft() {
        product.apply(zone("dead", "dead.example") + slice("dead", 12, 12) + """
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: dead}
                spec: {sites: [{name: main, service: {name: dead}}]}
                """
                + service("dead", "dead", "www.dead.example", "dead"));
        product.awaitVerified("dead");
        assertThat(answered("www.dead.example")).hasSize(12);

        product.apply(slice("dead", 12, 5));
        Set<String> five =
                IntStream.rangeClosed(1, 5).mapToObj(i -> "10.0.0." + i).collect(Collectors.toSet());
        product.await("the five", () -> answered("www.dead.example").equals(five));
        product.awaitCondition("replicapool/dead", "Allocated", "True");
        Map<String, Long> last = product.weights("trafficservice/dead");

        product.apply(slice("dead", 12, 0));
        product.awaitCondition("replicapool/dead", "Allocated", "False NoReadyReplicas");
        product.awaitCondition("trafficservice/dead", "Programmed", "True NoReadyReplicas");
        product.awaitCondition("trafficservice/dead", "Ready", "False NoReadyReplicas");
        assertThat(product.weights("trafficservice/dead")).isEqualTo(last);
        assertThat(product.dns().slots(Question.of("www.dead.example", Type.A)).counts())
                .isEqualTo(last);
        product.apply(slice("dead", 12, 1));
        product.await("the one", () -> answered("www.dead.example").equals(Set.of("10.0.0.1")));
        product.awaitReady("replicapool/dead", "trafficservice/dead");
    }

    @ParameterizedTest
    @CsvSource({
        "paused, trafficservice, '{\"spec\":{\"paused\":true}}', '{\"spec\":{\"paused\":false}}', Paused",
        "observed, replicapool, '{\"spec\":{\"mode\":\"Observe\"}}', '{\"spec\":{\"mode\":\"Apply\"}}', Observing"
    })
    void whatIsPublishedStaysAsItIs(String name, String kind, String hold, String release, String reason) {
        String domain = name + ".example";
        String host = "www." + domain;
        String serviceName = "trafficservice/" + name;
        product.apply(zone(name, domain) + pool(name, "192.0.2.1", "192.0.2.2") + service(name, name, host, name));
        product.awaitVerified(name);
        Map<String, Long> before = product.weights(serviceName);
        assertThat(before).isEqualTo(Map.of("192.0.2.1", 128L, "192.0.2.2", 128L));

        patch(kind + "/" + name, hold);
        product.awaitCondition(serviceName, "Programmed", "True " + reason);
        setCapacities(name, 300, 100);
        product.await(
                () -> product.kubectl("get", "replicapool/" + name, "-o", "jsonpath={.status.rows[*].capacity}"),
                "300 100"::equals,
                "the pool is planned anew");
        assertThat(product.weights(serviceName)).isEqualTo(before);
        assertThat(product.dns().slots(Question.of(host, Type.A)).counts()).isEqualTo(before);

        patch(kind + "/" + name, release);
        product.await(
                "the new weights",
                () -> product.dns()
                        .slots(Question.of(host, Type.A))
                        .counts()
                        .equals(Map.of("192.0.2.1", 192L, "192.0.2.2", 64L)));
        product.awaitCondition(serviceName, "Programmed", "True Programmed");
    }

    @Test
    void replicasThatNoAnswerHoldsAreCounted() {
        String[] addresses =
                IntStream.rangeClosed(1, 20).mapToObj(i -> "192.0.2." + i).toArray(String[]::new);
        product.apply(zone("many", "many.example")
                + pool("many", addresses)
                + service("many", "many", "www.many.example", "many")
                + zone("few", "few.example").replace("Single", "List")
                + pool("few", addresses)
                + service("few", "few", "www.few.example", "few"));
        product.awaitVerified("many");
        product.awaitVerified("few");
        product.awaitCondition("replicapool/few", "Allocated", "True ReplicasUnused: 4 of 20");
        product.awaitCondition("replicapool/many", "Allocated", "True Allocated");
        assertThat(answered("www.many.example")).containsExactlyInAnyOrder(addresses);
        assertThat(product.dns().ask(Question.of("www.few.example", Type.A)).addresses(Type.A))
                .hasSize(16)
                .doesNotHaveDuplicates()
                .isSubsetOf(addresses);
        product.awaitReady("replicapool/few", "trafficservice/few", "replicapool/many", "trafficservice/many");
    }
}
