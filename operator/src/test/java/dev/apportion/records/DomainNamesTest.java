package dev.apportion.records;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DomainNamesTest {

    @ParameterizedTest
    @CsvSource({
        "shop.example.org, shop.example.org",
        "Shop.Example.COM, shop.example.com",
        "example.org., example.org",
        "bücher.example, xn--bcher-kva.example",
        "BÜCHER.example, xn--bcher-kva.example",
        "xn--bcher-kva.example, xn--bcher-kva.example",
        "_sip._tcp.example.org, _sip._tcp.example.org",
        "a, a",
        "1.2.3.example, 1.2.3.example"
    })
    void normalises(String text, String canonical) {
        assertThat(DomainNames.parse(text)).isEqualTo(new Parsed.Value<>(canonical));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "a..b",
                ".a",
                "a..",
                "-a.example",
                "a-.example",
                "a b.example",
                "*.example.org",
                "a/b",
                "a\nb",
                "a\"b.example",
                "b{}.example",
                "straße.example",
                "STRAẞE.example",
                "βόλος.example",
                "a\u200db.example",
                "a\u3002\u3002b"
            })
    void refuses(String text) {
        assertThat(DomainNames.parse(text)).isInstanceOf(Parsed.Invalid.class);
    }

    @ParameterizedTest
    @CsvSource({
        "*, *",
        "*., *",
        "*.Example.org., *.example.org",
        "*.bücher.example, *.xn--bcher-kva.example",
        "Shop.example.org, shop.example.org"
    })
    void ownersMayBeWildcards(String text, String canonical) {
        assertThat(DomainNames.parseOwner(text)).isEqualTo(new Parsed.Value<>(canonical));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "**", "*a", "a.*", "*.*", "*..a", "-a.example"})
    void refusesOwners(String text) {
        assertThat(DomainNames.parseOwner(text)).isInstanceOf(Parsed.Invalid.class);
    }

    @Test
    void labelsAndNamesHaveLimits() {
        String label63 = "a".repeat(63);
        assertThat(DomainNames.parse(label63 + ".example")).isInstanceOf(Parsed.Value.class);
        assertThat(DomainNames.parse(label63 + "a.example"))
                .isInstanceOfSatisfying(
                        Parsed.Invalid.class,
                        invalid -> assertThat(invalid.problem()).contains("64 characters, 63 are"));
        assertThat(DomainNames.parse("ü".repeat(60) + ".example")).isInstanceOf(Parsed.Invalid.class);
        String name = (label63 + ".").repeat(3);
        assertThat(DomainNames.parse(name + "a".repeat(61))).isInstanceOf(Parsed.Value.class);
        assertThat(DomainNames.parse(name + "a".repeat(62))).isInstanceOf(Parsed.Invalid.class);
    }

    @Test
    void withinAndBelow() {
        assertThat(DomainNames.isWithin("example.org", "example.org")).isTrue();
        assertThat(DomainNames.isWithin("a.example.org", "example.org")).isTrue();
        assertThat(DomainNames.isWithin("bexample.org", "example.org")).isFalse();
        assertThat(DomainNames.isBelow("example.org", "example.org")).isFalse();
        assertThat(DomainNames.isBelow("a.example.org", "example.org")).isTrue();
    }
}
