package dev.apportion.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientStreamsTest {

    private static final Host HOST = Corpus.host(
            "shop.example.org",
            new HostStream("rest", "", List.of(), List.of()),
            stream("wide", "10.0.0.0/8", "10.1.1.0/24", "2001:db8::/32"),
            stream("narrow", "10.1.0.0/16", "10.2.3.4", "2001:db8:1::/48"));

    @ParameterizedTest
    @CsvSource({
        "10.9.9.9, wide",
        "10.1.9.9, narrow",
        "10.1.1.9, wide",
        "10.2.3.4, narrow",
        "10.2.3.5, wide",
        "192.0.2.1, rest",
        "2001:db8:2::1, wide",
        "2001:db8:1::1, narrow",
        "2001:db9::1, rest"
    })
    void theLongestPrefixDecides(String client, String label) {
        assertThat(ClientStreams.of(HOST, Corpus.address(client)).map(HostStream::label))
                .contains(label);
    }

    @Test
    void nobodyTakesAClientThatNoStreamNames() {
        Host host = Corpus.host("shop.example.org", stream("eu", "10.0.0.0/8"));

        assertThat(ClientStreams.of(host, Corpus.address("192.0.2.1"))).isEmpty();
    }

    @Test
    void longerPrefixesOfOtherStreamsAreExcluded() {
        HostStream wide = ClientStreams.inOrder(HOST).get(1);

        assertThat(wide.label()).isEqualTo("wide");
        assertThat(ClientStreams.exclusions(HOST, wide, Corpus.address("10.0.0.0/8")))
                .extracting(IPAddress::toString)
                .containsExactly("10.2.3.4", "10.1.0.0/16");
        assertThat(ClientStreams.exclusions(HOST, wide, Corpus.address("10.1.1.0/24")))
                .isEmpty();
    }

    @Test
    void everyoneElseComesLast() {
        assertThat(ClientStreams.inOrder(HOST)).extracting(HostStream::label).containsExactly("narrow", "wide", "rest");
    }

    private static HostStream stream(String label, String... clients) {
        return Corpus.clients(new HostStream(label, label, List.of(), List.of()), clients);
    }
}
