package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.WithApiServer;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/** The operator has the least rights; a right that is lost is named, and its return is enough. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RightsIT {

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private KubernetesClient client;

    /** A namespace that the operator watches, but that was not meant to have zones. */
    private String neighbour = "";

    @BeforeAll
    void start(ApiServer apiServer, Kubectl kubectl, KubernetesClient ownClient, @TempDir Path folder)
            throws IOException {
        server = apiServer;
        client = ownClient;
        neighbour = apiServer.newNamespace();
        product = Product.start(
                apiServer,
                kubectl,
                folder,
                "--namespaces",
                neighbour,
                "--zone-namespaces",
                kubectl.namespace(),
                "--watch-audit-interval",
                "PT0.5S",
                "--verify-interval",
                "PT0.5S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
        server.deleteNamespace(neighbour);
    }

    private void awaitShare(String host, long first) {
        product.await(
                () -> product.dns().slots(Question.of(host, Type.A)).counts().get("192.0.2.1"),
                found -> found != null && found == first,
                "%d of 256 for the first replica".formatted(first));
    }

    private String readiness() {
        return Probes.of(product.operator()).get("/readyz");
    }

    @Test
    void theLossOfWatchingIsNamedAndItsReturnIsEnough() {
        product.applyPair("watched");
        product.awaitVerified("watched");
        product.await(this::readiness, "200 ok\n"::equals, "readiness");

        product.kubectl("delete", "rolebinding", "apportion-watch");
        String lost = product.await(
                this::readiness,
                answer -> answer.startsWith("503")
                        && answer.contains("pods/namespaces/" + product.namespace())
                        && answer.contains("endpointslices/namespaces/" + product.namespace()),
                "readiness names what was lost");
        assertThat(lost).contains("is forbidden");
        assertThat(Probes.of(product.operator()).get("/healthz")).startsWith("200");
        assertThat(Probes.of(product.operator())
                        .metric("apportion_watch_refused{collection=\"pods/namespaces/%s\"}"
                                .formatted(product.namespace())))
                .isEqualTo(1);
        awaitShare("www.watched.example", 128);

        Rights.bind(server, product.namespace(), product.namespace(), "apportion-watch", "apportion");
        product.await(this::readiness, "200 ok\n"::equals, "readiness");
        product.setCapacity("watched", 300);
        awaitShare("www.watched.example", 192);
        product.awaitCondition("trafficservice/watched", "Ready", "True");
    }

    @Test
    void theLossOfWritingIsAConditionAndItsReturnIsEnough() {
        product.applyPair("written");
        product.awaitVerified("written");
        product.kubectl("delete", "rolebinding", "apportion-zone");
        product.setCapacity("written", 300);
        product.awaitCondition("dnszone/written", "Programmed", "False WriteFailed");
        assertThat(product.condition("dnszone/written", "Programmed")).contains("configmaps", "forbidden");
        product.awaitCondition("trafficservice/written", "Ready", "False WriteFailed");
        awaitShare("www.written.example", 128);

        Rights.bind(server, product.namespace(), product.namespace(), "apportion-zone", "apportion");
        awaitShare("www.written.example", 192);
        product.awaitCondition("trafficservice/written", "Ready", "True");
    }

    @Test
    void aStartWithoutRightsWaitsForThem() throws IOException {
        product.applyPair("late");
        product.awaitVerified("late");
        product.stopOperator();
        product.kubectl("delete", "rolebinding", "apportion-watch");
        product.setCapacity("late", 300);
        product.launchOperator();
        product.await(
                this::readiness,
                answer -> answer.startsWith("503")
                        && answer.contains("starting")
                        && answer.contains("pods")
                        && answer.contains("forbidden"),
                "readiness names what is not known");
        awaitShare("www.late.example", 128);

        Rights.bind(server, product.namespace(), product.namespace(), "apportion-watch", "apportion");
        awaitShare("www.late.example", 192);
        product.await(this::readiness, "200 ok\n"::equals, "readiness");
    }

    @Test
    void aZoneInANamespaceWithoutTheRightsOfZonesSaysSo() {
        Kubectl beside = server.kubectl(neighbour);
        beside.runWith(Product.pair("strange").replace("PORT", "1"), "apply", "-f", "-")
                .orThrow();
        String path =
                "jsonpath={range .status.conditions[?(@.type==\"Programmed\")]}{.status} {.reason}: {.message}{end}";
        product.await(
                () -> beside.run("get", "dnszone/strange", "-o", path).orThrow().stdout(),
                found -> found.startsWith("False ShardsUnreadable") && found.contains("forbidden"),
                "the zone names the missing right");
        Rights.bind(server, neighbour, product.namespace(), "apportion-zone", "apportion");
        product.await(
                () -> beside.run("get", "dnszone/strange", "-o", path).orThrow().stdout(),
                found -> found.startsWith("True Programmed"),
                "the zone is written");
        beside.run("delete", "dnszone/strange", "replicapool/strange", "trafficservice/strange")
                .orThrow();
    }

    @Test
    void zonesOfExternalDnsNameTheRoleThatIsMissingAndGoOnOnceItIsThere() throws IOException {
        ExternalDns.installDefinition(server);
        product.stopOperator();
        product.kubectl("delete", "rolebinding", "apportion-external-dns");
        product.startOperator();
        product.applyPair("beside");
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: endpoints}
            spec: {domain: endpoints.example, externalDNS: {dialect: Route53}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: endpoints}
            spec: {zoneRef: {name: endpoints}, hostname: shop.endpoints.example, poolRef: {name: beside}}
            """);
        product.awaitVerified("beside");
        product.awaitCondition("dnszone/endpoints", "Programmed", "False EndpointsUnreadable");
        assertThat(product.condition("dnszone/endpoints", "Programmed"))
                .contains("forbidden", "apportion-external-dns");

        Rights.bind(server, product.namespace(), product.namespace(), "apportion-external-dns", "apportion");
        product.awaitReady("dnszone/endpoints", "trafficservice/endpoints");
    }

    /** What Apportion's account may do, as the API server says. */
    @ParameterizedTest
    @CsvSource({
        "no, list, secrets, -A",
        "no, get, secrets, ''",
        "no, list, configmaps, -A",
        "no, delete, configmaps, ''",
        "no, update, configmaps, ''",
        "no, delete, pods, ''",
        "no, create, pods, ''",
        "no, patch, pods, -A",
        "no, update, dnszones.apportion.dev, ''",
        "no, patch, trafficservices.apportion.dev, ''",
        "no, create, nodes, ''",
        "no, update, dnsendpoints.externaldns.k8s.io, ''",
        "no, get, leases.coordination.k8s.io/other, ''",
        "yes, get, leases.coordination.k8s.io/apportion, ''",
        "yes, patch, configmaps, ''",
        "yes, patch, trafficservices.apportion.dev, --subresource=status",
    })
    void nothingMoreIsGranted(String answer, String verb, String resource, String scope) {
        String account = "--as=system:serviceaccount:%s:apportion".formatted(product.namespace());
        Command.Result result = scope.isEmpty()
                ? server.kubectl(product.namespace()).run("auth", "can-i", verb, resource, account)
                : server.kubectl(product.namespace()).run("auth", "can-i", verb, resource, account, scope);
        assertThat(result.stdout().strip()).isEqualTo(answer);
    }

    @Test
    void ofPodsNothingButTheAnnotationCanBeChanged() throws IOException {
        String policy = Files.readString(SourceTree.root().resolve("charts/apportion/files/admission-policy.yaml"));
        product.kubectl(
                "run", "dns", "--image=none:1", "--annotations=own=stays", "--labels=app=dns", "--restart=Never");
        server.kubectl(product.namespace())
                .runWith(policy.replace("apportion-system", product.namespace()), "apply", "-f", "-")
                .orThrow();
        try {
            AtomicInteger tries = new AtomicInteger();
            product.await(
                    "the policy is in force",
                    () -> !patched(
                            "{\"metadata\":{\"annotations\":{\"try\":\"%d\"}}}".formatted(tries.incrementAndGet())));
            for (String change : Set.of(
                    "{\"spec\":{\"containers\":[{\"name\":\"dns\",\"image\":\"evil:1\"}]}}",
                    "{\"spec\":{\"activeDeadlineSeconds\":1}}",
                    "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}",
                    "{\"metadata\":{\"labels\":null}}",
                    "{\"metadata\":{\"finalizers\":[\"example.com/keep\"]}}",
                    "{\"metadata\":{\"annotations\":{\"own\":\"gone\"}}}",
                    "{\"metadata\":{\"annotations\":{\"own\":null}}}",
                    "{\"metadata\":{\"annotations\":{\"another\":\"1\"}}}")) {
                assertThat(patched(change)).as(change).isFalse();
            }
            assertThat(patched("{\"metadata\":{\"annotations\":{\"apportion.dev/serial\":\"x.s0-1\"}}}"))
                    .isTrue();
            assertThat(patched("{\"metadata\":{\"annotations\":{\"apportion.dev/serial\":\"x.s0-2\"}}}"))
                    .isTrue();
            assertThat(product.kubectl(
                            "get",
                            "pod",
                            "dns",
                            "-o",
                            "jsonpath={.spec.containers[0].image} {.metadata.annotations.own} {.metadata.labels.app}"))
                    .isEqualTo("none:1 stays dns");
        } finally {
            server.kubectl(product.namespace())
                    .run(
                            "delete",
                            "validatingadmissionpolicy/apportion-pods",
                            "validatingadmissionpolicybinding/apportion-pods")
                    .orThrow();
        }
    }

    private boolean patched(String change) {
        try (KubernetesClient account = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(client.getConfiguration())
                        .withImpersonateUsername("system:serviceaccount:%s:apportion".formatted(product.namespace()))
                        .build())
                .build()) {
            account.resource(new PodBuilder()
                            .withNewMetadata()
                            .withNamespace(product.namespace())
                            .withName("dns")
                            .endMetadata()
                            .build())
                    .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), change);
            return true;
        } catch (KubernetesClientException e) {
            assertThat(e.getMessage()).contains("apportion-pods");
            return false;
        }
    }
}
