package dev.apportion.e2e.bed;

import io.fabric8.kubernetes.api.model.APIGroup;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A Kubernetes API server with its etcd, as two processes that listen on 127.0.0.1 only and keep everything in a temporary folder.
 * There is no controller manager and no node: nothing garbage-collects, makes EndpointSlices or runs pods.
 */
public final class ApiServer implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(60);
    private static final int STARTS = 5;
    private static final String TAKEN = "address already in use";

    private final Path folder;
    private final ServerProcess etcd;
    private final ServerProcess server;
    private final String url;
    private final String token;
    private final Path certificate;
    private final Path kubeconfig;
    private final Path kubectl;
    private final SSLContext tls;
    private final KubernetesClient client;
    private final AtomicInteger namespaces = new AtomicInteger();

    private ApiServer(
            Path folder,
            ServerProcess etcd,
            ServerProcess server,
            String url,
            String token,
            Path certificate,
            Path kubectl)
            throws IOException {
        this.folder = folder;
        this.etcd = etcd;
        this.server = server;
        this.url = url;
        this.token = token;
        this.certificate = certificate;
        this.kubectl = kubectl;
        this.kubeconfig = Files.writeString(folder.resolve("kubeconfig"), kubeconfig(url, certificate, token));
        this.tls = trusting(certificate);
        this.client = client("default");
    }

    /**
     * Starts both processes and waits until the server is ready to serve.
     *
     * @throws AssertionError with the log of the process that did not start
     */
    public static ApiServer start(ToolCache tools) throws IOException {
        Path etcdProgram = tools.path(Tool.ETCD);
        Path serverProgram = tools.path(Tool.KUBE_APISERVER);
        Path kubectl = tools.path(Tool.KUBECTL);
        Path folder = Files.createTempDirectory("apportion-api-server-");
        int etcdPort = 0;
        for (int i = 1; ; i++) {
            etcdPort = LoopbackPorts.free();
            ServerProcess etcd = etcd(etcdProgram, folder, etcdPort);
            try {
                return start(serverProgram, kubectl, folder, etcd, etcdPort);
            } catch (AssertionError | IOException e) {
                boolean portTaken = etcd.log().contains(TAKEN) || e.toString().contains(TAKEN);
                etcd.close();
                Folders.delete(folder.resolve("etcd"));
                if (!portTaken || i == STARTS) {
                    Folders.delete(folder);
                    throw e;
                }
            }
        }
    }

    private static ServerProcess etcd(Path program, Path folder, int port) throws IOException {
        String clients = "http://127.0.0.1:" + port;
        String peers = "http://127.0.0.1:" + LoopbackPorts.free();
        List<String> command = List.of(
                program.toString(),
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=" + clients,
                "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=default=" + peers,
                "--unsafe-no-fsync"); // the data need not outlive the machine
        return ServerProcess.start("etcd", command, folder, Map.of(), folder.resolve("etcd.log"));
    }

    private static ApiServer start(Path program, Path kubectl, Path folder, ServerProcess etcd, int etcdPort)
            throws IOException {
        int port = LoopbackPorts.free();
        Path certificates = Files.createDirectories(folder.resolve("certificates"));
        Path key = Files.writeString(folder.resolve("service-account.key"), privateKey());
        String token = token();
        Path tokens = Files.writeString(folder.resolve("tokens"), token + ",admin,admin,system:masters\n");
        List<String> command = List.of(
                program.toString(),
                "--etcd-servers=http://127.0.0.1:" + etcdPort,
                "--bind-address=127.0.0.1",
                "--secure-port=" + port,
                "--cert-dir=" + certificates, // empty: the server signs its own certificate
                "--token-auth-file=" + tokens,
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=" + key,
                "--service-account-signing-key-file=" + key,
                "--service-cluster-ip-range=10.96.0.0/16",
                // It would wait for service accounts that only a controller manager makes.
                "--disable-admission-plugins=ServiceAccount");
        ServerProcess server =
                ServerProcess.start("kube-apiserver", command, folder, Map.of(), folder.resolve("kube-apiserver.log"));
        try {
            Path certificate = certificates.resolve("apiserver.crt");
            server.await(
                    "certificate",
                    START,
                    () -> Files.exists(certificate) && Files.exists(certificates.resolve("apiserver.key")));
            ApiServer ready =
                    new ApiServer(folder, etcd, server, "https://127.0.0.1:" + port, token, certificate, kubectl);
            server.await("readiness", START, ready::isReady);
            return ready;
        } catch (AssertionError | IOException e) {
            server.close();
            throw e;
        }
    }

    private boolean isReady() {
        try {
            return "ok".equals(client.raw("/readyz"))
                    && client.namespaces().withName("default").get() != null;
        } catch (KubernetesClientException notYet) {
            return false;
        }
    }

    private static String privateKey() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            byte[] key = generator.generateKeyPair().getPrivate().getEncoded();
            return "-----BEGIN PRIVATE KEY-----\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key)
                    + "\n-----END PRIVATE KEY-----\n";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has RSA", e);
        }
    }

    private static String token() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static String kubeconfig(String url, Path certificate, String token) {
        return """
            apiVersion: v1
            kind: Config
            clusters:
            - name: test
              cluster:
                server: %s
                certificate-authority: %s
            users:
            - name: admin
              user:
                token: %s
            contexts:
            - name: test
              context:
                cluster: test
                user: admin
            current-context: test
            """.formatted(url, certificate, token);
    }

    public String url() {
        return url;
    }

    /** A kubeconfig file for programs such as kubectl; its user may do everything. */
    public Path kubeconfig() {
        return kubeconfig;
    }

    /**
     * Makes a service account, if it is not there, and a kubeconfig file for it. It has no rights but those that it is given.
     */
    public Path account(String namespace, String name) throws IOException {
        ServiceAccount account = new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .build();
        client.resource(account).serverSideApply();
        String given = kubectl(namespace)
                .run("create", "token", name, "--duration=24h")
                .orThrow()
                .stdout()
                .strip();
        Path file = folder.resolve("kubeconfig-%s-%s".formatted(namespace, name));
        return Files.writeString(file, kubeconfig(url, certificate, given));
    }

    /** Stops the server where it is: requests are accepted and never answered. */
    public void freeze() {
        server.signal("STOP");
    }

    /** Lets it go on. */
    public void thaw() {
        server.signal("CONT");
    }

    /** The text of a kubeconfig file for programs that reach this server, with all its rights, at another address. */
    String kubeconfig(String otherUrl) {
        return kubeconfig(otherUrl, certificate, token);
    }

    /** A connection to this server by TLS. */
    Socket connect() throws IOException {
        return tls.getSocketFactory().createSocket("127.0.0.1", URI.create(url).getPort());
    }

    /** Trusts what the server signed for itself. */
    private static SSLContext trusting(Path certificate) throws IOException {
        try (InputStream in = Files.newInputStream(certificate)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null);
            for (Certificate found : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                trusted.setCertificateEntry(Integer.toString(trusted.size()), found);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("Reading " + certificate, e);
        }
    }

    /** A client that may do everything and that takes the namespace where a request names none; it is the caller's to close. */
    public KubernetesClient client(String namespace) {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(url)
                .withCaCertFile(certificate.toString())
                .withOauthToken(token)
                .withNamespace(namespace)
                .withRequestRetryBackoffLimit(0) // a test sees the first answer
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** kubectl against this server, in a namespace. */
    public Kubectl kubectl(String namespace) {
        return new Kubectl(kubectl, kubeconfig, namespace);
    }

    /** The log of the API server. */
    public String log() {
        return server.log();
    }

    /**
     * Applies every manifest {@code *.yaml} of a folder that holds CustomResourceDefinitions, and waits until they are served. Without the
     * folder nothing happens.
     */
    public void install(Path crds) throws IOException {
        if (!Files.isDirectory(crds)) {
            return;
        }
        List<Path> manifests;
        try (Stream<Path> files = Files.list(crds)) {
            manifests = files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
        if (manifests.isEmpty()) {
            return;
        }
        Kubectl kubectl = kubectl("default");
        List<String> apply = new ArrayList<>(List.of("apply", "--server-side", "-o", "name"));
        manifests.forEach(manifest -> apply.addAll(List.of("-f", manifest.toString())));
        List<String> names = kubectl.run(apply.toArray(String[]::new))
                .orThrow()
                .stdout()
                .lines()
                .toList();
        List<String> wait = new ArrayList<>(List.of("wait", "--for=condition=Established", "--timeout=30s"));
        wait.addAll(names);
        kubectl.run(wait.toArray(String[]::new)).orThrow();
    }

    /** Makes a namespace of a new name. */
    public String newNamespace() {
        Namespace namespace = new NamespaceBuilder()
                .withNewMetadata()
                .withName("test-" + namespaces.incrementAndGet())
                .endMetadata()
                .build();
        return client.resource(namespace).create().getMetadata().getName();
    }

    /** Deletes a namespace with all that is in it, as the controller manager would. */
    public void deleteNamespace(String namespace) {
        for (String path : listPaths()) {
            String[] groupAndPlural = path.split(" ", -1);
            client.raw(groupAndPlural[0] + "/namespaces/" + namespace + "/" + groupAndPlural[1], "DELETE", null);
        }
        Namespace deleted = client.namespaces().withName(namespace).get();
        client.namespaces().withName(namespace).delete();
        deleted.getSpec().setFinalizers(List.of());
        deleted.getMetadata().setResourceVersion(null);
        client.raw("/api/v1/namespaces/" + namespace + "/finalize", "PUT", deleted);
    }

    /** The namespaced collections that can be deleted, each as "API path, plural name". */
    private List<String> listPaths() {
        List<String> versions = new ArrayList<>(List.of("v1"));
        for (APIGroup group : client.getApiGroups().getGroups()) {
            versions.add(group.getPreferredVersion().getGroupVersion());
        }
        List<String> paths = new ArrayList<>();
        for (String version : versions) {
            for (APIResource resource : client.getApiResources(version).getResources()) {
                if (Boolean.TRUE.equals(resource.getNamespaced())
                        && resource.getVerbs().contains("deletecollection")) {
                    paths.add((version.equals("v1") ? "/api/" : "/apis/") + version + " " + resource.getName());
                }
            }
        }
        return paths;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        etcd.close();
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("Deleting " + folder, e);
        }
    }
}
