package dev.apportion.cli;

import dev.apportion.reconcile.Plan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The manifests that a command reads. */
final class ManifestOptions {

    @Option(
            names = {"-f", "--filename"},
            arity = "1..*",
            paramLabel = "PATH",
            description = "Manifests, or folders of them: Apportion's resources, EndpointSlices, Services, Pods, Nodes,"
                    + " Namespaces, ConfigMaps with keys.")
    private List<Path> paths = new ArrayList<>();

    /** Whether there are any. */
    boolean isGiven() {
        return !paths.isEmpty();
    }

    Manifests read() throws ManifestException {
        return Manifests.read(paths);
    }

    /** @param namespace the one of resources that name none */
    Manifests read(String namespace) throws ManifestException {
        return Manifests.read(paths, namespace);
    }

    /** What follows from them alone. */
    Plan plan() throws ManifestException {
        return Plan.of(read(), zone -> Optional.empty());
    }
}
