package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The source tree that the tests belong to, found from whatever folder of it they are started in. */
public final class SourceTree {

    private SourceTree() {}

    /**
     * The folder that holds {@code e2e}, {@code operator} and {@code crds}.
     *
     * @throws IllegalStateException outside the source tree
     */
    public static Path root() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve("e2e/tools"))) {
                return folder;
            }
        }
        throw new IllegalStateException(
                "No folder above " + start + " holds e2e/tools. Maybe the tests were started outside the source tree.");
    }

    /** The folders of the examples that are manifests, by name: all but the scenarios of the simulation. */
    public static List<Path> examples() throws IOException {
        try (Stream<Path> folders = Files.list(root().resolve("examples"))) {
            return folders.filter(Files::isDirectory)
                    .filter(folder -> !folder.endsWith("simulation"))
                    .sorted()
                    .toList();
        }
    }
}
