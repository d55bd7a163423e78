package dev.apportion.cli;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.ResourceStatus;
import dev.apportion.cli.NamespacesOptions.Scope;
import dev.apportion.reconcile.Outlook;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import dev.apportion.reconcile.StatusQuo;
import io.fabric8.kubernetes.api.model.Condition;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apportion explain}: why each weight is what it is. */
@Command(
        name = "explain",
        description = "Explains the weights that a pool, a service or a stream has in a cluster, or gets from manifests"
                + " (-f): capacities and where they come from, what was measured, what the policy made of it, the"
                + " bound, and the rounding to integers.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:explained",
            "1:nothing of this name is planned",
            "2:the input, or the cluster, cannot be read"
        })
final class ExplainCommand implements Callable<Integer> {

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME",
            description =
                    "A pool, a service or a stream, as NAME or NAMESPACE/NAME, or a host name; default: everything.")
    private @Nullable String name;

    @Mixin
    private ManifestOptions manifests = new ManifestOptions();

    @Mixin
    private NamespacesOptions clusters = new NamespacesOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() throws ManifestException, ClusterException {
        if (!manifests.isGiven()) {
            return live();
        }
        clusters.refuse(spec, "is for a cluster; leave out -f to read one");
        PrintWriter out = spec.commandLine().getOut();
        Plan plan = manifests.plan();
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

    private int live() throws ClusterException {
        PrintWriter err = spec.commandLine().getErr();
        try (Cluster cluster = clusters.open()) {
            int slash = name == null ? -1 : name.indexOf('/');
            Scope scope =
                    name == null || slash < 0 ? clusters.scope(cluster) : new Scope(false, name.substring(0, slash));
            StatusQuo quo = cluster.read(scope.namespaces(), Set.of());
            Set<String> due = Outlook.of(quo, Optional.empty()).shifts().stream()
                    .map(shift -> StatusNotes.key(shift.service(), shift.stream()))
                    .collect(Collectors.toSet());
            String text = Explanation.text(quo.explained(), this::means, this::means, new StatusNotes(quo, due));
            List<String> troubles = troubles(quo);
            PrintWriter out = spec.commandLine().getOut();
            out.print(text);
            out.flush();
            troubles.forEach(err::println);
            cluster.gaps().forEach(err::println);
            if (text.isEmpty() && troubles.isEmpty()) {
                err.println("%s in %s; kubectl get replicapools,trafficservices,trafficstreams %s lists what is there"
                        .formatted(
                                name == null
                                        ? "nothing of Apportion is"
                                        : "there is no pool, service, stream or host name \"%s\"".formatted(name),
                                scope.words(),
                                scope.option()));
            }
            err.flush();
            return text.isEmpty() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
        }
    }

    /** Why what is meant has no weights, or not those that it should have. */
    private List<String> troubles(StatusQuo quo) {
        return Stream.of(
                        quo.state().pools(), quo.state().services(), quo.state().streams())
                .flatMap(List::stream)
                .filter(resource -> name == null
                        || isNamed(
                                resource.getMetadata().getNamespace(),
                                resource.getMetadata().getName()))
                .flatMap(ExplainCommand::troubles)
                .toList();
    }

    private static Stream<String> troubles(ApportionResource<?, ? extends ResourceStatus> resource) {
        String what = "%s %s/%s"
                .formatted(
                        resource.getKind(),
                        resource.getMetadata().getNamespace(),
                        resource.getMetadata().getName());
        ResourceStatus status = resource.getStatus();
        if (status == null || status.conditions().isEmpty()) {
            return Stream.of("%s has no status yet: maybe the operator does not run, or does not watch this namespace"
                    .formatted(what));
        }
        Stream<String> stale = status.conditions().stream()
                        .map(Condition::getObservedGeneration)
                        .anyMatch(seen ->
                                seen != null && seen < resource.getMetadata().getGeneration())
                ? Stream.of(
                        "%s was changed after its status was written: maybe the operator does not run".formatted(what))
                : Stream.empty();
        return Stream.concat(
                stale,
                status.conditions().stream()
                        .filter(condition -> condition.getStatus().equals("False")
                                && !condition.getType().equals("Ready"))
                        .map(condition -> what + ": " + StatusNotes.text(condition)));
    }

    private boolean means(PoolPlan pool) {
        return name == null || isNamed(pool.pool().namespace(), pool.pool().name());
    }

    private boolean means(PoolPlan.Stream stream) {
        String namespace = stream.demand().service().namespace();
        return name == null
                || isNamed(namespace, stream.demand().service().name())
                || isNamed(namespace, stream.demand().stream())
                || stream.demand().hostname().equals(name.toLowerCase(Locale.ROOT));
    }

    private boolean isNamed(String namespace, String own) {
        return !own.isEmpty() && (own.equals(name) || (namespace + "/" + own).equals(name));
    }
}
