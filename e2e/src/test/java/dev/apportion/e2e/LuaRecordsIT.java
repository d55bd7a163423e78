package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.PowerDns;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.Tally;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** Through the real ExternalDNS, a real PowerDNS draws addresses by the planned weights, for each stream and family. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LuaRecordsIT {

    private static final int QUESTIONS = 2000;

    /** Of a thousand runs one may fail by chance. */
    private static final double UNLIKELY = 1e-4;

    private static final String ZONE = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: NAME}
        spec:
          domain: NAME.example
          ttlSeconds: 5
          externalDNS: {dialect: PowerDNS}
          verifyAt: {addresses: ["127.0.0.1:AT"]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: NAME}
        spec:
          sites:
          - name: main
            endpoints:
            - {name: a, addresses: [192.0.2.1, "2001:db8::1"], capacity: 400}
            - {name: b, addresses: [192.0.2.2, "2001:db8::2"], capacity: 100}
            - {name: c, address: 192.0.2.3, capacity: 100}
          - name: west
            endpoints:
            - {name: d, addresses: [192.0.2.4, "2001:db8::4"], capacity: 300}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: NAME}
        spec: {zoneRef: {name: NAME}, hostname: www.NAME.example, poolRef: {name: NAME}}
        """;

    private static final String STREAMS = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: NAME-eu}
        spec: {serviceRef: {name: NAME}, clients: {cidrs: [10.0.0.0/8, "2001:db8:e::/48"]}, rate: 40, sites: [main]}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: NAME-fr}
        spec: {serviceRef: {name: NAME}, clients: {cidrs: [10.33.0.0/16]}, rate: 90}
        """;

    private final Random random = new Random(20_240_501);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private PowerDns powerDns;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private ExternalDns externalDns;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        powerDns = PowerDns.start();
        for (String zone : new String[] {"lua", "even", "apex", "still"}) {
            powerDns.createZone(zone + ".example");
        }
        ExternalDns.installDefinition(server);
        externalDns = ExternalDns.start(
                kubectl,
                Map.of(),
                "--provider=pdns",
                "--pdns-server=" + powerDns.url(),
                "--pdns-api-key=" + PowerDns.KEY,
                "--registry=noop",
                "--domain-filter=lua.example",
                "--domain-filter=apex.example",
                "--domain-filter=still.example",
                "--managed-record-types=LUA");
        product = Product.start(
                server,
                kubectl,
                folder,
                "--verify-interval",
                "PT1S",
                "--verify-grace",
                "PT1S",
                "--external-dns-grace",
                "PT3S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
        externalDns.close();
        powerDns.close();
    }

    private String zone(String name) {
        return ZONE.replace("NAME", name).replace("AT", Integer.toString(powerDns.port()));
    }

    private void answersFit(String host, String client, String resource) {
        Map<String, Long> weights = product.weights(resource);
        for (int type : new int[] {Type.A, Type.AAAA}) {
            Map<String, Integer> family = new TreeMap<>();
            weights.forEach((address, weight) -> {
                if (address.contains(":") == (type == Type.AAAA)) {
                    family.put(address, weight.intValue());
                }
            });
            Tally tally = powerDns.server().random(Question.of(host, type).onBehalfOf(client), QUESTIONS, random);
            double p = tally.pValue(family);
            System.out.printf(
                    "%s %s for %s: weights %s, %d answers %s, chi-squared p = %.3f%n",
                    host, Type.string(type), client, family, QUESTIONS, tally.counts(), p);
            assertThat(p)
                    .as("%s for %s: %s by %s", host, client, tally.counts(), family)
                    .isGreaterThan(UNLIKELY);
        }
    }

    @Test
    void answersFitThePlanOfEachStreamAndFamily() throws IOException {
        powerDns.replace("lua.example", "plain.lua.example", "A", "\"198.51.100.1\"");
        product.apply(zone("lua"));
        product.awaitVerified("lua");
        answersFit("www.lua.example", "203.0.113.7", "trafficservice/lua");

        product.apply(STREAMS.replace("NAME", "lua"));
        product.awaitCondition("trafficstream/lua-fr", "Verified", "True");
        product.await(
                () -> powerDns.server()
                        .ask(Question.of("www.lua.example", Type.A).onBehalfOf("10.33.1.1"))
                        .rcode(),
                "NOERROR"::equals,
                "an answer");
        product.awaitReady("dnszone/lua", "trafficservice/lua", "trafficstream/lua-fr", "trafficstream/lua-eu");
        product.await("programs with streams", () -> zoneText("lua.example").contains("10.33.0.0/16"));
        assertThat(product.weights("trafficstream/lua-eu"))
                .doesNotContainKey("192.0.2.4")
                .isNotEqualTo(product.weights("trafficstream/lua-fr"));
        answersFit("www.lua.example", "10.33.1.1", "trafficstream/lua-fr");
        answersFit("www.lua.example", "10.34.1.1", "trafficstream/lua-eu");
        answersFit("www.lua.example", "2001:db8:e::7", "trafficstream/lua-eu");
        answersFit("www.lua.example", "203.0.113.7", "trafficservice/lua");
        product.awaitCondition("trafficservice/lua", "WeightsHonored", "True");

        product.kubectl("delete", "trafficstreams", "--all");
        product.setCapacity("lua", 100);
        product.awaitVerified("lua");
        product.await("the other weights", () -> zoneText("lua.example").contains("{1,'192.0.2.1'},{1,'192.0.2.2'}"));
        answersFit("www.lua.example", "203.0.113.7", "trafficservice/lua");

        product.kubectl("delete", "trafficservice/lua");
        product.await("the end of the record", () -> !zoneText("lua.example").contains("LUA"));
        assertThat(powerDns.server()
                        .ask(Question.of("plain.lua.example", Type.A))
                        .addresses(Type.A))
                .containsExactly("198.51.100.1");
    }

    private String zoneText(String domain) {
        try {
            return powerDns.zone(domain);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void theApexIsDrawnToo() {
        product.apply(zone("apex").replace("www.apex", "apex"));
        product.awaitVerified("apex");

        answersFit("apex.example", "203.0.113.7", "trafficservice/apex");
    }

    @Test
    void tenLooksLaterNothingHasBeenWritten() {
        product.apply(zone("still"));
        product.awaitVerified("still");
        String text = zoneText("still.example");
        assertThat(text).contains("LUA").containsPattern("\"serial\": ?[0-9]+");
        int looks = looksWithoutChange();

        product.await("ten more looks", () -> looksWithoutChange() >= looks + 10);

        // PowerDNS counts each change by the serial.
        assertThat(zoneText("still.example")).isEqualTo(text);
        System.out.printf("still.example: %d looks without a change%n", looksWithoutChange() - looks);
    }

    private int looksWithoutChange() {
        return externalDns.log().split("All records are already up to date", -1).length - 1;
    }

    /** What stands at the provider has the addresses, but does not weigh them: as with one that knows no weights. */
    @Test
    void aProviderThatIgnoresWeightsIsNamed() throws IOException {
        powerDns.replace(
                "even.example",
                "www.even.example",
                "LUA",
                "\"A \\\"pickrandom({'192.0.2.1','192.0.2.2','192.0.2.3','192.0.2.4'})\\\"\"},{\"content\":"
                        + "\"AAAA \\\"pickrandom({'2001:db8::1','2001:db8::2','2001:db8::4'})\\\"\"");

        product.apply(zone("even"));

        product.awaitCondition("trafficservice/even", "WeightsHonored", "False ProviderIgnoresWeights");
        product.awaitCondition("dnszone/even", "WeightsHonored", "False ProviderIgnoresWeights");
        product.awaitCondition("trafficservice/even", "Verified", "False ProviderIgnoresWeights");
        assertThat(product.condition("trafficservice/even", "WeightsHonored")).contains("192.0.2.1");
        assertThat(Probes.of(product.operator())
                        .metric("apportion_weights_honored{namespace=\"%s\",zone=\"even\"}"
                                .formatted(product.namespace())))
                .isZero();
    }
}
