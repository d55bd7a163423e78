package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.api.Examples.Field;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Garbage in any field of a resource never becomes an exception. */
class GarbageTest {

    static final List<String> KINDS = Examples.KINDS;
    private static final int DEPTH = 400;

    /** Read as an infinite number, which JSON cannot write; no API server stores it. */
    private static final String INFINITE = "1e400";

    private static final List<String> GARBAGE = List.of(
            "null",
            "true",
            "\"\"",
            "\"text\"",
            "\"NaN\"",
            "\"-1\"",
            "\"1e999999999\"",
            "\"\\u0000\"",
            "0",
            "-1",
            "0.5",
            "-9223372036854775809",
            "99999999999999999999999999999999",
            INFINITE,
            "[]",
            "[null]",
            "[[]]",
            "[{}]",
            "[1, \"a\", {}]",
            "{}",
            "{\"\": null}",
            "{\"name\": {\"name\": []}}",
            "{\"a\":".repeat(DEPTH) + "1" + "}".repeat(DEPTH),
            "[".repeat(DEPTH) + "]".repeat(DEPTH));
    private static final String MARK = "\"<garbage>\"";

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    @BeforeEach
    void register() {
        Manifests.KINDS.forEach(
                kind -> serialization.registerKubernetesResource("apportion.dev/v1alpha1", kind.getSimpleName(), kind));
    }

    @ParameterizedTest
    @FieldSource("KINDS")
    void inASpecLeavesASpecOrAReason(String kind) {
        JsonNode schema = Examples.schema(kind).at("/properties/spec");
        for (ObjectNode valid : Examples.valid(kind)) {
            List<Field> fields = Examples.fields(schema, valid.required("spec"));
            assertThat(fields).hasSizeGreaterThan(5);
            fields.forEach(field -> intoTheSpec(valid, "/spec" + field.pointer()));
            intoTheSpec(valid, "/spec");
        }
    }

    private void intoTheSpec(ObjectNode valid, String field) {
        String marked = marked(valid, field);
        for (String garbage : GARBAGE) {
            ApportionResource<?, ?> resource = read(marked.replace(MARK, garbage));
            if (!garbage.equals(INFINITE)) {
                ApportionResource<?, ?> copy = serialization.clone(resource);
                assertThat(copy).as("%s = %s", field, garbage).isEqualTo(resource);
                assertThat(copy.unreadable()).as("%s = %s", field, garbage).isEqualTo(resource.unreadable());
            }
            if (resource.getSpec() != null) {
                assertThat(resource.unreadable()).as("%s = %s", field, garbage).isNull();
            } else if (!(field.equals("/spec") && garbage.equals("null"))) {
                assertThat(resource.unreadable()).as("%s = %s", field, garbage).startsWith("spec");
            }
        }
    }

    @ParameterizedTest
    @FieldSource("KINDS")
    void inAStatusLeavesTheSpec(String kind) {
        JsonNode schema = Examples.schema(kind).at("/properties/status");
        ObjectNode valid = Examples.valid(kind).getFirst();
        List<Field> fields = Examples.fields(schema, valid.putObject("status"));
        assertThat(fields).hasSizeGreaterThan(3);
        fields.forEach(field -> intoTheStatus(valid, "/status" + field.pointer()));
        intoTheStatus(valid, "/status");
    }

    private void intoTheStatus(ObjectNode valid, String field) {
        String marked = marked(valid, field);
        for (String garbage : GARBAGE) {
            assertThat(read(marked.replace(MARK, garbage)).getSpec())
                    .as("%s = %s", field, garbage)
                    .isNotNull();
        }
    }

    @Test
    void inOneObjectLeavesTheOthersOfAList() {
        String good = Examples.valid("DNSZone").getFirst().toString();
        String bad = marked(Examples.valid("DNSZone").getFirst(), "/spec").replace(MARK, "[1]");

        DefaultKubernetesResourceList<DNSZone> list = serialization.unmarshal(
                "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [%s, %s, %s]}".formatted(good, bad, good),
                new TypeReference<>() {});

        assertThat(list.getItems()).extracting(item -> item.getSpec() == null).containsExactly(false, true, false);
        assertThat(list.getItems().get(1).unreadable()).isEqualTo("spec: must be an object");
    }

    /** Reads an object as a client does that knows its type, and as one that finds the type by its kind. */
    private ApportionResource<?, ?> read(String json) {
        ApportionResource<?, ?> found = serialization.unmarshal(json);
        ApportionResource<?, ?> known = serialization.unmarshal(json, found.getClass());
        assertThat(known).isEqualTo(found);
        assertThat(known.unreadable()).isEqualTo(found.unreadable());
        return known;
    }

    /** The object with a mark in a field. */
    private static String marked(ObjectNode valid, String field) {
        ObjectNode object = valid.deepCopy();
        JsonPointer pointer = JsonPointer.compile(field);
        JsonNode parent = object.at(pointer.head());
        String last = pointer.last().getMatchingProperty();
        if (parent instanceof ArrayNode array) {
            array.set(Integer.parseInt(last), "<garbage>");
        } else {
            ((ObjectNode) parent).put(last, "<garbage>");
        }
        return object.toString();
    }
}
