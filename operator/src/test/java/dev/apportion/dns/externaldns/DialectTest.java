package dev.apportion.dns.externaldns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.apportion.dns.ClientStreams;
import dev.apportion.dns.Corpus;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class DialectTest {

    private static final Pattern TEST = Pattern.compile("if netmask\\(\\{([^}]*)\\}\\) then return (.*?) end ");

    private static HostStream dual() {
        return new HostStream(
                "shop-1",
                "",
                List.of(),
                List.of(
                        new Answer(Corpus.address("2001:db8::1"), "fra-1", 7),
                        new Answer(Corpus.address("192.0.2.2"), "fra-2", 255),
                        new Answer(Corpus.address("192.0.2.1"), "fra-1", 1)));
    }

    @Test
    void aWeightedSetHasARecordForEachAddressNamedByIt() {
        assertThat(Dialect.Route53.endpoints(Corpus.host("shop.example.org", dual())))
                .containsExactly(
                        member("A", "192.0.2.1", 1), member("A", "192.0.2.2", 255), member("AAAA", "2001:db8::1", 7));
    }

    private static Endpoint member(String type, String address, int weight) {
        return new Endpoint(
                "shop.example.org", type, List.of(address), 20, Optional.of(new Endpoint.Member(address, weight)));
    }

    @Test
    void anOnlyAddressIsWeightedToo() {
        HostStream one = Corpus.stream("shop-1", new int[] {1}, "192.0.2.1");

        assertThat(Dialect.Route53.endpoints(Corpus.host("shop.example.org", one)))
                .containsExactly(member("A", "192.0.2.1", 1));
    }

    @Test
    void theNameOfAReplicaIsNoPartOfItsRecord() {
        HostStream renamed = new HostStream(
                "shop-1",
                "",
                List.of(),
                dual().answers().stream()
                        .map(answer -> new Answer(answer.address(), "other-" + answer.replica(), answer.weight()))
                        .toList());

        assertThat(Dialect.Route53.endpoints(Corpus.host("shop.example.org", renamed)))
                .isEqualTo(Dialect.Route53.endpoints(Corpus.host("shop.example.org", dual())));
    }

    @Test
    void whatAWeightedSetCannotHoldIsRefused() {
        Host clients = Corpus.host("shop.example.org", Corpus.clients(dual(), "10.0.0.0/8"));
        Host zero = Corpus.host("shop.example.org", Corpus.stream("shop-1", new int[] {0}, "192.0.2.1"));
        Host heavy = Corpus.host("shop.example.org", Corpus.stream("shop-1", new int[] {256}, "192.0.2.1"));

        assertThatThrownBy(() -> Dialect.Route53.endpoints(clients)).hasMessageContaining("cannot tell apart");
        assertThatThrownBy(() -> Dialect.Route53.endpoints(zero)).hasMessageContaining("weight 0");
        assertThatThrownBy(() -> Dialect.Route53.endpoints(heavy)).hasMessageContaining("weight 256");
        assertThatThrownBy(() -> Dialect.Route53.endpoints(many(101))).hasMessageContaining("101 IPv4 addresses");
        assertThat(Dialect.Route53.endpoints(many(100))).hasSize(100);
    }

    private static Host many(int addresses) {
        return Corpus.host(
                "shop.example.org",
                Corpus.stream(
                        "shop-1",
                        IntStream.range(0, addresses).map(i -> 1).toArray(),
                        IntStream.range(0, addresses)
                                .mapToObj(i -> "10.0.%d.%d".formatted(i / 256, i % 256))
                                .toArray(String[]::new)));
    }

    @Test
    void aLuaRecordDrawsInEachFamily() {
        assertThat(Dialect.PowerDNS.endpoints(Corpus.host("shop.example.org", dual())))
                .containsExactly(new Endpoint(
                        "shop.example.org",
                        "LUA",
                        List.of(
                                "A \"pickwrandom({{1,'192.0.2.1'},{255,'192.0.2.2'}})\"",
                                "AAAA \"pickwrandom({{7,'2001:db8::1'}})\""),
                        20,
                        Optional.empty()));
    }

    @Test
    void aHostWithoutAddressesHasNoRecord() {
        Host none = Corpus.host("shop.example.org", new HostStream("shop-1", "", List.of(), List.of()));

        assertThat(Dialect.PowerDNS.endpoints(none)).isEmpty();
        assertThat(Dialect.Route53.endpoints(none)).isEmpty();
    }

    @Test
    void theLongestPrefixIsTestedFirst() {
        Host host = Corpus.host(
                "shop.example.org",
                Corpus.clients(Corpus.stream("eu", new int[] {1}, "192.0.2.1"), "10.0.0.0/8", "2001:db8::/32"),
                Corpus.clients(Corpus.stream("fr", new int[] {1}, "192.0.2.2"), "10.1.0.0/16", "10.2.0.0/16"),
                Corpus.clients(new HostStream("none", "", List.of(), List.of()), "10.1.2.0/24"),
                Corpus.stream("rest", new int[] {2, 3}, "192.0.2.3", "192.0.2.4"));

        assertThat(Dialect.PowerDNS.endpoints(host)
                        .getFirst()
                        .targets()
                        .getFirst()
                        .replace("\" \"", ""))
                .isEqualTo("A \";if netmask({'2001:db8::/32'}) then return pickwrandom({{1,'192.0.2.1'}}) end"
                        + " if netmask({'10.1.2.0/24'}) then return {} end"
                        + " if netmask({'10.1.0.0/16','10.2.0.0/16'}) then return pickwrandom({{1,'192.0.2.2'}}) end"
                        + " if netmask({'10.0.0.0/8'}) then return pickwrandom({{1,'192.0.2.1'}}) end"
                        + " return pickwrandom({{2,'192.0.2.3'},{3,'192.0.2.4'}})\"");
    }

    /** A client is answered by the program as the rule of the longest prefix says, and no program holds anything strange. */
    @Property(tries = 300)
    void aProgramTellsClientsApartAsEverythingElseDoes(
            @ForAll("hosts") Host host, @ForAll("clients") IPAddress client) {
        List<String> targets = Dialect.PowerDNS.endpoints(host).getFirst().targets();

        assertThat(targets).allSatisfy(target -> {
            assertThat(target).matches("(A|AAAA) \"[^\"]{1,255}\"( \"[^\"]{1,255}\")*");
            // PowerDNS joins the strings by spaces.
            for (int end = target.indexOf("\" \""); end >= 0; end = target.indexOf("\" \"", end + 1)) {
                assertThat(target.charAt(end - 1)).isEqualTo(',');
            }
            assertThat(target).doesNotContain("\\").matches("[A-Za-z0-9 ;:.,/'\"{}()]*");
        });
        String program = targets.getFirst().replace("\" \"", "");
        String expected = ClientStreams.of(host, client).stream()
                .flatMap(stream -> stream.answers(false))
                .map(answer -> "{%d,'%s'}".formatted(answer.weight(), answer.address()))
                .collect(Collectors.joining(","));
        assertThat(run(program, client)).isEqualTo(expected.isEmpty() ? "{}" : "pickwrandom({" + expected + "})");
    }

    /** What a program returns to a client: tests in their order, then what is left. */
    private static String run(String program, IPAddress client) {
        SequencedMap<List<IPAddress>, String> tests = new LinkedHashMap<>();
        Matcher matcher = TEST.matcher(program);
        int end = 0;
        while (matcher.find()) {
            tests.put(
                    Stream.of(matcher.group(1).replace("'", "").split(","))
                            .map(Corpus::address)
                            .toList(),
                    matcher.group(2));
            end = matcher.end();
        }
        String rest = program.substring(end).replaceFirst("^A \"", "").replaceFirst("^;?return ", "");
        return tests.entrySet().stream()
                .filter(test -> test.getKey().stream()
                        .anyMatch(block -> block.isIPv6() == client.isIPv6()
                                && block.toPrefixBlock().contains(client)))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(rest.substring(0, rest.length() - 1));
    }

    @Provide
    Arbitrary<Host> hosts() {
        Arbitrary<List<String>> blocks = Combinators.combine(
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.of(8, 12, 16, 24, 32))
                .as((a, b, length) -> Corpus.address("10.%d.%d.1/%d".formatted(a, b, length))
                        .toPrefixBlock()
                        .toCanonicalString())
                .list()
                .uniqueElements()
                .ofMaxSize(12);
        return blocks.map(all -> {
            List<HostStream> streams = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                String[] own = IntStream.range(0, all.size())
                        .filter(b -> b % 3 == number)
                        .mapToObj(all::get)
                        .toArray(String[]::new);
                if (own.length > 0) {
                    streams.add(Corpus.clients(
                            Corpus.stream("s" + i, new int[] {i + 1, 200}, "192.0.2." + i, "192.0.2.1" + i), own));
                }
            }
            streams.add(Corpus.stream("z", new int[] {9}, "192.0.2.99"));
            return Corpus.host("shop.example.org", streams.toArray(HostStream[]::new));
        });
    }

    @Provide
    Arbitrary<IPAddress> clients() {
        return Combinators.combine(
                        Arbitraries.of(10, 11),
                        Arbitraries.integers().between(0, 4),
                        Arbitraries.integers().between(0, 4),
                        Arbitraries.of(1, 2))
                .as((a, b, c, d) -> Corpus.address("%d.%d.%d.%d".formatted(a, b, c, d)));
    }
}
