package dev.apportion.health;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CheckerTest {

    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final Duration TIMEOUT = Duration.ofMillis(400);

    /** Nothing but a server that does not answer takes so long. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A server that answers every connection in the same way, and remembers what it was asked. */
    private static final class Server implements AutoCloseable {

        private final ServerSocket listening;
        private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
        private final BlockingQueue<List<SNIServerName>> names = new LinkedBlockingQueue<>();

        interface Answer {
            void on(Socket socket) throws Exception;
        }

        Server(ServerSocket listening, Answer answer) {
            this.listening = listening;
            Thread.ofVirtual().start(() -> {
                while (!listening.isClosed()) {
                    try (Socket socket = listening.accept()) {
                        if (socket instanceof SSLSocket encrypted) {
                            encrypted.startHandshake();
                            names.add(((ExtendedSSLSession) encrypted.getSession()).getRequestedServerNames());
                        }
                        requests.add(request(socket.getInputStream()));
                        answer.on(socket);
                    } catch (Exception e) {
                        // The client has gone; the next one may come.
                    }
                }
            });
        }

        static Server saying(String text) throws IOException {
            return new Server(
                    new ServerSocket(0, 50, LOOPBACK),
                    socket -> socket.getOutputStream().write(text.getBytes(ISO_8859_1)));
        }

        static Server doing(Answer answer) throws IOException {
            return new Server(new ServerSocket(0, 50, LOOPBACK), answer);
        }

        private static String request(InputStream in) throws IOException {
            StringBuilder text = new StringBuilder();
            while (text.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    break;
                }
                text.append((char) next);
            }
            return text.toString();
        }

        int port() {
            return listening.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }

    private static CheckResult check(HealthCheck.Question question) {
        return check(question, PATIENCE);
    }

    private static CheckResult check(HealthCheck.Question question, Duration timeout) {
        return new Checker()
                .check(new Target(LOOPBACK, new HealthCheck(question, Duration.ofSeconds(5), timeout, 3, 2)));
    }

    private static HealthCheck.Question http(int port) {
        return new HealthCheck.Question.Http(port, "/healthz?full=1", false, Optional.empty());
    }

    @ParameterizedTest
    @CsvSource({
        "200, true",
        "204, true",
        "302, true",
        "399, true",
        "400, false",
        "404, false",
        "500, false",
        "199, false"
    })
    void theStatusDecides(int status, boolean passes) throws IOException {
        try (Server server = Server.saying("HTTP/1.1 %d Some words\r\nContent-Length: 0\r\n\r\n".formatted(status))) {
            assertThat(check(http(server.port())))
                    .isEqualTo(
                            passes
                                    ? new CheckResult.Passed()
                                    : new CheckResult.Failed("127.0.0.1:%d: status %d of /healthz?full=1"
                                            .formatted(server.port(), status)));
        }
    }

    @Test
    void theRequestNamesTheAddressUnlessAHostIsGiven() throws Exception {
        try (Server server = Server.saying("HTTP/1.0 200\n")) {
            assertThat(check(http(server.port()))).isEqualTo(new CheckResult.Passed());
            assertThat(server.requests.poll(1, TimeUnit.SECONDS))
                    .startsWith("GET /healthz?full=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n".formatted(server.port()))
                    .contains("\r\nConnection: close\r\n");
            assertThat(check(new HealthCheck.Question.Http(server.port(), "/", false, Optional.of("www.example.org"))))
                    .isEqualTo(new CheckResult.Passed());
            assertThat(server.requests.poll(1, TimeUnit.SECONDS))
                    .startsWith("GET / HTTP/1.1\r\nHost: www.example.org\r\n");
        }
    }

    /** The certificate is the server's own and of no known authority. */
    @Test
    void withTlsTheHostIsInTheHandshakeToo(@TempDir Path folder) throws Exception {
        SSLContext context = selfSigned(folder.resolve("keys.p12"));
        ServerSocket listening = context.getServerSocketFactory().createServerSocket(0, 50, LOOPBACK);
        try (Server server = new Server(
                listening, socket -> socket.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(ISO_8859_1)))) {
            assertThat(check(new HealthCheck.Question.Http(server.port(), "/", true, Optional.of("www.example.org"))))
                    .isEqualTo(new CheckResult.Passed());
            assertThat(server.names.poll(1, TimeUnit.SECONDS))
                    .hasToString("[type=host_name (0), value=www.example.org]");
            assertThat(check(new HealthCheck.Question.Http(server.port(), "/", true, Optional.empty())))
                    .isEqualTo(new CheckResult.Passed());
            assertThat(server.names.poll(1, TimeUnit.SECONDS)).isEmpty();
        }
    }

    private static SSLContext selfSigned(Path keys) throws Exception {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Process process = new ProcessBuilder(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=other",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keys.toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .start();
        assertThat(process.waitFor())
                .as(new String(process.getInputStream().readAllBytes(), ISO_8859_1))
                .isZero();
        char[] password = "changeit".toCharArray();
        KeyStore store = KeyStore.getInstance(keys.toFile(), password);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        return context;
    }

    @Test
    void aConnectionIsEnoughForTcp() throws IOException {
        try (Server server = Server.doing(socket -> Thread.sleep(10_000))) {
            assertThat(check(new HealthCheck.Question.Tcp(server.port()))).isEqualTo(new CheckResult.Passed());
        }
    }

    @Test
    void whereNobodyListensTheConnectionIsRefused() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, LOOPBACK)) {
            port = free.getLocalPort();
        }
        assertThat(check(new HealthCheck.Question.Tcp(port)))
                .isEqualTo(new CheckResult.Failed("127.0.0.1:%d: Connection refused".formatted(port)));
    }

    @Test
    void silenceEndsWithTheTimeoutEvenWhereSomethingTrickles() throws IOException {
        for (Server.Answer answer : List.<Server.Answer>of(socket -> Thread.sleep(10_000), socket -> {
            for (int i = 0; i < 100; i++) {
                socket.getOutputStream().write('H');
                Thread.sleep(50);
            }
        })) {
            try (Server server = Server.doing(answer)) {
                long start = System.nanoTime();
                assertThat(check(http(server.port()), TIMEOUT))
                        .isEqualTo(new CheckResult.Failed(
                                "127.0.0.1:%d: no answer within 0.400 s".formatted(server.port())));
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(TIMEOUT, TIMEOUT.multipliedBy(10));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "SSH-2.0-x\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "\u0000\u00ff\n"})
    void whatIsNoHttpIsNamed(String text) throws IOException {
        try (Server server = Server.saying(text)) {
            assertThat(check(http(server.port())))
                    .isInstanceOfSatisfying(
                            CheckResult.Failed.class,
                            failed -> assertThat(failed.reason())
                                    .contains("no HTTP response, but \"")
                                    .doesNotContain("\u0000", "\u00ff", "\n"));
        }
    }

    /** Hundreds of megabytes without a line end are not read. */
    @Test
    void endlessLinesAreCutOff() throws IOException {
        byte[] much = new byte[1 << 20];
        try (Server server = Server.doing(socket -> {
            for (int i = 0; i < 512; i++) {
                socket.getOutputStream().write(much);
            }
        })) {
            assertThat(check(http(server.port())))
                    .isInstanceOfSatisfying(
                            CheckResult.Failed.class,
                            failed -> assertThat(failed.reason())
                                    .contains("no HTTP response")
                                    .hasSizeLessThan(120));
        }
    }
}
