package dev.apportion.cli;

import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apportion explain}: why each weight is what it is. */
@Command(
        name = "explain",
        description =
                "Explains the weights that a pool, a service or a stream gets from manifests: capacities and where"
                    + " they come from, what was measured, what the policy made of it, the bound, and the rounding to"
                    + " integers.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:explained", "1:nothing of this name is planned", "2:the input cannot be read"})
final class ExplainCommand implements Callable<Integer> {

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME",
            description =
                    "A pool, a service or a stream, as NAME or NAMESPACE/NAME, or a host name; default: everything.")
    private @Nullable String name;

    @Option(
            names = {"-f", "--filename"},
            required = true,
            arity = "1..*",
            paramLabel = "PATH",
            description = "Manifests, or folders of them, as for plan.")
    private List<Path> paths = new ArrayList<>();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Plan plan;
        try {
            plan = Plan.of(Manifests.read(paths), zone -> Optional.empty());
        } catch (ManifestException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        String text = Explanation.text(plan, this::means, this::means);
        List<Plan.Problem> problems = plan.problems().stream()
                .filter(problem -> name == null
                        || isNamed(
                                problem.resource().namespace(),
                                problem.resource().name()))
                .toList();
        out.print(text);
        for (Plan.Problem problem : problems) {
            out.println("%s %s: %s, %s: %s"
                    .formatted(
                            problem.kind(),
                            problem.resource(),
                            problem.finding().type(),
                            problem.finding().reason(),
                            problem.finding().message()));
        }
        out.flush();
        if (text.isEmpty() && problems.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println("apportion: nothing of the name %s is planned; apportion plan lists what is"
                            .formatted(name));
        }
        return text.isEmpty() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }

    private boolean means(PoolPlan pool) {
        return name == null || isNamed(pool.pool().namespace(), pool.pool().name());
    }

    private boolean means(PoolPlan.Stream stream) {
        String namespace = stream.demand().service().namespace();
        return name == null
                || isNamed(namespace, stream.demand().service().name())
                || isNamed(namespace, stream.demand().stream())
                || stream.demand().hostname().equalsIgnoreCase(name);
    }

    private boolean isNamed(String namespace, String own) {
        return !own.isEmpty() && (own.equals(name) || (namespace + "/" + own).equals(name));
    }
}
