package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What an API server makes of a JSON Patch (RFC 6902) with {@code test} operations. Compare-and-set on the keys of a ConfigMap rests on
 * it, and some of it is not what the RFC says.
 */
@WithApiServer
class JsonPatchIT {

    private static final PatchContext JSON = PatchContext.of(PatchType.JSON);
    private static final int UNPROCESSABLE = 422;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;

    JsonPatchIT(KubernetesClient client) {
        this.client = client;
    }

    @BeforeEach
    void startAnew() {
        client.configMaps().delete();
        create("shard", Map.of("serial", "7"));
    }

    private ConfigMap create(String name, Map<String, String> data) {
        return client.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withData(data)
                        .build())
                .create();
    }

    private ConfigMap patch(String name, String operations) {
        return client.configMaps().withName(name).patch(JSON, operations);
    }

    private int refusal(String name, String operations) {
        return catchThrowableOfType(KubernetesClientException.class, () -> patch(name, operations))
                .getCode();
    }

    private Map<String, String> data(String name) {
        return client.configMaps().withName(name).get().getData();
    }

    @Test
    void changesAKeyWhoseValueIsAsTested() {
        patch("shard", """
            [{"op": "test", "path": "/data/serial", "value": "7"},
             {"op": "replace", "path": "/data/serial", "value": "8"},
             {"op": "add", "path": "/data/zone", "value": "z"}]\
            """);

        assertThat(data("shard")).containsOnly(Map.entry("serial", "8"), Map.entry("zone", "z"));
    }

    @Test
    void refusesAFailedTestWholeAndWith422() {
        assertThat(refusal("shard", """
            [{"op": "test", "path": "/data/serial", "value": "6"},
             {"op": "add", "path": "/data/zone", "value": "z"}]\
            """)).isEqualTo(UNPROCESSABLE);
        assertThat(refusal("shard", """
            [{"op": "add", "path": "/data/zone", "value": "z"},
             {"op": "test", "path": "/data/serial", "value": "6"}]\
            """)).isEqualTo(UNPROCESSABLE);

        assertThat(data("shard")).containsOnly(Map.entry("serial", "7"));
    }

    @Test
    void findsAnAbsentKeyEqualToNull() {
        patch("shard", """
            [{"op": "test", "path": "/data/other", "value": null},
             {"op": "add", "path": "/data/other", "value": "1"}]\
            """);

        assertThat(data("shard")).containsOnly(Map.entry("serial", "7"), Map.entry("other", "1"));
        assertThat(refusal("shard", """
            [{"op": "test", "path": "/data/other", "value": null},
             {"op": "add", "path": "/data/other", "value": "2"}]\
            """)).isEqualTo(UNPROCESSABLE);
        assertThat(data("shard")).containsEntry("other", "1");
    }

    @Test
    void tellsAnEmptyValueFromAnAbsentKey() {
        create("empty-value", Map.of("serial", ""));

        assertThat(refusal("empty-value", """
            [{"op": "test", "path": "/data/serial", "value": null}]\
            """)).isEqualTo(UNPROCESSABLE);
        assertThatCode(() -> patch("empty-value", """
            [{"op": "test", "path": "/data/serial", "value": ""}]\
            """)).doesNotThrowAnyException();
    }

    @Test
    void findsNoKeyInAnObjectWithoutData() {
        create("bare", Map.of());
        assertThat(data("bare")).isNullOrEmpty();

        assertThat(refusal("bare", """
            [{"op": "test", "path": "/data/serial", "value": null}]\
            """)).isEqualTo(UNPROCESSABLE);
        assertThat(refusal("bare", """
            [{"op": "add", "path": "/data/serial", "value": "1"}]\
            """)).isEqualTo(UNPROCESSABLE);

        String first = """
            [{"op": "test", "path": "/data", "value": null},
             {"op": "add", "path": "/data", "value": {"serial": "1"}}]\
            """;
        patch("bare", first);
        assertThat(data("bare")).containsOnly(Map.entry("serial", "1"));
        assertThat(refusal("bare", first)).isEqualTo(UNPROCESSABLE);
    }

    @Test
    void dropsDataWithItsLastKey() {
        patch("shard", """
            [{"op": "remove", "path": "/data/serial"}]\
            """);

        assertThat(data("shard")).isNullOrEmpty();
        assertThat(refusal("shard", """
            [{"op": "test", "path": "/data/serial", "value": null}]\
            """)).isEqualTo(UNPROCESSABLE);
    }

    @Test
    void replacesAnAbsentKeyButDoesNotRemoveIt() {
        patch("shard", """
            [{"op": "replace", "path": "/data/zone", "value": "z"}]\
            """);
        assertThat(data("shard")).containsEntry("zone", "z");

        assertThat(refusal("shard", """
            [{"op": "remove", "path": "/data/none"}]\
            """)).isEqualTo(UNPROCESSABLE);
    }

    @Test
    void leavesTheVersionWhenNothingChanges() {
        String before =
                client.configMaps().withName("shard").get().getMetadata().getResourceVersion();

        String after = patch("shard", """
            [{"op": "test", "path": "/data/serial", "value": "7"},
             {"op": "replace", "path": "/data/serial", "value": "7"}]\
            """).getMetadata().getResourceVersion();

        assertThat(after).isEqualTo(before);
    }

    @Test
    void tellsAStaleVersionByEitherCode() {
        assertThat(refusal("shard", """
            [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
             {"op": "add", "path": "/data/zone", "value": "z"}]\
            """)).isEqualTo(UNPROCESSABLE);
        assertThat(refusal("shard", """
            [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"},
             {"op": "add", "path": "/data/zone", "value": "z"}]\
            """)).isEqualTo(CONFLICT);
    }

    @Test
    void neverMakesAnObject() {
        assertThat(refusal("gone", """
            [{"op": "test", "path": "/data/serial", "value": null},
             {"op": "add", "path": "/data/serial", "value": "1"}]\
            """)).isEqualTo(NOT_FOUND);
        assertThat(client.configMaps().withName("gone").get()).isNull();
    }

    @Test
    void refusesASecondCreation() {
        KubernetesClientException refused =
                catchThrowableOfType(KubernetesClientException.class, () -> create("shard", Map.of("serial", "1")));

        assertThat(refused.getCode()).isEqualTo(CONFLICT);
        assertThat(data("shard")).containsOnly(Map.entry("serial", "7"));
    }
}
