package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/** Resources come and go in every order: nothing comes back, nobody stumbles, and what is left is answered. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LifeCycleIT {

    private static final List<String> KINDS = List.of("dnszone", "replicapool", "trafficservice", "trafficstream");

    private static final PatchContext JSON_MERGE = PatchContext.of(PatchType.JSON_MERGE);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    /** Namespaces that are deleted under the operator's eyes. */
    private String tenant = "";

    private String doomed = "";

    @BeforeAll
    void start(ApiServer apiServer, Kubectl kubectl, KubernetesClient ownClient, @TempDir Path folder)
            throws IOException {
        server = apiServer;
        client = ownClient;
        tenant = apiServer.newNamespace();
        doomed = apiServer.newNamespace();
        // Rights that are bound in a namespace end with it; what is looked at here is what the operator does then.
        product = Product.start(
                apiServer,
                kubectl,
                folder,
                Apportion.packaged().against(apiServer),
                "--namespaces",
                tenant,
                "--namespaces",
                doomed,
                "--verify-grace",
                "PT5S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    @AfterEach
    void nobodyStumbles() {
        assertThat(product.operator().isAlive()).isTrue();
        assertThat(product.operator().log()).doesNotContain("Exception", "\tat ");
    }

    private static String zone(String name) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: %1$s}
            spec:
              domain: %1$s.example
              allowedNamespaces: {from: All}
              coreDNS: {answers: Single, configMap: {shards: 2}}
            """.formatted(name);
    }

    private static String pool(String name) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %s}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}]}
            """.formatted(name);
    }

    private static String service(String name) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %1$s}
            spec: {zoneRef: {name: %1$s}, hostname: www.%1$s.example, poolRef: {name: %1$s}}
            """.formatted(name);
    }

    private static String stream(String name) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: %1$s}
            spec: {serviceRef: {name: %1$s}, clients: {cidrs: [127.0.2.0/24]}}
            """.formatted(name);
    }

    private static String all(String name) {
        return zone(name) + pool(name) + service(name) + stream(name);
    }

    /** One resource of each kind, for each name. */
    private void publish(List<String> names) {
        product.apply(names.stream().map(LifeCycleIT::all).collect(Collectors.joining()));
        product.awaitReady(names.stream().map(name -> "trafficservice/" + name).toArray(String[]::new));
        names.forEach(name -> awaitAnswered(name, "192.0.2.1 192.0.2.2"));
    }

    /** What a client hears: addresses, or the code that says why there are none. */
    private String answered(String name) {
        Question question = Question.of("www.%s.example".formatted(name), Type.A);
        Set<String> found = new TreeSet<>();
        for (int id : new int[] {0, 0x1111, 0xffff}) {
            var answer = product.dns().ask(question.withId(id));
            found.addAll(answer.rcode().equals("NOERROR") ? answer.addresses(Type.A) : List.of(answer.rcode()));
        }
        return String.join(" ", found);
    }

    /** What is answered while these kinds are there. */
    private static String expected(Set<String> kinds) {
        if (!kinds.contains("dnszone")) {
            return "REFUSED";
        }
        // Without its pool a service keeps its last answers.
        return kinds.contains("trafficservice") ? "192.0.2.1 192.0.2.2" : "NXDOMAIN";
    }

    private void awaitAnswered(String name, String answer) {
        product.await(() -> answered(name), answer::equals, "www.%s.example to be answered".formatted(name));
    }

    private void awaitAnswer(String name, Set<String> kinds) {
        product.await(() -> answered(name), expected(kinds)::equals, name + " with " + kinds);
    }

    private Set<String> keys(String domain) {
        return client.configMaps().list().getItems().stream()
                .filter(configMap -> configMap.getData() != null)
                .flatMap(configMap -> configMap.getData().keySet().stream())
                .filter(key -> key.startsWith(domain + "."))
                .collect(Collectors.toSet());
    }

    private static List<List<String>> permutations(List<String> items) {
        if (items.isEmpty()) {
            return List.of(List.of());
        }
        List<List<String>> permutations = new ArrayList<>();
        for (String first : items) {
            List<String> rest = new ArrayList<>(items);
            rest.remove(first);
            permutations(rest).forEach(others -> {
                List<String> permutation = new ArrayList<>(List.of(first));
                permutation.addAll(others);
                permutations.add(permutation);
            });
        }
        return permutations;
    }

    @Test
    void deletionsInEveryOrderLeaveWhatIsLeft() {
        List<List<String>> orders = permutations(KINDS);
        List<String> names =
                IntStream.range(0, orders.size()).mapToObj(i -> "order-" + i).toList();
        publish(names);
        for (int step = 0; step < KINDS.size(); step++) {
            List<String> deleted = new ArrayList<>(List.of("delete", "--wait=false"));
            for (int i = 0; i < orders.size(); i++) {
                deleted.add(orders.get(i).get(step) + "/" + names.get(i));
            }
            product.kubectl(deleted.toArray(String[]::new));
            for (int i = 0; i < orders.size(); i++) {
                awaitAnswer(names.get(i), Set.copyOf(orders.get(i).subList(step + 1, KINDS.size())));
            }
        }
        assertNothingComesBack(names);
    }

    private void assertNothingComesBack(List<String> names) {
        for (String name : names) {
            assertThat(keys(name + ".example")).isEmpty();
        }
        for (String kind : KINDS) {
            assertThat(product.kubectl("get", kind, "-o", "name").lines())
                    .noneMatch(found -> names.contains(found.substring(found.indexOf('/') + 1)));
        }
    }

    @Test
    void deletionsWhileNobodyLooksAreSeenAfterwards() throws IOException {
        List<String> names = IntStream.range(0, 16).mapToObj(i -> "unseen-" + i).toList();
        publish(names);
        product.stopOperator();
        List<Set<String>> left = new ArrayList<>();
        List<String> deleted = new ArrayList<>(List.of("delete", "--wait=false"));
        for (int i = 0; i < 16; i++) {
            Set<String> kinds = new TreeSet<>();
            for (int kind = 0; kind < KINDS.size(); kind++) {
                if ((i >> kind & 1) == 1) {
                    kinds.add(KINDS.get(kind));
                } else {
                    deleted.add(KINDS.get(kind) + "/" + names.get(i));
                }
            }
            left.add(kinds);
        }
        product.kubectl(deleted.toArray(String[]::new));
        for (String name : names) {
            assertThat(answered(name)).as(name).isEqualTo("192.0.2.1 192.0.2.2");
        }

        product.startOperator();
        for (int i = 0; i < 16; i++) {
            awaitAnswer(names.get(i), left.get(i));
        }
        assertThat(keys("unseen-0.example")).isEmpty();
    }

    @Test
    void aShardThatIsDeletedComesBackWhileItsZoneIsThereAndNeverAfterwards() {
        publish(List.of("shard"));
        long before = serial("shard.example");

        client.configMaps().withName("apportion-coredns-0").delete();
        client.configMaps().withName("apportion-coredns-1").delete();
        product.await(
                "the records to come back",
                () -> !keys("shard.example").isEmpty() && answered("shard").equals("192.0.2.1 192.0.2.2"));
        assertThat(serial("shard.example")).isGreaterThan(before);

        product.kubectl("delete", "dnszone/shard");
        product.await("the records to go", () -> keys("shard.example").isEmpty());
        client.configMaps().withName("apportion-coredns-0").delete();
        client.configMaps().withName("apportion-coredns-1").delete();
        patch("trafficservice/shard", "{\"spec\":{\"ttlSeconds\":7}}");
        product.awaitCondition("trafficservice/shard", "ResolvedRefs", "False ZoneNotFound");
        assertThat(keys("shard.example")).isEmpty();
    }

    /**
     * Under a serial that it has seen, CoreDNS would go on with what it read before. Each change takes the next one, so that many
     * changes are ahead of the clock.
     */
    @Test
    void aZoneThatIsMadeAnewIsReadAnew() {
        publish(List.of("anew"));
        for (int ttl = 1; serial("anew.example") < Instant.now().getEpochSecond() + 3; ttl++) {
            long published = serial("anew.example");
            patch("trafficservice/anew", "{\"spec\":{\"ttlSeconds\":%d}}".formatted(ttl % 9 + 1));
            product.await("another serial", () -> serial("anew.example") > published);
        }
        long before = serial("anew.example");

        product.kubectl("delete", "dnszone/anew", "replicapool/anew");
        product.await("the records to go", () -> keys("anew.example").isEmpty());
        product.apply(zone("anew") + pool("anew").replace("192.0.2.", "198.51.100."));

        awaitAnswered("anew", "198.51.100.1 198.51.100.2");
        assertThat(serial("anew.example")).isGreaterThan(before);
    }

    @ParameterizedTest
    @CsvSource({"moves, 'name: elsewhere, shards: 2', elsewhere-", "shrinks, shards: 1, apportion-coredns-0"})
    void aZoneThatIsMadeAnewInOtherConfigMapsLeavesTheOldOnes(String name, String configMap, String start) {
        publish(List.of(name, name + "-not"));
        product.apply(service(name)
                .replace("name: %s}\nspec".formatted(name), "name: %s-apex}\nspec".formatted(name))
                .replace("www.", ""));
        product.awaitReady("trafficservice/%s-apex".formatted(name));

        assertThat(server.kubectl(product.namespace())
                        .runWith(zone(name).replace("shards: 2", configMap), "replace", "--force", "-f", "-")
                        .orThrow()
                        .exitCode())
                .isZero();

        product.awaitReady("trafficservice/" + name);
        product.await(
                () -> holders(name + ".example"),
                found -> !found.isEmpty() && found.stream().allMatch(holder -> holder.startsWith(start)),
                "no other ConfigMap to hold it");
        assertThat(holders(name + "-not.example"))
                .isNotEmpty()
                .allMatch(holder -> holder.startsWith("apportion-coredns-"));
        assertThat(answered(name + "-not")).isEqualTo("192.0.2.1 192.0.2.2");
    }

    /** Copies of a shard are no business of the operator's, whatever becomes of the zone. */
    @Test
    void aCopyOfAShardStays() {
        publish(List.of("copied"));
        ConfigMap shard = client.configMaps().list().getItems().stream()
                .filter(configMap -> holders("copied.example")
                        .contains(configMap.getMetadata().getName()))
                .findFirst()
                .orElseThrow();
        client.resource(new ConfigMapBuilder(shard)
                        .withNewMetadata()
                        .withName("copy-of-a-shard")
                        .withLabels(shard.getMetadata().getLabels())
                        .endMetadata()
                        .build())
                .create();

        product.kubectl("delete", "dnszone/copied");

        awaitAnswered("copied", "REFUSED");
        assertThat(holders("copied.example")).containsExactly("copy-of-a-shard");
        client.configMaps().withName("copy-of-a-shard").delete();
    }

    /** The ConfigMaps that hold something of a zone. */
    private List<String> holders(String domain) {
        return client.configMaps().list().getItems().stream()
                .filter(configMap -> configMap.getData() != null
                        && configMap.getData().keySet().stream().anyMatch(key -> key.startsWith(domain + ".")))
                .map(configMap -> configMap.getMetadata().getName())
                .toList();
    }

    private long serial(String domain) {
        return client.configMaps().list().getItems().stream()
                .filter(configMap -> configMap.getData() != null)
                .flatMap(configMap -> configMap.getData().entrySet().stream())
                .filter(entry -> entry.getKey().startsWith(domain + ".s")
                        && entry.getKey().endsWith(".serial"))
                .mapToLong(entry -> Long.parseLong(entry.getValue()))
                .max()
                .orElse(0);
    }

    private void patch(String resource, String change) {
        product.kubectl("patch", resource, "--type=merge", "-p", change);
    }

    private static String slice(String name, String... endpoints) {
        return """
            ---
            apiVersion: discovery.k8s.io/v1
            kind: EndpointSlice
            metadata: {name: %1$s, labels: {kubernetes.io/service-name: %1$s}}
            addressType: IPv4
            endpoints: [%2$s]
            """.formatted(name, String.join(", ", endpoints));
    }

    private static String endpoint(String address, String pod) {
        return "{addresses: [%s], conditions: {ready: true}, targetRef: {kind: Pod, name: %s}}".formatted(address, pod);
    }

    @Test
    void endpointSlicesMayGoBeforeOrAfterWhatNeedsThem() {
        product.apply(zone("slices") + service("slices") + """
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: slices}
                spec: {sites: [{name: main, service: {name: slices}}]}
                """
                + slice("slices", endpoint("192.0.2.1", "s1"), endpoint("192.0.2.2", "s2")));
        product.awaitReady("trafficservice/slices");
        awaitAnswered("slices", "192.0.2.1 192.0.2.2");

        product.kubectl("delete", "endpointslice/slices");
        product.awaitCondition("replicapool/slices", "Allocated", "False NoReadyReplicas");
        product.awaitCondition("replicapool/slices", "ResolvedRefs", "False EndpointSlicesNotFound");
        assertThat(answered("slices")).isEqualTo("192.0.2.1 192.0.2.2");

        product.apply(slice("slices", endpoint("192.0.2.3", "s3")));
        awaitAnswered("slices", "192.0.2.3");
        product.kubectl("delete", "replicapool/slices", "endpointslice/slices");
        product.awaitCondition("trafficservice/slices", "Programmed", "True PoolNotReady");
        assertThat(answered("slices")).isEqualTo("192.0.2.3");
        product.kubectl("delete", "dnszone/slices", "trafficservice/slices");
        awaitAnswered("slices", "REFUSED");
    }

    @Test
    void aDrainedPodOrEndpointLeavesAndComesBackAndAFinishedPodLeaves() {
        product.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: p}
                spec: {containers: [{name: c, image: example.invalid/none}]}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: q}
                spec: {containers: [{name: c, image: example.invalid/none}]}
                """ + zone("drain") + service("drain") + """
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: drain}
                spec: {sites: [{name: main, service: {name: drain}}]}
                """
                + slice("drain", endpoint("192.0.2.1", "p"), endpoint("192.0.2.2", "q"))
                + all("drained"));
        product.awaitReady("trafficservice/drain", "trafficservice/drained");
        awaitAnswered("drain", "192.0.2.1 192.0.2.2");

        product.kubectl("annotate", "pod/p", "apportion.dev/drain=true");
        awaitAnswered("drain", "192.0.2.2");
        assertThat(product.kubectl("get", "replicapool/drain", "-o", "jsonpath={.status.replicas.draining}"))
                .isEqualTo("1");
        product.kubectl("annotate", "pod/p", "apportion.dev/drain-");
        awaitAnswered("drain", "192.0.2.1 192.0.2.2");

        product.kubectl(
                "patch", "pod/q", "--subresource=status", "--type=merge", "-p", "{\"status\":{\"phase\":\"Failed\"}}");
        awaitAnswered("drain", "192.0.2.1");

        patch(
                "replicapool/drained",
                "{\"spec\":{\"sites\":[{\"name\":\"main\",\"endpoints\":[{\"name\":\"a\",\"address\":\"192.0.2.1\"},"
                        + "{\"name\":\"b\",\"address\":\"192.0.2.2\",\"drain\":true}]}]}}");
        awaitAnswered("drained", "192.0.2.1");
    }

    @Test
    void finalizersOfOthersAreLeftAloneAndADeletedZoneGoesWhenTheyLetIt() {
        publish(List.of("held"));
        String finalizers = "[\"one.example/x\",\"two.example/y\",\"three.example/z\"]";
        for (String kind : KINDS) {
            patch(kind + "/held", "{\"metadata\":{\"finalizers\":%s}}".formatted(finalizers));
        }
        patch("trafficservice/held", "{\"spec\":{\"ttlSeconds\":9}}");
        product.await(
                () -> product.kubectl("get", "trafficservice/held", "-o", "jsonpath={.status.observedGeneration}"),
                "2"::equals,
                "the change to be seen");
        for (String kind : KINDS) {
            assertThat(finalizers(kind + "/held")).isEqualTo(finalizers);
        }

        for (String kind : KINDS) {
            product.kubectl("delete", "--wait=false", kind + "/held");
        }
        // Somebody takes the first one away, which moves all others.
        for (String kind : KINDS) {
            product.kubectl(
                    "patch",
                    kind + "/held",
                    "--type=json",
                    "-p",
                    "[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]");
            assertThat(finalizers(kind + "/held")).isEqualTo("[\"two.example/y\",\"three.example/z\"]");
        }
        for (String kind : KINDS) {
            patch(kind + "/held", "{\"metadata\":{\"finalizers\":null}}");
        }
        awaitAnswered("held", "REFUSED");
        assertNothingComesBack(List.of("held"));
    }

    private String finalizers(String resource) {
        return product.kubectl("get", resource, "-o", "jsonpath={.metadata.finalizers}");
    }

    /** Marks a namespace as the controller manager finds it: it ends, and all that is in it is still there. */
    private void terminate(String namespace) {
        client.namespaces().withName(namespace).delete();
        Namespace found = client.namespaces().withName(namespace).get();
        assertThat(found.getStatus().getPhase()).isEqualTo("Terminating");
    }

    @Test
    void aNamespaceWhosePoolVanishesFirstEnds() {
        product.apply(zone("host"));
        in(tenant, pool("host"), service("host"), stream("host"));
        awaitAnswered("host", "192.0.2.1 192.0.2.2");

        terminate(tenant);
        kubectlIn(tenant, "delete", "replicapool/host");
        product.await(
                () -> kubectlIn(
                        tenant,
                        "get",
                        "trafficservice/host",
                        "-o",
                        "jsonpath={.status.conditions[?(@.type==\"ResolvedRefs\")].reason}"),
                "PoolNotFound"::equals,
                "the service to say that its pool is gone");
        assertThat(answered("host")).isEqualTo("192.0.2.1 192.0.2.2");
        server.deleteNamespace(tenant);

        awaitAnswered("host", "NXDOMAIN");
        assertThat(client.namespaces().withName(tenant).get()).isNull();
        product.awaitCondition("dnszone/host", "Ready", "True");
    }

    @Test
    void nothingIsCreatedInANamespaceThatEnds() {
        in(doomed, zone("doomed"), pool("doomed"), service("doomed"), stream("doomed"));
        product.await(
                "the zone to be published",
                () -> !client.configMaps().inNamespace(doomed).list().getItems().isEmpty());

        terminate(doomed);
        client.configMaps().inNamespace(doomed).delete();
        product.await(
                () -> kubectlIn(
                        doomed,
                        "get",
                        "dnszone/doomed",
                        "-o",
                        "jsonpath={.status.conditions[?(@.type==\"Programmed\")].reason}"),
                "NamespaceTerminating"::equals,
                "the zone to say why it is not written");
        kubectlIn(doomed, "delete", "replicapool/doomed");
        pause(Duration.ofSeconds(3));
        assertThat(client.configMaps().inNamespace(doomed).list().getItems()).isEmpty();
        assertThat(product.operator().log().lines().filter(line -> line.contains("Could not")))
                .isEmpty();
        server.deleteNamespace(doomed);
        assertThat(client.namespaces().withName(doomed).get()).isNull();
    }

    private void in(String namespace, String... manifests) {
        String text = String.join("", manifests)
                .replace(
                        "spec: {zoneRef: {name: host}",
                        "spec: {zoneRef: {name: host, namespace: %s}".formatted(product.namespace()));
        assertThat(server.kubectl(namespace)
                        .runWith(text, "apply", "-f", "-")
                        .orThrow()
                        .exitCode())
                .isZero();
    }

    private String kubectlIn(String namespace, String... arguments) {
        return server.kubectl(namespace).run(arguments).orThrow().stdout();
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whatIsPublishedOutlivesTheOperatorAndForeignKeysOutliveTheZones() throws IOException {
        publish(List.of("outlives"));
        ConfigMap shard = client.configMaps().withName("apportion-coredns-0").get();
        assertThat(shard.getMetadata().getOwnerReferences()).isEmpty();
        client.configMaps()
                .withName("apportion-coredns-0")
                .patch(
                        JSON_MERGE,
                        client.getKubernetesSerialization()
                                .asJson(new ConfigMapBuilder()
                                        .withData(Map.of("own.conf", "# mine\n"))
                                        .build()));

        product.stopOperator();
        pause(Duration.ofMillis(500));
        assertThat(answered("outlives")).isEqualTo("192.0.2.1 192.0.2.2");
        product.coreDns().restart();
        assertThat(answered("outlives")).isEqualTo("192.0.2.1 192.0.2.2");

        // As the README says: the zones first, then the operator.
        product.startOperator();
        product.kubectl("delete", "dnszones", "outlives");
        product.await("the records to go", () -> keys("outlives.example").isEmpty());
        awaitAnswered("outlives", "REFUSED");
        assertThat(client.configMaps().withName("apportion-coredns-0").get().getData())
                .containsEntry("own.conf", "# mine\n");
    }
}
