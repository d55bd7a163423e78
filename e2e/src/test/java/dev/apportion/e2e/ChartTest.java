package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the chart says of itself is so: its values, their schema and their table, its versions and definitions. */
class ChartTest {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([A-Za-z0-9.]+)` \\| `([^`]*)` \\| .+ \\|$");

    private static final Pattern PROJECT_VERSION =
            Pattern.compile("<artifactId>apportion</artifactId>\\s*<version>([^<]+)</version>");

    private static JsonNode schema() throws IOException {
        return new ObjectMapper()
                .readTree(Chart.FOLDER.resolve("values.schema.json").toFile());
    }

    /** The values by their paths: what the schema takes apart is not one value, but many. */
    private static void leaves(String path, JsonNode value, JsonNode schema, Map<String, String> found) {
        if (schema.has("properties") && value.isObject()) {
            value.properties()
                    .forEach(field -> leaves(
                            path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                            field.getValue(),
                            schema.path("properties").path(field.getKey()),
                            found));
        } else {
            found.put(path, value.toString());
        }
    }

    private static void declared(String path, JsonNode schema, Set<String> found) {
        schema.path("properties").properties().forEach(property -> {
            String name = path.isEmpty() ? property.getKey() : path + "." + property.getKey();
            if (property.getValue().has("properties")) {
                declared(name, property.getValue(), found);
            } else {
                found.add(name);
            }
        });
    }

    private static Map<String, String> values() throws IOException {
        Map<String, String> values = new LinkedHashMap<>();
        leaves("", Chart.yaml(Chart.FOLDER.resolve("values.yaml")), schema(), values);
        return values;
    }

    @Test
    void everyValueHasARowWithItsDefaultAndEveryRowAValue() throws IOException {
        Map<String, String> rows = new TreeMap<>();
        Matcher matcher = ROW.matcher(Files.readString(Chart.FOLDER.resolve("README.md")));
        while (matcher.find()) {
            assertThat(rows.put(matcher.group(1), matcher.group(2)))
                    .as("second row of " + matcher.group(1))
                    .isNull();
        }

        assertThat(rows).isEqualTo(new TreeMap<>(values()));
    }

    @Test
    void theSchemaDescribesEveryValueAndNothingElse() throws IOException {
        TreeSet<String> declared = new TreeSet<>();
        declared("", schema(), declared);
        declared.remove("global"); // parent charts give it to every chart

        assertThat(declared).isEqualTo(new TreeSet<>(values().keySet()));
    }

    @Test
    void everyObjectOfTheSchemaIsClosedAndEveryPropertyDescribed() throws IOException {
        List<String> open = new ArrayList<>();
        check("", schema(), open);

        assertThat(open).isEmpty();
    }

    private static void check(String path, JsonNode schema, List<String> wrong) {
        if (schema.has("properties")
                && !schema.path("additionalProperties").toString().equals("false")) {
            wrong.add(path + " takes what it does not know");
        }
        schema.path("properties").properties().forEach(property -> {
            String name = path + "." + property.getKey();
            if (!property.getValue().path("description").asText().matches("[A-Z].+[.]")) {
                wrong.add(name + " is not described");
            }
            check(name, property.getValue(), wrong);
        });
    }

    @Test
    void theVersionOfTheApplicationIsThatOfTheProject() throws IOException {
        Matcher version =
                PROJECT_VERSION.matcher(Files.readString(SourceTree.root().resolve("pom.xml")));
        assertThat(version.find()).isTrue();

        assertThat(Chart.yaml(Chart.FOLDER.resolve("Chart.yaml"))
                        .path("appVersion")
                        .asText())
                .isEqualTo(version.group(1));
    }

    @Test
    void theDefinitionsThatAreNamedAreThoseThatAreInstalled() throws IOException {
        JsonNode annotations = Chart.yaml(Chart.FOLDER.resolve("Chart.yaml")).path("annotations");
        Map<String, String> installed = new TreeMap<>();
        try (Stream<Path> files = Files.list(Chart.FOLDER.resolve("files/crds"))) {
            for (Path file : files.toList()) {
                JsonNode definition = Chart.yaml(file);
                installed.put(
                        definition.at("/metadata/name").asText(),
                        definition.at("/spec/names/kind").asText());
            }
        }

        assertThat(
                        Chart.objects(annotations
                                        .path("artifacthub.io/crds")
                                        .asText()
                                        .replaceAll("(?m)^- ", "---\n"))
                                .stream()
                                .collect(Collectors.toMap(
                                        named -> named.path("name").asText(),
                                        named -> named.path("kind").asText())))
                .isEqualTo(installed);
        assertThat(Chart.yaml(annotations.path("artifacthub.io/crdsExamples").asText()))
                .extracting(example -> example.path("kind").asText())
                .containsExactlyInAnyOrderElementsOf(installed.values());
    }
}
