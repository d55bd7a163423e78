package dev.apportion.dns.coredns;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** A real API server with its store. */
final class ApiServer implements AutoCloseable {

    private static final String TOKEN = "test";

    private final List<Process> processes = new ArrayList<>();
    private final int port;

    private ApiServer(int port) {
        this.port = port;
    }

    /** Where the programs are, if the tests were told. */
    static Optional<Path> binaries() {
        return Optional.ofNullable(System.getenv("APPORTION_TEST_BINARIES"))
                .map(Path::of)
                .filter(folder -> Files.isExecutable(folder.resolve("kube-apiserver")));
    }

    static ApiServer start(Path binaries, Path folder)
            throws IOException, InterruptedException, GeneralSecurityException {
        ApiServer server = new ApiServer(freePort());
        int store = freePort();
        int peers = freePort();
        Path key = Files.writeString(folder.resolve("sa.key"), privateKey());
        Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + ",admin,admin,system:masters\n");
        server.run(
                folder.resolve("etcd.log"),
                binaries.resolve("etcd").toString(),
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=http://127.0.0.1:" + store,
                "--advertise-client-urls=http://127.0.0.1:" + store,
                "--listen-peer-urls=http://127.0.0.1:" + peers,
                "--unsafe-no-fsync");
        server.run(
                folder.resolve("api.log"),
                binaries.resolve("kube-apiserver").toString(),
                "--etcd-servers=http://127.0.0.1:" + store,
                "--bind-address=127.0.0.1",
                "--secure-port=" + server.port,
                "--cert-dir=" + folder.resolve("certs"),
                "--token-auth-file=" + tokens,
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=" + key,
                "--service-account-signing-key-file=" + key,
                "--service-cluster-ip-range=10.96.0.0/16",
                "--disable-admission-plugins=ServiceAccount");
        try (KubernetesClient client = server.client()) {
            for (int tries = 0; tries < 300; tries++) {
                try {
                    if (client.namespaces().withName("default").get() != null) {
                        return server;
                    }
                } catch (KubernetesClientException e) {
                    // Not ready yet.
                }
                Thread.sleep(100);
            }
        }
        server.close();
        throw new AssertionError("the API server does not start:\n" + Files.readString(folder.resolve("api.log")));
    }

    KubernetesClient client() {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:" + port)
                .withOauthToken(TOKEN)
                .withTrustCerts(true)
                .withRequestRetryBackoffLimit(0)
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    @Override
    public void close() {
        // Nothing is worth keeping, and an API server that has lost its store waits for it long.
        processes
                .reversed()
                .forEach(process -> process.destroyForcibly().onExit().join());
    }

    private void run(Path log, String... command) throws IOException {
        processes.add(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String privateKey() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        return "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'})
                        .encodeToString(generator.generateKeyPair().getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
    }
}
