package dev.apportion.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.TXTRecord;

class FixedRecordsTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        @           | MX    | 10 mail.example.org.     | example.org      | 10 mail.example.org.
        @           | mx    | 10 mail                  | example.org      | 10 mail.example.org.
        WWW         | CNAME | lb.example.net.          | www.example.org  | lb.example.net.
        www         | CNAME | lb.example.net           | www.example.org  | lb.example.net.example.org.
        www.example.org  | A | 192.0.2.1               | www.example.org  | 192.0.2.1
        www.example.org. | A | 192.0.2.1               | www.example.org  | 192.0.2.1
        www         | CNAME | LB.Example.NET.          | www.example.org  | lb.example.net.
        www         | CNAME | Bücher                   | www.example.org  | xn--bcher-kva.example.org.
        @           | MX    | 10  MAIL.bücher.example. | example.org      | 10 mail.xn--bcher-kva.example.
        h           | HTTPS | 1 Svc.Example.NET. alpn="h2,h3" | h.example.org | 1 svc.example.net. alpn=h2,h3
        x           | AAAA  | 2001:DB8:0:0::1          | x.example.org    | 2001:db8:0:0:0:0:0:1
        bücher      | A     | 192.0.2.1                | xn--bcher-kva.example.org | 192.0.2.1
        *           | A     | 192.0.2.1                | *.example.org    | 192.0.2.1
        *.Dev       | A     | 192.0.2.1                | *.dev.example.org | 192.0.2.1
        *.example.org. | A  | 192.0.2.1                | *.example.org    | 192.0.2.1
        EXAMPLE.ORG | A     | 192.0.2.1                | example.org      | 192.0.2.1
        xexample.org | A    | 192.0.2.1                | xexample.org.example.org | 192.0.2.1
        a。b        | A     | 192.0.2.1                | a.b.example.org  | 192.0.2.1
        _sip._tcp   | SRV   | 0 5 5060 @               | _sip._tcp.example.org | 0 5 5060 example.org.
        t           | TXT   | v=DKIM1; k=rsa; p=AB     | t.example.org    | "v=DKIM1; k=rsa; p=AB"
        t           | TXT   | v=spf1 -all              | t.example.org    | "v=spf1 -all"
        t           | TXT   | "a" "b;c"                | t.example.org    | "a" "b;c"
        t           | TXT   | say "no" \\              | t.example.org    | "say \\"no\\" \\\\"
        c           | CAA   | 0 issue "ca.example.net" | c.example.org    | 0 issue "ca.example.net"
        """)
    void readsWhatAZoneFileWould(String name, String type, String value, String owner, String data) {
        assertThat(FixedRecords.parse("example.org", name, type, 60, value))
                .isEqualTo(new Parsed.Value<>(new FixedRecord(owner, type.toUpperCase(Locale.ROOT), 60, data)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
        @      | CNAME  | lb.example.net.  | cannot be a CNAME
        @      | NS     | ns1.example.net. | name servers
        @      | SOA    | ns. h. 1 1 1 1 1 | cannot be declared
        x      | DNSKEY | 257 3 13 AAAA    | cannot be declared
        x      | NOPE   | 1                | cannot be declared
        x      | A      | 10.0.0.300       | 10.0.0.300
        x      | A      | 10.96.011.012    | 10.96.011.012
        x      | A      | ::1              | ::1
        x      | A      | 192.0.2.1 junk   | 192.0.2.1 junk
        x      | A      | 192.0.2.1 ; note | comment
        x      | MX     | mail             | mail
        x      | MX     | 10 a..b          | a..b
        x      | CNAME  | bü cher.         | bü cher.
        x      | CNAME  | straße.example.  | A-label
        x      | CAA    | 0 issue "bücher" | other characters than ASCII
        a..b   | A      | 192.0.2.1        | "a..b" is not a domain name: it has an empty label
        -x     | A      | 192.0.2.1        | the label "-x" may hold
        a b    | A      | 192.0.2.1        | the label "a b" may hold
        ' x'   | A      | 192.0.2.1        | the label " x" may hold
        ''     | A      | 192.0.2.1        | a domain name is required
        .      | A      | 192.0.2.1        | a domain name is required
        x.*    | A      | 192.0.2.1        | a * is possible as the whole first label only
        *a     | A      | 192.0.2.1        | a * is possible as the whole first label only
        x.example.net. | A | 192.0.2.1     | does not lie within
        y._s   | A      | 192.0.2.1        | _s
        _s     | A      | 192.0.2.1        | _s
        *._S.example.org. | A | 192.0.2.1  | _s
        """)
    void saysWhatIsWrong(String name, String type, String value, String part) {
        assertThat(FixedRecords.parse("example.org", name, type, 60, value))
                .isInstanceOfSatisfying(
                        Parsed.Invalid.class,
                        invalid -> assertThat(invalid.problem()).contains(part));
    }

    @Test
    void labelsAndNamesHaveTheirLengths() {
        String label = "a".repeat(63);

        String three = String.join(".", label, label, label);

        assertThat(FixedRecords.parse("example.org", label, "A", 1, "192.0.2.1"))
                .isInstanceOf(Parsed.Value.class);
        assertThat(FixedRecords.parse("example.org", label + "a", "A", 1, "192.0.2.1"))
                .isInstanceOfSatisfying(
                        Parsed.Invalid.class,
                        invalid -> assertThat(invalid.problem()).contains("64 characters, 63 are possible"));
        // 3 * 63 + 2 dots of the labels, 12 of the domain and its dot: 50 are left, with a dot.
        for (String rest : List.of("a".repeat(49), "*." + "a".repeat(47))) {
            assertThat(FixedRecords.parse("example.org", rest + "." + three, "A", 1, "192.0.2.1"))
                    .isInstanceOf(Parsed.Value.class);
            assertThat(FixedRecords.parse("example.org", rest + "a." + three, "A", 1, "192.0.2.1"))
                    .isInstanceOfSatisfying(
                            Parsed.Invalid.class,
                            invalid -> assertThat(invalid.problem()).contains("254 characters, 253 are possible"));
        }
    }

    @Test
    void aNameWithTheDomainIsReadInAnySpelling() {
        for (String name : List.of("www", "WWW.Bücher.Example", "www.xn--bcher-kva.example.", "www.bücher。example")) {
            assertThat(FixedRecords.parse("xn--bcher-kva.example", name, "A", 60, "192.0.2.1"))
                    .isEqualTo(new Parsed.Value<>(new FixedRecord("www.xn--bcher-kva.example", "A", 60, "192.0.2.1")));
        }
    }

    @Test
    void aLineBreakCannotLeaveItsRecord() {
        assertThat(FixedRecords.parse("example.org", "x", "A", 60, "192.0.2.1\n@ A 192.0.2.2"))
                .isInstanceOf(Parsed.Invalid.class);
        assertThat(FixedRecords.parse("example.org", "x\ny", "A", 60, "192.0.2.1"))
                .isInstanceOf(Parsed.Invalid.class);
        assertThat(FixedRecords.parse("example.org", "x", "TXT", 60, "one\n$INCLUDE /etc/passwd"))
                .isEqualTo(new Parsed.Value<>(
                        new FixedRecord("x.example.org", "TXT", 60, "\"one\\010$INCLUDE /etc/passwd\"")));
    }

    @Test
    void aLongTextIsCutIntoStrings() throws IOException {
        String text = "x".repeat(300);
        FixedRecord fixed = Corpus.fixed("t", "TXT", text);

        assertThat(((TXTRecord) FixedRecords.toRecord(fixed)).getStrings())
                .containsExactly("x".repeat(255), "x".repeat(45));
    }

    @Test
    void whatIsPrintedIsReadAsTheSame() {
        for (ZoneRecords zone : Corpus.zones().values()) {
            for (FixedRecord fixed : zone.fixedRecords()) {
                assertThat(FixedRecords.parse("example.org", fixed.name() + ".", fixed.type(), 300, fixed.value()))
                        .isEqualTo(new Parsed.Value<>(fixed));
            }
        }
    }

    @Test
    void findsWhatContradicts() {
        ZoneRecords zone = Corpus.zone(
                Answers.Single,
                Corpus.host("shop.example.org", new HostStream("shop", "", List.of(), List.of())),
                Corpus.host("example.org", new HostStream("apex", "", List.of(), List.of())));
        ZoneRecords contradictory = new ZoneRecords(
                zone.domain(),
                zone.owner(),
                zone.answers(),
                15,
                5,
                zone.nameServers(),
                List.of(
                        Corpus.fixed("shop", "TXT", "x"),
                        Corpus.fixed("@", "TXT", "fine"),
                        Corpus.fixed("@", "A", "192.0.2.1"),
                        Corpus.fixed("both", "CNAME", "www"),
                        Corpus.fixed("both", "TXT", "x"),
                        Corpus.fixed("twice", "CNAME", "www"),
                        Corpus.fixed("twice", "CNAME", "mail"),
                        Corpus.fixed("ns", "CNAME", "www"),
                        Corpus.fixed("www", "A", "192.0.2.1")),
                zone.hosts());

        assertThat(FixedRecords.conflicts(contradictory))
                .extracting(conflict ->
                        conflict.value().name() + " " + conflict.value().type())
                .containsExactlyInAnyOrder(
                        "shop.example.org TXT",
                        "example.org A",
                        "both.example.org CNAME",
                        "both.example.org TXT",
                        "twice.example.org CNAME",
                        "twice.example.org CNAME",
                        "ns.example.org CNAME");
    }
}
