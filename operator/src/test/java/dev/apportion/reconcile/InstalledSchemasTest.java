package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.api.ApportionResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class InstalledSchemasTest {

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    private CustomResourceDefinition zones() throws IOException {
        try (InputStream manifest =
                ApportionResource.class.getResourceAsStream("crds/dnszones.apportion.dev-v1.yaml")) {
            return serialization.unmarshal(Objects.requireNonNull(manifest), CustomResourceDefinition.class);
        }
    }

    private static JSONSchemaProps spec(CustomResourceDefinition zones) {
        return Objects.requireNonNull(zones.getSpec()
                .getVersions()
                .getFirst()
                .getSchema()
                .getOpenAPIV3Schema()
                .getProperties()
                .get("spec"));
    }

    private static JSONSchemaProps field(JSONSchemaProps schema, String name) {
        return Objects.requireNonNull(schema.getProperties().get(name));
    }

    @Test
    void theSameDefinitionLacksNothingAndOneWithMoreFieldsLacksNothing() throws IOException {
        CustomResourceDefinition newer = zones();
        spec(newer).getProperties().put("later", new JSONSchemaProps());

        assertThat(InstalledSchemas.missingFields(zones(), zones())).isEmpty();
        assertThat(InstalledSchemas.missingFields(zones(), newer)).isEmpty();
    }

    @Test
    void whatAnOlderDefinitionLacksIsNamedByItsPath() throws IOException {
        CustomResourceDefinition older = zones();
        spec(older).getProperties().remove("resolvers");
        field(spec(older), "coreDNS").getProperties().remove("refresh");
        field(spec(older), "records").getItems().getSchema().getProperties().remove("ttlSeconds");

        assertThat(InstalledSchemas.missingFields(zones(), older))
                .containsExactly("spec.coreDNS.refresh", "spec.records[].ttlSeconds", "spec.resolvers");
    }

    @Test
    void aDefinitionThatKeepsWhatItDoesNotKnowPrunesNothing() throws IOException {
        CustomResourceDefinition loose = zones();
        spec(loose).setXKubernetesPreserveUnknownFields(true);
        spec(loose).setProperties(null);

        assertThat(InstalledSchemas.missingFields(zones(), loose)).isEmpty();
    }
}
