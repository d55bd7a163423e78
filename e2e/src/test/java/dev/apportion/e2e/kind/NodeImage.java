package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DebianPackage;
import dev.apportion.e2e.bed.Folders;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.Tool;
import dev.apportion.e2e.bed.ToolCache;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A node image that is built here, for machines that reach no image registry: Debian packages, the files of kind's own base image, and
 * Kubernetes from its Go modules. It is kept as a file in the cache of the tools that it is made of.
 *
 * @param tag its name in the Docker engine
 * @param file where it is kept
 */
record NodeImage(String tag, Path file) {

    private static final Duration LOAD = Duration.ofMinutes(5);
    private static final Duration BUILD = Duration.ofMinutes(20);

    private static final Set<Tool> TOOLS = EnumSet.of(
            Tool.KUBE_APISERVER,
            Tool.KUBE_CONTROLLER_MANAGER,
            Tool.KUBE_SCHEDULER,
            Tool.KUBE_PROXY,
            Tool.KUBELET,
            Tool.KUBEADM,
            Tool.KUBECTL,
            Tool.ETCD,
            Tool.COREDNS,
            Tool.TRAFFIC,
            Tool.CONTAINERD,
            Tool.CONTAINERD_SHIM,
            Tool.CTR);

    /** The image of the present versions of everything that it is made of, whether or not it has been built. */
    static NodeImage of(ToolCache cache) throws IOException {
        StringBuilder made = new StringBuilder(Files.readString(ContainerEngine.script("node-image.sh")));
        TOOLS.forEach(tool -> made.append(cache.identity(tool)).append('\n'));
        made.append(cache.identity(Tool.KIND));
        String key = digest(made.toString());
        return new NodeImage(
                "apportion-e2e/node:" + key, cache.root().resolve("node-images").resolve(key + ".tar"));
    }

    /** Whether it has been built already, by this run or an earlier one. */
    boolean isBuilt() {
        return Files.isRegularFile(file);
    }

    /**
     * Puts the image into an engine, built first if need be.
     *
     * @throws AssertionError if it cannot be built; the message says why
     */
    void provide(ContainerEngine engine, ToolCache cache) throws IOException {
        if (isBuilt()) {
            engine.run(List.of("docker", "load", "--quiet", "--input", file.toString()), LOAD)
                    .orThrow();
        } else {
            build(engine, cache);
        }
    }

    private void build(ContainerEngine engine, ToolCache cache) throws IOException {
        if (DebianPackage.MMDEBSTRAP.find().isEmpty()) {
            throw new NoClusterException(
                    "no node image can be pulled, and none can be built: mmdebstrap is not installed. Install it (on"
                            + " Debian), or have an image registry that kind can pull from");
        }
        Map<Tool, Path> tools = cache.paths(TOOLS);
        Files.createDirectories(file.getParent());
        Path folder = Files.createTempDirectory(file.getParent(), ".build-");
        try {
            Path programs = Files.createDirectory(folder.resolve("programs"));
            for (Map.Entry<Tool, Path> tool : tools.entrySet()) {
                Files.createSymbolicLink(programs.resolve(tool.getKey().program()), tool.getValue());
            }
            Path made = folder.resolve("node.tar");
            Command.Result result = engine.run(
                            List.of(
                                    ContainerEngine.script("node-image.sh").toString(),
                                    programs.toString(),
                                    filesOfKind().toString(),
                                    version(tools),
                                    tag,
                                    made.toString()),
                            BUILD)
                    .orThrow();
            System.out.print(result.stdout());
            Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Folders.delete(folder);
        }
    }

    /** The files that kind's authors put into their base image, in the Go module that kind is built from. */
    private static Path filesOfKind() {
        Command.Result module = Command.of(List.of(
                        "go",
                        "-C",
                        SourceTree.root().resolve("e2e/tools/kind").toString(),
                        "list",
                        "-mod=readonly",
                        "-m",
                        "-f",
                        "{{.Dir}}",
                        "sigs.k8s.io/kind"))
                .run()
                .orThrow();
        return Path.of(module.stdout().strip(), "images", "base", "files");
    }

    private static String version(Map<Tool, Path> tools) {
        Path kubelet = Objects.requireNonNull(tools.get(Tool.KUBELET));
        String said = Command.of(List.of(kubelet.toString(), "--version"))
                .run()
                .orThrow()
                .stdout();
        return said.strip().replaceFirst("^Kubernetes ", "");
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 6);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
