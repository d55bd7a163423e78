package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The custom resource definitions of a cluster, held against those that this program was built with: without them nothing
 * can be watched, and an older one silently prunes the fields that it does not know.
 */
final class InstalledSchemas {

    private static final Logger LOG = LoggerFactory.getLogger(InstalledSchemas.class);

    private static final List<Class<? extends ApportionResource<?, ?>>> KINDS =
            List.of(DNSZone.class, ReplicaPool.class, TrafficService.class, TrafficStream.class);

    private static final String ADVICE = "maybe run: kubectl apply --server-side -f crds/";

    private InstalledSchemas() {}

    /**
     * Looks whether all kinds are served.
     *
     * @throws IllegalStateException if one is missing; the message says what to do
     */
    static void require(KubernetesClient client) {
        try {
            requireKinds(client);
        } catch (KubernetesClientException e) {
            // It is about the cluster, not about definitions, and whoever needs the cluster next says it better.
            LOG.atDebug().setCause(e).log("Could not see which kinds are served");
        }
    }

    /** Warns of fields that are missing. */
    static void compare(KubernetesClient client) {
        for (Class<? extends ApportionResource<?, ?>> kind : KINDS) {
            warn(client, HasMetadata.getFullResourceName(kind));
        }
    }

    private static void requireKinds(KubernetesClient client) {
        String version = HasMetadata.getApiVersion(DNSZone.class);
        APIResourceList served = client.getApiResources(version);
        Set<String> kinds = served == null
                ? Set.of()
                : served.getResources().stream().map(APIResource::getKind).collect(Collectors.toSet());
        List<String> missing = KINDS.stream()
                .filter(kind -> !kinds.contains(HasMetadata.getKind(kind)))
                .map(HasMetadata::getFullResourceName)
                .toList();
        if (!missing.isEmpty()) {
            throw new IllegalStateException(
                    "the cluster does not serve %s of %s: the custom resource definitions are not installed; %s"
                            .formatted(String.join(", ", missing), version, ADVICE));
        }
    }

    private static void warn(KubernetesClient client, String name) {
        CustomResourceDefinition installed;
        try {
            installed = client.apiextensions()
                    .v1()
                    .customResourceDefinitions()
                    .withName(name)
                    .get();
        } catch (KubernetesClientException e) {
            LOG.atDebug()
                    .addKeyValue("crd", name)
                    .addKeyValue("code", e.getCode())
                    .log("Could not read the definition, so nobody knows whether it is an older one");
            return;
        }
        List<String> missing = installed == null ? List.of() : missingFields(shipped(client, name), installed);
        if (!missing.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("crd", name)
                    .addKeyValue("missing", String.join(", ", missing))
                    .log("The installed definition is older than this program: the API server drops these fields; "
                            + ADVICE);
        }
    }

    private static CustomResourceDefinition shipped(KubernetesClient client, String name) {
        String resource = "crds/%s-v1.yaml".formatted(name);
        try (InputStream manifest = ApportionResource.class.getResourceAsStream(resource)) {
            return client.getKubernetesSerialization()
                    .unmarshal(
                            Objects.requireNonNull(manifest, resource + " is part of the program"),
                            CustomResourceDefinition.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The fields that one definition has and the other lacks, as paths; what is within a missing field is not listed again. */
    static List<String> missingFields(CustomResourceDefinition expected, CustomResourceDefinition installed) {
        Map<String, JSONSchemaProps> schemas = schemas(installed);
        List<String> missing = new ArrayList<>();
        schemas(expected).forEach((version, schema) -> missing(schema, schemas.get(version), "", missing));
        return missing;
    }

    private static Map<String, JSONSchemaProps> schemas(CustomResourceDefinition definition) {
        return definition.getSpec().getVersions().stream()
                .filter(version -> version.getSchema() != null)
                .collect(Collectors.toMap(
                        CustomResourceDefinitionVersion::getName,
                        version -> version.getSchema().getOpenAPIV3Schema(),
                        (first, second) -> first,
                        TreeMap::new));
    }

    private static void missing(
            JSONSchemaProps expected, @Nullable JSONSchemaProps installed, String path, List<String> missing) {
        if (installed == null) {
            missing.add(path);
            return;
        }
        if (Boolean.TRUE.equals(installed.getXKubernetesPreserveUnknownFields())) {
            return;
        }
        Map<String, JSONSchemaProps> known = Objects.requireNonNullElse(installed.getProperties(), Map.of());
        new TreeMap<>(Objects.requireNonNullElse(expected.getProperties(), Map.<String, JSONSchemaProps>of()))
                .forEach((name, field) ->
                        missing(field, known.get(name), path.isEmpty() ? name : path + "." + name, missing));
        if (expected.getItems() != null && expected.getItems().getSchema() != null) {
            missing(
                    expected.getItems().getSchema(),
                    installed.getItems() == null ? null : installed.getItems().getSchema(),
                    path + "[]",
                    missing);
        }
    }
}
