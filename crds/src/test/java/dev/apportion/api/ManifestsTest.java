package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The committed manifests are those that the Java types give. */
class ManifestsTest {

    private static final String WRITE = "mvn -q -pl crds test -Dtest=ManifestsTest -Dapportion.manifests=write";

    @Test
    void manifestsAreThoseOfTheTypes() throws IOException {
        Path folder = Path.of("").toRealPath();
        SortedMap<String, String> generated = Manifests.generate();
        if ("write".equals(System.getProperty("apportion.manifests"))) {
            for (Map.Entry<String, String> manifest : generated.entrySet()) {
                Files.writeString(folder.resolve(manifest.getKey()), manifest.getValue());
            }
        }
        assertThat(committed(folder))
                .as("manifests in %s; to write them, run: %s", folder, WRITE)
                .isEqualTo(generated);
    }

    private static SortedMap<String, String> committed(Path folder) throws IOException {
        SortedMap<String, String> manifests = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".yaml")).toList()) {
                manifests.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return manifests;
    }
}
