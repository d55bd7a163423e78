package dev.apportion.e2e;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * The least rights, as an installation grants them: the programs of the tests run with these and no others.
 *
 * @param operator the kubeconfig of the operator's account
 * @param sync the kubeconfig of the account of {@code sync}
 */
record Rights(Path operator, Path sync) {

    private static final Path FILES = SourceTree.root().resolve("charts/apportion/files");

    /**
     * Grants them.
     *
     * @param home the namespace of the accounts and the lease
     * @param watched the namespaces that the operator watches
     * @param withZones the namespaces that may have zones
     */
    static Rights grant(ApiServer server, String home, Set<String> watched, Set<String> withZones) throws IOException {
        Path operator = server.account(home, "apportion");
        Path sync = server.account(home, "apportion-sync");
        Kubectl kubectl = server.kubectl(home);
        kubectl.run("apply", "--server-side", "-f", FILES.resolve("rbac.yaml").toString())
                .orThrow();
        kubectl.runWith(
                        binding("ClusterRoleBinding", home + "-apportion", home, "apportion-cluster", "apportion"),
                        "apply",
                        "-f",
                        "-")
                .orThrow();
        for (String namespace : watched) {
            bind(server, namespace, home, "apportion-watch", "apportion");
            bind(server, namespace, home, "apportion-external-dns", "apportion");
        }
        for (String namespace : withZones) {
            bind(server, namespace, home, "apportion-zone", "apportion");
        }
        bind(server, home, home, "apportion-lease", "apportion");
        bind(server, home, home, "apportion-sync", "apportion-sync");
        return new Rights(operator, sync);
    }

    /** Gives an account a role in a namespace. */
    static void bind(ApiServer server, String namespace, String home, String role, String account) {
        server.kubectl(namespace)
                .runWith(binding("RoleBinding", role, home, role, account), "apply", "-f", "-")
                .orThrow();
    }

    private static String binding(String kind, String name, String home, String role, String account) {
        return """
            apiVersion: rbac.authorization.k8s.io/v1
            kind: %s
            metadata: {name: %s}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
            subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]
            """.formatted(kind, name, role, account, home);
    }
}
