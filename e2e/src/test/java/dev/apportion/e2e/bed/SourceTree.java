package dev.apportion.e2e.bed;

import java.nio.file.Files;
import java.nio.file.Path;

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
}
