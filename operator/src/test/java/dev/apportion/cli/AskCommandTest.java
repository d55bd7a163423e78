package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.wire.Answerer;
import dev.apportion.dns.wire.DnsServer;
import dev.apportion.dns.wire.PublishedZones;
import dev.apportion.records.Answers;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code apportion ask} counts what a real server answers over the wire. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AskCommandTest {

    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Pattern ROW = Pattern.compile("(\\S+) +(10[.0-9]+) +([0-9]+) +([0-9.]+)%");

    @SuppressWarnings("NullAway.Init") // set before all tests
    private DnsServer server;

    @BeforeAll
    void start() throws IOException {
        server = DnsServer.start(
                ANYWHERE,
                new Answerer(new Random(1)),
                PublishedZones.of(
                        List.of(Corpus.zone(
                                Answers.Single,
                                Corpus.host(
                                        "shop.example.org",
                                        Corpus.stream("shop", new int[] {192, 64}, "10.0.0.1", "10.0.0.2")))),
                        Corpus.SHARDS));
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private Run ask(String arguments) {
        return Run.of(("ask --server 127.0.0.1:%d ".formatted(server.address().getPort()) + arguments).split(" "));
    }

    @Test
    void theSharesAreSeen() {
        Run run = ask("Shop.example.org. --count 2000");

        assertThat(run.code()).as(run.toString()).isZero();
        assertThat(run.err()).isEmpty();
        Matcher rows = ROW.matcher(run.out());
        assertThat(rows.find()).as(run.out()).isTrue();
        assertThat(rows.group(1)).isEqualTo("shop.example.org");
        assertThat(rows.group(2)).isEqualTo("10.0.0.1");
        // 1500 expected; six standard deviations are 116, which one run of 500 million passes.
        assertThat(Integer.parseInt(rows.group(3))).isBetween(1384, 1616);
        assertThat(rows.find()).isTrue();
        assertThat(rows.group(2)).isEqualTo("10.0.0.2");
        assertThat(rows.find()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "0, no.example.org --expect NXDOMAIN, NXDOMAIN",
        "1, no.example.org, NXDOMAIN",
        "1, shop.example.org --expect refused, 10.0.0.1",
        "0, apportion.invalid --expect refused --type aaaa, REFUSED",
        "1, shop.example.org --type AAAA, no such record",
        "0, example.org --type SOA --count 1, 100.00%",
    })
    void theExitCodeTellsWhetherTheAnswerWasExpected(int code, String arguments, String seen) {
        Run run = ask(arguments);

        assertThat(run.code()).as(run.toString()).isEqualTo(code);
        assertThat(run.out()).contains(seen);
    }

    @Test
    void aServerThatIsSilentIsNamed() throws IOException {
        try (DatagramSocket deaf = new DatagramSocket(ANYWHERE)) {
            Run run = Run.of(
                    "ask", "shop.example.org", "--server", "127.0.0.1:" + deaf.getLocalPort(), "--expect", "REFUSED");

            assertThat(run.code()).isEqualTo(1);
            assertThat(run.out()).doesNotContain("REFUSED");
            assertThat(run.err()).contains("127.0.0.1 port " + deaf.getLocalPort(), "no response within 2000 ms");
        }
    }

    @Test
    void aServerThatHasNoAddressIsSaid() {
        Run run = Run.of("ask", "shop.example.org", "--server", "dns.apportion.invalid");

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("dns.apportion.invalid");
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.53, 192.0.2.53:53",
        "dns.example.org:5300, dns.example.org:5300",
        "[::1]:53, [::1]:53",
        "[::1], [::1]:53"
    })
    void serversAreWrittenAsUsual(String text, String read) {
        assertThat(new ServerName.Converter().convert(text)).hasToString(read);
    }
}
