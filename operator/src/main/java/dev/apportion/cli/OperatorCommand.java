package dev.apportion.cli;

import dev.apportion.reconcile.ApportionOperator;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code apportion operator}: runs in the cluster, or against the kubeconfig. */
@Command(
        name = "operator",
        description = "Runs the operator in the cluster, or against the current context of the kubeconfig.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:stopped cleanly", "1:a fatal error", "2:bad options"})
final class OperatorCommand implements Callable<Integer> {

    /** How long the process lives on for a clean stop. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Option(
            names = {"-n", "--namespaces"},
            split = ",",
            paramLabel = "NAMESPACE",
            description = "The namespaces to watch; default: all.")
    private Set<String> namespaces = Set.of();

    @Option(
            names = "--reconcile-interval",
            description = "How often everything is looked at again although nothing happened (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration reconcileInterval = ApportionOperator.Settings.DEFAULT.reconcileInterval();

    @Option(
            names = "--verify-interval",
            description = "How often the DNS servers are asked although nothing changed (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration verifyInterval = ApportionOperator.Settings.DEFAULT.verifyInterval();

    @Option(
            names = "--verify-grace",
            description = "How long DNS servers may lag behind a change before it is said (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration verifyGrace = ApportionOperator.Settings.DEFAULT.verifyGrace();

    @Option(
            names = "--resolver-interval",
            description =
                    "How often some hosts are asked for through the zones' resolvers although nothing changed (ISO"
                            + " 8601); default: ${DEFAULT-VALUE}.")
    private Duration resolverInterval = ApportionOperator.Settings.DEFAULT.resolverInterval();

    @Override
    public Integer call() throws InterruptedException {
        try (Termination termination = new Termination(PATIENCE, () -> {});
                KubernetesClient client = new KubernetesClientBuilder().build();
                ApportionOperator operator = new ApportionOperator(
                        client,
                        new ApportionOperator.Settings(
                                namespaces, reconcileInterval, verifyInterval, verifyGrace, resolverInterval),
                        Clock.systemUTC())) {
            operator.start();
            termination.await();
        }
        return CommandLine.ExitCode.OK;
    }
}
