package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.apportion.api.TrafficService;
import dev.apportion.reconcile.Ref;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManifestsTest {

    private static final String SERVICE = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: shop, namespace: web}
        spec: {zoneRef: {name: z}, hostname: shop.example.org, poolRef: {name: p}}
        """;

    @TempDir
    private Path folder;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private Manifests read(String text) throws IOException, ManifestException {
        return Manifests.read(List.of(file("a.yaml", text)));
    }

    private String problem(String text) throws IOException {
        Path file = file("a.yaml", text);
        try {
            Manifests.read(List.of(file));
        } catch (ManifestException e) {
            return String.valueOf(e.getMessage());
        }
        return fail("it was read: " + text);
    }

    @Test
    void everyKindIsReadAndOthersArePassedOver() throws Exception {
        Manifests manifests = read(SERVICE + """
            ---
            # nothing but a comment
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: z}
            spec: {domain: example.org, coreDNS: {}}
            ---
            apiVersion: v1
            kind: Service
            metadata: {name: shop, namespace: web}
            ---
            apiVersion: v1
            kind: List
            items:
            - {apiVersion: v1, kind: Namespace, metadata: {name: web, labels: {team: shop}}}
            - {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: web, annotations: {a: b}}}
            - apiVersion: discovery.k8s.io/v1
              kind: EndpointSlice
              metadata: {name: s, namespace: web, labels: {kubernetes.io/service-name: shop}}
            - {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: nobodys}}
            """);

        assertThat(manifests.services()).hasSize(1);
        assertThat(manifests.zones())
                .extracting(zone -> zone.getMetadata().getNamespace())
                .containsExactly("default");
        assertThat(manifests.pools()).isEmpty();
        assertThat(manifests.streams()).isEmpty();
        assertThat(manifests.endpointSlices(new Ref("web", "shop"))).hasSize(1);
        assertThat(manifests.endpointSlices(new Ref("default", "shop"))).isEmpty();
        assertThat(manifests.podAnnotations(new Ref("web", "p"))).containsEntry("a", "b");
        assertThat(manifests.podAnnotations(new Ref("web", "q"))).isEmpty();
        assertThat(manifests.namespaceLabels("web")).containsEntry("team", "shop");
        assertThat(manifests.namespaceLabels("other")).isEmpty();
    }

    @Test
    void aFolderIsReadWithoutWhatLiesBelowIt() throws Exception {
        Files.createDirectory(folder.resolve("below.yaml"));
        file("below.yaml/c.yaml", SERVICE.replace("shop", "below"));
        file("b.yml", SERVICE.replace("name: shop", "name: b"));
        file("a.json", """
            {"apiVersion": "apportion.dev/v1alpha1", "kind": "TrafficService", "metadata": {"name": "a"}, "spec": {}}
            """);
        file("notes.txt", "no manifest");

        assertThat(Manifests.read(List.of(folder)).services())
                .extracting(service -> service.getMetadata().getName())
                .containsExactly("a", "b");
    }

    @Test
    void brokenYamlNamesFileLineAndColumn() throws Exception {
        assertThat(problem("a: 1\nb: [1, 2\nc: 3\n")).contains("a.yaml:3:").contains("cannot be read as YAML");
        assertThat(problem("a: \u0007\n")).contains("a.yaml");
    }

    @Test
    void aFieldThatStandsTwiceIsNoYaml() throws Exception {
        assertThat(problem(SERVICE.replace("poolRef: {name: p}", "poolRef: {name: p}, poolRef: {name: q}")))
                .contains("a.yaml:4:")
                .contains("poolRef");
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Path missing = folder.resolve("missing.yaml");

        assertThatThrownBy(() -> Manifests.read(List.of(missing)))
                .isInstanceOf(ManifestException.class)
                .hasMessage(missing + ": there is no such file");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[1, 2] | lacks apiVersion or kind",
                "hello | lacks apiVersion or kind",
                "{kind: TrafficService, metadata: {name: a}} | lacks apiVersion or kind",
                "{apiVersion: apportion.dev/v1alpha1, Kind: TrafficService} | lacks apiVersion or kind",
                "{apiVersion: apportion.dev/v1alpha1, kind: TrafficServices, metadata: {name: a}} | there is no kind",
                "{apiVersion: apportion.dev/v1, kind: TrafficService, metadata: {name: a}} | there is no kind",
                "{apiVersion: apportion.dev/v1alpha1, kind: TrafficService, metadata: {}} | has no metadata.name",
                "{apiVersion: apportion.dev/v1alpha1, kind: TrafficService} | has no metadata.name",
                "{apiVersion: v1, kind: Pod, metadata: web} | document 1 is no Pod",
                "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}, endpoints: 3} | is no"
                        + " EndpointSlice"
            })
    void whatIsNoManifestIsSaid(String text, String message) throws IOException {
        assertThat(problem(text)).contains("a.yaml: document 1").contains(message);
    }

    @Test
    void twoDocumentsMayNotDeclareOneResource() throws Exception {
        Path first = file("a.yaml", SERVICE);
        Path second = file("b.yaml", "---\n" + SERVICE);

        assertThatThrownBy(() -> Manifests.read(List.of(first, second)))
                .isInstanceOf(ManifestException.class)
                .hasMessageContaining("b.yaml: document 1")
                .hasMessageContaining("a.yaml")
                .hasMessageContaining("TrafficService web/shop");
        assertThat(read(SERVICE + "---\n" + SERVICE.replace("namespace: web", "namespace: blue"))
                        .services())
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "maxReplica: 3 | spec.maxReplica: there is no such field; maybe one of hostname, maxReplicas,",
                "maxReplicas: 0 | spec.maxReplicas: 0 must be at least 1",
                "maxReplicas: 1001 | spec.maxReplicas: 1001 must be at most 1000",
                "maxReplicas: few | spec.maxReplicas: \"few\" must be a whole number",
                "ttlSeconds: -1 | spec.ttlSeconds: -1 must be at least 1"
            })
    void whatTheSchemaForbidsIsRefusedByItself(String slip, String message) throws Exception {
        Manifests manifests = read(
                SERVICE.replace("poolRef", slip + ", poolRef") + "---\n" + SERVICE.replace("name: shop", "name: good"));

        assertThat(manifests.services())
                .filteredOn(service -> service.getSpec() == null)
                .singleElement()
                .satisfies(refused -> assertThat(refused.unreadable()).startsWith(message));
        assertThat(manifests.services())
                .filteredOn(service -> service.getSpec() != null)
                .extracting(TrafficService::unreadable)
                .containsOnlyNulls();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{sites: [{name: Main, service: {name: s}}]} | spec.sites[0].name: \"Main\" must match",
                "{sites: [{name: m, endpoints: []}]} | spec.sites[0].endpoints: must have 1 to 512 items, not 0",
                "{sites: [{name: m, priority: 101, service: {name: s}}]} | spec.sites[0].priority: 101 must be at"
                        + " most 100",
                "{sites: [{name: m, service: {name: s}}], policy: {seed: -1}} | spec.policy.seed: -1 must be at"
                        + " least 0",
                "{sites: [{name: m, service: {name: s}}], policies: {}} | spec.policies: there is no such field"
            })
    void boundsAndPatternsOfPartsAreLookedAtToo(String spec, String message) throws Exception {
        Manifests manifests = read("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: p}
            spec: %s
            """.formatted(spec));

        assertThat(manifests.pools().getFirst().unreadable()).startsWith(message);
    }

    @Test
    void aWholeClusterMayStandInOneFile() throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; text.length() < 4_000_000; i++) {
            text.append(SERVICE.replace("name: shop", "name: s" + i))
                    .append("# ")
                    .append("x".repeat(2000))
                    .append("\n---\n");
        }

        assertThat(read(text.toString()).services()).hasSizeGreaterThan(1500);
    }
}
