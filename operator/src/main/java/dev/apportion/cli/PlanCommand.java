package dev.apportion.cli;

import dev.apportion.reconcile.Plan;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion plan}: what would be published, from manifests alone. */
@Command(
        name = "plan",
        description = "Computes what would be published, from manifests alone.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything is accepted",
            "1:some resource is rejected, or would not fit into its ConfigMaps",
            "2:the input cannot be read"
        })
final class PlanCommand implements Callable<Integer> {

    /** The forms of the output. */
    enum Output {
        table,
        json,
        /** The DNSEndpoints of zones that ExternalDNS serves, as manifests. */
        endpoints
    }

    @Option(
            names = {"-f", "--filename"},
            required = true,
            arity = "1..*",
            paramLabel = "PATH",
            description = "Manifests, or folders of them: Apportion's resources, EndpointSlices, Pods, Namespaces.")
    private List<Path> paths = new ArrayList<>();

    @Option(
            names = {"-o", "--output"},
            defaultValue = "table",
            description = "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
    private Output output = Output.table;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Plan plan;
        try {
            plan = Plan.of(Manifests.read(paths), zone -> Optional.empty()).withWhatDoesNotFit();
        } catch (ManifestException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        switch (output) {
            case json -> out.println(PlanReport.json(plan));
            case table -> out.print(PlanTable.text(plan));
            case endpoints -> {
                plan.endpoints()
                        .values()
                        .forEach(endpoint -> out.print(new KubernetesSerialization().asYaml(endpoint)));
                // The manifests may go on to another program, which could not read these.
                PrintWriter err = spec.commandLine().getErr();
                err.print(PlanTable.problems(plan));
                err.flush();
            }
        }
        out.flush();
        return plan.problems().isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
