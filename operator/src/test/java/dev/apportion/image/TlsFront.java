package dev.apportion.image;

import io.fabric8.kubernetes.client.internal.SSLUtils;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;

/**
 * TLS as an API server has it before a server without: with HTTP/2 (which the mock server does not negotiate by itself), and
 * with the cipher that Go's servers choose.
 */
final class TlsFront implements AutoCloseable {

    private final SSLServerSocket socket;
    private final int behind;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private TlsFront(SSLServerSocket socket, int behind) {
        this.socket = socket;
        this.behind = behind;
    }

    /**
     * Begins to listen on the loopback interface.
     *
     * @param behind the port of the server that speaks without TLS
     */
    static TlsFront open(SelfSignedCertificate certificate, int behind) throws IOException {
        SSLServerSocket socket = (SSLServerSocket) context(certificate)
                .getServerSocketFactory()
                .createServerSocket(0, 0, InetAddress.getLoopbackAddress());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
        parameters.setCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"});
        socket.setSSLParameters(parameters);
        TlsFront front = new TlsFront(socket, behind);
        front.threads.execute(front::accept);
        return front;
    }

    private static SSLContext context(SelfSignedCertificate certificate) throws IOException {
        try (InputStream chain = Files.newInputStream(Path.of(certificate.certificatePath()));
                InputStream key = Files.newInputStream(Path.of(certificate.privateKeyPath()))) {
            return SSLUtils.sslContext(SSLUtils.keyManagers(chain, key, "RSA", "", null, ""), null);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a certificate of its own making", e);
        }
    }

    int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), behind);
                threads.execute(() -> copy(client, server));
                threads.execute(() -> copy(server, client));
            } catch (IOException e) {
                // It is closed, or the client is gone.
            }
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One of the two has hung up.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        threads.shutdownNow();
    }
}
