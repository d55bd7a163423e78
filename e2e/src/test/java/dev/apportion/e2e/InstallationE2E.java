package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.Tally;
import dev.apportion.e2e.kind.Cluster;
import dev.apportion.e2e.kind.PodResolver;
import dev.apportion.e2e.kind.TrafficPods;
import dev.apportion.e2e.kind.WithCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * An installation by Helm on a real cluster, from a version before to its end. The order is that of a life: it is installed,
 * upgraded, used, hurt, and removed.
 */
@WithCluster
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InstallationE2E {

    /** What a question may take while a server is replaced. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final AtomicInteger NAMES = new AtomicInteger();

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Installation installation;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Cluster cluster;

    /** A zone, a pool over the Service {@code web} of a namespace, and its service {@code www.NAME.example}. */
    private record World(String name, Kubectl kubectl, String namespace) {

        private static final String ZONE = """
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: NAME}
            spec:
              domain: NAME.example
              ttlSeconds: 5
              allowedNamespaces: {from: All}
              coreDNS: {answers: MODE}
              verifyAt: {service: {name: apportion-dns, port: 53}}
              RESOLVERS
            """;

        private static final String SERVICE = """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: NAME}
            spec: {sites: [{name: main, service: {name: web}, capacity: 100}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: NAME}
            spec: {zoneRef: {name: NAME, namespace: apportion-system}, hostname: www.NAME.example, poolRef: {name: NAME}}
            """;

        static World of(Cluster cluster, String mode, String resolvers) {
            String namespace = cluster.newNamespace();
            World world = new World("e2e-" + NAMES.incrementAndGet(), cluster.kubectl(namespace), namespace);
            apply(
                    cluster.kubectl(Installation.NAMESPACE),
                    ZONE.replace("NAME", world.name).replace("MODE", mode).replace("RESOLVERS", resolvers));
            apply(world.kubectl, SERVICE.replace("NAME", world.name));
            return world;
        }

        String host() {
            return "www." + name + ".example";
        }

        Question question() {
            return Question.of(host(), Type.A).within(PATIENCE);
        }

        /** Ends it, and with it all that is published of it. */
        void end(Cluster cluster, Installation installation) {
            installation.kubectl().run("delete", "dnszone/" + name).orThrow();
            cluster.deleteNamespace(namespace);
        }
    }

    /** Asks the DNS Service from within a pod without end. */
    private static final class Asking implements AutoCloseable {

        private final Thread thread;
        private final AtomicInteger answered = new AtomicInteger();
        private final AtomicInteger lost = new AtomicInteger();
        private final Set<String> outcomes = ConcurrentHashMap.newKeySet();
        private volatile boolean stopped;

        private Asking(PodResolver resolver, String dns, World world) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                while (!stopped) {
                    try {
                        Tally tally = resolver.slots(dns, world.question());
                        answered.addAndGet((int) tally.total());
                        outcomes.addAll(tally.counts().keySet());
                    } catch (UncheckedIOException e) {
                        lost.incrementAndGet();
                    }
                }
            });
        }

        static Asking of(PodResolver resolver, String dns, World world) {
            return new Asking(resolver, dns, world);
        }

        /** Fails if anything but addresses came, or another one than these, if any are given. */
        void check(String during, Collection<String> addresses) {
            System.out.printf(
                    "During %s: %d answers, %s; %d questions lost%n", during, answered.get(), outcomes, lost.get());
            assertThat(answered).hasValueGreaterThan(256);
            assertThat(outcomes).allMatch(outcome -> outcome.matches("[0-9.]+"));
            // A datagram on its way to a server that ends is lost, and every resolver asks again.
            assertThat(lost.get()).isLessThan(1 + answered.get() / 1000);
            if (!addresses.isEmpty()) {
                assertThat(outcomes).containsExactlyInAnyOrderElementsOf(addresses);
            }
        }

        @Override
        public void close() {
            stopped = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @BeforeAll
    void install(Cluster given, @TempDir Path folder) throws IOException {
        cluster = given;
        installation = Installation.of(given, folder.resolve("helm"), before(folder));
    }

    @AfterAll
    void close() {
        installation.close();
    }

    /** The chart as an earlier version was: without a field of the definitions that has been added since. */
    private static Path before(Path folder) throws IOException {
        Path chart = folder.resolve("apportion");
        Command.of(List.of("cp", "-r", Chart.FOLDER.toString(), chart.toString()))
                .run()
                .orThrow();
        Path description = chart.resolve("Chart.yaml");
        Files.writeString(
                description, Files.readString(description).replaceFirst("(?m)^version: .*$", "version: 0.0.1"));
        Path pools = chart.resolve("files/crds/replicapools.apportion.dev-v1.yaml");
        String now = Files.readString(pools);
        String then = now.replaceFirst("(?m)^( +)minReadyPercent:\\R(\\1 .*\\R)+", "");
        assertThat(then).isNotEqualTo(now).doesNotContain("minReadyPercent:");
        Files.writeString(pools, then);
        return chart;
    }

    private static void apply(Kubectl where, String manifests) {
        where.runWith(manifests, "apply", "-f", "-").orThrow();
    }

    private Tally slots(DnsServer server, World world) {
        return server.slots(world.question());
    }

    private void awaitAnswers(World world, Collection<String> addresses) {
        for (DnsServer server : installation.servers()) {
            installation.await(
                    () -> slots(server, world).counts().keySet(),
                    found -> found.equals(new TreeSet<>(addresses)),
                    world.host() + " answered with " + addresses);
        }
    }

    private static List<String> addresses(KubernetesClient client) {
        return client.pods().withLabel("app", "web").list().getItems().stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map(pod -> pod.getStatus().getPodIP())
                .sorted()
                .toList();
    }

    @Test
    @Order(1)
    void anUpgradeBringsNewFieldsAndNoWrongAnswer() {
        World world = World.of(cluster, "Single", "");
        cluster.newTrafficPods(world.namespace(), "web", 2);
        try (KubernetesClient client = cluster.client(world.namespace())) {
            awaitAnswers(world, addresses(client));
            assertThat(explain("replicapool.spec.behavior")).doesNotContain("minReadyPercent");

            try (Asking asking = Asking.of(cluster.newResolver(world.namespace()), installation.dns(), world)) {
                installation.release(Chart.FOLDER);
                asking.check("an upgrade", addresses(client));
            }
            assertThat(explain("replicapool.spec.behavior")).contains("minReadyPercent");
            installation.awaitCondition(world.kubectl(), "trafficservice/" + world.name(), "Ready", "True");
        }
        world.end(cluster, installation);
    }

    private String explain(String path) {
        return installation.kubectl().run("explain", path).orThrow().stdout();
    }

    @Test
    @Order(2)
    void theChartsOwnTestAsksARealQuestion() {
        Command.Result tested = installation.helm("test", Installation.RELEASE, "--timeout", "120s");
        assertThat(tested.exitCode()).as(tested.toString()).isZero();
        assertThat(tested.stdout()).contains("Succeeded");
    }

    @Test
    @Order(3)
    void answersFromWithinAPodFitThePlan() {
        World world = World.of(cluster, "Single", "");
        cluster.newTrafficPods(world.namespace(), "web", 3);
        try (KubernetesClient client = cluster.client(world.namespace())) {
            String first = client.pods()
                    .withLabel("app", "web")
                    .list()
                    .getItems()
                    .getFirst()
                    .getMetadata()
                    .getName();
            world.kubectl()
                    .run("annotate", "pod/" + first, "apportion.dev/capacity=200")
                    .orThrow();
            awaitAnswers(world, addresses(client));
            installation.awaitCondition(world.kubectl(), "trafficservice/" + world.name(), "Verified", "True");
            Map<String, Long> weights = new KubectlStatus(world.kubectl()).weights("trafficservice/" + world.name());
            assertThat(weights).hasSize(3);
            assertThat(weights.values()).containsExactlyInAnyOrder(128L, 64L, 64L);
            PodResolver resolver = cluster.newResolver(world.namespace());
            assertThat(resolver.slots(installation.dns(), world.question()).counts())
                    .isEqualTo(weights);
            assertThat(resolver.slots(installation.dns(), world.question().overTcp())
                            .counts())
                    .isEqualTo(weights);
        }
        world.end(cluster, installation);
    }

    @Test
    @Order(4)
    void aPodThatIsKilledIsGoneWithinASecond() {
        World world = World.of(cluster, "Single", "");
        TrafficPods pods = cluster.newTrafficPods(world.namespace(), "web", 3);
        try (KubernetesClient client = cluster.client(world.namespace())) {
            List<Duration> times = new ArrayList<>();
            for (int round = 1; round <= 5; round++) {
                pods.awaitReady();
                awaitAnswers(world, addresses(client));
                Pod victim = client.pods().withLabel("app", "web").list().getItems().stream()
                        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                        .findFirst()
                        .orElseThrow();
                String address = victim.getStatus().getPodIP();
                // A change is served whole, so one question that was answered with the pod tells as much as all, and
                // more often.
                Map<DnsServer, Question> asked = new HashMap<>();
                for (DnsServer server : installation.servers()) {
                    asked.put(server, slotOf(address, server, world));
                }
                long start = System.nanoTime();
                client.resource(victim).withGracePeriod(0).delete();
                asked.forEach((server, question) -> {
                    while (server.ask(question).addresses(Type.A).contains(address)) {
                        assertThat(since(start)).isLessThan(Duration.ofSeconds(20));
                    }
                });
                times.add(since(start));
                for (DnsServer server : asked.keySet()) {
                    assertThat(slots(server, world).count(address)).isZero();
                }
            }
            times.sort(Comparator.naturalOrder());
            System.out.printf(
                    "A killed pod was out of all answers after %s ms%n",
                    times.stream().map(Duration::toMillis).toList());
            // A machine that is busy with other things holds one or the other up.
            assertThat(times.get(times.size() / 2)).isLessThan(Duration.ofMillis(1500));
        }
        world.end(cluster, installation);
    }

    /** A question that a server answers with an address. */
    private static Question slotOf(String address, DnsServer server, World world) {
        return IntStream.range(0, 256)
                .mapToObj(slot -> world.question().withId(DnsServer.slotId(slot)))
                .filter(question -> server.ask(question).addresses(Type.A).contains(address))
                .findFirst()
                .orElseThrow();
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    @Order(5)
    void aRollingUpdateLeavesNoDeadAddressAndNoEmptyAnswer() throws InterruptedException {
        World world = World.of(cluster, "Single", "");
        TrafficPods pods = cluster.newTrafficPods(world.namespace(), "web", 4);
        try (KubernetesClient client = cluster.client(world.namespace());
                PodDeaths deaths = PodDeaths.watch(client)) {
            awaitAnswers(world, addresses(client));
            try (StaleAnswers answers = StaleAnswers.watch(installation.servers(), world.question(), deaths)) {
                world.kubectl().run("rollout", "restart", "deployment/web").orThrow();
                Thread.sleep(500);
                pods.awaitReady();
                awaitAnswers(world, addresses(client));
                System.out.printf(
                        "A rolling update of 4 pods: %d answers, the oldest address was answered %d ms after its pod"
                                + " was told to end%n",
                        answers.count(), answers.longest().toMillis());
                assertThat(answers.problems()).isEmpty();
                assertThat(answers.count()).isGreaterThan(200);
                assertThat(answers.longest()).isLessThan(Duration.ofSeconds(5));
                assertThat(deaths.count()).isGreaterThanOrEqualTo(4);
            }
        }
        world.end(cluster, installation);
    }

    @Test
    @Order(6)
    void anotherLeadsSoonAfterTheLeaderIsDeletedAndNoChangeIsLost() throws InterruptedException {
        World world = World.of(cluster, "Single", "");
        cluster.newTrafficPods(world.namespace(), "web", 2);
        try (KubernetesClient client = cluster.client(world.namespace());
                KubernetesClient system = cluster.client(Installation.NAMESPACE)) {
            awaitAnswers(world, addresses(client));
            String pod = client.pods()
                    .withLabel("app", "web")
                    .list()
                    .getItems()
                    .getFirst()
                    .getMetadata()
                    .getName();
            AtomicInteger capacity = new AtomicInteger(100);
            AtomicBoolean enough = new AtomicBoolean();
            Thread changing = Thread.ofPlatform().daemon().start(() -> {
                while (!enough.get()) {
                    declare(client, pod, capacity.addAndGet(10));
                }
            });
            String leader = installation.leader();
            Pod leading = installation.operators().stream()
                    .filter(found -> leader.startsWith(found.getMetadata().getName()))
                    .findFirst()
                    .orElseThrow();
            long start = System.nanoTime();
            system.resource(leading).delete();
            while (installation.leader().isEmpty() || installation.leader().equals(leader)) {
                assertThat(since(start)).isLessThan(Duration.ofSeconds(30));
            }
            System.out.printf(
                    "Another operator led %d ms after the leader's pod was deleted%n",
                    since(start).toMillis());
            assertThat(since(start)).isLessThan(Duration.ofSeconds(5));
            enough.set(true);
            changing.join();
            declare(client, pod, 300);
            for (DnsServer server : installation.servers()) {
                installation.await(
                        () -> Set.copyOf(slots(server, world).counts().values()), Set.of(192L, 64L)::equals, "3 to 1");
            }
            installation
                    .kubectl()
                    .run("rollout", "status", "deployment/apportion", "--timeout=120s")
                    .orThrow();
        }
        world.end(cluster, installation);
    }

    private static void declare(KubernetesClient client, String pod, int capacity) {
        client.pods()
                .withName(pod)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"annotations\":{\"apportion.dev/capacity\":\"%d\"}}}".formatted(capacity));
    }

    /** The name of one of the traffic pods. */
    private static String podOf(KubernetesClient client) {
        return client.pods().withLabel("app", "web").list().getItems().stream()
                .map(pod -> pod.getMetadata().getName())
                .sorted()
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Order(7)
    void footprintBesideExternalDns() {
        String namespace = cluster.newNamespace();
        Pod other = cluster.startExternalDns(namespace);
        long theirs = cluster.residentKibibytes(other);
        String leader = installation.leader();
        for (Pod operator : installation.operators()) {
            String name = operator.getMetadata().getName();
            long ours = cluster.residentKibibytes(operator);
            System.out.printf(
                    "%s: %d MiB resident, %.2f times ExternalDNS' %d MiB; %s%n",
                    leader.startsWith(name) ? "The leader" : "The one that stands by",
                    ours / 1024,
                    (double) ours / theirs,
                    theirs / 1024,
                    started(name));
            assertThat(ours / 1024).isLessThan(256);
        }
        cluster.deleteNamespace(namespace);
    }

    /** What the operator says of its own start. */
    private String started(String pod) {
        String log = installation.kubectl().run("logs", pod).orThrow().stdout();
        Matcher ready = Pattern.compile("Started.*").matcher(log);
        assertThat(log).as("the AOT cache is used").doesNotContain("[aot]");
        assertThat(ready.find()).isTrue();
        return ready.group();
    }

    @Test
    @Order(8)
    void aTenantPublishesNothingInAZoneThatDoesNotAllowItsNamespace() {
        String tenant = cluster.newNamespace();
        Kubectl kubectl = cluster.kubectl(tenant);
        apply(installation.kubectl(), """
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: closed}
            spec: {domain: closed.example, coreDNS: {}, verifyAt: {service: {name: apportion-dns, port: 53}}}
            """);
        apply(kubectl, """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: intruder}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}]}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: intruder}
            spec: {zoneRef: {name: closed, namespace: apportion-system}, hostname: www.closed.example, poolRef: {name: intruder}}
            """);
        installation.awaitCondition(installation.kubectl(), "dnszone/closed", "Verified", "True Verified");
        String said =
                installation.awaitCondition(kubectl, "trafficservice/intruder", "Accepted", "False NotAllowedByZone");
        assertThat(said).contains("closed");
        for (DnsServer server : installation.servers()) {
            assertThat(server.ask(Question.of("www.closed.example", Type.A)).rcode())
                    .isEqualTo("NXDOMAIN");
        }
        installation.kubectl().run("delete", "dnszone/closed").orThrow();
        cluster.deleteNamespace(tenant);
    }

    /** What metrics-server knows of pods reaches the status of a pool, and the right that it takes is named. */
    @Test
    @Order(9)
    void theMetricsApiOfTheClusterIsRead() {
        World world = World.of(cluster, "Single", "");
        cluster.newTrafficPods(world.namespace(), "web", 2);
        cluster.startMetricsServer();
        String pool = "replicapool/" + world.name();
        world.kubectl()
                .run(
                        "patch",
                        pool,
                        "--type=merge",
                        "-p",
                        "{\"spec\":{\"load\":{\"podMetrics\":{\"resource\":\"cpu\"},\"intervalSeconds\":2}}}")
                .orThrow();
        assertThat(installation.awaitCondition(world.kubectl(), pool, "LoadAvailable", "False NoSamples"))
                .contains(
                        "the operator needs the rule {apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}");

        installation
                .helm(
                        "upgrade",
                        Installation.RELEASE,
                        Chart.FOLDER.toString(),
                        "--reuse-values",
                        "--set",
                        "rbac.podMetrics=true",
                        "--wait",
                        "--timeout",
                        "120s")
                .orThrow();
        long start = System.nanoTime();
        installation.awaitCondition(
                world.kubectl(), pool, "LoadAvailable", "True Measured: all 2 ready replicas are measured");
        String measured = world.kubectl()
                .run("get", pool, "-o", "jsonpath={.status.rows[*].measured}")
                .orThrow()
                .stdout();
        System.out.printf(
                "The metrics API of the cluster: both pods measured %d s after the right was given: %s%n",
                since(start).toSeconds(), measured);
        assertThat(measured).matches("([0-9]+% of what it requests; since [0-9TZ:-]+ ?){2}");
        try (KubernetesClient client = cluster.client(world.namespace())) {
            awaitAnswers(world, addresses(client));
        }
        world.end(cluster, installation);
    }

    @Test
    @Order(10)
    void everyExampleBecomesReadyAsItStands() throws IOException {
        Kubectl kubectl = installation.kubectl();
        kubectl.run("apply", "--server-side", "-f", ExternalDns.definitions().toString())
                .orThrow();
        for (Path example : SourceTree.examples()) {
            String manifests =
                    manifests(example).replaceAll("namespace: (web|dns)\\b", "namespace: " + Installation.NAMESPACE);
            apply(kubectl, manifests);
            Command.Result waited =
                    kubectl.run("wait", "--for=condition=Ready", "--timeout=60s", "trafficservices", "--all");
            assertThat(waited.exitCode()).as(example + ": " + waited).isZero();
            kubectl.runWith(manifests, "delete", "-f", "-").orThrow();
        }
        kubectl.run("delete", "-f", ExternalDns.definitions().toString()).orThrow();
    }

    private static String manifests(Path folder) throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList()) {
                all.append(Files.readString(file)).append("\n---\n");
            }
        }
        return all.toString();
    }

    /** The cluster's own CoreDNS forwards a domain as the chart's README says, another one through its cache, and a third one shuffled. */
    @Test
    @Order(11)
    void throughTheClustersOwnDnsWeightsArriveAsDocumented() {
        Kubectl system = cluster.kubectl("kube-system");
        try (KubernetesClient client = cluster.client("kube-system")) {
            String own = client.services().withName("kube-dns").get().getSpec().getClusterIP();
            String resolvers = "resolvers: {addresses: [\"%s:53\"]}".formatted(own);
            World wired = World.of(cluster, "Single", resolvers);
            World cached = World.of(cluster, "Single", resolvers);
            World listed = World.of(cluster, "List", resolvers);
            List<World> worlds = List.of(wired, cached, listed);
            worlds.forEach(world -> {
                cluster.newTrafficPods(world.namespace(), "web", 2);
                // Whoever shuffles equal shares does nothing wrong.
                try (KubernetesClient pods = cluster.client(world.namespace())) {
                    declare(pods, podOf(pods), 300);
                }
            });
            String before = Objects.requireNonNull(
                    client.configMaps().withName("coredns").get().getData().get("Corefile"));
            String forward = "%s {\n    errors\n    forward . %s\n%s}\n";
            String dns = installation.dns().replace(":53", "");
            setCorefile(
                    client,
                    before
                            + forward.formatted(wired.name() + ".example", dns, "")
                            + forward.formatted(cached.name() + ".example", dns, "    cache 30\n")
                            + forward.formatted(listed.name() + ".example", dns, "    loadbalance\n"));
            // The kubelet would take a minute to bring the new configuration.
            system.run("rollout", "restart", "deployment/coredns").orThrow();
            system.run("rollout", "status", "deployment/coredns", "--timeout=120s")
                    .orThrow();
            for (World world : worlds) {
                try (KubernetesClient pods = cluster.client(world.namespace())) {
                    awaitAnswers(world, addresses(pods));
                }
            }
            print(installation.awaitCondition(
                    wired.kubectl(),
                    "trafficservice/" + wired.name(),
                    "WeightsHonored",
                    "True WeightsHonored: clients get the published shares"));
            print(installation.awaitCondition(
                    cached.kubectl(), "trafficservice/" + cached.name(), "WeightsHonored", "False ResolverPins"));
            print(installation.awaitCondition(
                    listed.kubectl(), "trafficservice/" + listed.name(), "WeightsHonored", "False"));
            worlds.forEach(world -> world.end(cluster, installation));
            setCorefile(client, before);
            system.run("rollout", "restart", "deployment/coredns").orThrow();
            system.run("rollout", "status", "deployment/coredns", "--timeout=120s")
                    .orThrow();
        }
    }

    private static void print(String condition) {
        System.out.println("Through the cluster's own DNS: WeightsHonored " + condition);
    }

    private static void setCorefile(KubernetesClient client, String text) {
        client.configMaps().withName("coredns").edit(found -> {
            found.getData().put("Corefile", text);
            return found;
        });
    }

    @Test
    @Order(12)
    void whileANodeIsDrainedEveryQuestionIsAnswered() {
        World world = World.of(cluster, "Single", "");
        cluster.newTrafficPods(world.namespace(), "web", 2);
        try (KubernetesClient client = cluster.client(world.namespace())) {
            awaitAnswers(world, addresses(client));
            String drained = installation.dnsPods().getFirst().getSpec().getNodeName();
            String other = cluster.nodes().stream()
                    .filter(node -> !node.equals(drained))
                    .findFirst()
                    .orElseThrow();
            PodResolver resolver = cluster.newResolver(world.namespace(), other);
            try (Asking asking = Asking.of(resolver, installation.dns(), world)) {
                installation
                        .kubectl()
                        .run(
                                "drain",
                                drained,
                                "--ignore-daemonsets",
                                "--delete-emptydir-data",
                                "--force",
                                "--timeout=150s")
                        .orThrow();
                asking.check("the draining of a node", List.of());
            }
            installation.kubectl().run("uncordon", drained).orThrow();
        }
        world.end(cluster, installation);
    }

    @Test
    @Order(13)
    void uninstalledAsDocumentedItLeavesItsDefinitionsAndNothingElse() {
        Kubectl kubectl = installation.kubectl();
        kubectl.run("delete", "services", "-l", "e2e.apportion.dev/made-by=test")
                .orThrow();
        kubectl.run("delete", "dnszones", "--all").orThrow();
        installation.helm("uninstall", Installation.RELEASE, "--wait").orThrow();
        String kinds = "deployments,replicasets,pods,services,endpointslices,secrets,roles,rolebindings,"
                + "poddisruptionbudgets,networkpolicies";
        installation.await(
                () -> kubectl.run("get", kinds, "-o", "name").orThrow().stdout(),
                String::isBlank,
                "an empty namespace");
        assertThat(kubectl.run(
                                "get",
                                "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings",
                                "-o",
                                "name")
                        .orThrow()
                        .stdout())
                .doesNotContain("apportion");
        assertThat(kubectl.run("get", "configmaps", "-o", "name")
                        .orThrow()
                        .stdout()
                        .lines())
                .allMatch(name ->
                        name.equals("configmap/kube-root-ca.crt") || name.startsWith("configmap/apportion-coredns-"));
        assertThat(kubectl.run("get", "leases", "-o", "name").orThrow().stdout().strip())
                .isEqualTo("lease.coordination.k8s.io/apportion");
        assertThat(kubectl.run("get", "crds", "-o", "name").orThrow().stdout().lines())
                .filteredOn(name -> name.contains("apportion"))
                .hasSize(4);
        Installation.deleteDefinitions(kubectl);
        kubectl.run("delete", "namespace", Installation.NAMESPACE, "--timeout=120s")
                .orThrow();
    }
}
