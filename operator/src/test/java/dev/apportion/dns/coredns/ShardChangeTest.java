package dev.apportion.dns.coredns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardChangeTest {

    private static final CoreDnsLayout LAYOUT = layout(1);

    @Test
    void everyChangeHasTheNextSerialAndNoChangeHasNone() {
        ConfigMap first = created(zone(179), 0);
        assertThat(data(first)).containsEntry("example.org.s0.serial", "1");
        assertThat(data(first).get("example.org.zone")).contains("hostmaster.example.org. 1 7200");
        assertThat(ShardChange.decide(first, zone(179), LAYOUT, 0, Claim.NONE))
                .isEqualTo(new ShardChange.Unchanged(Serial.parse("1")));

        ShardDecision.Write second = write(data(first), zone(100), 0);
        assertThat(second.put())
                .containsEntry("example.org.s0.serial", "2")
                .containsKeys("example.org.zone", "example.org.s0.zone", "example.org.s0.state")
                .doesNotContainKeys("example.org.conf", "example.org.s0.conf");
        assertThat(second.before()).contains("1");
        assertThat(second.remove()).isEmpty();
    }

    @Test
    void theSerialWrapsAround() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0xffff_fffeL)));

        assertThat(data).containsEntry("example.org.s0.serial", "4294967295");
        assertThat(write(data, zone(1), 0).put()).containsEntry("example.org.s0.serial", "1");
    }

    @Test
    void anEditedFileIsWrittenAnewWithTheNextSerial() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.put("example.org.s0.zone", "garbage");

        assertThat(write(data, zone(179), 0).put())
                .containsEntry("example.org.s0.serial", "2")
                .containsKey("example.org.s0.zone");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "-1", "0"})
    void aSpoiltSerialIsReplacedAboveTheFloor(String serial) {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.put("example.org.s0.serial", serial);

        ShardDecision.Write write = write(data, zone(179), 7);

        assertThat(write.put()).containsEntry("example.org.s0.serial", "8");
        assertThat(write.before()).contains(serial);
    }

    @Test
    void theFloorCountsOnlyWhereThereIsNoSerial() {
        assertThat(data(created(zone(179), 41))).containsEntry("example.org.s0.serial", "42");
        assertThat(write(data(created(zone(179), 0)), zone(1), 41).put()).containsEntry("example.org.s0.serial", "2");
    }

    @Test
    void hostsStandInOneShardEach() {
        ZoneRecords zone = Corpus.zone(
                Answers.Single,
                IntStream.range(0, 50)
                        .mapToObj(i -> Corpus.host(
                                "h" + i + ".example.org", Corpus.stream("h" + i, new int[] {16}, "10.0.0." + i)))
                        .toArray(Host[]::new));
        int hosts = 0;
        for (int shard = 0; shard < 8; shard++) {
            ConfigMap configMap = created(zone, layout(8), shard, 0);
            for (ShardState state : ShardState.read(data(configMap))) {
                assertThat(state).isInstanceOf(ShardState.Published.class);
                hosts += ((ShardState.Published) state).part().hosts().size();
            }
            assertThat(data(configMap).containsKey("example.org.zone"))
                    .isEqualTo(layout(8).shards().of("example.org") == shard);
        }
        assertThat(hosts).isEqualTo(50);
    }

    @Test
    void aShardThatHoldsNothingIsNotCreated() {
        Shards shards = layout(8).shards();
        int other = IntStream.range(0, 8)
                .filter(shard -> shard != shards.of("example.org") && shard != shards.of("shop.example.org"))
                .findFirst()
                .orElseThrow();

        assertThat(ShardChange.decide(null, zone(179), layout(8), other, Claim.NONE))
                .isInstanceOf(ShardChange.Unchanged.class);
    }

    @Test
    void aShardWhoseLastHostGoesKeepsItsSerial() {
        CoreDnsLayout layout = layout(8);
        int shard = layout.shards().of("shop.example.org");
        assertThat(shard).isNotEqualTo(layout.shards().of("example.org"));
        Map<String, String> data = data(created(zone(179), layout, shard, 0));

        ShardDecision decision = ShardDecision.decide(
                data,
                zone(179).withHosts(List.of()),
                layout.shards(),
                "/etc/apportion",
                shard,
                Claim.NONE,
                Long.MAX_VALUE);

        assertThat(decision).isInstanceOfSatisfying(ShardDecision.Write.class, write -> {
            assertThat(write.put().keySet())
                    .containsExactly("example.org.s" + shard + ".serial", "example.org.s" + shard + ".state");
            assertThat(write.put()).containsEntry("example.org.s" + shard + ".serial", "2");
            assertThat(write.remove())
                    .containsExactly("example.org.s" + shard + ".conf", "example.org.s" + shard + ".zone");
        });
    }

    @Test
    void aShardThatIsNoLongerUsedIsEmptied() {
        int shard = layout(8).shards().of("shop.example.org");
        assertThat(shard).isGreaterThanOrEqualTo(2);
        Map<String, String> data = new HashMap<>(data(created(zone(179), layout(8), shard, 0)));
        data.put("note", "mine");

        assertThat(ShardDecision.decide(
                        data, zone(179), layout(2).shards(), "/etc/apportion", shard, Claim.NONE, Long.MAX_VALUE))
                .isInstanceOfSatisfying(ShardDecision.Write.class, write -> {
                    assertThat(write.put()).isEmpty();
                    assertThat(write.remove()).hasSize(4).doesNotContain("note");
                });
    }

    @Test
    void theDomainsFilesLeaveAShardThatIsNoLongerItsOwn() {
        CoreDnsLayout two = layout(2);
        int home = two.shards().of("example.org");
        Map<String, String> data = data(created(zone(179), two, home, 0));
        int count = IntStream.range(3, 50)
                .filter(shards -> new Shards(shards).of("example.org") != home)
                .findFirst()
                .orElseThrow();

        assertThat(ShardDecision.decide(
                        data, zone(179), new Shards(count), "/etc/apportion", home, Claim.NONE, Long.MAX_VALUE))
                .isInstanceOfSatisfying(
                        ShardDecision.Write.class,
                        write -> assertThat(write.remove()).contains("example.org.conf", "example.org.zone"));
    }

    @Test
    void aShardThatWouldBeTooLargeIsRefusedWithItsSizes() {
        ConfigMap full = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("apportion-coredns-0")
                .withUid("1")
                .endMetadata()
                .addToData("other", "x".repeat(ShardFiles.MOST_BYTES - 1000))
                .build();

        assertThat(ShardChange.decide(full, zone(179), LAYOUT, 0, Claim.NONE))
                .isInstanceOfSatisfying(ShardChange.Refused.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(ShardChange.Reason.ShardFull);
                    assertThat(refused.message())
                            .contains("921600", "example.org")
                            .containsPattern("would hold 92\\d{4} bytes");
                });
    }

    @Test
    void binaryDataTakeSpaceToo() {
        ConfigMap full = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("apportion-coredns-0")
                .withUid("1")
                .endMetadata()
                .addToBinaryData("other", "AAAA".repeat(ShardFiles.MOST_BYTES / 4))
                .build();

        assertThat(ShardChange.decide(full, zone(179), LAYOUT, 0, Claim.NONE)).isInstanceOf(ShardChange.Refused.class);
    }

    @Test
    void aKeyOfSomebodyElseIsNeverOverwritten() {
        Map<String, String> data = Map.of("example.org.zone", "$ORIGIN example.org.");

        assertThat(ShardDecision.decide(
                        data, zone(179), LAYOUT.shards(), "/etc/apportion", 0, Claim.NONE, Long.MAX_VALUE))
                .isInstanceOfSatisfying(ShardDecision.Refused.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(ShardChange.Reason.ForeignKey);
                    assertThat(refused.message()).contains("example.org.zone");
                });
        assertThat(ShardDecision.remove(data, new ShardKeys("example.org", 0), Claim.NONE))
                .isInstanceOf(ShardDecision.Unchanged.class);
    }

    @Test
    void filesWhoseSerialWasLostAreTakenUpAgain() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.remove("example.org.s0.serial");

        assertThat(write(data, zone(100), 1).put())
                .containsEntry("example.org.s0.serial", "2")
                .containsKeys("example.org.zone", "example.org.s0.state");
    }

    static Stream<ZoneRecords> unsayable() {
        HostStream none = new HostStream("none", "", List.of(), List.of());
        ZoneRecords zone = Corpus.zone(Answers.Single, Corpus.host("shop.example.org", none));
        return Stream.of(
                Corpus.zone(Answers.Single, Corpus.host("shop.example.net", none)),
                Corpus.zone(Answers.Single, Corpus.host("shopexample.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a..b.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a' || true || '.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a{b.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("*.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("SHOP.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("x._s.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a".repeat(64) + ".example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a.example.org", none), Corpus.host("a.example.org", none)),
                Corpus.zone(Answers.Single, Corpus.host("a.example.org", none), Corpus.host("b.example.org", none)),
                Corpus.zone(
                        Answers.Single, Corpus.host("a.example.org", new HostStream("x.y", "", List.of(), List.of()))),
                with(zone, "example.s3", List.of(), zone.nameServers()),
                with(zone, "example.org", List.of(), List.of()),
                with(zone, "example.org", List.of(), List.of(new NameServer("n s", List.of()))),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("shop.example.org", "A", 1, "192.0.2.1")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x.example.org", "A", 1, "192.0.2.300")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x.example.org", "A", 1, "192.0.2.1\n@ A 192.0.2.2")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x.example.org", "CNAME", 1, "relative")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x.example.net", "A", 1, "192.0.2.1")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x._p.shop.example.org", "A", 1, "192.0.2.1")),
                        zone.nameServers()),
                with(
                        zone,
                        "example.org",
                        List.of(new FixedRecord("x.example.org", "SOA", 1, "a. b. 1 1 1 1 1")),
                        zone.nameServers()));
    }

    @ParameterizedTest
    @MethodSource("unsayable")
    void whatCannotBeSaidIsRefused(ZoneRecords zone) {
        assertThat(ShardChange.decide(null, zone, LAYOUT, 0, Claim.NONE))
                .isInstanceOfSatisfying(ShardChange.Refused.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(ShardChange.Reason.NotRenderable);
                    assertThat(refused.message()).isNotBlank();
                });
    }

    @Test
    void slotsWithTooLongNamesAreRefused() {
        String domain = String.join(".", "d".repeat(63), "d".repeat(63), "d".repeat(50), "org");
        HostStream stream = new HostStream("l".repeat(60), "", List.of(), List.of());
        ZoneRecords zone = with(
                Corpus.zone(Answers.Single, Corpus.host("a." + domain, stream)),
                domain,
                List.of(),
                List.of(new NameServer("ns.example.org", List.of())));

        assertThat(ShardChange.decide(null, zone, LAYOUT, 0, Claim.NONE))
                .isInstanceOfSatisfying(
                        ShardChange.Refused.class,
                        refused -> assertThat(refused.message()).contains("characters"));
    }

    @Test
    void weightsThatNoSlotsCanExpressAreABug() {
        ZoneRecords single = Corpus.zone(
                Answers.Single,
                Corpus.host("shop.example.org", Corpus.stream("shop", new int[] {1, 2}, "10.0.0.1", "10.0.0.2")));
        ZoneRecords list = Corpus.zone(
                Answers.List, Corpus.host("shop.example.org", Corpus.stream("shop", new int[] {256}, "10.0.0.1")));

        assertThatThrownBy(() -> ShardChange.decide(null, single, LAYOUT, 0, Claim.NONE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[1, 2]");
        assertThatThrownBy(() -> ShardChange.decide(null, list, LAYOUT, 0, Claim.NONE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("256");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "{\"format\":2}", "{\"format\":1}", "null"})
    void aStateThatCannotBeReadSaysWhy(String state) {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.put("example.org.s0.state", state);

        assertThat(ShardState.read(data))
                .singleElement()
                .isInstanceOfSatisfying(ShardState.Unreadable.class, unreadable -> {
                    assertThat(unreadable.domain()).isEqualTo("example.org");
                    assertThat(unreadable.reason()).contains("example.org.s0.state");
                });
        data.remove("example.org.s0.state");
        assertThat(ShardState.read(data)).singleElement().isInstanceOf(ShardState.Unreadable.class);
    }

    @Test
    void whatANewerLeaderWroteIsNotWrittenOver() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        ShardDecision.Write third = (ShardDecision.Write) decide(data, zone(100), 3);
        assertThat(third.put()).containsEntry("example.org.s0.epoch", "3").containsEntry("example.org.s0.serial", "2");
        data.putAll(third.put());

        assertThat(decide(data, zone(50), 2)).isEqualTo(new ShardDecision.Outranked(3));
        assertThat(ShardDecision.remove(data, new ShardKeys("example.org", 0), new Claim(0, 2)))
                .isEqualTo(new ShardDecision.Outranked(3));
        assertThat(((ShardDecision.Write) decide(data, zone(50), 3)).put()).doesNotContainKey("example.org.s0.epoch");
        assertThat(((ShardDecision.Write) decide(data, zone(50), 4)).put()).containsEntry("example.org.s0.epoch", "4");
    }

    @Test
    void anotherLeaderAloneIsNoChange() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.putAll(((ShardDecision.Write) decide(data, zone(100), 3)).put());

        assertThat(decide(data, zone(100), 7)).isInstanceOf(ShardDecision.Unchanged.class);
        assertThat(decide(data, zone(100), 1)).isInstanceOf(ShardDecision.Unchanged.class);
    }

    @Test
    void aSpoiltEpochIsReplacedAndARemovedZoneTakesItsEpochWithIt() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.put("example.org.s0.epoch", "many");

        assertThat(((ShardDecision.Write) decide(data, zone(100), 1)).put()).containsEntry("example.org.s0.epoch", "1");
        assertThat(((ShardDecision.Write) ShardDecision.remove(data, new ShardKeys("example.org", 0), new Claim(0, 1)))
                        .remove())
                .isEqualTo(data.keySet());
    }

    private static ShardDecision decide(Map<String, String> data, ZoneRecords zone, long epoch) {
        return ShardDecision.decide(
                data, zone, LAYOUT.shards(), LAYOUT.directory(), 0, new Claim(0, epoch), Long.MAX_VALUE);
    }

    @Test
    void theOrderOfListingDoesNotMatter() {
        Host a = Corpus.host("a.example.org", Corpus.stream("a", new int[] {16}, "10.0.0.1"));
        Host b = Corpus.host("b.example.org", Corpus.stream("b", new int[] {16}, "10.0.0.2"));

        assertThat(ShardChange.decide(null, Corpus.zone(Answers.Single, a, b), LAYOUT, 0, Claim.NONE))
                .isEqualTo(ShardChange.decide(null, Corpus.zone(Answers.Single, b, a), LAYOUT, 0, Claim.NONE));
    }

    private static ZoneRecords with(
            ZoneRecords zone, String domain, List<FixedRecord> records, List<NameServer> nameServers) {
        return new ZoneRecords(domain, zone.owner(), zone.answers(), 15, 5, nameServers, records, zone.hosts());
    }

    private static CoreDnsLayout layout(int shards) {
        return new CoreDnsLayout("dns", "apportion-coredns", new Shards(shards), "/etc/apportion");
    }

    @Test
    void aReloadPutsTheSameWordsOfTheDomainsConfigurationOnOtherLines() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        String before = text(data, "example.org.conf");

        ShardDecision.Write reload = (ShardDecision.Write) decide(data, zone(179), new Claim(0, 0, true));

        assertThat(reload.remove()).isEmpty();
        assertThat(reload.put())
                .containsEntry("example.org.s0.serial", "2")
                .containsKey("example.org.conf")
                .doesNotContainKey("example.org.s0.conf");
        String after = text(reload.put(), "example.org.conf");
        assertThat(words(after)).isEqualTo(words(before));
        assertThat(lineOf(after, "example.org {")).isEqualTo(lineOf(before, "example.org {") + 1);
    }

    @Test
    void whatAReloadWroteStaysWhateverChangesLater() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        data.putAll(((ShardDecision.Write) decide(data, zone(179), new Claim(0, 0, true))).put());
        String edition = text(data, "example.org.conf");

        assertThat(decide(data, zone(179), Claim.NONE)).isEqualTo(new ShardDecision.Unchanged(Serial.parse("2")));
        assertThat(write(data, zone(100), 0).put()).isNotEmpty().doesNotContainKey("example.org.conf");
        data.put("example.org.conf", edition + "garbage");
        assertThat(write(data, zone(179), 0).put()).containsEntry("example.org.conf", edition);
    }

    @Test
    void noReloadLooksLikeOneOfThoseShortlyBefore() {
        Map<String, String> data = new HashMap<>(data(created(zone(179), 0)));
        Set<String> texts = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            data.putAll(((ShardDecision.Write) decide(data, zone(179), new Claim(0, 0, true))).put());
            texts.add(text(data, "example.org.conf"));
        }
        assertThat(texts).hasSize(8);
    }

    @Test
    void aReloadWritesTheShardOfTheDomainAlone() {
        Shards shards = new Shards(2);
        int other = 1 - shards.of("example.org");
        ZoneRecords zone = Corpus.zone(
                Answers.Single,
                IntStream.range(0, 8)
                        .mapToObj(i -> Corpus.host(
                                "h" + i + ".example.org", Corpus.stream("h" + i, new int[] {16}, "10.0.0." + i)))
                        .toArray(Host[]::new));

        assertThat(ShardDecision.decide(
                        data(created(zone, layout(2), other, 0)),
                        zone,
                        shards,
                        LAYOUT.directory(),
                        other,
                        new Claim(0, 0, true),
                        Long.MAX_VALUE))
                .isEqualTo(new ShardDecision.Unchanged(Serial.parse("1")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "#\n#\n", "garbage\n#\n"})
    void aConfigurationOfSomebodyElseIsNoEdition(String text) {
        assertThat(Edition.of(text)).isEqualTo(Edition.FIRST);
    }

    private static ShardDecision decide(Map<String, String> data, ZoneRecords zone, Claim claim) {
        return ShardDecision.decide(data, zone, LAYOUT.shards(), LAYOUT.directory(), 0, claim, Long.MAX_VALUE);
    }

    private static String text(Map<String, String> files, String name) {
        return Objects.requireNonNull(files.get(name));
    }

    private static List<String> words(String configuration) {
        return configuration
                .lines()
                .filter(line -> !line.startsWith("#"))
                .flatMap(line -> Stream.of(line.strip().split(" ")))
                .toList();
    }

    private static int lineOf(String text, String line) {
        return text.lines().toList().indexOf(line);
    }

    private static ConfigMap created(ZoneRecords zone, long floor) {
        return created(zone, LAYOUT, 0, floor);
    }

    private static ConfigMap created(ZoneRecords zone, CoreDnsLayout layout, int shard, long floor) {
        return switch (ShardChange.decide(null, zone, layout, shard, new Claim(floor, 0))) {
            case ShardChange.Create(var configMap, var serial) -> {
                configMap.getMetadata().setUid("1");
                yield configMap;
            }
            case ShardChange other -> throw new AssertionError(other);
        };
    }

    private static ShardDecision.Write write(Map<String, String> data, ZoneRecords zone, long floor) {
        return (ShardDecision.Write) ShardDecision.decide(
                data, zone, LAYOUT.shards(), LAYOUT.directory(), 0, new Claim(floor, 0), Long.MAX_VALUE);
    }

    private static Map<String, String> data(ConfigMap configMap) {
        return configMap.getData();
    }

    private static ZoneRecords zone(int first) {
        return Corpus.zone(
                Answers.Single,
                Corpus.host(
                        "shop.example.org",
                        Corpus.stream("shop", new int[] {first, 256 - first}, "10.0.0.1", "10.0.0.2")));
    }
}
