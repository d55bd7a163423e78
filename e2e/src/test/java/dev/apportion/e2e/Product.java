package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.FaultProxy;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** The product as it is run beside a cluster: operator, sync and CoreDNS, as processes, for one namespace. */
final class Product implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final String PAIR = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: NAME}
        spec:
          domain: NAME.example
          coreDNS: {answers: Single, configMap: {shards: 1}}
          verifyAt: {addresses: ["127.0.0.1:PORT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: NAME}
        spec:
          sites:
          - name: main
            endpoints: [{name: a, address: 192.0.2.1, capacity: 100}, {name: b, address: 192.0.2.2, capacity: 100}]
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: NAME}
        spec: {zoneRef: {name: NAME}, hostname: www.NAME.example, poolRef: {name: NAME}}
        """;

    private final Kubectl kubectl;
    private final Path folder;
    private final Apportion operatorProgram;
    private final List<String> operatorOptions;
    private final @Nullable FaultProxy proxy;
    private @Nullable Rights rights;
    private @Nullable ServerProcess operator;
    private @Nullable ServerProcess sync;
    private @Nullable CoreDns coreDns;

    private Product(
            Kubectl kubectl,
            Path folder,
            @Nullable FaultProxy proxy,
            Apportion operatorProgram,
            List<String> operatorOptions) {
        this.kubectl = kubectl;
        this.folder = folder;
        this.proxy = proxy;
        this.operatorProgram = operatorProgram;
        this.operatorOptions = operatorOptions;
    }

    static Product start(ApiServer server, Kubectl kubectl, Path folder, String... operatorOptions) throws IOException {
        return start(server, kubectl, folder, Apportion.packaged(), operatorOptions);
    }

    /** With an operator of its own environment; it has the least rights, unless that names another kubeconfig. */
    static Product start(
            ApiServer server, Kubectl kubectl, Path folder, Apportion operatorProgram, String... operatorOptions)
            throws IOException {
        Product product = new Product(kubectl, folder, null, operatorProgram, Arrays.asList(operatorOptions));
        product.start(server);
        return product;
    }

    /** With an operator that reaches the API server through a proxy. */
    static Product startBehind(
            FaultProxy proxy,
            ApiServer server,
            Kubectl kubectl,
            Path folder,
            Apportion operatorProgram,
            String... operatorOptions)
            throws IOException {
        Product product = new Product(kubectl, folder, proxy, operatorProgram, Arrays.asList(operatorOptions));
        product.start(server);
        return product;
    }

    private void start(ApiServer server) throws IOException {
        rights = Rights.grant(server, kubectl.namespace(), namespaces(), zoneNamespaces());
        startSync();
        coreDns = CoreDns.start(folder);
        startOperator();
    }

    void startSync() throws IOException {
        ServerProcess started = Apportion.packaged()
                .against(present(rights).sync())
                .start("sync", folder.toString(), "-n", kubectl.namespace());
        sync = started;
        started.await("write its Corefile", PATIENCE, () -> Files.exists(folder.resolve("Corefile")));
    }

    void stopSync() {
        close(sync);
        sync = null;
    }

    void startOperator() throws IOException {
        operator = newOperator();
    }

    /** Starts the operator, but does not wait until it has. */
    void launchOperator() throws IOException {
        operator = launch();
    }

    /** Starts the operator with more variables in its environment. */
    void startOperator(Map<String, String> environment) throws IOException {
        operator = launch(environment);
        awaitStart(operator);
    }

    /** Another operator of the same installation, which has not started yet; it is the caller's to close. */
    ServerProcess launch(String... options) throws IOException {
        return launch(Map.of(), options);
    }

    /** Another operator for the same namespace, started, which no proxy is before; it is the caller's to close. */
    ServerProcess newOperatorPastTheProxy(String... options) throws IOException {
        ServerProcess started = launch(operatorProgram.against(present(rights).operator()), options);
        awaitStart(started);
        return started;
    }

    static void awaitStart(ServerProcess operator) {
        operator.await("start", PATIENCE, () -> operator.log().contains("Started"));
    }

    /** Another operator of the same installation, started; it is the caller's to close. */
    ServerProcess newOperator(String... options) throws IOException {
        ServerProcess started = launch(options);
        awaitStart(started);
        return started;
    }

    /** Another operator, whose log has one JSON object a line. */
    ServerProcess newJsonOperator() throws IOException {
        ServerProcess started = launch(Map.of("APPORTION_LOG_FORMAT", "json"));
        awaitStart(started);
        return started;
    }

    private ServerProcess launch(Map<String, String> environment, String... options) throws IOException {
        Apportion program = operatorProgram.environment().containsKey("KUBECONFIG")
                ? operatorProgram
                : operatorProgram.against(kubeconfig());
        return launch(program.with(environment), options);
    }

    private ServerProcess launch(Apportion program, String... options) throws IOException {
        String home = kubectl.namespace();
        // Of several namespaces the first one by name would have the lease, for which there may be no right.
        List<String> arguments = new ArrayList<>(List.of("operator", "--namespaces", home, "--lease-namespace", home));
        arguments.addAll(operatorOptions);
        arguments.addAll(List.of(options));
        return program.start(arguments.toArray(String[]::new));
    }

    private Path kubeconfig() throws IOException {
        Path direct = present(rights).operator();
        return proxy == null ? direct : proxy.kubeconfig(direct);
    }

    /** The namespaces that the operator watches. */
    private Set<String> namespaces() {
        Set<String> namespaces = values("--namespaces");
        namespaces.add(kubectl.namespace());
        return namespaces;
    }

    /** The namespaces that may have zones: those that are named as such, or all that are watched. */
    private Set<String> zoneNamespaces() {
        Set<String> named = values("--zone-namespaces");
        return named.isEmpty() ? namespaces() : named;
    }

    private Set<String> values(String option) {
        Set<String> values = new TreeSet<>();
        for (int i = 0; i + 1 < operatorOptions.size(); i++) {
            if (operatorOptions.get(i).equals(option)) {
                values.add(operatorOptions.get(i + 1));
            }
        }
        return values;
    }

    void stopOperator() {
        close(operator);
        operator = null;
    }

    ServerProcess operator() {
        return present(operator);
    }

    CoreDns coreDns() {
        return present(coreDns);
    }

    String namespace() {
        return kubectl.namespace();
    }

    DnsServer dns() {
        return coreDns().server();
    }

    /** Applies manifests; {@code PORT} stands for CoreDNS' port. */
    void apply(String manifests) {
        Command.Result result = kubectl.runWith(
                manifests.replace("PORT", Integer.toString(coreDns().port())), "apply", "-f", "-");
        assertThat(result.exitCode()).as(result.toString()).isZero();
    }

    /** A zone NAME.example, a pool of two equal replicas, 192.0.2.1 and 192.0.2.2, and the service www.NAME.example. */
    void applyPair(String name) {
        apply(pair(name));
    }

    static String pair(String name) {
        return PAIR.replace("NAME", name);
    }

    /** Sets the capacity of a pool's first endpoint. */
    void setCapacity(String pool, int capacity) {
        kubectl(
                "patch",
                "replicapool/" + pool,
                "--type=json",
                "-p",
                "[{\"op\":\"replace\",\"path\":\"/spec/sites/0/endpoints/0/capacity\",\"value\":%d}]"
                        .formatted(capacity));
    }

    String kubectl(String... arguments) {
        Command.Result result = kubectl.run(arguments);
        assertThat(result.exitCode()).as(result.toString()).isZero();
        return result.stdout();
    }

    /** A condition, as {@code True Reason: message}; empty while there is none. */
    String condition(String resource, String type) {
        return new KubectlStatus(kubectl).condition(resource, type);
    }

    void awaitCondition(String resource, String type, String start) {
        await(() -> condition(resource, type), found -> found.startsWith(start), resource + " " + type);
    }

    void awaitReady(String... resources) {
        List<String> arguments =
                new ArrayList<>(List.of("wait", "--for=condition=Ready", "--timeout=" + PATIENCE.toSeconds() + "s"));
        arguments.addAll(List.of(resources));
        kubectl(arguments.toArray(String[]::new));
    }

    /** Waits until the servers are seen to answer. */
    void awaitVerified(String service) {
        awaitCondition("trafficservice/" + service, "Verified", "True Verified");
    }

    <T> T await(Callable<T> value, Predicate<T> wanted, String what) {
        return Awaitility.await(what)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(value, wanted);
    }

    void await(String what, BooleanSupplier holds) {
        Awaitility.await(what)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(holds::getAsBoolean);
    }

    /** The published weights of a stream or service, by address. */
    Map<String, Long> weights(String resource) {
        return new KubectlStatus(kubectl).weights(resource);
    }

    private static <T> T present(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("it is stopped");
        }
        return part;
    }

    private static void close(@Nullable ServerProcess process) {
        if (process != null) {
            process.terminate();
            process.close();
        }
    }

    @Override
    public void close() throws IOException {
        stopOperator();
        stopSync();
        if (coreDns != null) {
            coreDns.close();
        }
    }
}
