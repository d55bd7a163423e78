package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.api.Examples.Field;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** A spec is the same, whether the schema or Java fills in the defaults. */
class DefaultsTest {

    static final List<String> KINDS = Examples.KINDS;

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    @ParameterizedTest
    @FieldSource("KINDS")
    void ofTheSchemaAreThoseOfJava(String kind) {
        JsonNode schema = Examples.schema(kind);
        Set<JsonNode> tried = new HashSet<>();
        for (ObjectNode valid : Examples.valid(kind)) {
            for (Field field : Examples.fields(schema, valid)) {
                if (field.schema().has("default")) {
                    ObjectNode without = valid.deepCopy();
                    JsonPointer pointer = JsonPointer.compile(field.pointer());
                    ((ObjectNode) without.at(pointer.head()))
                            .remove(pointer.last().getMatchingProperty());
                    ObjectNode defaulted = without.deepCopy();
                    fill(schema, defaulted);

                    assertThat(defaulted.at(pointer).isMissingNode()).isFalse();
                    assertSame(kind, without, defaulted);
                    tried.add(field.schema());
                }
            }
        }
        assertThat(tried).as("schemas with a default").containsAll(withDefault(schema, new HashSet<>()));
    }

    private void assertSame(String kind, JsonNode without, JsonNode defaulted) {
        Class<? extends ApportionResource<?, ?>> type = Manifests.KINDS.get(KINDS.indexOf(kind));
        ApportionResource<?, ?> ofJava = serialization.unmarshal(without.toString(), type);
        ApportionResource<?, ?> ofSchema = serialization.unmarshal(defaulted.toString(), type);
        assertThat(ofJava).as("%s", without).isEqualTo(ofSchema);
        assertThat(ofJava.unreadable()).as("%s", without).isEqualTo(ofSchema.unreadable());
    }

    private static Set<JsonNode> withDefault(JsonNode schema, Set<JsonNode> found) {
        if (schema.has("default")) {
            found.add(schema);
        }
        schema.path("properties").forEach(property -> withDefault(property, found));
        if (schema.has("items")) {
            withDefault(schema.required("items"), found);
        }
        return found;
    }

    /** Fills in defaults as an API server does. */
    private static void fill(JsonNode schema, JsonNode value) {
        if (value instanceof ArrayNode items) {
            items.forEach(item -> fill(schema.required("items"), item));
        } else if (value instanceof ObjectNode object) {
            schema.path("properties").properties().forEach(property -> {
                JsonNode fallback = property.getValue().path("default");
                if (!fallback.isMissingNode() && !object.has(property.getKey())) {
                    object.set(property.getKey(), fallback.deepCopy());
                }
                fill(property.getValue(), object.path(property.getKey()));
            });
        }
    }
}
