package dev.apportion.records;

import static org.assertj.core.api.Assertions.assertThat;

import inet.ipaddr.IPAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressesTest {

    @ParameterizedTest
    @CsvSource({
        "192.0.2.10, 192.0.2.10",
        "0.0.0.0, 0.0.0.0",
        "2001:DB8:0:0:0:0:0:10, 2001:db8::10",
        "2001:0db8::0010, 2001:db8::10",
        "::1, ::1"
    })
    void oneCanonicalForm(String text, String canonical) {
        assertThat(Addresses.parse(text).map(IPAddress::toCanonicalString)).isEqualTo(new Parsed.Value<>(canonical));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "10.0.0.300",
                "10.96.011.012",
                "10.0.0",
                "10",
                "1.2.3.4.5",
                "10.0.0.0/8",
                "0x0a.0.0.1",
                "*",
                "10.0.0.*",
                "10.0.0.1-5",
                "fe80::1%eth0",
                "::ffff:10.0.0.1",
                "localhost",
                "1::2::3",
                "12345::",
                "-1.0.0.0",
                "10.0.0.1 ",
                "2001:db8::/32",
                "[::1]"
            })
    void noGuesses(String text) {
        assertThat(Addresses.parse(text))
                .isInstanceOfSatisfying(
                        Parsed.Invalid.class,
                        invalid -> assertThat(invalid.problem()).startsWith("\"" + text + "\" is not an IP address: "));
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.0.0/16, 10.1.0.0/16",
        "0.0.0.0/0, 0.0.0.0/0",
        "2001:DB8::/32, 2001:db8::/32",
        "::/0, ::/0",
        "10.0.0.1/32, 10.0.0.1/32"
    })
    void blocks(String text, String canonical) {
        assertThat(Addresses.parseBlock(text).map(IPAddress::toCanonicalString))
                .isEqualTo(new Parsed.Value<>(canonical));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "10.1.0.0",
                "10.1.0.1/16",
                "10.1.0.0/33",
                "2001:db8::1/32",
                "::/129",
                "10.1.0.0/255.255.0.0",
                "10.1.0.0/016",
                "/8",
                "10.01.0.0/16",
                "::ffff:10.0.0.0/104",
                "::ffff:0:0/96",
                "::ffff:192.0.2.1/128"
            })
    void notBlocks(String text) {
        assertThat(Addresses.parseBlock(text)).isInstanceOf(Parsed.Invalid.class);
    }
}
