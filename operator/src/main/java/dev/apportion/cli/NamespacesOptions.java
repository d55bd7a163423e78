package dev.apportion.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The cluster that a command reads, one namespace of it or all. */
final class NamespacesOptions extends ClusterOptions {

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Read all namespaces.")
    private boolean all;

    /** Whether every namespace is read. */
    boolean isAll() {
        return all;
    }

    @Override
    @Nullable
    String given() {
        return all ? "--all-namespaces" : super.given();
    }
}
