package dev.apportion.e2e.bed;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Helm, with configuration, caches and kubeconfig of its own; those of the user are never read.
 *
 * @param program the program's file
 * @param environment the variables that say where its own are
 */
public record Helm(Path program, Map<String, String> environment) {

    /** Longer than any wait that it is told. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    public Helm {
        environment = Map.copyOf(environment);
    }

    /**
     * Helm without a cluster.
     *
     * @param folder where it keeps what it has to
     * @throws ToolUnavailableException if it is not there and cannot be built
     */
    public static Helm in(Path folder) {
        return new Helm(
                ToolCache.ofThisUser().path(Tool.HELM),
                Map.of(
                        "HELM_CACHE_HOME", folder.resolve("cache").toString(),
                        "HELM_CONFIG_HOME", folder.resolve("config").toString(),
                        "HELM_DATA_HOME", folder.resolve("data").toString(),
                        "KUBECONFIG", folder.resolve("kubeconfig").toString()));
    }

    /** The same with a test server. */
    public Helm against(ApiServer server) {
        return against(server.kubeconfig());
    }

    /** The same with the cluster of a kubeconfig. */
    public Helm against(Path kubeconfig) {
        Map<String, String> variables = new HashMap<>(environment);
        variables.put("KUBECONFIG", kubeconfig.toString());
        return new Helm(program, variables);
    }

    /** Runs it with arguments such as {@code "template", "NAME", "FOLDER"}. */
    public Command.Result run(String... arguments) {
        List<String> line = new ArrayList<>(List.of(program.toString()));
        line.addAll(List.of(arguments));
        return Command.of(line).withEnvironment(environment).within(PATIENCE).run();
    }
}
