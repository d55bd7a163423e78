package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.e2e.SchemaCases.Rejection;
import dev.apportion.e2e.SchemaCases.SchemaCase;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A real API server accepts and rejects what the files {@code schema/KIND.yaml} say. */
@WithApiServer
class SchemaIT {

    private static final int UNPROCESSABLE = 422;

    /** What the API server says when a part of a schema rejects a value. */
    private static final Map<String, String> MESSAGES = Map.ofEntries(
            Map.entry("minimum", "should be greater than or equal to"),
            Map.entry("maximum", "should be less than or equal to"),
            Map.entry("minLength", "should be at least"),
            Map.entry("maxLength", "Too long"),
            Map.entry("minItems", "should have at least"),
            Map.entry("maxItems", "Too many"),
            Map.entry("maxProperties", "Too many"),
            Map.entry("pattern", "should match"),
            Map.entry("enum", "Unsupported value"),
            Map.entry("required", "Required value"),
            Map.entry("unique", "Duplicate value"));

    private static final Map<String, Class<? extends ApportionResource<?, ?>>> TYPES = Map.of(
            "DNSZone", DNSZone.class,
            "ReplicaPool", ReplicaPool.class,
            "TrafficService", TrafficService.class,
            "TrafficStream", TrafficStream.class);

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    @TestFactory
    Stream<DynamicTest> cases(KubernetesClient client) {
        return SchemaCases.KINDS.stream()
                .flatMap(kind -> SchemaCases.of(kind).stream())
                .map(one -> DynamicTest.dynamicTest(one.kind() + " " + one, () -> {
                    Rejection rejection = one.rejection();
                    if (rejection == null) {
                        isAccepted(client, one);
                    } else {
                        isRejected(client, one, rejection);
                    }
                }));
    }

    /** And Java reads the same, whether the defaults come from the API server or from Java. */
    private void isAccepted(KubernetesClient client, SchemaCase one) {
        GenericKubernetesResource stored =
                resource(client, one.object()).dryRun().create();

        assertThat(read(one.kind(), serialization.asJson(stored)))
                .as(one.toString())
                .isEqualTo(read(one.kind(), one.object().toString()))
                .isNotNull();
    }

    private void isRejected(KubernetesClient client, SchemaCase one, Rejection rejection) {
        ObjectNode before = rejection.before();
        String message;
        if (before == null) {
            message = refusal(one, () -> resource(client, one.object()).dryRun().create());
        } else {
            Resource<GenericKubernetesResource> stored = resource(client, before);
            stored.create();
            try {
                message = refusal(
                        one, () -> resource(client, one.object()).dryRun().update());
            } finally {
                stored.delete();
            }
        }
        assertThat(message)
                .as(one.toString())
                .contains(one.field())
                .contains(rejection.keyword().equals("rule") ? rejection.says() : message(rejection.keyword()));
    }

    private static String message(String keyword) {
        return Objects.requireNonNull(MESSAGES.get(keyword), keyword);
    }

    private static String refusal(SchemaCase one, ThrowingCallable request) {
        KubernetesClientException refused = catchThrowableOfType(KubernetesClientException.class, request);
        assertThat(refused).as(one.toString()).isNotNull();
        assertThat(refused.getCode()).isEqualTo(UNPROCESSABLE);
        return String.valueOf(refused.getMessage());
    }

    private Resource<GenericKubernetesResource> resource(KubernetesClient client, ObjectNode object) {
        return client.resource(serialization.convertValue(object, GenericKubernetesResource.class));
    }

    private Object read(String kind, String json) {
        ApportionResource<?, ?> resource = serialization.unmarshal(json, Objects.requireNonNull(TYPES.get(kind)));
        assertThat(resource.unreadable()).isNull();
        return Objects.requireNonNull(resource.getSpec());
    }
}
