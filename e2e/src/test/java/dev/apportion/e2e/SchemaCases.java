package dev.apportion.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files {@code schema/KIND.yaml} as objects that the API accepts or rejects. */
final class SchemaCases {

    static final List<String> KINDS = List.of("DNSZone", "ReplicaPool", "TrafficService", "TrafficStream");

    private static final Pattern STEP = Pattern.compile("([A-Za-z]+)|\\[([0-9]+)]");
    private static final int SHOWN = 60;

    private SchemaCases() {}

    /**
     * One object.
     *
     * @param name what is tried, for the reader of a report
     * @param kind the object's kind
     * @param field the field that differs from a valid object, as {@code spec.sites[0].name}
     * @param object the object
     * @param rejection why it is rejected; null if it is accepted
     */
    record SchemaCase(
            String name,
            String kind,
            String field,
            ObjectNode object,
            @Nullable Rejection rejection) {

        @Override
        public String toString() {
            return name;
        }
    }

    /**
     * Why an object is rejected.
     *
     * @param keyword the part of the schema that rejects it
     * @param says a part of the message of a {@code rule}; empty for other keywords
     * @param before the stored object whose change is rejected; null if its creation is
     */
    record Rejection(String keyword, String says, @Nullable ObjectNode before) {}

    /** All cases of a kind. */
    static List<SchemaCase> of(String kind) {
        JsonNode file = read(kind);
        JsonNode valid = file.required("valid");
        List<SchemaCase> cases = new ArrayList<>();
        valid.properties()
                .forEach(entry -> cases.add(
                        new SchemaCase("valid " + entry.getKey(), kind, "spec", object(kind, entry.getValue()), null)));
        for (JsonNode entry : file.required("fields")) {
            String field = entry.required("field").textValue();
            String base = entry.path("in").asText(valid.fieldNames().next());
            ObjectNode object = object(kind, valid.required(base));
            for (JsonNode value : entry.required("accepted")) {
                cases.add(changed(kind, object, field, value, null));
            }
            entry.required("rejected").properties().forEach(rejected -> {
                if (rejected.getKey().equals("rule")) {
                    for (JsonNode rule : rejected.getValue()) {
                        Rejection rejection = new Rejection(
                                "rule",
                                rule.required("says").textValue(),
                                rule.path("update").asBoolean() ? object : null);
                        rule.required("values")
                                .forEach(value -> cases.add(changed(kind, object, field, value, rejection)));
                    }
                } else {
                    Rejection rejection = new Rejection(rejected.getKey(), "", null);
                    rejected.getValue().forEach(value -> cases.add(changed(kind, object, field, value, rejection)));
                }
            });
        }
        return cases;
    }

    private static JsonNode read(String kind) {
        try (InputStream file =
                Objects.requireNonNull(SchemaCases.class.getResourceAsStream("/schema/" + kind + ".yaml"))) {
            return new KubernetesSerialization().unmarshal(file, JsonNode.class);
        } catch (IOException e) {
            throw new IllegalStateException("Reading the cases of " + kind, e);
        }
    }

    private static ObjectNode object(String kind, JsonNode parts) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        object.put("apiVersion", "apportion.dev/v1alpha1");
        object.put("kind", kind);
        object.putObject("metadata").put("name", "case");
        object.setAll((ObjectNode) parts.deepCopy());
        return object;
    }

    private static SchemaCase changed(
            String kind, ObjectNode valid, String field, JsonNode value, @Nullable Rejection rejection) {
        ObjectNode object = valid.deepCopy();
        set(object, field, expanded(value));
        String shown = value.toString();
        String name = (rejection == null ? "accepted " : "rejected by " + rejection.keyword() + " ")
                + field + " = "
                + (shown.length() <= SHOWN ? shown : shown.substring(0, SHOWN) + "...");
        return new SchemaCase(name, kind, field, object, rejection);
    }

    /** Sets a field whose parent exists, or removes it if the value is null. */
    private static void set(ObjectNode object, String field, JsonNode value) {
        List<String> steps = new ArrayList<>();
        Matcher matcher = STEP.matcher(field);
        while (matcher.find()) {
            steps.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
        }
        JsonNode parent = object;
        for (String step : steps.subList(0, steps.size() - 1)) {
            parent = parent instanceof ArrayNode array ? array.required(Integer.parseInt(step)) : parent.required(step);
        }
        String last = steps.getLast();
        if (parent instanceof ArrayNode array) {
            array.set(Integer.parseInt(last), value);
        } else if (value.isNull()) {
            ((ObjectNode) parent).remove(last);
        } else {
            ((ObjectNode) parent).set(last, value);
        }
    }

    private static JsonNode expanded(JsonNode value) {
        int from = value.path("$from").asInt(0);
        int to = from + value.path("$times").asInt(0);
        if (value.has("$repeat")) {
            return TextNode.valueOf(value.required("$repeat").textValue().repeat(to));
        }
        if (value.has("$join")) {
            StringBuilder text = new StringBuilder();
            value.required("$join").forEach(part -> text.append(expanded(part).textValue()));
            return TextNode.valueOf(text.toString());
        }
        if (value.has("$list")) {
            ArrayNode list = JsonNodeFactory.instance.arrayNode();
            for (int i = from; i < to; i++) {
                list.add(numbered(value.required("$list"), i));
            }
            return list;
        }
        if (value.has("$map")) {
            ObjectNode map = JsonNodeFactory.instance.objectNode();
            for (int i = from; i < to; i++) {
                map.setAll((ObjectNode) numbered(value.required("$map"), i));
            }
            return map;
        }
        return value;
    }

    /** The template with the index in its keys and texts. */
    private static JsonNode numbered(JsonNode template, int index) {
        if (template.isTextual()) {
            return TextNode.valueOf(String.format(Locale.ROOT, template.textValue(), index));
        }
        if (template instanceof ArrayNode items) {
            ArrayNode list = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> list.add(numbered(item, index)));
            return list;
        }
        if (template instanceof ObjectNode fields) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            fields.properties()
                    .forEach(field -> object.set(
                            String.format(Locale.ROOT, field.getKey(), index), numbered(field.getValue(), index)));
            return object;
        }
        return template;
    }
}
