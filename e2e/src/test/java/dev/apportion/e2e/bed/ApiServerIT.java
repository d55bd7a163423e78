package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@WithApiServer
class ApiServerIT {

    private static ConfigMap configMap(String name, Map<String, String> data) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withData(data)
                .build();
    }

    @Test
    void keepsAConfigMap(KubernetesClient client, Kubectl kubectl) {
        client.resource(configMap("greeting", Map.of("text", "hello"))).create();

        assertThat(kubectl.run("get", "configmap", "greeting", "-o", "jsonpath={.data.text}")
                        .orThrow()
                        .stdout())
                .isEqualTo("hello");
        assertThat(client.getNamespace()).isEqualTo(kubectl.namespace());
    }

    @Test
    void givesEachTestANamespaceOfItsOwn(KubernetesClient client, ApiServer server) {
        client.resource(configMap("greeting", Map.of("text", "hello"))).create();

        String other = server.newNamespace();
        try (KubernetesClient elsewhere = server.client(other)) {
            assertThat(other).isNotEqualTo(client.getNamespace());
            assertThat(elsewhere.configMaps().withName("greeting").get()).isNull();
        }
        server.deleteNamespace(other);
    }

    @Test
    void deletesANamespaceWithWhatIsInIt(KubernetesClient client, ApiServer server) {
        String doomed = server.newNamespace();
        client.resource(configMap("greeting", Map.of("text", "hello")))
                .inNamespace(doomed)
                .create();

        server.deleteNamespace(doomed);

        assertThat(client.namespaces().withName(doomed).get()).isNull();
        assertThat(client.configMaps().inAnyNamespace().list().getItems())
                .noneMatch(left -> left.getMetadata().getNamespace().equals(doomed));
    }

    @Test
    void isTheVersionThatWasBuilt(KubernetesClient client) throws IOException {
        String goMod = Files.readString(SourceTree.root().resolve("e2e/tools/kubernetes/go.mod"));

        assertThat(goMod)
                .contains("k8s.io/kubernetes " + client.getKubernetesVersion().getGitVersion());
    }

    @Test
    void refusesAnotherUser(ApiServer server, Kubectl kubectl) {
        Command.Result refused = kubectl.run("--token=guessed", "get", "configmaps");

        assertThat(refused.exitCode()).isNotZero();
        assertThat(refused.stderr()).contains("You must be logged in to the server");
        assertThat(server.log()).doesNotContain("panic");
    }

    @Test
    void installsCustomResourceDefinitions(ApiServer server, Kubectl kubectl, @TempDir Path manifests)
            throws IOException {
        Files.writeString(manifests.resolve("lamps.yaml"), """
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata:
              name: lamps.bed.test
            spec:
              group: bed.test
              scope: Namespaced
              names: {kind: Lamp, listKind: LampList, plural: lamps, singular: lamp}
              versions:
              - name: v1
                served: true
                storage: true
                schema:
                  openAPIV3Schema:
                    type: object
                    properties:
                      spec: {type: object, required: [watts], properties: {watts: {type: integer, minimum: 1}}}
            """);
        String lamp = """
            apiVersion: bed.test/v1
            kind: Lamp
            metadata: {name: desk}
            spec: {watts: %d}
            """;

        server.install(manifests);

        try {
            assertThat(kubectl.runWith(lamp.formatted(0), "apply", "-f", "-").stderr())
                    .contains("should be greater than or equal to 1");
            assertThat(kubectl.runWith(lamp.formatted(7), "apply", "-f", "-")
                            .orThrow()
                            .stdout())
                    .contains("lamp.bed.test/desk created");
        } finally {
            kubectl.run("delete", "crd", "lamps.bed.test").orThrow();
        }
    }
}
