package dev.apportion.cli;

import dev.apportion.reconcile.Outlook;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import dev.apportion.reconcile.World;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion plan}: what would be published, from manifests alone, or beside what a cluster publishes. */
@Command(
        name = "plan",
        description = {
            "Computes what would be published, from manifests alone.",
            "With --live: what would change of what a cluster publishes, and how much traffic that would move, if"
                    + " manifests were applied to it; without manifests, what the operator is about to change."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything is accepted; with --live: and nothing would change",
            "1:some resource is rejected, or would not fit into its ConfigMaps; with --live: or something would change",
            "2:the input, or the cluster, cannot be read"
        })
final class PlanCommand implements Callable<Integer> {

    /** The forms of the output. */
    enum Output {
        table,
        json,
        /** The DNSEndpoints of zones that ExternalDNS serves, as manifests. */
        endpoints
    }

    @Mixin
    private ManifestOptions manifests = new ManifestOptions();

    @Option(names = "--live", description = "Compare with what the cluster publishes now.")
    private boolean live;

    @Mixin
    private NamespacesOptions clusters = new NamespacesOptions();

    @Option(
            names = {"-o", "--output"},
            defaultValue = "table",
            description = "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
    private Output output = Output.table;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() throws ManifestException, ClusterException {
        if (live) {
            return compared();
        }
        clusters.refuse(spec, "is for --live only");
        if (!manifests.isGiven()) {
            throw bad("Missing required option: '--filename=PATH', or --live");
        }
        PrintWriter out = spec.commandLine().getOut();
        Plan plan = manifests.plan().withWhatDoesNotFit();
        switch (output) {
            case json -> out.println(PlanReport.json(plan));
            case table -> out.print(PlanTable.text(plan));
            case endpoints -> {
                plan.endpoints()
                        .values()
                        .forEach(endpoint -> out.print(new KubernetesSerialization().asYaml(endpoint)));
                // The manifests may go on to another program, which could not read these.
                PrintWriter err = spec.commandLine().getErr();
                err.print(PlanTable.problems(plan.problems()));
                err.flush();
            }
        }
        out.flush();
        return plan.problems().isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private int compared() throws ManifestException, ClusterException {
        if (output == Output.endpoints) {
            throw bad("-o endpoints is for manifests alone; with --live, table or json");
        }
        try (Cluster cluster = clusters.open()) {
            Optional<World> wanted =
                    manifests.isGiven() ? Optional.of(manifests.read(cluster.namespace())) : Optional.empty();
            StatusQuo now =
                    cluster.read(clusters.isAll() ? Set.of() : namespaces(wanted, cluster.namespace()), zones(wanted));
            Outlook outlook = Outlook.of(now, wanted);
            List<String> gaps = Stream.of(
                            now.gaps().stream(),
                            outlook.blind().entrySet().stream()
                                    .map(blind -> "ReplicaPool %s is left out: %s"
                                            .formatted(blind.getKey(), blind.getValue())),
                            cluster.gaps().stream())
                    .flatMap(Function.identity())
                    .toList();
            PrintWriter out = spec.commandLine().getOut();
            if (output == Output.json) {
                out.println(OutlookReport.json(outlook, gaps));
            } else {
                out.print(OutlookReport.table(outlook, gaps));
            }
            out.flush();
            return outlook.isChange() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
        }
    }

    /** Those of the manifests; without any, the one that is meant. */
    private static Set<String> namespaces(Optional<World> manifests, String meant) {
        Set<String> namespaces = new TreeSet<>();
        manifests.stream()
                .flatMap(world -> Stream.of(world.pools(), world.services(), world.streams()))
                .flatMap(List::stream)
                .map(HasMetadata::getMetadata)
                .forEach(metadata -> namespaces.add(metadata.getNamespace()));
        if (namespaces.isEmpty()) {
            namespaces.add(meant);
        }
        return namespaces;
    }

    /** The zones that are declared, and those that services are in. */
    private static Set<Ref> zones(Optional<World> manifests) {
        Set<Ref> zones = new TreeSet<>();
        manifests.ifPresent(world -> {
            world.zones().forEach(zone -> zones.add(Ref.of(zone)));
            world.services().forEach(service -> Cluster.zone(service).ifPresent(zones::add));
        });
        return zones;
    }

    private CommandLine.ParameterException bad(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }
}
