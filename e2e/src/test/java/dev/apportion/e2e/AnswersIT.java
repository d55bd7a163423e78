package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.Tally;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/** Real answers of a real CoreDNS fit the plan that the status states. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AnswersIT {

    /** Chosen so that a right program fails once in a million runs. */
    private static final double SMALLEST_P = 1e-6;

    private static final RandomGenerator RANDOM = new Random(20260101);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        product = Product.start(server, kubectl, folder);
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: single}
            spec:
              domain: single.example
              ttlSeconds: 20
              negativeTTLSeconds: 7
              nameServers: [{name: ns1.single.example, addresses: [192.0.2.53]}]
              records:
              - {name: "@", type: MX, values: ["10 mail.single.example."]}
              - {name: mail, type: A, values: [192.0.2.25]}
              - {name: txt.shop, type: TXT, values: ["\\"below a host\\""]}
              - {name: alias, type: CNAME, values: ["lb.example.net."]}
              coreDNS: {answers: Single}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: list}
            spec:
              domain: list.example
              coreDNS: {answers: List}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: dual}
            spec:
              sites:
              - name: main
                endpoints:
                - {name: a, addresses: [192.0.2.1, "2001:db8::1"], capacity: 300}
                - {name: b, addresses: [192.0.2.2, "2001:db8::2"], capacity: 150}
                - {name: c, address: 192.0.2.3, capacity: 80}
              - name: other
                endpoints:
                - {name: d, addresses: [192.0.2.4, "2001:db8::4"], capacity: 110}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: shop}
            spec: {zoneRef: {name: single}, hostname: shop.single.example, poolRef: {name: dual}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: shop-eu}
            spec:
              serviceRef: {name: shop}
              clients: {cidrs: [127.0.0.2/32, 10.1.0.0/16]}
              rate: 170
              sites: [main]
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: apex}
            spec: {zoneRef: {name: single}, hostname: single.example, poolRef: {name: dual}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: listed}
            spec: {zoneRef: {name: list}, hostname: shop.list.example, poolRef: {name: dual}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: listed-eu}
            spec:
              serviceRef: {name: listed}
              clients: {cidrs: [127.0.0.2/32]}
              rate: 90
              sites: [main]
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: listed-apex}
            spec: {zoneRef: {name: list}, hostname: list.example, poolRef: {name: dual}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: shop-others}
            spec: {serviceRef: {name: shop}, rate: 190}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: apex-all}
            spec: {serviceRef: {name: apex}, rate: 120}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: listed-others}
            spec: {serviceRef: {name: listed}, rate: 150}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: listed-apex-all}
            spec: {serviceRef: {name: listed-apex}, rate: 130}
            """);
        for (String service : new String[] {"shop", "apex", "listed", "listed-apex"}) {
            product.awaitVerified(service);
        }
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    private DnsServer dns() {
        return product.dns();
    }

    private Map<String, Long> planned(String resource, boolean ipv6) {
        return product.weights(resource).entrySet().stream()
                .filter(row -> row.getKey().contains(":") == ipv6)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, TreeMap::new));
    }

    @ParameterizedTest
    @CsvSource({
        "trafficstream/shop-eu, shop.single.example, 127.0.0.2",
        "trafficstream/shop-others, shop.single.example, 127.0.0.1",
        "trafficstream/apex-all, single.example, 127.0.0.1"
    })
    void singleGivesExactlyThePlannedSlots(String resource, String host, String client) {
        for (int type : new int[] {Type.A, Type.AAAA}) {
            Map<String, Long> planned = planned(resource, type == Type.AAAA);
            Tally slots = dns().slots(Question.of(host, type).from(client));
            assertThat(slots.counts()).isEqualTo(planned).hasSizeGreaterThan(1);
            assertThat(slots.total()).isEqualTo(256);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "trafficstream/listed-eu, shop.list.example, 127.0.0.2",
        "trafficstream/listed-others, shop.list.example, 127.0.0.1",
        "trafficstream/listed-apex-all, list.example, 127.0.0.1"
    })
    void listDrawsTheFirstAddressByWeight(String resource, String host, String client) {
        for (int type : new int[] {Type.A, Type.AAAA}) {
            Map<String, Integer> planned = planned(resource, type == Type.AAAA).entrySet().stream()
                    .collect(Collectors.toMap(
                            Map.Entry::getKey, row -> row.getValue().intValue()));
            Question question = Question.of(host, type).from(client);
            Tally drawn = dns().random(question, 3000, RANDOM);
            double p = drawn.pValue(planned);
            System.out.printf("%s %s: %s drawn for %s, p = %.3f%n", host, Type.string(type), drawn, planned, p);
            assertThat(planned).hasSizeGreaterThan(1);
            assertThat(p).isGreaterThan(SMALLEST_P);
            assertThat(dns().ask(question).addresses(type)).containsExactlyInAnyOrderElementsOf(planned.keySet());
        }
    }

    @Test
    void mixedCaseAsksTheSame() {
        Question question =
                Question.of("shop.single.example", Type.A).from("127.0.0.2").withMixedCase(RANDOM);
        assertThat(dns().slots(question).counts()).isEqualTo(planned("trafficstream/shop-eu", false));
    }

    @ParameterizedTest
    @CsvSource({
        "shop.single.example, AAAA",
        "shop.single.example, CAA",
        "shop.single.example, HTTPS",
        "shop.single.example, DS",
        "shop.single.example, TXT",
        "shop.single.example, MX",
        "shop.single.example, ANY",
        "shop.list.example, TXT",
        "shop.list.example, DS",
        "single.example, CAA",
        "single.example, DS",
        "single.example, HTTPS",
        "single.example, TXT"
    })
    void everyTypeOfANameThatExistsIsNoError(String host, String type) {
        Answer answer = dns().ask(Question.of(host, Type.value(type)));
        assertThat(answer.rcode()).isEqualTo("NOERROR");
    }

    @ParameterizedTest
    @CsvSource({
        "below.shop.single.example",
        "x.y.shop.single.example",
        "nothing.single.example",
        "below.shop.list.example"
    })
    void whatDoesNotExistIsNxdomainForAShortTime(String name) {
        for (int type : new int[] {Type.A, Type.AAAA, Type.CAA, Type.HTTPS, Type.DS, Type.TXT, Type.MX}) {
            Answer answer = dns().ask(Question.of(name, type));
            assertThat(answer.rcode()).as("%s %s", name, Type.string(type)).isEqualTo("NXDOMAIN");
        }
    }

    @Test
    void theZonesOwnRecordsAreServed() {
        assertThat(records("single.example", "MX")).containsPattern("10 mail\\.single\\.example\\.");
        assertThat(records("mail.single.example", "A")).contains("192.0.2.25");
        assertThat(records("txt.shop.single.example", "TXT")).contains("below a host");
        assertThat(records("alias.single.example", "CNAME")).contains("lb.example.net.");
        assertThat(records("single.example", "NS")).contains("ns1.single.example.");
        assertThat(records("ns1.single.example", "A")).contains("192.0.2.53");
        assertThat(records("single.example", "SOA")).containsPattern("\\s7$|\\s7\\)|\\s7]");
    }

    private String records(String name, String type) {
        return dns().ask(Question.of(name, Type.value(type))).records().toString();
    }

    @Test
    void outsideOfAllZonesIsRefused() {
        assertThat(dns().ask(Question.of("example.com", Type.A)).rcode()).isEqualTo("REFUSED");
    }
}
