package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The committed manifests are those that the Java types give. */
class ManifestsTest {

    static final List<String> KINDS = Examples.KINDS;
    private static final String WRITE = "mvn -q -pl crds test -Dtest=ManifestsTest -Dapportion.manifests=write";

    @Test
    void manifestsAreThoseOfTheTypes() throws IOException {
        Path crds = Path.of("").toRealPath();
        SortedMap<String, String> generated = Manifests.generate();
        // A chart holds all its files itself: links are lost on some of the ways that charts go.
        for (Path folder : List.of(crds, crds.resolveSibling("charts/apportion/files/crds"))) {
            if ("write".equals(System.getProperty("apportion.manifests"))) {
                for (Map.Entry<String, String> manifest : generated.entrySet()) {
                    Files.writeString(folder.resolve(manifest.getKey()), manifest.getValue());
                }
            }
            assertThat(committed(folder))
                    .as("manifests in %s; to write them, run: %s", folder, WRITE)
                    .isEqualTo(generated);
        }
    }

    @ParameterizedTest
    @FieldSource("KINDS")
    void everyFieldIsDescribed(String kind) {
        JsonNode schema = Examples.schema(kind);
        List<String> undescribed = new ArrayList<>();
        findUndescribed(kind, schema, undescribed);

        assertThat(undescribed)
                .as("fields without a description of full sentences")
                .isEmpty();
    }

    private static void findUndescribed(String field, JsonNode schema, List<String> undescribed) {
        schema.path("properties").properties().forEach(property -> {
            String name = field + "." + property.getKey();
            if (!property.getValue().path("description").asText().matches("[A-Z].+[.]")) {
                undescribed.add(name);
            }
            findUndescribed(name, property.getValue(), undescribed);
        });
        if (schema.has("items")) {
            findUndescribed(field + "[]", schema.required("items"), undescribed);
        }
    }

    @Test
    void columnsStandInTheirOrder() {
        assertThat(columns("dnszones")).containsExactly("Domain", "Services", "Serial", "Ready", "Age", "Reason*");
        assertThat(columns("replicapools"))
                .containsExactly("Policy", "Replicas", "Makespan", "Gap", "Ready", "Age", "Reason*");
        assertThat(columns("trafficservices")).containsExactly("Host", "Zone", "Pool", "Ready", "Age", "Reason*");
        assertThat(columns("trafficstreams")).containsExactly("Service", "Rate", "Ready", "Age", "Reason*");
    }

    /** The names of the columns; those that only a wide listing shows are marked. */
    private static List<String> columns(String plural) {
        String manifest = Manifests.generate().get(plural + ".apportion.dev-v1.yaml");
        return new KubernetesSerialization()
                        .unmarshal(manifest, CustomResourceDefinition.class)
                        .getSpec()
                        .getVersions()
                        .getFirst()
                        .getAdditionalPrinterColumns()
                        .stream()
                        .map(column -> column.getName() + (column.getPriority() == 0 ? "" : "*"))
                        .toList();
    }

    @Test
    @DisabledIfSystemProperty(
            named = "apportion.manifests",
            matches = "write",
            disabledReason = "What is written now ships with the next build.")
    void manifestsShipWithTheTypes() throws IOException {
        for (Map.Entry<String, String> manifest : Manifests.generate().entrySet()) {
            try (InputStream shipped = ApportionResource.class.getResourceAsStream("crds/" + manifest.getKey())) {
                assertThat(shipped).as(manifest.getKey()).isNotNull().hasContent(manifest.getValue());
            }
        }
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
