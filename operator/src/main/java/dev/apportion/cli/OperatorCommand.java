package dev.apportion.cli;

import dev.apportion.reconcile.ApportionOperator;
import dev.apportion.reconcile.ClusterClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
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

    @Override
    public Integer call() throws InterruptedException {
        Clock clock = Clock.systemUTC();
        AtomicBoolean started = new AtomicBoolean();
        try (Termination termination = new Termination(PATIENCE, () -> stopStarting(started));
                KubernetesClient client = ClusterClient.open(clock);
                ApportionOperator operator = new ApportionOperator(
                        client,
                        new ApportionOperator.Settings(namespaces, reconcileInterval, verifyInterval, verifyGrace),
                        clock)) {
            operator.start();
            started.set(true);
            termination.await();
        }
        return CommandLine.ExitCode.OK;
    }

    /** A start waits for the API server; until it is over there is nothing that would have to be stopped cleanly. */
    private static void stopStarting(AtomicBoolean started) {
        if (!started.get()) {
            Runtime.getRuntime().halt(CommandLine.ExitCode.OK);
        }
    }
}
