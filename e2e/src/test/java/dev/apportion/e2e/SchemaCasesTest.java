package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.e2e.SchemaCases.Rejection;
import dev.apportion.e2e.SchemaCases.SchemaCase;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Every part of the schemas has a case, and Java agrees with the cases without an API server. */
class SchemaCasesTest {

    private static final List<String> KINDS = SchemaCases.KINDS;
    private static final Map<String, Class<? extends ApportionResource<?, ?>>> TYPES = Map.of(
            "DNSZone", DNSZone.class,
            "ReplicaPool", ReplicaPool.class,
            "TrafficService", TrafficService.class,
            "TrafficStream", TrafficStream.class);

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    /** A part of a schema that may reject a value; {@code message} is that of a rule, or empty. */
    private record Constraint(String field, String keyword, String message) {

        boolean rejects(SchemaCase candidate, String field) {
            Rejection rejection = candidate.rejection();
            return rejection != null
                    && this.field.equals(field)
                    && keyword.equals(rejection.keyword())
                    && message.contains(rejection.says());
        }
    }

    @ParameterizedTest
    @FieldSource("KINDS")
    void everyConstraintHasCases(String kind) throws IOException {
        JSONSchemaProps root = schema(kind);
        List<Constraint> constraints = new ArrayList<>();
        collect(spec(root), "spec", constraints);
        if (root.getRequired().contains("spec")) {
            constraints.add(new Constraint("spec", "required", ""));
        }
        List<SchemaCase> cases = SchemaCases.of(kind);
        Map<SchemaCase, String> fields = cases.stream()
                .collect(Collectors.toMap(one -> one, one -> general(spec(root), one.field()), (a, b) -> a));

        assertThat(constraints).isNotEmpty();
        assertThat(constraints)
                .as("parts of the schema that no rejected case names; add one to schema/%s.yaml", kind)
                .allMatch(constraint -> cases.stream()
                        .anyMatch(one -> constraint.rejects(one, Objects.requireNonNull(fields.get(one)))));
        assertThat(cases.stream().filter(one -> one.rejection() != null))
                .as("cases that name no part of the schema")
                .allMatch(one -> constraints.stream()
                        .anyMatch(constraint -> constraint.rejects(one, Objects.requireNonNull(fields.get(one)))));
        Set<String> accepted = cases.stream()
                .filter(one -> one.rejection() == null)
                .map(one -> Objects.requireNonNull(fields.get(one)))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(constraints).as("fields without an accepted case").allMatch(one -> accepted.contains(one.field()));
    }

    @TestFactory
    Stream<DynamicTest> javaAgrees() {
        return KINDS.stream()
                .flatMap(kind -> SchemaCases.of(kind).stream())
                .filter(one -> one.rejection() == null || one.rejection().before() == null)
                .map(one -> DynamicTest.dynamicTest(one.kind() + " " + one, () -> javaAgrees(one)));
    }

    /** Texts that nobody connects to: what DNS answers, and a query to a source that the administrator named. */
    private static final Set<String> FREE_TEXT = Set.of("spec.records[].values[]", "spec.rateFrom.prometheus.query");

    @ParameterizedTest
    @FieldSource("KINDS")
    void noFieldTakesAUrl(String kind) {
        Set<String> takers = new TreeSet<>();
        int tried = 0;
        for (SchemaCase one : SchemaCases.of(kind)) {
            if (one.rejection() != null) {
                continue;
            }
            for (String pointer : texts(one.object().path("spec"), "/spec")) {
                ObjectNode object = one.object().deepCopy();
                int last = pointer.lastIndexOf('/');
                JsonNode parent = object.at(pointer.substring(0, last));
                TextNode url = TextNode.valueOf("http://169.254.169.254/latest");
                if (parent instanceof ArrayNode list) {
                    list.set(Integer.parseInt(pointer.substring(last + 1)), url);
                } else {
                    ((ObjectNode) parent).set(pointer.substring(last + 1), url);
                }
                tried++;
                if (refusal(new SchemaCase(pointer, kind, "spec", object, null)).isEmpty()) {
                    takers.add(pointer.substring(1).replaceAll("/[0-9]+", "[]").replace('/', '.'));
                }
            }
        }
        assertThat(tried).isPositive();
        assertThat(takers).isSubsetOf(FREE_TEXT);
    }

    private static List<String> texts(JsonNode node, String pointer) {
        List<String> texts = new ArrayList<>();
        if (node.isTextual()) {
            texts.add(pointer);
        }
        for (int i = 0; node.isArray() && i < Math.min(node.size(), 3); i++) {
            texts.addAll(texts(node.path(i), pointer + "/" + i));
        }
        node.properties().stream()
                .filter(field -> !field.getKey().contains("/"))
                .forEach(field -> texts.addAll(texts(field.getValue(), pointer + "/" + field.getKey())));
        return texts;
    }

    private void javaAgrees(SchemaCase one) {
        Rejection rejection = one.rejection();
        if (rejection == null) {
            assertThat(refusal(one)).as(one.toString()).isEmpty();
        } else {
            assertThat(refusal(one)).as(one.toString()).startsWith(one.field()).contains(rejection.says());
        }
    }

    /** What Java has against an object; empty if nothing. */
    private String refusal(SchemaCase one) {
        ApportionResource<?, ?> resource =
                serialization.unmarshal(one.object().toString(), Objects.requireNonNull(TYPES.get(one.kind())));
        if (resource.getSpec() != null) {
            return "";
        }
        return Objects.requireNonNullElse(resource.unreadable(), one.field() + ": there is no spec");
    }

    private JSONSchemaProps schema(String kind) throws IOException {
        String name = kind.toLowerCase(Locale.ROOT) + "s.apportion.dev-v1.yaml";
        try (InputStream manifest =
                Objects.requireNonNull(ApportionResource.class.getResourceAsStream("crds/" + name), name)) {
            return serialization
                    .unmarshal(manifest, CustomResourceDefinition.class)
                    .getSpec()
                    .getVersions()
                    .getFirst()
                    .getSchema()
                    .getOpenAPIV3Schema();
        }
    }

    private static JSONSchemaProps spec(JSONSchemaProps root) {
        return Objects.requireNonNull(root.getProperties().get("spec"));
    }

    private static void collect(JSONSchemaProps schema, String field, List<Constraint> constraints) {
        keyword(schema.getMinimum(), field, "minimum", constraints);
        keyword(schema.getMaximum(), field, "maximum", constraints);
        keyword(schema.getMinLength(), field, "minLength", constraints);
        keyword(schema.getMaxLength(), field, "maxLength", constraints);
        keyword(schema.getMinItems(), field, "minItems", constraints);
        keyword(schema.getMaxItems(), field, "maxItems", constraints);
        keyword(schema.getMinProperties(), field, "minProperties", constraints);
        keyword(schema.getMaxProperties(), field, "maxProperties", constraints);
        keyword(schema.getPattern(), field, "pattern", constraints);
        keyword(schema.getEnum().isEmpty() ? null : schema.getEnum(), field, "enum", constraints);
        keyword(schema.getXKubernetesListType(), field, "unique", constraints);
        for (ValidationRule rule : schema.getXKubernetesValidations()) {
            constraints.add(new Constraint(field, "rule", rule.getMessage()));
        }
        for (String required : schema.getRequired()) {
            constraints.add(new Constraint(field + "." + required, "required", ""));
        }
        if (schema.getProperties() != null) {
            schema.getProperties().forEach((name, property) -> collect(property, field + "." + name, constraints));
        }
        if (schema.getItems() != null) {
            collect(schema.getItems().getSchema(), field + "[]", constraints);
        }
        if (schema.getAdditionalProperties() != null) {
            collect(schema.getAdditionalProperties().getSchema(), field + "{}", constraints);
        }
    }

    private static void keyword(@Nullable Object value, String field, String keyword, List<Constraint> constraints) {
        if (value != null) {
            constraints.add(new Constraint(field, keyword, ""));
        }
    }

    /** The field with {@code []} for an index and {@code {}} for the key of a map. */
    private static String general(JSONSchemaProps spec, String field) {
        StringBuilder general = new StringBuilder("spec");
        JSONSchemaProps schema = spec;
        for (String step : field.substring("spec".length()).split("(?=[.\\[])", -1)) {
            if (step.startsWith("[")) {
                general.append("[]");
                schema = schema.getItems().getSchema();
            } else if (schema.getAdditionalProperties() != null) {
                general.append("{}");
                schema = schema.getAdditionalProperties().getSchema();
            } else if (!step.isEmpty()) {
                general.append(step);
                schema = Objects.requireNonNull(schema.getProperties().get(step.substring(1)), field);
            }
        }
        return general.toString();
    }
}
