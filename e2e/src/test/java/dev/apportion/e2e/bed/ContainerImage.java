package dev.apportion.e2e.bed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;

/**
 * The container image, unpacked; its programs run in its own root file system as in a container: read-only, as its user, without
 * capabilities. Linux and root only.
 *
 * @param root the root file system
 * @param tags its names
 * @param config what the image says about itself, as the Open Container Initiative specifies it
 * @param entries what {@code tar} lists of all layers, with times and owners
 */
public record ContainerImage(Path root, List<String> tags, JsonNode config, List<String> entries) {

    private static final ObjectMapper JSON = new ObjectMapper();

    public ContainerImage {
        tags = List.copyOf(tags);
        entries = List.copyOf(entries);
    }

    /** Unpacks what {@code docker save} would write. */
    public static ContainerImage unpack(Path archive, Path folder) throws IOException {
        Path parts = Files.createDirectories(folder.resolve("parts"));
        Path root = Files.createDirectories(folder.resolve("root"));
        run("tar", "-xf", archive.toString(), "-C", parts.toString());
        JsonNode manifest =
                JSON.readTree(parts.resolve("manifest.json").toFile()).get(0);
        List<String> entries = new ArrayList<>();
        for (JsonNode layer : manifest.get("Layers")) {
            String file = parts.resolve(layer.asText()).toString();
            entries.addAll(
                    run("tar", "--warning=no-unknown-keyword", "--utc", "--full-time", "--numeric-owner", "-tvzf", file)
                            .lines()
                            .toList());
            run("tar", "--warning=no-unknown-keyword", "-xzf", file, "-C", root.toString());
        }
        return new ContainerImage(
                root,
                texts(manifest.get("RepoTags")),
                JSON.readTree(parts.resolve(manifest.get("Config").asText()).toFile()),
                entries);
    }

    private static String run(String... line) {
        return Command.of(List.of(line)).run().orThrow().stdout();
    }

    /** The texts of an array. */
    public static List<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }

    /** The command that runs when nothing is said. */
    public List<String> defaultArguments() {
        return texts(config.at("/config/Cmd"));
    }

    /**
     * The program of the image; the calling test is skipped where this process may not change root file systems.
     *
     * @param folder what it sees of this machine, read-only and under the same name
     * @param variables its environment, beside that of the image
     */
    public Apportion program(Path folder, Map<String, String> variables) throws IOException {
        Command.Result mounts =
                Command.of(List.of("unshare", "--mount", "true")).run();
        Assumptions.assumeTrue(
                mounts.exitCode() == 0,
                () -> "the image runs where root may mount, and this process may not: " + mounts);
        Path contain = SourceTree.root().resolve("e2e/src/test/image/contain.sh");
        List<String> words = new ArrayList<>(List.of("exec", contain.toString(), root.toString(), folder.toString()));
        words.addAll(texts(config.at("/config/Env")));
        variables.forEach((name, value) -> words.add(name + "=" + value));
        words.addAll(texts(config.at("/config/Entrypoint")));
        Path script = Files.createTempFile(root.getParent(), "apportion-", ".sh");
        Files.writeString(
                script,
                words.stream()
                        .map(word -> "'" + word.replace("'", "'\\''") + "'")
                        .collect(Collectors.joining(" ", "#!/bin/sh\n", " \"$@\"\n"))
                        .replaceFirst("'exec'", "exec"));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new Apportion(script, Map.of());
    }

    /** The names of the files of a folder of the image. */
    public List<String> files(String folder) throws IOException {
        try (Stream<Path> files = Files.list(root.resolve(folder))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
