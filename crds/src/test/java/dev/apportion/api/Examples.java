package dev.apportion.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The schemas of the generated manifests, and the valid objects that the cases of the schemas begin with. */
final class Examples {

    static final List<String> KINDS =
            Manifests.KINDS.stream().map(Class::getSimpleName).toList();

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();
    private static final Path CASES = Path.of("../e2e/src/test/resources/schema");

    private Examples() {}

    static JsonNode schema(String kind) {
        String manifest = Objects.requireNonNull(
                Manifests.generate().get(kind.toLowerCase(Locale.ROOT) + "s.apportion.dev-v1.yaml"));
        return SERIALIZATION.unmarshal(manifest, JsonNode.class).at("/spec/versions/0/schema/openAPIV3Schema");
    }

    static List<ObjectNode> valid(String kind) {
        List<ObjectNode> objects = new ArrayList<>();
        for (JsonNode parts : file(kind).required("valid")) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            object.put("apiVersion", "apportion.dev/v1alpha1");
            object.put("kind", kind);
            object.putObject("metadata").put("name", "example");
            object.setAll((ObjectNode) parts);
            objects.add(object);
        }
        return objects;
    }

    private static JsonNode file(String kind) {
        try {
            return SERIALIZATION.unmarshal(Files.readString(CASES.resolve(kind + ".yaml")), JsonNode.class);
        } catch (IOException e) {
            throw new IllegalStateException("Reading the cases of " + kind, e);
        }
    }

    /**
     * A field of an object.
     *
     * @param pointer where it is, as a JSON pointer
     * @param schema its schema
     */
    record Field(String pointer, JsonNode schema) {}

    /** Each field that the schema has and whose parent the object has. */
    static List<Field> fields(JsonNode schema, JsonNode object) {
        List<Field> fields = new ArrayList<>();
        collect(schema, object, "", fields);
        return fields;
    }

    private static void collect(JsonNode schema, JsonNode value, String pointer, List<Field> fields) {
        if (!pointer.isEmpty()) {
            fields.add(new Field(pointer, schema));
        }
        if (value.isObject()) {
            schema.path("properties")
                    .properties()
                    .forEach(property -> collect(
                            property.getValue(),
                            value.path(property.getKey()),
                            pointer + "/" + property.getKey(),
                            fields));
            if (schema.has("additionalProperties")) {
                value.fieldNames()
                        .forEachRemaining(name -> collect(
                                schema.required("additionalProperties"),
                                value.path(name),
                                pointer + "/" + name,
                                fields));
            }
        } else if (value instanceof ArrayNode items) {
            for (int i = 0; i < items.size(); i++) {
                collect(schema.required("items"), items.get(i), pointer + "/" + i, fields);
            }
        }
    }
}
