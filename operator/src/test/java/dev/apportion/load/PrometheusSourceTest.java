package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.apportion.load.PrometheusServer.Credentials;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against servers on loopback that answer as Prometheus does, with and without TLS. */
class PrometheusSourceTest {

    private static final String PASSWORD = "changeit";
    private static final String ANSWER =
            "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{},\"value\":[1,\"7\"]}]}}";

    @TempDir
    private Path folder;

    private final List<String> authorizations = new CopyOnWriteArrayList<>();
    private final List<HttpServer> servers = new ArrayList<>();
    private volatile String answer = ANSWER;
    private volatile int status = 200;

    @AfterEach
    void stop() {
        servers.forEach(server -> server.stop(0));
    }

    private URI serve(HttpServer server, String scheme) {
        server.createContext("/api/v1/query", exchange -> {
            try (exchange) {
                authorizations.add(
                        Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Authorization"), "none"));
                exchange.getRequestBody().readAllBytes();
                byte[] body = answer.getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        servers.add(server);
        return URI.create(
                "%s://localhost:%d".formatted(scheme, server.getAddress().getPort()));
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private URI plain() throws IOException {
        return serve(HttpServer.create(anyPort(), 0), "http");
    }

    /** A server whose certificate, for localhost, is its own; it stands in NAME.crt. */
    private URI encrypted(String name) throws Exception {
        Path keys = folder.resolve(name + ".p12");
        keytool(
                "-genkeypair",
                "-alias",
                "a",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost",
                "-storetype",
                "PKCS12",
                "-keystore",
                keys.toString(),
                "-storepass",
                PASSWORD);
        keytool(
                "-exportcert",
                "-rfc",
                "-alias",
                "a",
                "-keystore",
                keys.toString(),
                "-storepass",
                PASSWORD,
                "-file",
                folder.resolve(name + ".crt").toString());
        KeyStore store = KeyStore.getInstance(keys.toFile(), PASSWORD.toCharArray());
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(anyPort(), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return serve(server, "https");
    }

    private static void keytool(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    private static PrometheusSource source(URI url, Optional<Path> authority, Credentials credentials) {
        return new PrometheusSource(Map.of("default", new PrometheusServer(url, authority, credentials)));
    }

    @Test
    void aTokenIsReadAnewForEachRequest() throws Exception {
        Path token = Files.writeString(folder.resolve("token"), "first\n");
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.Token(token))) {
            assertThat(source.number("default", "up")).hasValue(7);
            Files.writeString(token, "second");
            assertThat(source.number("default", "up")).hasValue(7);
        }

        assertThat(authorizations).containsExactly("Bearer first", "Bearer second");
    }

    @Test
    void aPasswordIsReadAnewForEachRequest() throws Exception {
        Path password = Files.writeString(folder.resolve("password"), "pässword\n");
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.Password("me", password))) {
            assertThat(source.number("default", "up")).hasValue(7);
        }

        // RFC 7617, with UTF-8.
        assertThat(authorizations).containsExactly("Basic bWU6cMOkc3N3b3Jk");
    }

    @Test
    void whatFilesHoldIsInNoMessage() throws Exception {
        Path token = Files.writeString(folder.resolve("token"), "secret\nsecret");
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.Token(token))) {
            assertThatThrownBy(() -> source.number("default", "up"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("the Prometheus source \"default\": its credentials are empty or have line breaks"
                            + " within: " + token)
                    .message()
                    .doesNotContain("secret");
            Files.delete(token);
            assertThatThrownBy(() -> source.number("default", "up"))
                    .hasMessageContaining("its credentials cannot be read: there is no readable file " + token);
        }
        assertThat(authorizations).isEmpty();
    }

    @Test
    void whoseCertificateIsOfTheAuthorityIsAsked() throws Exception {
        URI url = encrypted("a");
        try (PrometheusSource source = source(url, Optional.of(folder.resolve("a.crt")), new Credentials.None())) {
            assertThat(source.number("default", "up")).hasValue(7);
        }
        try (PrometheusSource source = source(url, Optional.empty(), new Credentials.None())) {
            assertThatThrownBy(() -> source.number("default", "up")).hasMessageContaining("PKIX path building failed");
        }
        assertThat(authorizations).containsExactly("none");
    }

    @Test
    void anAuthorityThatIsReplacedIsReadAnew() throws Exception {
        URI url = encrypted("a");
        encrypted("b");
        Path authority = folder.resolve("ca.crt");
        Files.copy(folder.resolve("b.crt"), authority);
        try (PrometheusSource source = source(url, Optional.of(authority), new Credentials.None())) {
            assertThatThrownBy(() -> source.number("default", "up")).isInstanceOf(IOException.class);
            Files.write(authority, Files.readAllBytes(folder.resolve("a.crt")));
            assertThat(source.number("default", "up")).hasValue(7);
        }
    }

    @Test
    void aFileThatHoldsNoCertificatesIsNamed() throws Exception {
        Path authority = Files.writeString(folder.resolve("ca.crt"), "-----BEGIN CERTIFICATE-----\nnone");
        try (PrometheusSource source =
                source(URI.create("https://localhost:1"), Optional.of(authority), new Credentials.None())) {
            assertThatThrownBy(() -> source.number("default", "up"))
                    .hasMessageContaining(authority + " holds no certificates that can be read");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "401 | no        | Refused | HTTP status 401, and no JSON",
                "400 | {\"status\":\"error\",\"error\":\"parse error\"} | Refused | HTTP status 400: parse error",
                "200 |"
                    + " {\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"value\":[1,\"1\"]},{\"value\":[1,\"2\"]}]}}"
                    + " | Malformed | the query gives 2 series, and one is needed; maybe sum them",
                "200 | {\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}} | Malformed | the"
                        + " query gives neither a number nor an instant vector",
                "200 | {\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1,\"x\"]}} | Malformed"
                        + " | \"x\" is no number"
            })
    void whatIsNoRateIsSaid(int code, String body, Gap gap, String words) throws Exception {
        status = code;
        answer = body;
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.None())) {
            assertThatThrownBy(() -> source.number("default", "up"))
                    .isInstanceOfSatisfying(
                            IOException.class,
                            failure -> assertThat(Gap.of(failure)).isEqualTo(gap))
                    .hasMessageContaining(words);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"resultType\":\"vector\",\"result\":[]} | ",
                "{\"resultType\":\"scalar\",\"result\":[1,\"2.5\"]} | 2.5",
                "{\"resultType\":\"vector\",\"result\":[{\"value\":[1,\"NaN\"]}]} | NaN"
            })
    void aNumberOrNothingIsGiven(String data, Double number) throws Exception {
        answer = "{\"status\":\"success\",\"data\":" + data + "}";
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.None())) {
            assertThat(source.number("default", "up").stream().boxed().toList())
                    .isEqualTo(number == null ? List.of() : List.of(number));
        }
    }

    @Test
    void whoHasNoSampleIsTold() throws Exception {
        answer = "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}";
        Map<String, Readout> found = new HashMap<>();
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.None())) {
            source.read(
                    new Method.Prometheus("default", "web", new Series(Map.of(Quantity.REQUESTS, "r_total"))),
                    List.of(new Target("a", "uid-a", new Target.Place.Nowhere("by name"))),
                    (target, readout) -> found.put(target.name(), readout));
        }

        assertThat(found.get("a"))
                .isEqualTo(new Readout.Failed(
                        Gap.Absent,
                        "the Prometheus source \"default\" has no sample of r_total with the"
                                + " labels namespace=\"web\", pod=\"a\""));
    }

    /** What Prometheus still has of another pod of the same name. */
    @ParameterizedTest
    @CsvSource({"1000, Outdated", "1001, Outdated", "1002, ", "1010, "})
    void aSampleOfAnEarlierPodIsThatOfAnother(long sampled, Gap gap) throws Exception {
        answer = ("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":"
                        + "[{\"metric\":{\"pod\":\"a\"},\"value\":[1010,\"%d\"]}]}}")
                .formatted(sampled);
        Map<String, Readout> found = new HashMap<>();
        try (PrometheusSource source = source(plain(), Optional.empty(), new Credentials.None())) {
            source.read(
                    new Method.Prometheus("default", "web", new Series(Map.of(Quantity.CONNECTIONS, "active"))),
                    List.of(new Target(
                            "a",
                            "uid-2",
                            new Target.Place.Nowhere("by name"),
                            Optional.of(Instant.ofEpochSecond(1002)))),
                    (target, readout) -> found.put(target.name(), readout));
        }

        if (gap == null) {
            assertThat(found.get("a")).isInstanceOf(Readout.Values.class);
        } else {
            assertThat(found.get("a")).isEqualTo(new Readout.Failed(gap, "the sample is older than the pod"));
        }
    }
}
