package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** Keys that stand in ConfigMaps: they are followed, nothing is lost with them, and their right is a right of its own. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KeyListsIT {

    private static final String FORBIDDEN = "False ConfigMapForbidden";

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ApiServer server;

    /** Watched, but without zones, so that the right to read ConfigMaps is not there by itself. */
    @SuppressWarnings("NullAway.Init") // set before all tests
    private Kubectl beside;

    @BeforeAll
    void start(ApiServer apiServer, Kubectl kubectl, @TempDir Path folder) throws IOException {
        server = apiServer;
        beside = apiServer.kubectl(apiServer.newNamespace());
        product = Product.start(
                apiServer,
                kubectl,
                folder,
                "--namespaces",
                beside.namespace(),
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
        server.deleteNamespace(beside.namespace());
    }

    private static String stream(String name) {
        return """
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: NAME}
            spec: {serviceRef: {name: NAME}, keys: {configMap: {name: NAME, key: rates.csv}}}
            """.replace("NAME", name);
    }

    private static String list(String name, String lines) {
        return """
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: %s}
            data: {rates.csv: "%s"}
            """.formatted(name, lines.replace("\n", "\\n"));
    }

    private Set<String> addresses(String host) {
        return product.dns().ask(Question.of(host, Type.A)).addresses(Type.A).stream()
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void awaitAnswered(String host) {
        product.await(host + " is answered", () -> !addresses(host).isEmpty());
    }

    private void awaitAbsent(String host) {
        product.await(
                () -> product.dns().ask(Question.of(host, Type.A)).rcode(), "NXDOMAIN"::equals, host + " is absent");
    }

    private Set<String> slots(String host) {
        return product.dns().slots(Question.of(host, Type.A)).counts().keySet();
    }

    @Test
    void theListIsFollowed() {
        product.apply(Product.pair("followed") + stream("followed"));
        product.awaitCondition("trafficstream/followed", "ResolvedRefs", "False ConfigMapNotFound");

        product.apply(list("followed", "name,rate\nalice,30\nbob,10\n"));
        product.awaitCondition("trafficstream/followed", "Ready", "True");
        assertThat(product.condition("trafficstream/followed", "Accepted")).endsWith("it has 2 keys");
        awaitAnswered("alice.www.followed.example");
        awaitAnswered("bob.www.followed.example");

        product.apply(list("followed", "name,rate\nalice,30\ncarol,many\ndave,5\n"));
        awaitAnswered("dave.www.followed.example");
        awaitAbsent("bob.www.followed.example");
        awaitAbsent("carol.www.followed.example");
        awaitAnswered("alice.www.followed.example");
        product.awaitCondition("trafficstream/followed", "Accepted", "False InvalidSpec");
        assertThat(product.condition("trafficstream/followed", "Accepted"))
                .contains("line 3: the rate \"many\" of \"carol\"", "1 of 3 keys are left out");

        product.kubectl("delete", "trafficstream/followed");
        awaitAbsent("alice.www.followed.example");
    }

    @Test
    void withTheListGoneTheKeysStayAndGoWhereReplicasAre() throws IOException {
        product.apply(Product.pair("kept") + list("kept", "alice,30\nbob,10\n") + stream("kept"));
        product.awaitCondition("trafficstream/kept", "Ready", "True");
        awaitAnswered("alice.www.kept.example");

        product.apply(list("kept", "# nothing was exported\n"));
        product.awaitCondition("trafficstream/kept", "Accepted", "False InvalidSpec");
        product.kubectl("patch", "configmap/kept", "--type=json", "-p", """
            [{"op": "replace", "path": "/data", "value": {"rates.txt": "alice,1"}}]\
            """);
        product.awaitCondition("trafficstream/kept", "ResolvedRefs", "False ConfigMapKeyNotFound");
        assertThat(product.condition("trafficstream/kept", "ResolvedRefs")).contains("it has rates.txt");
        product.kubectl("delete", "configmap/kept");
        product.awaitCondition("trafficstream/kept", "ResolvedRefs", "False ConfigMapNotFound");
        assertThat(slots("alice.www.kept.example")).containsExactlyInAnyOrder("192.0.2.1", "192.0.2.2");

        product.kubectl(
                "patch",
                "replicapool/kept",
                "--type=json",
                "-p",
                "[{\"op\":\"add\",\"path\":\"/spec/sites/0/endpoints/0/drain\",\"value\":true}]");
        product.await(() -> slots("alice.www.kept.example"), Set.of("192.0.2.2")::equals, "the key leaves the replica");

        product.stopOperator();
        product.startOperator();
        product.await(
                () -> product.condition("trafficservice/kept", "Verified"),
                found -> found.startsWith("True"),
                "the zone is looked at again");
        assertThat(slots("alice.www.kept.example")).containsExactly("192.0.2.2");
        assertThat(slots("bob.www.kept.example")).containsExactly("192.0.2.2");
        product.awaitCondition("trafficstream/kept", "ResolvedRefs", "False ConfigMapNotFound");

        product.apply(list("kept", "alice,30\n"));
        awaitAbsent("bob.www.kept.example");
        product.awaitCondition("trafficstream/kept", "Ready", "True");
        assertThat(slots("alice.www.kept.example")).containsExactly("192.0.2.2");
    }

    @Test
    void aStartWritesNothing() throws IOException, InterruptedException {
        product.apply(Product.pair("again") + list("again", "alice,30\nbob,10\n") + stream("again"));
        product.awaitCondition("trafficstream/again", "Verified", "True");
        product.awaitCondition("trafficservice/again", "Ready", "True");
        // The first start forgets what the last change of the pool was.
        restart();
        String before = states();
        restart();
        assertThat(states()).isEqualTo(before).contains("replicapool");
    }

    private void restart() throws IOException, InterruptedException {
        product.stopOperator();
        product.startOperator();
        Thread.sleep(3000);
    }

    private String states() {
        return product.kubectl(
                        "get",
                        "replicapool/again",
                        "trafficstream/again",
                        "trafficservice/again",
                        "dnszone/again",
                        "-o",
                        "jsonpath={range .items[*]}{.kind}{.metadata.resourceVersion}{\"\\n\"}{end}")
                .toLowerCase(Locale.ROOT);
    }

    private void besides(String manifests) {
        beside.runWith(manifests, "apply", "-f", "-").orThrow();
    }

    private String resolved(String stream) {
        return beside.run(
                        "get",
                        "trafficstream/" + stream,
                        "-o",
                        "jsonpath={range .status.conditions[?(@.type==\"ResolvedRefs\")]}{.status} {.reason}:"
                                + " {.message}{end}")
                .orThrow()
                .stdout();
    }

    private void awaitResolved(String stream, String start) {
        product.await(() -> resolved(stream), found -> found.startsWith(start), stream + " " + start);
    }

    /** A zone here, and its service with a pool there. */
    private void applyBeside(String name) {
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: NAME}
            spec: {domain: NAME.example, allowedNamespaces: {from: All}, coreDNS: {}}
            """.replace("NAME", name));
        besides("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: NAME}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}]}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: NAME}
            spec: {zoneRef: {name: NAME, namespace: HOME}, hostname: www.NAME.example, poolRef: {name: NAME}}
            """.replace("NAME", name).replace("HOME", product.namespace()));
    }

    @Test
    void theLackOfTheRightIsNamedAndItsReturnIsEnough() throws IOException {
        applyBeside("refused");
        besides(list("refused", "alice,30\n") + stream("refused"));
        awaitResolved("refused", FORBIDDEN);
        assertThat(resolved("refused")).contains("cannot list resource", "bind the role apportion-keys");
        awaitAnswered("www.refused.example");
        assertThat(Probes.of(product.operator()).get("/readyz")).isEqualTo("200 ok\n");

        Rights.bind(server, beside.namespace(), product.namespace(), "apportion-keys", "apportion");
        awaitResolved("refused", "True");
        awaitAnswered("alice.www.refused.example");

        beside.run("delete", "rolebinding", "apportion-keys").orThrow();
        awaitResolved("refused", FORBIDDEN);
        assertThat(addresses("alice.www.refused.example")).containsExactly("192.0.2.1");
        product.stopOperator();
        product.startOperator();
        product.applyPair("meanwhile");
        product.awaitVerified("meanwhile");
        assertThat(addresses("alice.www.refused.example")).containsExactly("192.0.2.1");
        assertThat(resolved("refused")).startsWith(FORBIDDEN);

        Rights.bind(server, beside.namespace(), product.namespace(), "apportion-keys", "apportion");
        besides(list("refused", "alice,30\nbob,1\n"));
        awaitResolved("refused", "True");
        awaitAnswered("bob.www.refused.example");
        beside.run("delete", "rolebinding", "apportion-keys").orThrow();
    }

    @Test
    void theRightToOneConfigMapIsEnoughForIt() {
        besides("""
            apiVersion: rbac.authorization.k8s.io/v1
            kind: Role
            metadata: {name: narrow}
            rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [narrow], verbs: [list, watch]}]
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: RoleBinding
            metadata: {name: narrow}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: narrow}
            subjects: [{kind: ServiceAccount, name: apportion, namespace: HOME}]
            """.replace("HOME", product.namespace()));
        applyBeside("narrow");
        besides(list("narrow", "alice,30\n") + stream("narrow"));
        awaitResolved("narrow", "True");
        awaitAnswered("alice.www.narrow.example");
        besides(list("narrow", "alice,30\nbob,1\n"));
        awaitAnswered("bob.www.narrow.example");
    }
}
