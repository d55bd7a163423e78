package dev.apportion.cli;

import dev.apportion.api.ReplicaPoolSpec.PolicyType;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import dev.apportion.simulation.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A pool of a cluster that is simulated, and what is compared with how it is. */
final class PoolScenarioOptions {

    @Option(
            names = "--from-pool",
            paramLabel = "[NAMESPACE/]NAME",
            description =
                    "Simulate this ReplicaPool of a cluster, with what the operator measured, as it is and as it would"
                            + " be: each --lose, --k, --rate-factor and --policy is beside how it is now, in all"
                            + " combinations.")
    private @Nullable String pool;

    @Option(
            names = "--lose",
            paramLabel = "REPLICA|N",
            description = "A replica dies (several: with commas), or the N of the largest shares. May be repeated.")
    private List<String> losses = new ArrayList<>();

    @Option(names = "--k", paramLabel = "N", description = "Another maxReplicas. May be repeated.")
    private List<Integer> maxReplicas = new ArrayList<>();

    @Option(names = "--rate-factor", paramLabel = "F", description = "All rates times this. May be repeated.")
    private List<Double> rateFactors = new ArrayList<>();

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            description = "Another policy: ${COMPLETION-CANDIDATES}. May be repeated.")
    private List<PolicyType> policies = new ArrayList<>();

    @Option(
            names = "--write-scenario",
            paramLabel = "FILE",
            description = "Write the scenario as YAML besides, to be edited and run again.")
    private @Nullable Path file;

    @Mixin
    private ClusterOptions clusters = new ClusterOptions();

    /** Whether a pool is to be simulated. */
    boolean isGiven() {
        return pool != null;
    }

    /** The option that was given and has no effect without a pool; null where none was. */
    @Nullable
    String needless() {
        if (!losses.isEmpty()) {
            return "--lose";
        }
        if (!maxReplicas.isEmpty()) {
            return "--k";
        }
        if (!rateFactors.isEmpty()) {
            return "--rate-factor";
        }
        if (!policies.isEmpty()) {
            return "--policy";
        }
        return file == null ? clusters.given() : "--write-scenario";
    }

    /**
     * Reads the pool.
     *
     * @param said takes what is guessed or left out
     */
    Scenario scenario(boolean small, OptionalInt seeds, Consumer<String> said)
            throws ClusterException, ScenarioException {
        String wanted = String.valueOf(pool);
        int slash = wanted.indexOf('/');
        PoolScenario.Written written;
        try (Cluster cluster = clusters.open()) {
            Ref ref =
                    new Ref(slash < 0 ? cluster.namespace() : wanted.substring(0, slash), wanted.substring(slash + 1));
            StatusQuo quo = cluster.read(Set.of(ref.namespace()), Set.of());
            written = PoolScenario.of(quo, ref, new PoolScenario.WhatIf(losses, maxReplicas, rateFactors, policies));
            cluster.gaps().forEach(said);
        }
        written.notes().forEach(said);
        if (file != null) {
            try {
                Files.writeString(file, written.yaml());
            } catch (IOException e) {
                throw new ScenarioException(
                        "--write-scenario %s: cannot be written: %s".formatted(file, e.getMessage()));
            }
        }
        return Scenarios.parse(file == null ? written.name() : file.toString(), written.yaml(), small, seeds);
    }
}
