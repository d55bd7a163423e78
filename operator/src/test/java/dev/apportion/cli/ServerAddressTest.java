package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ServerAddressTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:5300, 127.0.0.1, 5300",
        "0.0.0.0:0, 0.0.0.0, 0",
        "[::1]:53, 0:0:0:0:0:0:0:1, 53",
        "192.0.2.1:65535, 192.0.2.1, 65535"
    })
    void readsAddressAndPort(String text, String address, int port) {
        assertThat(new ServerAddress().convert(text)).satisfies(read -> {
            assertThat(read.getAddress().getHostAddress()).isEqualTo(address);
            assertThat(read.getPort()).isEqualTo(port);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "53",
                ":53",
                "127.0.0.1",
                "127.0.0.1:",
                "127.0.0.1:65536",
                "127.0.0.1:-1",
                "localhost:53",
                "127.0.0.1:x",
                "[::1]",
                "127.0.0.256:53",
                "::1:53",
                "[127.0.0.1]:53",
                "127.0.0.1:+53",
                "127.1:53",
                "127.0.0.01:53"
            })
    void refusesEverythingElseAndLooksNothingUp(String text) {
        assertThatThrownBy(() -> new ServerAddress().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("127.0.0.1:5300");
    }
}
