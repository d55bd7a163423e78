package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.apportion.load.PrometheusServer;
import dev.apportion.load.PrometheusServer.Credentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrometheusSourcesTest {

    @TempDir
    private Path folder;

    private Map<String, PrometheusServer> read(String text) throws IOException {
        return PrometheusSources.read(Files.writeString(folder.resolve("sources.yaml"), text));
    }

    @Test
    void everyKindOfCredentialsIsRead() throws IOException {
        assertThat(read("""
            - {name: default, url: "https://prometheus.example:9090/", caFile: /ca.crt, tokenFile: /token}
            - {name: edge, url: "http://192.0.2.5:9090/prom", user: apportion, passwordFile: /password}
            - {name: open, url: "http://192.0.2.6"}
            """))
                .isEqualTo(Map.of(
                        "default",
                        new PrometheusServer(
                                URI.create("https://prometheus.example:9090"),
                                Optional.of(Path.of("/ca.crt")),
                                new Credentials.Token(Path.of("/token"))),
                        "edge",
                        new PrometheusServer(
                                URI.create("http://192.0.2.5:9090/prom"),
                                Optional.empty(),
                                new Credentials.Password("apportion", Path.of("/password"))),
                        "open",
                        new PrometheusServer(
                                URI.create("http://192.0.2.6"), Optional.empty(), new Credentials.None())));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "- {name: a}                                          | is no http or https URL of a server",
                "- {name: a, url: 'ftp://192.0.2.1'}                  | is no http or https URL of a server",
                "- {name: a, url: 'http://me:secret@192.0.2.1'}       | credentials belong into files",
                "- {name: A, url: 'http://192.0.2.1'}                 | is not made of lower-case letters",
                "- {url: 'http://192.0.2.1'}                          | is not made of lower-case letters",
                "- {name: a, url: 'http://192.0.2.1', user: me}       | give tokenFile, or user and passwordFile",
                "- {name: a, url: 'http://192.0.2.1', token: x}       | Unrecognized field \"token\"",
                "{name: a, url: 'http://192.0.2.1'}                   | sources.yaml: "
            })
    void whatCannotBeIsSaid(String text, String words) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(words);
    }

    @Test
    void namesAreUniqueAndTheFileIsThere() {
        assertThatThrownBy(() -> read("- {name: a, url: 'http://192.0.2.1'}\n- {name: a, url: 'http://192.0.2.2'}\n"))
                .hasMessageContaining("two sources have the name a");
        assertThatThrownBy(() -> PrometheusSources.read(folder.resolve("none")))
                .hasMessageContaining("none cannot be read");
    }
}
