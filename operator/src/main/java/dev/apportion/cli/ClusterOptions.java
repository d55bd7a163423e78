package dev.apportion.cli;

import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The cluster that a command reads, as kubectl has it. */
class ClusterOptions {

    @Option(names = "--kubeconfig", paramLabel = "FILE", description = "The kubeconfig; default: as kubectl finds it.")
    private @Nullable Path kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "The context of the kubeconfig; default: its current one.")
    private @Nullable String context;

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAMESPACE",
            description = "The namespace to read; default: that of the context.")
    private @Nullable String namespace;

    /** The option that was given and has no effect on files; null where none was. */
    @Nullable
    String given() {
        if (kubeconfig != null) {
            return "--kubeconfig";
        }
        return context != null ? "--context" : namespace != null ? "--namespace" : null;
    }

    /**
     * Takes none of these options.
     *
     * @param why what such an option is for, with advice
     */
    void refuse(CommandSpec spec, String why) {
        String given = given();
        if (given != null) {
            throw new ParameterException(spec.commandLine(), given + " " + why);
        }
    }

    /** Finds the cluster; nothing is asked yet. */
    Cluster open() throws ClusterException {
        if (kubeconfig != null && !Files.isReadable(kubeconfig)) {
            throw new ClusterException("--kubeconfig %s: there is no such file that can be read".formatted(kubeconfig));
        }
        Config config;
        try {
            config = kubeconfig == null
                    ? Config.autoConfigure(context)
                    : Config.fromKubeconfig(context, kubeconfig.toFile());
        } catch (RuntimeException e) {
            throw new ClusterException("the kubeconfig%s cannot be read: %s"
                    .formatted(kubeconfig == null ? "" : " " + kubeconfig, Cluster.reason(e)));
        }
        if (context != null
                && config.getContexts().stream()
                        .noneMatch(known -> known.getName().equals(context))) {
            throw new ClusterException("--context %s: the kubeconfig has no such context; it has %s"
                    .formatted(
                            context,
                            config.getContexts().isEmpty()
                                    ? "none"
                                    : String.join(
                                            ", ",
                                            config.getContexts().stream()
                                                    .map(known -> known.getName())
                                                    .toList())));
        }
        return new Cluster(config, namespace);
    }
}
