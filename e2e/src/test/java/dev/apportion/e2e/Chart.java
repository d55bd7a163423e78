package dev.apportion.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The Helm chart of this source tree, and what the tests keep beside it. */
final class Chart {

    static final Path FOLDER = SourceTree.root().resolve("charts/apportion");

    /** Values of the tests: a file for each set. */
    static final Path VALUES = SourceTree.root().resolve("e2e/src/test/resources/chart/values");

    /** What the chart makes of them. */
    static final Path GOLDEN = VALUES.resolveSibling("golden");

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    private Chart() {}

    /** The names of the sets of values. */
    static Stream<String> valueSets() throws IOException {
        try (Stream<Path> files = Files.list(VALUES)) {
            return files.map(file -> file.getFileName().toString().replace(".yaml", "")).sorted().toList().stream();
        }
    }

    static JsonNode yaml(Path file) throws IOException {
        return YAML.readTree(file.toFile());
    }

    static JsonNode yaml(String text) throws IOException {
        return YAML.readTree(text);
    }

    /** The objects of a stream of manifests. */
    static List<JsonNode> objects(String manifests) {
        try (MappingIterator<JsonNode> documents =
                YAML.readerFor(JsonNode.class).readValues(manifests)) {
            return documents.readAll().stream().filter(JsonNode::isObject).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The object of a kind and name. */
    static JsonNode object(List<JsonNode> objects, String kind, String name) {
        return objects.stream()
                .filter(object -> isOf(object, kind)
                        && object.at("/metadata/name").asText().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + kind + " " + name));
    }

    static boolean isOf(JsonNode object, String kind) {
        return object.path("kind").asText().equals(kind);
    }
}
