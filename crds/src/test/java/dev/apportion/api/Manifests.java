package dev.apportion.api;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRuleBuilder;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** The manifests of the custom resources, as they are generated from the Java types. */
final class Manifests {

    /** The kinds in the order in which a user meets them. */
    static final List<Class<? extends ApportionResource<?, ?>>> KINDS =
            List.of(DNSZone.class, ReplicaPool.class, TrafficService.class, TrafficStream.class);

    private static final long MAX_AMOUNT_LENGTH = 24;

    /** What the Kubernetes API says of the parts of a condition; Fabric8's class says nothing. */
    private static final Map<String, String> CONDITION = Map.of(
            "type", "What the condition is about, as a CamelCase word.",
            "status", "Whether the condition holds: True, False or Unknown.",
            "reason", "Why, as a CamelCase word.",
            "message", "Why, in words.",
            "lastTransitionTime", "When the status last changed, as an RFC 3339 date and time.",
            "observedGeneration", "The generation of the resource that the condition is about.");

    private Manifests() {}

    /** The manifests by the names of their files. */
    static SortedMap<String, String> generate() {
        Output output = new Output();
        new CRDGenerator()
                .forCRDVersions("v1")
                .customResourceClasses(List.copyOf(KINDS))
                .withMinQuotes(true)
                .withPostProcessor(new CRDPostProcessor() {
                    @Override
                    public HasMetadata process(HasMetadata resource, String version) {
                        complete((CustomResourceDefinition) resource);
                        return resource;
                    }
                })
                .withOutput(output)
                .generate();
        SortedMap<String, String> manifests = new TreeMap<>();
        output.files.forEach((name, bytes) -> manifests.put(name + ".yaml", bytes.toString(StandardCharsets.UTF_8)));
        return manifests;
    }

    /** Adds what the generator has no annotation for, and puts into order what it sorts. */
    private static void complete(CustomResourceDefinition definition) {
        Class<? extends ApportionResource<?, ?>> kind = KINDS.stream()
                .filter(candidate -> candidate
                        .getSimpleName()
                        .equals(definition.getSpec().getNames().getKind()))
                .findFirst()
                .orElseThrow();
        CustomResourceDefinitionVersion version =
                definition.getSpec().getVersions().getFirst();
        version.getAdditionalPrinterColumns().sort(Comparator.comparingInt(column -> position(kind, column)));
        Type[] parts = ((ParameterizedType) kind.getGenericSuperclass()).getActualTypeArguments();
        JSONSchemaProps root = version.getSchema().getOpenAPIV3Schema();
        complete(property(root, "spec"), parts[0]);
        complete(property(root, "status"), parts[1]);
    }

    private static int position(Class<?> kind, CustomResourceColumnDefinition column) {
        List<String> names = Arrays.stream(kind.getAnnotationsByType(AdditionalPrinterColumn.class))
                .map(AdditionalPrinterColumn::name)
                .toList();
        return names.indexOf(column.getName());
    }

    private static void complete(JSONSchemaProps schema, Type type) {
        if (schema.getXKubernetesValidations() != null) {
            schema.setXKubernetesValidations(List.copyOf(new LinkedHashSet<>(schema.getXKubernetesValidations())));
        }
        if (schema.getDefault() instanceof ObjectNode) {
            // The API server fills in what is below by itself; the generator adds even what is optional.
            schema.setDefault(JsonNodeFactory.instance.objectNode());
        }
        if (type == Amount.class) {
            schema.setMaxLength(MAX_AMOUNT_LENGTH);
        } else if (type == Condition.class) {
            CONDITION.forEach((name, description) -> property(schema, name).setDescription(description));
            schema.setRequired(List.of("lastTransitionTime", "message", "reason", "status", "type"));
        } else if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
            complete(schema.getItems().getSchema(), list.getActualTypeArguments()[0]);
        } else if (type != Port.class && type instanceof Class<?> record && record.isRecord()) {
            for (RecordComponent component : record.getRecordComponents()) {
                complete(schema, component);
            }
        }
    }

    private static void complete(JSONSchemaProps owner, RecordComponent component) {
        JSONSchemaProps schema = property(owner, component.getName());
        MapList keys = component.getAnnotation(MapList.class);
        if (keys != null) {
            schema.setXKubernetesListType("map");
            schema.setXKubernetesListMapKeys(List.of(keys.value()));
        }
        if (component.isAnnotationPresent(ListSet.class)) {
            schema.setXKubernetesListType("set");
        }
        ItemRule rule = component.getAnnotation(ItemRule.class);
        if (rule != null) {
            schema.getItems()
                    .getSchema()
                    .setXKubernetesValidations(List.of(new ValidationRuleBuilder()
                            .withRule(rule.value())
                            .withMessage(rule.message())
                            .build()));
        }
        complete(schema, component.getGenericType());
    }

    private static JSONSchemaProps property(JSONSchemaProps owner, String name) {
        return Objects.requireNonNull(owner.getProperties().get(name), name);
    }

    private static final class Output implements CRDGenerator.CRDOutput<ByteArrayOutputStream> {

        private final SortedMap<String, ByteArrayOutputStream> files = new TreeMap<>();

        @Override
        public ByteArrayOutputStream outputFor(String name) {
            return files.computeIfAbsent(name, ignored -> new ByteArrayOutputStream());
        }

        @Override
        public void close() {}
    }
}
