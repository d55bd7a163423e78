package dev.apportion.e2e.bed;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * kubectl with the kubeconfig of a test server, in one namespace; the user's own kubeconfig is never read.
 *
 * @param atMost how long one command may run
 */
public record Kubectl(Path program, Path kubeconfig, String namespace, Duration atMost) {

    private static final Duration USUAL = Duration.ofSeconds(60);

    public Kubectl(Path program, Path kubeconfig, String namespace) {
        this(program, kubeconfig, namespace, USUAL);
    }

    /** Runs kubectl with arguments such as {@code "get", "configmaps"}. */
    public Command.Result run(String... arguments) {
        return command(arguments).run();
    }

    /** Runs kubectl with something to read, for {@code "-f", "-"}. */
    public Command.Result runWith(String stdin, String... arguments) {
        return command(arguments).withStdin(stdin).run();
    }

    private Command command(String... arguments) {
        List<String> line = new ArrayList<>(List.of(
                program.toString(),
                "--kubeconfig=" + kubeconfig,
                "--namespace=" + namespace,
                "--cache-dir=" + kubeconfig.resolveSibling("kubectl-cache")));
        line.addAll(List.of(arguments));
        return Command.of(line).within(atMost);
    }
}
