package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Folders;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.Tool;
import dev.apportion.e2e.bed.ToolCache;
import dev.apportion.e2e.bed.ToolUnavailableException;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A Kubernetes cluster of two nodes, a control plane and a worker, that kind runs in containers of this machine: scheduler, controllers,
 * kubelets, kube-proxy and CoreDNS, with stock settings. Its kubeconfig is a temporary file.
 */
public final class Cluster implements AutoCloseable {

    private static final Duration READY = Duration.ofMinutes(4);

    private final Kind kind;
    private final ToolCache tools;
    private final KubernetesClient client;
    private final Duration created;
    private final AtomicInteger namespaces = new AtomicInteger();
    private final Map<Tool, String> images = new HashMap<>();

    private Cluster(Kind kind, ToolCache tools, Duration created) {
        this.kind = kind;
        this.tools = tools;
        this.created = created;
        this.client = client("default");
    }

    /**
     * Makes a cluster and waits until its nodes and its DNS are ready.
     *
     * @throws NoClusterException if this machine can have none
     * @throws AssertionError if it does not come up; the message says why, and logs are in {@code e2e/target/e2e-logs}
     */
    static Cluster create() throws IOException {
        ToolCache tools = ToolCache.ofThisUser();
        String name = "apportion-%d-%04x"
                .formatted(
                        ProcessHandle.current().pid(),
                        ThreadLocalRandom.current().nextInt(1 << 16));
        Path folder = Files.createTempDirectory("apportion-cluster-");
        try {
            Path program = program(tools);
            Kind kind = new Kind(program, name, folder, ContainerEngine.hold(program, name, folder, tools.root()));
            try {
                return create(kind, tools);
            } catch (IOException | RuntimeException | AssertionError failure) {
                kind.engine().close();
                throw failure;
            }
        } catch (IOException | RuntimeException | AssertionError failure) {
            Folders.delete(folder);
            throw failure;
        }
    }

    private static Path program(ToolCache tools) {
        try {
            return tools.path(Tool.KIND);
        } catch (ToolUnavailableException missing) {
            throw new NoClusterException("there is no kind: " + missing.getMessage());
        }
    }

    private static Cluster create(Kind kind, ToolCache tools) throws IOException {
        NodeImage own = NodeImage.of(tools);
        Instant start = Instant.now();
        // One that was built here is there because none could be pulled.
        boolean built = own.isBuilt() || kind.createReleased() == Kind.Outcome.NO_IMAGE;
        if (built) {
            own.provide(kind.engine(), tools);
            start = Instant.now();
            kind.create(own);
        }
        Cluster cluster = new Cluster(kind, tools, Duration.between(start, Instant.now()));
        try {
            if (built) {
                new PodNetwork(cluster).install();
            }
            cluster.awaitReady();
            return cluster;
        } catch (AssertionError | RuntimeException failure) {
            cluster.keepLogs("cluster");
            throw failure;
        }
    }

    private void awaitReady() {
        kubectl("kube-system")
                .run("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=" + READY.toSeconds() + "s")
                .orThrow();
        kubectl("kube-system")
                .run("rollout", "status", "deployment/coredns", "--timeout=" + READY.toSeconds() + "s")
                .orThrow();
    }

    /** How long {@code kind create cluster} took. */
    Duration created() {
        return created;
    }

    /** A client that works in a namespace; the caller closes it. */
    public KubernetesClient client(String namespace) {
        try {
            Config config = Config.fromKubeconfig(Files.readString(kubeconfig()));
            return new KubernetesClientBuilder()
                    .withConfig(
                            new ConfigBuilder(config).withNamespace(namespace).build())
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException("Reading " + kubeconfig(), e);
        }
    }

    /** kubectl that works in a namespace. */
    public Kubectl kubectl(String namespace) {
        return new Kubectl(tools.path(Tool.KUBECTL), kubeconfig(), namespace, READY.plusSeconds(30));
    }

    /** The file that leads clients to this cluster, as its administrator. */
    public Path kubeconfig() {
        return kind.kubeconfig();
    }

    /** Makes a namespace with a name of its own. */
    public String newNamespace() {
        Namespace namespace = new NamespaceBuilder()
                .withNewMetadata()
                .withName("e2e-" + namespaces.incrementAndGet())
                .endMetadata()
                .build();
        return client.resource(namespace).create().getMetadata().getName();
    }

    /** Has a namespace deleted, and does not wait for the end of its pods. */
    public void deleteNamespace(String namespace) {
        client.namespaces().withName(namespace).delete();
    }

    /** The nodes' names, which are also those of their containers; the control plane comes first. */
    public List<String> nodes() {
        return client.nodes().list().getItems().stream()
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
    }

    List<Node> nodeObjects() {
        return client.nodes().list().getItems();
    }

    /** Runs a shell command on a node, as root. */
    public Command.Result onNode(String node, String script) {
        return kind.engine().docker("exec", node, "bash", "-c", script);
    }

    /** The memory that the largest process of a pod holds, in KiB. */
    public long residentKibibytes(Pod pod) {
        String uid = pod.getMetadata().getUid().replace("-", "[-_]");
        return onNode(pod.getSpec().getNodeName(), """
            for process in /proc/[0-9]*; do
              if grep -qE '%s' "$process/cgroup" 2> /dev/null; then awk '/^VmRSS/ {print $2}' "$process/status"; fi
            done\
            """.formatted(uid))
                .orThrow()
                .stdout()
                .lines()
                .mapToLong(line -> Long.parseLong(line.strip()))
                .max()
                .orElseThrow();
    }

    /** Writes a file on a node. */
    void writeOnNode(String node, String file, String text) {
        kind.engine()
                .dockerWith(text, "exec", "--interactive", node, "cp", "/dev/stdin", file)
                .orThrow();
    }

    /**
     * Loads the images of an archive, as {@code docker save} and Jib write it, into all nodes. Pods use them by the names in the archive;
     * with the tag {@code latest} only if their {@code imagePullPolicy} is {@code IfNotPresent}.
     */
    public void loadImage(Path archive) {
        kind.load(archive);
    }

    /**
     * Runs a line as a shell does on a machine that has {@code docker}, {@code kind}, {@code kubectl} and {@code helm}, and no other
     * program, in the folder of the product's source.
     *
     * @param home the user's folder
     */
    public Command.Result type(String line, Path home) throws IOException {
        Path programs = Files.createDirectories(home.resolve("bin"));
        for (Tool tool : List.of(Tool.KIND, Tool.KUBECTL, Tool.HELM)) {
            link(programs.resolve(tool.program()), tools.path(tool));
        }
        link(programs.resolve("docker"), ClusterOutlook.onPath("docker").orElseThrow());
        Map<String, String> environment = new HashMap<>(kind.engine().environment());
        environment.put("HOME", home.toString());
        environment.put("PATH", programs.toString());
        environment.put("KUBECONFIG", kubeconfig().toString());
        environment.put("KIND_CLUSTER_NAME", kind.cluster());
        return Command.of(List.of("/bin/bash", "-c", "cd '%s' && %s".formatted(SourceTree.root(), line)))
                .withEnvironment(environment)
                .within(READY)
                .run();
    }

    private static void link(Path link, Path program) throws IOException {
        if (Files.notExists(link)) {
            Files.createSymbolicLink(link, program);
        }
    }

    /** Loads an image that holds nothing but a program, which is what it runs, and returns the image's name. */
    public synchronized String loadImageOf(Tool tool) {
        return images.computeIfAbsent(tool, this::loadNewImageOf);
    }

    private String loadNewImageOf(Tool tool) {
        String image = "apportion-e2e/" + tool.program() + ":1";
        Path program = tools.path(tool);
        ContainerEngine engine = kind.engine();
        Path content = kind.folder().resolve(tool.program() + ".tar");
        Path archive = kind.folder().resolve(tool.program() + "-image.tar");
        try {
            Command.of(List.of(
                            "tar",
                            "-C",
                            String.valueOf(program.getParent()),
                            "-cf",
                            content.toString(),
                            program.getFileName().toString()))
                    .run()
                    .orThrow();
            String entryPoint = "ENTRYPOINT [\"/%s\"]".formatted(tool.program());
            engine.docker("import", "--change", entryPoint, content.toString(), image)
                    .orThrow();
            engine.docker("save", "--output", archive.toString(), image).orThrow();
            loadImage(archive);
            engine.docker("rmi", image).orThrow();
            Files.delete(content);
            Files.delete(archive);
        } catch (IOException e) {
            throw new UncheckedIOException("Making an image of " + program, e);
        }
        return image;
    }

    /** Starts a pod in a namespace that asks DNS servers and is there when this returns. */
    public PodResolver newResolver(String namespace) {
        return PodResolver.start(kubectl(namespace), loadImageOf(Tool.TRAFFIC), "");
    }

    /** The same on a node. */
    public PodResolver newResolver(String namespace, String node) {
        return PodResolver.start(kubectl(namespace), loadImageOf(Tool.TRAFFIC), node);
    }

    /** Starts pods that answer HTTP, with a Service, in a namespace; they are ready when this returns. */
    public TrafficPods newTrafficPods(String namespace, String name, int replicas) {
        return TrafficPods.start(kubectl(namespace), loadImageOf(Tool.TRAFFIC), name, replicas);
    }

    /** Starts the metrics-server that serves {@code metrics.k8s.io}; what it measures is there some 30 s later. */
    public void startMetricsServer() {
        String manifest = resource("metrics-server.yaml").replace("IMAGE", loadImageOf(Tool.METRICS_SERVER));
        kubectl("kube-system").runWith(manifest, "apply", "-f", "-").orThrow();
    }

    /** Starts an ExternalDNS that writes nowhere, in a namespace, and returns its pod. */
    public Pod startExternalDns(String namespace) {
        Kubectl kubectl = kubectl(namespace);
        String manifest = resource("external-dns.yaml")
                .replace("IMAGE", loadImageOf(Tool.EXTERNAL_DNS))
                .replace("NAMESPACE", namespace);
        kubectl.runWith(manifest, "apply", "-f", "-").orThrow();
        kubectl.run("rollout", "status", "deployment/external-dns", "--timeout=120s")
                .orThrow();
        return client.pods()
                .inNamespace(namespace)
                .withLabel("app", "external-dns")
                .list()
                .getItems()
                .getFirst();
    }

    private static String resource(String name) {
        try (InputStream stream = Objects.requireNonNull(Cluster.class.getResourceAsStream("/kind/" + name), name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Keeps the logs of all pods and nodes, events, and what there is in the cluster, in {@code e2e/target/e2e-logs/NAME}. */
    public void keepLogs(String test) {
        Path target = logs(test);
        try {
            Files.createDirectories(target);
            Kubectl kubectl = kubectl("default");
            keep(target, "events.txt", kubectl.run("get", "events", "-A", "--sort-by=.lastTimestamp"));
            keep(target, "objects.txt", kubectl.run("get", "nodes,pods,services,endpointslices", "-A", "-o", "wide"));
            keep(target, "pods.txt", kubectl.run("describe", "pods", "-A"));
            keep(target, "configmaps.yaml", kubectl.run("get", "configmaps", "-A", "-o", "yaml"));
            keep(target, "dns.yaml", kubectl.run("get", "dns", "-A", "-o", "yaml"));
            keep(target, "export.txt", kind.exportLogs(target));
            System.out.println("Logs of the cluster: " + target);
        } catch (IOException | AssertionError e) {
            System.out.println("Logs of the cluster could not be kept: " + e);
        }
    }

    /** The folder for what is kept of a test, or of something else, that failed. */
    static Path logs(String of) {
        return SourceTree.root().resolve("e2e/target/e2e-logs").resolve(of);
    }

    private static void keep(Path folder, String file, Command.Result result) throws IOException {
        Files.writeString(folder.resolve(file), result.stdout() + result.stderr());
    }

    /** Deletes the cluster and all that was made for it. */
    @Override
    public void close() {
        client.close();
        kind.engine().close();
        try {
            Folders.delete(kind.folder());
        } catch (IOException e) {
            throw new UncheckedIOException("Deleting " + kind.folder(), e);
        }
    }
}
