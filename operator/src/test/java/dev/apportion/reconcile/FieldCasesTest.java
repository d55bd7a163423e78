package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.Claim;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardChange;
import dev.apportion.dns.coredns.ShardFiles;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What went wrong for the users of other DNS controllers does not go wrong here: from resources to the files of a zone. */
class FieldCasesTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref SHOP = new Ref("web", "shop");
    private static final String HOST = "shop.example.org";
    private static final String SERVICE = Setting.service("shop", HOST);
    private static final String BEHIND = Setting.pool("shop", "{name: main, service: {name: shop}, capacity: 100}");
    private static final Shards SHARDS = new Shards(8);

    private static Plan plan(String... documents) {
        return Setting.of(documents).plan();
    }

    private static PoolPlan pool(Plan plan) {
        return Objects.requireNonNull(plan.pools().get(SHOP));
    }

    private static ZoneRecords zone(Plan plan) {
        return Objects.requireNonNull(plan.zones().get(ZONE)).records();
    }

    private static List<HostStream> streams(Plan plan, String host) {
        return zone(plan).hosts().stream()
                .filter(found -> found.name().equals(host))
                .flatMap(found -> found.streams().stream())
                .toList();
    }

    /** The weights by address. */
    private static SortedMap<String, Integer> answers(Plan plan, String host) {
        SortedMap<String, Integer> answers = new TreeMap<>();
        streams(plan, host)
                .forEach(stream -> stream.answers()
                        .forEach(answer ->
                                answers.merge(answer.address().toCanonicalString(), answer.weight(), Integer::sum)));
        return answers;
    }

    private static Finding accepted(SortedMap<Ref, ? extends Judged<?>> judged, String name) {
        return Objects.requireNonNull(judged.get(new Ref("web", name)))
                .findings()
                .getFirst();
    }

    private static String slice(String endpoints) {
        return Setting.slice("shop-1", "shop", "[" + endpoints + "]");
    }

    private static String endpoint(String address, String pod, String conditions) {
        return "{addresses: [%s], targetRef: {kind: Pod, name: %s}, conditions: {%s}}"
                .formatted(address, pod, conditions);
    }

    private static String pod(String name, String phase) {
        return """
            apiVersion: v1
            kind: Pod
            metadata: {name: %s}
            status: {phase: %s}
            """.formatted(name, phase);
    }

    /** All files of a zone, which are checked by the renderer itself. */
    private static String files(ZoneRecords records) {
        return IntStream.range(0, SHARDS.count())
                .mapToObj(shard -> ShardFiles.render(records, SHARDS, "/etc/apportion", shard, Serial.FIRST))
                .map(rendered -> {
                    assertThat(rendered).isInstanceOf(ShardFiles.Rendered.class);
                    return rendered instanceof ShardFiles.Rendered(var files) ? String.join("", files.values()) : "";
                })
                .collect(Collectors.joining());
    }

    @Test
    void onlyWhatServesIsAnswered() {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(String.join(
                        ", ",
                        endpoint("10.0.0.1", "a", "ready: true"),
                        endpoint("10.0.0.2", "b", ""),
                        endpoint("10.0.0.3", "c", "ready: false"),
                        endpoint("10.0.0.4", "d", "ready: false, serving: true, terminating: true"))));

        assertThat(answers(plan, HOST)).containsOnlyKeys("10.0.0.1", "10.0.0.2");
    }

    @Test
    void servingDecidesWherePublishNotReadyAddressesCallsEveryEndpointReady() {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(String.join(
                        ", ",
                        endpoint("10.0.0.1", "db-0", "ready: true, serving: true, terminating: false"),
                        endpoint("10.0.0.2", "db-1", "ready: true, serving: false, terminating: false"),
                        endpoint("10.0.0.3", "db-2", "ready: true, serving: true, terminating: true"))));

        assertThat(answers(plan, HOST)).containsOnlyKeys("10.0.0.1");
    }

    @Test
    void sevenOfTwelveDownLeavesTheFive() {
        String[] endpoints = IntStream.rangeClosed(1, 12)
                .mapToObj(i -> endpoint("10.0.0." + i, "p" + i, "ready: " + (i > 7)))
                .toArray(String[]::new);

        Plan plan = plan(Setting.ZONE, BEHIND, SERVICE, slice(String.join(", ", endpoints)));

        assertThat(answers(plan, HOST)).containsOnlyKeys("10.0.0.8", "10.0.0.9", "10.0.0.10", "10.0.0.11", "10.0.0.12");
        assertThat(answers(plan, HOST).values().stream()
                        .mapToInt(Integer::intValue)
                        .sum())
                .isEqualTo(256);
        assertThat(pool(plan).ready()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ready: false", "ready: true", ""})
    void anAddressThatADeadPodLeftToAnotherServiceIsTheOthersAlone(String conditions) {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                Setting.pool("other", "{name: main, service: {name: other}}"),
                SERVICE,
                Setting.service("other", "other.example.org")
                        .replace("poolRef: {name: shop}", "poolRef: {name: other}"),
                slice(endpoint("10.0.0.9", "dead", conditions) + ", " + endpoint("10.0.0.1", "alive", "ready: true")),
                Setting.slice("other-1", "other", "[" + endpoint("10.0.0.9", "heir", "ready: true") + "]"),
                pod("dead", "Failed"),
                pod("alive", "Running"),
                pod("heir", "Running"));

        assertThat(answers(plan, HOST)).containsOnlyKeys("10.0.0.1");
        assertThat(answers(plan, "other.example.org")).containsOnlyKeys("10.0.0.9");
    }

    @Test
    void aPodThatHasEndedIsInNoAnswerAndItIsSaid() {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(endpoint("10.0.0.1", "job", "ready: true") + ", " + endpoint("10.0.0.2", "web", "ready: true")),
                pod("job", "Succeeded"));

        assertThat(answers(plan, HOST)).isEqualTo(Map.of("10.0.0.2", 256));
        assertThat(pool(plan).replicas().getFirst().member())
                .extracting(
                        Member::name, Member::state, member -> member.because().getLast())
                .containsExactly("job", Member.State.NotReady, "the pod has ended");
    }

    @Test
    void twoHostNetworkPodsOnOneAddressAreOneRecordWithBothWeights() {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(String.join(
                        ", ",
                        endpoint("10.0.0.1", "a", "ready: true"),
                        endpoint("10.0.0.1", "b", "ready: true"),
                        endpoint("10.0.0.2", "c", "ready: true"))));

        assertThat(answers(plan, HOST).get("10.0.0.1")).isBetween(170, 171);
        assertThat(streams(plan, HOST).getFirst().answers()).hasSize(2);
        assertThat(files(zone(plan))).isNotEmpty();
    }

    @Test
    void onePodBehindTwoServicesOfAPoolIsSaid() {
        Plan plan = plan(
                Setting.ZONE,
                Setting.pool("shop", "{name: all, service: {name: shop}}, {name: some, service: {name: gold}}"),
                SERVICE,
                slice(endpoint("10.0.0.1", "p", "ready: true") + ", " + endpoint("10.0.0.2", "q", "ready: true")),
                Setting.slice("gold-1", "gold", "[" + endpoint("10.0.0.1", "p", "ready: true") + "]"));

        assertThat(streams(plan, HOST).getFirst().answers()).hasSize(2);
        Finding allocated = Findings.allocated(pool(plan));
        assertThat(allocated.isTrue()).isTrue();
        assertThat(allocated.message()).contains("p, some/p are in more than one site");
        assertThat(pool(plan).replicas())
                .filteredOn(replica -> !replica.member().name().equals("q"))
                .extracting(replica -> replica.member().because().getLast())
                .allSatisfy(because -> assertThat(because).contains("also in the site"))
                .hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void eightyReplicasKeepKAndTheChoiceAndTheRestIsCounted(long seed) {
        String[] endpoints = IntStream.rangeClosed(1, 80)
                .mapToObj(i -> endpoint("10.0.0." + i, "p%02d".formatted(i), "ready: true"))
                .toArray(String[]::new);
        Setting setting = Setting.of(
                Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: List}"),
                BEHIND,
                Setting.service("shop", HOST, ", maxReplicas: 8"),
                slice(String.join(", ", endpoints)));
        SortedMap<String, Integer> chosen = answers(setting.plan(), HOST);

        Plan plan = setting.shuffled(seed).plan();

        assertThat(answers(plan, HOST)).isEqualTo(chosen).hasSize(8);
        Finding allocated = Findings.allocated(pool(plan));
        assertThat(allocated.reason()).isEqualTo("ReplicasUnused");
        assertThat(allocated.message()).contains("72 of 80 ready replicas are in no answer", "and 64 more");
    }

    @ParameterizedTest
    @CsvSource({"3, Single", "150, Single", "3, List", "150, List"})
    void equalReplicasHaveWholeEqualWeights(int count, String answers) {
        String[] endpoints = IntStream.rangeClosed(1, count)
                .mapToObj(i -> endpoint("10.0.1." + i, "p%03d".formatted(i), "ready: true"))
                .toArray(String[]::new);

        Plan plan = plan(
                Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: %s}".formatted(answers)),
                BEHIND,
                Setting.service("shop", HOST, ", maxReplicas: " + count),
                slice(String.join(", ", endpoints)));

        SortedMap<String, Integer> weights = answers(plan, HOST);
        assertThat(weights)
                .hasSize(count)
                .allSatisfy((address, weight) -> assertThat(weight).isPositive());
        int least = weights.values().stream().mapToInt(Integer::intValue).min().orElseThrow();
        int most = weights.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
        // The slots must add up, so some have one more; a list's weights need not.
        assertThat(most - least).isLessThanOrEqualTo(answers.equals("List") ? 0 : 1);
    }

    @Test
    void theLargestCapacitiesDoNotOverflow() {
        Plan plan = plan(Setting.ZONE, Setting.pool("shop", """
            {name: main, endpoints: [
              {name: a, address: 192.0.2.1, capacity: 2147483647},
              {name: b, address: 192.0.2.2, capacity: 2147483647}]}\
            """), SERVICE);

        assertThat(answers(plan, HOST)).isEqualTo(Map.of("192.0.2.1", 128, "192.0.2.2", 128));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "0", "-2147483648", "'-513m'", "NaN", "'1e400'"})
    void aCapacityThatIsNoneIsRefusedAndTheOtherPoolsGoOn(String capacity) {
        Plan plan = plan(
                Setting.ZONE,
                Setting.pool(
                        "bad",
                        "{name: main, endpoints: [{name: a, address: 192.0.2.9, capacity: %s}]}".formatted(capacity)),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                SERVICE);

        assertThat(accepted(plan.admission().pools(), "bad").reason()).isEqualTo("Unreadable");
        assertThat(accepted(plan.admission().pools(), "bad").message()).contains(capacity.replace("'", ""));
        assertThat(answers(plan, HOST)).isEqualTo(Map.of("192.0.2.1", 256));
    }

    @Test
    void aReplicaWithTwoAddressesHasOneShareAndSplitsIt() {
        Plan plan = plan(Setting.ZONE, Setting.pool("shop", """
            {name: a, capacity: 100, endpoints: [
              {name: a1, addresses: [192.0.2.1, 192.0.2.2]}, {name: a2, addresses: [192.0.2.3, 192.0.2.4]}]},
            {name: b, capacity: 100, endpoints: [{name: b1, address: 192.0.2.5}, {name: b2, address: 192.0.2.6}]}\
            """), SERVICE);

        assertThat(answers(plan, HOST))
                .isEqualTo(Map.of(
                        "192.0.2.1",
                        32,
                        "192.0.2.2",
                        32,
                        "192.0.2.3",
                        32,
                        "192.0.2.4",
                        32,
                        "192.0.2.5",
                        64,
                        "192.0.2.6",
                        64));
        assertThat(pool(plan).replicas())
                .allSatisfy(replica -> assertThat(replica.share()).isCloseTo(0.25, within(1e-9)));
    }

    /** Publishes into nothing, then plans again and compares. */
    private static void assertSecondCycleWritesNothing(Setting setting) {
        ZoneRecords first = zone(setting.plan());
        CoreDnsLayout layout = new CoreDnsLayout("web", "apportion-coredns", SHARDS, "/etc/apportion");
        int written = 0;
        ZoneRecords second = zone(Plan.of(setting, zone -> Optional.of(first)));
        for (int shard = 0; shard < SHARDS.count(); shard++) {
            if (ShardChange.decide(null, first, layout, shard, Claim.NONE)
                    instanceof ShardChange.Create(ConfigMap made, var _)) {
                written++;
                assertThat(ShardChange.decide(made, second, layout, shard, Claim.NONE))
                        .isInstanceOf(ShardChange.Unchanged.class);
            }
        }
        assertThat(written).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Shop.Example.COM", "SHOP.EXAMPLE.COM.", "shop.example.com"})
    void anUpperCaseHostIsLowerCaseEverywhereAndIsNotWrittenAgain(String host) {
        Setting setting = Setting.of(
                Setting.ZONE
                        .replace("domain: example.org", "domain: Example.COM")
                        .replace(
                                "coreDNS: {}",
                                "records: [{name: WWW, type: CNAME, values: [%s]}], coreDNS: {}"
                                        .formatted(host.endsWith(".") ? host : host + ".")),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                Setting.service("shop", host));

        assertThat(answers(setting.plan(), "shop.example.com")).containsOnlyKeys("192.0.2.1");
        assertThat(files(zone(setting.plan())).lines().filter(line -> !line.contains("Written by")))
                .noneMatch(line -> line.toLowerCase(java.util.Locale.ROOT).contains("example.com")
                        && (line.contains("Example") || line.contains("EXAMPLE") || line.contains("WWW")));
        assertSecondCycleWritesNothing(setting);
    }

    @Test
    void spellingsOfOneAddressAreOneRecord() {
        Setting setting = Setting.of(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(String.join(
                        ", ",
                        endpoint("'2001:0db8:0000:0000:0000:0000:0000:0001'", "p", "ready: true"),
                        endpoint("'2001:db8::1'", "p", "ready: true"),
                        endpoint("'2001:DB8::1'", "p", "ready: true"),
                        endpoint("10.0.0.1", "p", "ready: true"))));

        assertThat(answers(setting.plan(), HOST)).isEqualTo(Map.of("10.0.0.1", 256, "2001:db8::1", 256));
        assertThat(files(zone(setting.plan()))).contains("AAAA 2001:db8::1\n").doesNotContain("2001:DB8", "0db8");
        assertSecondCycleWritesNothing(setting);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.96.011.012",
                "010.0.0.1",
                "10.0.0.300",
                "0x0a.0.0.1",
                "10.1",
                "'::ffff:10.0.0.1'",
                "localhost"
            })
    void anAddressThatReadersDisagreeOnIsRefusedNotGuessed(String address) {
        Plan plan = plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(endpoint(address, "odd", "ready: true") + ", " + endpoint("10.0.0.1", "even", "ready: true")),
                Setting.pool("fixed", "{name: main, endpoints: [{name: a, address: %s}]}".formatted(address)));

        assertThat(answers(plan, HOST)).isEqualTo(Map.of("10.0.0.1", 256));
        assertThat(pool(plan).replicas().getLast().member().because())
                .anySatisfy(because -> assertThat(because).contains(address.replace("'", "")));
        assertThat(accepted(plan.admission().pools(), "fixed").message()).contains(address.replace("'", ""));
    }

    private static String withRecords(String records) {
        return Setting.ZONE.replace("coreDNS: {}", "records: [%s], coreDNS: {}".formatted(records));
    }

    @Test
    void aValueWithATrailingDotIsAbsoluteAndNothingIsAppended() {
        Plan plan = plan(withRecords("{name: www, type: CNAME, values: [lb.example.net.]}"));

        assertThat(files(zone(plan)))
                .contains("\nwww 15 IN CNAME lb.example.net.\n")
                .doesNotContain("lb.example.net.example");
    }

    @Test
    void aNameAndItsALabelAreOneName() {
        Plan plan = plan(
                Setting.ZONE.replace("example.org", "bücher.example"),
                Setting.ZONE
                        .replace("{name: example-org}", "{name: twin}")
                        .replace("example.org", "XN--BCHER-KVA.example."),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                Setting.service("shop", "käse.bücher.example"),
                Setting.service("twin", "xn--kse-qla.xn--bcher-kva.example"));

        assertThat(accepted(plan.admission().zones(), "twin").reason()).isEqualTo("DomainConflict");
        assertThat(accepted(plan.admission().services(), "twin").reason()).isEqualTo("HostConflict");
        assertThat(answers(plan, "xn--kse-qla.xn--bcher-kva.example")).containsOnlyKeys("192.0.2.1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
        {name: www, type: CNAME, values: [lb.example.net.]}, {name: WWW, type: A, values: [192.0.2.1]}          | www.example.org CNAME
        {name: example.org, type: CNAME, values: [lb.example.net.]}                                             | example.org CNAME
        """)
    void anAliasAtTheApexOrBesideOthersIsRefusedAndTheRestGoesOn(String records, String named) {
        Plan plan = plan(
                withRecords(records + ", {name: mail, type: A, values: [192.0.2.25]}"),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                SERVICE);

        Finding finding = accepted(plan.admission().zones(), "example-org");
        assertThat(finding.reason()).isEqualTo("InvalidRecords");
        assertThat(finding.message()).contains(named);
        assertThat(files(zone(plan)))
                .doesNotContain("IN CNAME lb.", "IN CNAME a.", "IN CNAME b.")
                .contains("192.0.2.25");
        assertThat(answers(plan, HOST)).containsOnlyKeys("192.0.2.1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
        {name: '@', type: CNAME, values: [lb.example.net.]}                | CNAME
        {name: www, type: CNAME, values: [a.example.net., b.example.net.]} | one value
        """)
    void anAliasThatNoZoneCanHaveIsRefusedByTheSchemaAlready(String record, String message) {
        Finding finding = accepted(plan(withRecords(record)).admission().zones(), "example-org");

        assertThat(finding.reason()).isEqualTo("Unreadable");
        assertThat(finding.message()).contains(message);
    }

    @Test
    void aHostThatIsAFixedAliasAlreadyIsAConflict() {
        Plan plan = plan(
                withRecords("{name: shop, type: CNAME, values: [lb.example.net.]}"),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                SERVICE);

        assertThat(accepted(plan.admission().services(), "shop").reason()).isEqualTo("HostConflict");
        assertThat(files(zone(plan))).contains("shop 15 IN CNAME lb.example.net.");
    }

    @Test
    void whatIsDelegatedIsNotServedBesides() {
        Plan plan = plan(
                withRecords("{name: sub, type: NS, values: [ns.sub, ns.example.net.]}, {name: ns.sub, type: A, values:"
                        + " [192.0.2.53]}, {name: www.sub, type: TXT, values: [hidden]}, {name: sub, type: MX, values:"
                        + " [10 mail]}, {name: other, type: TXT, values: [shown]}"),
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                SERVICE,
                Setting.service("below", "www.sub.example.org"));

        assertThat(accepted(plan.admission().zones(), "example-org").message())
                .contains("www.sub.example.org TXT", "sub.example.org MX")
                .doesNotContain("NS]", "A]", "other");
        assertThat(accepted(plan.admission().services(), "below").reason()).isEqualTo("HostConflict");
        assertThat(files(zone(plan))).contains("192.0.2.53", "shown").doesNotContain("hidden");
    }

    @Test
    void oneNameServerInTwoSpellingsIsOne() {
        Plan plan = plan(Setting.ZONE.replace(
                "coreDNS: {}",
                "coreDNS: {}, nameServers: [{name: ns1.example.org, addresses: [192.0.2.53]},"
                        + " {name: NS1.Example.ORG., addresses: ['2001:DB8::53', 192.0.2.53]}]"));

        assertThat(zone(plan).nameServers())
                .singleElement()
                .satisfies(server -> assertThat(server.addresses()).hasSize(2));
        assertThat(files(zone(plan)).split("NS ns1", -1)).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"-1, false", "0, false", "1, true", "86400, true", "86401, false"})
    void aTimeToLiveIsTakenAsItIsOrRefused(int ttl, boolean taken) {
        Plan plan = plan(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                Setting.service("shop", HOST, ", ttlSeconds: " + ttl),
                Setting.ZONE
                        .replace("name: example-org", "name: other")
                        .replace("example.org", "example.net, ttlSeconds: " + ttl));

        if (taken) {
            assertThat(zone(plan).hosts()).extracting(Host::ttlSeconds).containsExactly(ttl);
        } else {
            assertThat(accepted(plan.admission().services(), "shop").message()).contains("ttlSeconds: " + ttl);
        }
        assertThat(accepted(plan.admission().zones(), "other").isTrue()).isEqualTo(taken);
    }

    @ParameterizedTest
    @CsvSource({"63, true", "64, false"})
    void aLabelMayHaveSixtyThreeCharacters(int length, boolean taken) {
        String host = "a".repeat(length) + ".example.org";
        Plan plan = plan(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                Setting.service("shop", host));

        assertThat(plan.admission().service(SHOP).isPresent()).isEqualTo(taken);
        assertThat(answers(plan, host).containsKey("192.0.2.1")).isEqualTo(taken);
        assertThat(files(zone(plan))).isNotEmpty();
        if (!taken) {
            assertThat(accepted(plan.admission().services(), "shop").message()).contains("a".repeat(length));
        }
    }

    @Test
    void namesThatBeginAlikeAreToldApart() {
        String start = "n".repeat(35) + "." + "m".repeat(35);
        Plan plan = plan(
                Setting.ZONE,
                Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                Setting.service("shop", start + "1.example.org"),
                Setting.service("b", start + "2.example.org"),
                Setting.service("n".repeat(70) + "1", "n".repeat(60) + "a.example.org"),
                Setting.service("n".repeat(70) + "2", "n".repeat(60) + "b.example.org"));

        assertThat(zone(plan).hosts()).hasSize(4);
        assertThat(zone(plan).hosts())
                .extracting(host -> host.streams().getFirst().label())
                .doesNotHaveDuplicates();
        assertThat(files(zone(plan))).isNotEmpty();
    }

    @Test
    void ofTwoOwnersTheOlderStandsForTenCyclesAndItsDeletionPromotesTheOther() {
        Setting setting = Setting.of(
                        Setting.ZONE,
                        Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                        Setting.pool("pool-b", "{name: main, endpoints: [{name: b, address: 192.0.2.2}]}"),
                        SERVICE,
                        Setting.service("b", "Shop.example.org.")
                                .replace("poolRef: {name: shop}", "poolRef: {name: pool-b}"))
                .created("shop", "2024-01-02T00:00:00Z")
                .created("b", "2024-01-01T00:00:00Z");
        ZoneRecords first = zone(setting.plan());
        ZoneRecords last = first;

        for (int cycle = 0; cycle < 10; cycle++) {
            ZoneRecords published = last;
            last = zone(Plan.of(setting.shuffled(cycle), zone -> Optional.of(published)));
            assertThat(last).isEqualTo(first);
            assertThat(accepted(setting.admission().services(), "shop").reason())
                    .isEqualTo("HostConflict");
        }
        assertThat(first.hosts()).extracting(Host::owner).containsExactly("web/b");

        ZoneRecords promoted = zone(Plan.of(setting.without("b"), zone -> Optional.of(first)));
        assertThat(promoted.hosts()).extracting(Host::owner).containsExactly("web/shop");
        assertThat(promoted.hosts().getFirst().streams().getFirst().answers())
                .extracting(answer -> answer.address().toCanonicalString())
                .containsExactly("192.0.2.1");
    }

    @Test
    void aReplicaThatIsReplacedLeavesTheNamesOfAllOthersAlone() {
        Function<String, Plan> with = pods -> plan(
                Setting.ZONE,
                BEHIND,
                SERVICE,
                slice(java.util.Arrays.stream(pods.split(" "))
                        .map(pod -> endpoint("10.0.0." + pod.charAt(0) % 32, pod, "ready: true"))
                        .collect(Collectors.joining(", "))));
        Plan before = with.apply("a b c");
        Plan after = with.apply("a d c");

        assertThat(streams(after, HOST)).hasSize(1);
        assertThat(streams(after, HOST).getFirst().label())
                .isEqualTo(streams(before, HOST).getFirst().label());
        Map<String, String> names = replicas(before);
        Map<String, String> namesAfter = replicas(after);
        assertThat(namesAfter).containsEntry("a", names.get("a")).containsEntry("c", names.get("c"));
        assertThat(namesAfter).containsKey("d").doesNotContainKey("b");
    }

    private static Map<String, String> replicas(Plan plan) {
        return streams(plan, HOST).getFirst().answers().stream()
                .collect(Collectors.toMap(
                        answer -> answer.replica(), answer -> answer.address().toCanonicalString()));
    }

    @Test
    void oneReplicaIsWeightedAsTwoAre() {
        List<String> labels = new ArrayList<>();
        for (String addresses : List.of("192.0.2.1", "192.0.2.1 192.0.2.2", "192.0.2.1")) {
            String endpoints = java.util.Arrays.stream(addresses.split(" "))
                    .map(address -> "{name: r%s, address: %s}".formatted(address.charAt(8), address))
                    .collect(Collectors.joining(", "));
            Plan plan = plan(
                    Setting.ZONE, Setting.pool("shop", "{name: main, endpoints: [%s]}".formatted(endpoints)), SERVICE);
            assertThat(answers(plan, HOST).values().stream()
                            .mapToInt(Integer::intValue)
                            .sum())
                    .isEqualTo(256);
            labels.add(streams(plan, HOST).getFirst().label());
        }
        assertThat(labels).containsOnly(labels.getFirst());
    }

    @Test
    void aDomainThatIsTheHostNameOfAnOlderServiceIsAConflictAndBack() {
        Setting setting = Setting.of(
                        Setting.ZONE,
                        Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                        SERVICE,
                        Setting.ZONE
                                .replace("{name: example-org}", "{name: tenant}")
                                .replace("example.org", "Shop.Example.Org"))
                .created("example-org", "2024-01-01T00:00:00Z")
                .created("shop", "2024-01-02T00:00:00Z")
                .created("tenant", "2024-01-03T00:00:00Z");

        assertThat(accepted(setting.admission().zones(), "tenant").reason()).isEqualTo("DomainConflict");
        assertThat(answers(setting.plan(), HOST)).containsOnlyKeys("192.0.2.1");

        setting.created("tenant", "2024-01-01T12:00:00Z");
        assertThat(accepted(setting.admission().zones(), "tenant").isTrue()).isTrue();
        assertThat(accepted(setting.admission().services(), "shop").reason()).isEqualTo("CloserZone");
    }

    @Test
    void twentyPodsWithoutAStreamAreAllUsed() {
        String[] endpoints = IntStream.rangeClosed(1, 20)
                .mapToObj(i -> endpoint("10.0.0." + i, "p%02d".formatted(i), "ready: true"))
                .toArray(String[]::new);
        String slices = slice(String.join(", ", endpoints));

        Plan single = plan(Setting.ZONE, BEHIND, SERVICE, slices);
        assertThat(answers(single, HOST)).hasSize(20);
        assertThat(Findings.allocated(pool(single)).reason()).isEqualTo("Allocated");

        Plan list = plan(Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: List}"), BEHIND, SERVICE, slices);
        assertThat(answers(list, HOST)).hasSize(16);
        assertThat(Findings.allocated(pool(list)).message())
                .contains("4 of 20 ready replicas are in no answer: p17, p18, p19, p20");
    }

    @Test
    void oneBadServiceOfThreeIsRefusedAndTheOthersGoOn() {
        for (String host :
                List.of("''", "a..b.example.org", "a b.example.org", "'*.example.org'", "_s.example.org", "ex ample")) {
            Plan plan = plan(
                    Setting.ZONE,
                    Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}"),
                    SERVICE,
                    Setting.service("middle", host),
                    Setting.service("last", "last.example.org"));

            assertThat(accepted(plan.admission().services(), "middle").isFalse())
                    .as(host)
                    .isTrue();
            assertThat(zone(plan).hosts().stream().map(Host::name).sorted(Comparator.naturalOrder()))
                    .containsExactly("last.example.org", HOST);
            assertThat(files(zone(plan))).isNotEmpty();
        }
    }
}
