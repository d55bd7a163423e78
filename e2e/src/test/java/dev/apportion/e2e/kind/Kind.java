package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The program kind, for one cluster.
 *
 * @param program its file
 * @param cluster the cluster's name
 * @param folder where the cluster's kubeconfig is
 * @param engine what the nodes run on
 */
record Kind(Path program, String cluster, Path folder, ContainerEngine engine) {

    private static final Duration CREATE = Duration.ofMinutes(10);
    private static final Duration LOAD = Duration.ofMinutes(3);
    private static final Duration LOGS = Duration.ofMinutes(2);

    Path kubeconfig() {
        return folder.resolve("kubeconfig");
    }

    /** Makes a cluster of kind's own node image, unless that can neither be found nor pulled. */
    Outcome createReleased() throws IOException {
        Command.Result result = create(ClusterShape.RELEASED, List.of());
        if (result.exitCode() != 0 && result.stderr().contains("failed to pull image")) {
            return Outcome.NO_IMAGE;
        }
        require(result);
        return Outcome.CREATED;
    }

    /** Makes a cluster of a node image that is built here. */
    void create(NodeImage image) throws IOException {
        require(create(ClusterShape.BUILT, List.of("--image", image.tag())));
    }

    private Command.Result create(ClusterShape shape, List<String> more) throws IOException {
        Path file = Files.writeString(folder.resolve("kind.yaml"), shape.text());
        List<String> arguments = new ArrayList<>(List.of(
                "create",
                "cluster",
                "--kubeconfig=" + kubeconfig(),
                "--config=" + file,
                "--retain")); // for the logs of nodes that do not come up
        arguments.addAll(more);
        return run(arguments, CREATE);
    }

    private void require(Command.Result created) {
        if (created.exitCode() != 0) {
            exportLogs(Cluster.logs("cluster"));
            throw new NoClusterException("kind could not make one; logs of the nodes are in %s: %s"
                    .formatted(Cluster.logs("cluster"), created));
        }
    }

    /** Loads the images of an archive into all nodes. */
    void load(Path archive) {
        run(List.of("load", "image-archive", archive.toString()), LOAD).orThrow();
    }

    /** Keeps what kubelet, containerd and the containers of every node have written, in {@code FOLDER/nodes}. */
    Command.Result exportLogs(Path target) {
        return run(List.of("export", "logs", target.resolve("nodes").toString()), LOGS);
    }

    private Command.Result run(List<String> arguments, Duration atMost) {
        List<String> line = new ArrayList<>(List.of(program.toString()));
        line.addAll(arguments);
        line.addAll(List.of("--name", cluster));
        return engine.run(line, atMost);
    }

    /** Whether there is a cluster now. */
    enum Outcome {
        CREATED,
        NO_IMAGE
    }
}
