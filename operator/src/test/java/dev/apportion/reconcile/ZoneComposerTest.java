package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.reconcile.ZoneComposer.Outcome;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.Parsed;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZoneComposerTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref SHOP = new Ref("web", "shop");
    private static final String HOST = "shop.example.org";
    private static final String POOL = Setting.pool(
            "shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}");
    private static final String SERVICE = Setting.service("shop", HOST);

    /** What stood there before: an address that no plan of these tests gives. */
    private static final String OLD = "192.0.2.99";

    private static Answer answer(String address, int weight) {
        return switch (Addresses.parse(address)) {
            case Parsed.Value<IPAddress>(IPAddress read) -> new Answer(read, "old", weight);
            case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
        };
    }

    private static Host host(String name, String owner, Answer... answers) {
        return new Host(
                name, owner, 15, List.of(new HostStream(HostLabel.of(name, ""), "", List.of(), List.of(answers))));
    }

    private static ZoneRecords published(Answers answers, Host... hosts) {
        return new ZoneRecords(
                "example.org",
                "web/example-org",
                answers,
                15,
                5,
                List.of(new NameServer("ns.example.org", List.of())),
                List.of(),
                List.of(hosts));
    }

    private static ZoneRecords before() {
        return published(Answers.Single, host(HOST, "web/shop", answer(OLD, 256)));
    }

    private static ZoneComposer.Composed compose(Setting setting, ZoneRecords published) {
        return Objects.requireNonNull(
                Plan.of(setting, zone -> Optional.of(published)).zones().get(ZONE));
    }

    private static List<String> answers(ZoneComposer.Composed composed) {
        return composed.records().hosts().stream()
                .flatMap(host -> host.streams().stream())
                .flatMap(stream -> stream.answers().stream())
                .map(answer -> answer.address().toCanonicalString() + "=" + answer.weight())
                .toList();
    }

    @Test
    void aPlannedHostIsAnsweredAsPlanned() {
        ZoneComposer.Composed composed = compose(Setting.of(Setting.ZONE, POOL, SERVICE), before());

        assertThat(composed.hosts()).containsOnlyKeys(SHOP).containsValue(new Outcome.Planned());
        assertThat(answers(composed)).containsExactly("192.0.2.1=128", "192.0.2.2=128");
        assertThat(composed.records().hosts()).extracting(Host::owner).containsExactly("web/shop");
    }

    @Test
    void whatIsPausedStays() {
        Setting setting = Setting.of(Setting.ZONE, POOL, Setting.service("shop", HOST, ", paused: true"));

        assertKept(compose(setting, before()), "Paused");
    }

    @Test
    void whatIsOnlyObservedStays() {
        Setting setting = Setting.of(Setting.ZONE, POOL.replace("spec: {", "spec: {mode: Observe, "), SERVICE);

        assertKept(compose(setting, before()), "Observing");
    }

    @Test
    void aMissingOrRefusedPoolChangesNothing() {
        assertKept(compose(Setting.of(Setting.ZONE, SERVICE), before()), "PoolNotReady");
        assertKept(compose(Setting.of(Setting.ZONE, Setting.pool("shop", ""), SERVICE), before()), "PoolNotReady");
    }

    @Test
    void theLastAnswersStayWhileNoReplicaIsReady() {
        Setting setting = Setting.of(Setting.ZONE, POOL.replace("address", "drain: true, address"), SERVICE);

        assertKept(compose(setting, before()), "NoReadyReplicas");
    }

    private static void assertKept(ZoneComposer.Composed composed, String reason) {
        assertThat(composed.hosts().get(SHOP))
                .isInstanceOfSatisfying(
                        Outcome.Kept.class, kept -> assertThat(kept.reason()).isEqualTo(reason));
        assertThat(answers(composed)).containsExactly(OLD + "=256");
    }

    @Test
    void whatWasNeverPublishedIsAbsent() {
        ZoneRecords nothing = published(Answers.Single);

        ZoneComposer.Composed without = compose(Setting.of(Setting.ZONE, SERVICE), nothing);
        assertThat(without.hosts().get(SHOP)).isInstanceOf(Outcome.Absent.class);
        assertThat(without.records().hosts()).isEmpty();

        ZoneComposer.Composed unready =
                compose(Setting.of(Setting.ZONE, POOL.replace("address", "drain: true, address"), SERVICE), nothing);
        assertThat(unready.hosts().get(SHOP)).isInstanceOf(Outcome.Absent.class);
        assertThat(answers(unready)).isEmpty();
    }

    @Test
    void oneStreamWithoutReplicaKeepsItsLastAnswersAndTheOthersArePlanned() {
        String label = HostLabel.of(HOST, "down");
        ZoneRecords published = published(
                Answers.Single,
                new Host(
                        HOST,
                        "web/shop",
                        15,
                        List.of(new HostStream(label, "down", List.of(), List.of(answer(OLD, 256))))));
        Setting setting = Setting.of(Setting.ZONE, Setting.pool("shop", """
            {name: up, endpoints: [{name: a, address: 192.0.2.1}]},
            {name: down, endpoints: [{name: b, address: 192.0.2.2, drain: true}]}\
            """), SERVICE, """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: down}
            spec: {serviceRef: {name: shop}, clients: {cidrs: [10.0.0.0/8]}, sites: [down]}
            """);

        ZoneComposer.Composed composed = compose(setting, published);

        assertThat(answers(composed)).containsExactlyInAnyOrder(OLD + "=256", "192.0.2.1=256");
        assertThat(composed.hosts().get(SHOP))
                .isInstanceOfSatisfying(
                        Outcome.Kept.class, kept -> assertThat(kept.message()).contains("down"));
        assertThat(composed.records().hosts().getFirst().streams())
                .filteredOn(stream -> stream.stream().equals("down"))
                .allSatisfy(stream -> assertThat(stream.clients()).hasSize(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"maxReplicas: few", "hostname: -a.example.org"})
    void aServiceThatCannotBeReadAnyMoreKeepsWhatItHad(String slip) {
        String broken = slip.startsWith("hostname")
                ? SERVICE.replace("hostname: " + HOST, slip)
                : SERVICE.replace("poolRef", slip + ", poolRef");

        ZoneComposer.Composed composed = compose(Setting.of(Setting.ZONE, POOL, broken), before());

        assertThat(composed.hosts()).isEmpty();
        assertThat(answers(composed)).containsExactly(OLD + "=256");
    }

    @Test
    void aServiceAtTheDomainItselfThatCannotBeReadKeepsWhatItHadBesideTheDomainsMail() {
        String zone = Setting.ZONE.replace(
                "coreDNS: {}", "coreDNS: {}, records: [{name: '@', type: MX, values: ['10 mail.example.net.']}]");
        String broken = Setting.service("shop", "example.org", ", maxReplicas: few");

        ZoneComposer.Composed composed = compose(
                Setting.of(zone, POOL, broken),
                published(Answers.Single, host("example.org", "web/shop", answer(OLD, 256))));

        assertThat(answers(composed)).containsExactly(OLD + "=256");
        assertThat(composed.records().fixedRecords()).hasSize(1);
    }

    @Test
    void aServiceThatCannotBeReadLosesItsNameToWhoeverHasItNow() {
        String broken = Setting.service("shop", HOST, ", maxReplicas: few");
        String record = Setting.ZONE.replace(
                "coreDNS: {}", "coreDNS: {}, records: [{name: shop, type: A, values: [192.0.2.7]}]");

        assertThat(answers(compose(Setting.of(Setting.ZONE, POOL, broken, Setting.service("other", HOST)), before())))
                .containsExactly("192.0.2.1=128", "192.0.2.2=128");
        assertThat(answers(compose(Setting.of(record, POOL, broken), before()))).isEmpty();
    }

    @Test
    void deletedServicesAndLosersOfAConflictVanish() {
        assertThat(answers(compose(Setting.of(Setting.ZONE, POOL), before()))).isEmpty();

        Setting conflict = Setting.of(Setting.ZONE, POOL, SERVICE, Setting.service("older", HOST))
                .created("older", "2024-01-01T00:00:00Z")
                .created("shop", "2024-01-02T00:00:00Z");
        ZoneComposer.Composed composed = compose(conflict, before());
        assertThat(composed.hosts()).containsOnlyKeys(new Ref("web", "older"));
        assertThat(composed.records().hosts()).extracting(Host::owner).containsExactly("web/older");
    }

    @Test
    void theAnswersOfAServiceThatIsGoneAreNotItsSuccessors() {
        ZoneRecords another = published(Answers.Single, host(HOST, "web/gone", answer(OLD, 256)));

        ZoneComposer.Composed composed = compose(Setting.of(Setting.ZONE, SERVICE), another);

        assertThat(composed.hosts().get(SHOP)).isInstanceOf(Outcome.Absent.class);
        assertThat(answers(composed)).isEmpty();
    }

    @Test
    void whatStaysIsWeightedAnewWhenTheKindOfAnswersChanges() {
        Setting list = Setting.of(
                Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: List}"),
                Setting.service("shop", HOST, ", paused: true"));
        ZoneRecords single =
                published(Answers.Single, host(HOST, "web/shop", answer("192.0.2.8", 4000), answer(OLD, 96)));

        assertThat(answers(compose(list, single)))
                .hasSize(2)
                .allSatisfy(answer -> assertThat(Integer.parseInt(answer.substring(answer.indexOf('=') + 1)))
                        .isBetween(1, 255));

        Setting back = Setting.of(Setting.ZONE, Setting.service("shop", HOST, ", paused: true"));
        ZoneRecords weighted = published(Answers.List, host(HOST, "web/shop", answer("192.0.2.8", 3), answer(OLD, 1)));
        assertThat(answers(compose(back, weighted))).containsExactly("192.0.2.8=192", OLD + "=64");
    }

    @Test
    void aShardThatStillHoldsTheOtherKindOfAnswersIsWeightedAnewToo() {
        Setting setting = Setting.of(
                Setting.ZONE,
                Setting.service("shop", HOST, ", paused: true"),
                Setting.service("cart", "cart.example.org", ", paused: true"));
        ZoneRecords halfWritten = published(
                Answers.Single,
                host("cart.example.org", "web/cart", answer("192.0.2.8", 256)),
                host(HOST, "web/shop", answer("192.0.2.8", 3), answer(OLD, 1)));

        assertThat(answers(compose(setting, halfWritten)))
                .containsExactly("192.0.2.8=256", "192.0.2.8=192", OLD + "=64");
    }

    @Test
    void aHostThatTwoShardsHoldIsOneHost() {
        Setting setting = Setting.of(Setting.ZONE, Setting.service("shop", HOST, ", paused: true"));
        ZoneRecords twice = published(
                Answers.Single,
                host(HOST, "web/shop", answer(OLD, 256)),
                host(HOST, "web/shop", answer("192.0.2.8", 256)));

        assertThat(compose(setting, twice).records().hosts()).hasSize(1);
    }

    @Test
    void twoHostsOfOneServiceThatCannotBeReadBothStay() {
        Setting setting = Setting.of(Setting.ZONE, Setting.service("shop", HOST, ", maxReplicas: few"));
        ZoneRecords moved = published(
                Answers.Single,
                host(HOST, "web/shop", answer(OLD, 256)),
                host("store.example.org", "web/shop", answer(OLD, 256)));

        ZoneComposer.Composed composed = compose(setting, moved);

        assertThat(composed.records().hosts()).hasSize(2);
        assertThat(new ZoneStanding(composed, new dev.apportion.dns.Shards(8), new java.util.TreeMap<>()).part(SHOP))
                .isEmpty();
    }
}
