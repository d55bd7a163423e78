package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that draw addresses by themselves are judged by counting. */
class DrawnVerificationTest {

    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Asker ASKER = new Asker(Duration.ofSeconds(2));

    private static ZoneRecords zone(Answers answers, int first, int second) {
        return Corpus.zone(
                answers,
                Corpus.host(
                        "shop.example.org", Corpus.stream("shop", new int[] {first, second}, "10.0.0.1", "10.0.0.2")),
                Corpus.host("example.org", Corpus.stream("apex", new int[] {255, 1}, "10.0.1.1", "10.0.1.2")));
    }

    private static Verdict ask(ZoneRecords served, ZoneRecords desired, long seed) throws IOException {
        try (DnsServer server = DnsServer.start(
                ANYWHERE, new Answerer(new Random(seed)), PublishedZones.of(List.of(served), Corpus.SHARDS))) {
            return Verification.of(desired, Map.of(), Set.of("shop.example.org", "example.org"), 0, 0)
                    .ask(ASKER, server.address());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void whatIsDrawnByTheWeightsIsVerified(long seed) throws IOException {
        ZoneRecords zone = zone(Answers.Drawn, 4, 1);

        assertThat(ask(zone, zone, seed)).isInstanceOf(Verdict.Verified.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void evenSharesAreToldFromWeights(long seed) throws IOException {
        assertThat(ask(zone(Answers.Drawn, 1, 1), zone(Answers.Drawn, 4, 1), seed))
                .isInstanceOfSatisfying(
                        Verdict.IgnoresWeights.class,
                        ignores -> assertThat(ignores.differences())
                                .singleElement()
                                .satisfies(difference -> {
                                    assertThat(difference.host()).isEqualTo("shop.example.org");
                                    assertThat(difference.expected())
                                            .isEqualTo("10.0.0.1 160 times, 10.0.0.2 40 times");
                                }));
    }

    @Test
    void allAddressesAtOnceAreNotWeights() throws IOException {
        assertThat(ask(zone(Answers.List, 4, 1), zone(Answers.Drawn, 4, 1), 1))
                .isInstanceOfSatisfying(
                        Verdict.IgnoresWeights.class,
                        ignores -> assertThat(ignores.differences())
                                .extracting(Verdict.Difference::observed)
                                .contains("10.0.0.1 10.0.0.2"));
    }

    @Test
    void otherSharesAndOtherAddressesLag() throws IOException {
        assertThat(ask(zone(Answers.Drawn, 1, 9), zone(Answers.Drawn, 9, 1), 1)).isInstanceOf(Verdict.Lags.class);
        ZoneRecords other = Corpus.zone(
                Answers.Drawn,
                Corpus.host("shop.example.org", Corpus.stream("shop", new int[] {4, 1}, "10.0.0.1", "10.0.0.3")));
        assertThat(ask(other, zone(Answers.Drawn, 4, 1), 1)).isInstanceOf(Verdict.Lags.class);
    }

    @Test
    void eachStreamIsAskedOnBehalfOfAClientOfIt() {
        HostStream everyone = Corpus.stream("all", new int[] {1, 2}, "10.0.0.1", "10.0.0.2");
        HostStream eu = Corpus.clients(Corpus.stream("eu", new int[] {1, 2}, "10.0.0.3", "10.0.0.4"), "10.0.0.0/8");
        HostStream fr = Corpus.clients(Corpus.stream("fr", new int[] {1, 2}, "10.0.0.5", "10.0.0.6"), "10.255.0.0/16");
        Host host = Corpus.host("shop.example.org", everyone, eu, fr);

        Verification verification =
                Verification.of(Corpus.zone(Answers.Drawn, host), Map.of(), Set.of(host.name()), 0, 0);

        assertThat(verification.questions())
                .extracting(question -> question.client().map(Object::toString).orElse("oneself"))
                .contains("192.0.2.1", "10.0.0.0", "10.255.255.255")
                .containsOnly("oneself", "192.0.2.1", "10.0.0.0", "10.255.255.255");
    }
}
