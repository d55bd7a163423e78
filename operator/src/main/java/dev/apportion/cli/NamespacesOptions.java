package dev.apportion.cli;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The cluster that a command reads, one namespace of it or all. */
final class NamespacesOptions extends ClusterOptions {

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Read all namespaces.")
    private boolean all;

    /**
     * What of a cluster is read.
     *
     * @param all whether every namespace is
     * @param namespace the one that is, otherwise
     */
    record Scope(boolean all, String namespace) {

        /** The namespaces; empty for all. */
        Set<String> namespaces() {
            return all ? Set.of() : Set.of(namespace);
        }

        String words() {
            return all ? "any namespace" : "the namespace " + namespace;
        }

        /** How kubectl is told. */
        String option() {
            return all ? "-A" : "-n " + namespace;
        }
    }

    /** Whether every namespace is read. */
    boolean isAll() {
        return all;
    }

    Scope scope(Cluster cluster) {
        return new Scope(all, cluster.namespace());
    }

    @Override
    @Nullable
    String given() {
        return all ? "--all-namespaces" : super.given();
    }
}
