package dev.apportion.dns.coredns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.e2e.bed.WithApiServer;
import dev.apportion.records.Answers;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What is written to a real API server, and what it refuses. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConfigMapPublisherIT {

    private static final CoreDnsLayout LAYOUT =
            new CoreDnsLayout("default", "apportion-coredns", new Shards(1), "/etc/apportion");

    private @Nullable KubernetesClient connected;

    @BeforeAll
    void start(KubernetesClient client) {
        connected = client;
    }

    @BeforeEach
    void empty() {
        client().configMaps()
                .inNamespace("default")
                .withName("apportion-coredns-0")
                .delete();
    }

    @Test
    void createsThenLeavesAloneThenPatches() {
        Publication first = publish(zone(179));
        assertThat(first)
                .isInstanceOfSatisfying(
                        Publication.Written.class,
                        written -> assertThat(written.serial()).contains(Serial.FIRST));
        assertThat(current().getMetadata().getLabels()).containsAllEntriesOf(ConfigMapPatch.LABELS);
        String version = current().getMetadata().getResourceVersion();

        assertThat(publish(zone(179))).isInstanceOf(Publication.Unchanged.class);
        assertThat(current().getMetadata().getResourceVersion()).isEqualTo(version);

        assertThat(publish(zone(100))).isInstanceOfSatisfying(Publication.Written.class, written -> {
            assertThat(written.serial()).contains(new Serial(2));
            assertThat(written.configMap().getMetadata().getResourceVersion())
                    .isEqualTo(current().getMetadata().getResourceVersion());
        });
        assertThat(current().getData()).containsEntry("example.org.s0.serial", "2");
        assertThat(ShardState.read(current().getData()))
                .singleElement()
                .satisfies(state -> assertThat(state)
                        .isInstanceOfSatisfying(
                                ShardState.Published.class,
                                published -> assertThat(published.part()).isEqualTo(zone(100))));
    }

    @Test
    void aStaleWriterIsFenced() {
        publish(zone(179));
        ShardChange stale = ShardChange.decide(current(), zone(10), LAYOUT, 0, Claim.NONE);
        publish(zone(100));

        assertThat(publisher().publish(stale))
                .isInstanceOfSatisfying(
                        Publication.Fenced.class,
                        fenced -> assertThat(fenced.code()).isEqualTo(422));
        assertThat(ShardChange.decide(current(), zone(100), LAYOUT, 0, Claim.NONE))
                .isInstanceOf(ShardChange.Unchanged.class);
    }

    @Test
    void aSecondCreatorIsFenced() {
        ShardChange create = ShardChange.decide(null, zone(10), LAYOUT, 0, Claim.NONE);
        publish(zone(100));

        assertThat(publisher().publish(create))
                .isInstanceOfSatisfying(
                        Publication.Fenced.class,
                        fenced -> assertThat(fenced.code()).isEqualTo(409));
    }

    @Test
    void aDeletedShardIsNotWritten() {
        publish(zone(179));
        ShardChange change = ShardChange.decide(current(), zone(10), LAYOUT, 0, Claim.NONE);
        empty();

        assertThat(publisher().publish(change))
                .isInstanceOfSatisfying(
                        Publication.Fenced.class,
                        fenced -> assertThat(fenced.code()).isEqualTo(404));
    }

    @Test
    void aShardThatWasCreatedAnewIsNotWritten() {
        publish(zone(179));
        ShardChange change = ShardChange.decide(current(), zone(10), LAYOUT, 0, Claim.NONE);
        empty();
        publish(zone(179));

        assertThat(publisher().publish(change)).isInstanceOf(Publication.Fenced.class);
    }

    @Test
    void otherZonesAndForeignKeysSurvive() {
        create(Map.of("Corefile", ". {}", "note", "mine"));
        publish(zone(179));
        ZoneRecords other = new ZoneRecords(
                "example.net",
                "dns/example-net",
                Answers.List,
                15,
                5,
                zone(1).nameServers(),
                List.of(),
                List.of(Corpus.host("a.example.net", Corpus.stream("a", new int[] {1}, "10.0.0.9"))));
        publish(other);
        publish(zone(100));

        assertThat(current().getData())
                .containsEntry("Corefile", ". {}")
                .containsEntry("note", "mine")
                .containsKeys("example.org.conf", "example.net.conf", "example.net.s0.weights");
        assertThat(current().getMetadata().getLabels()).containsAllEntriesOf(ConfigMapPatch.LABELS);
        assertThat(ShardState.read(current().getData())).hasSize(2);

        assertThat(publisher().publish(ShardChange.remove(current(), "example.org", LAYOUT, 0, Claim.NONE)))
                .isInstanceOf(Publication.Written.class);
        assertThat(current().getData().keySet())
                .noneMatch(key -> key.startsWith("example.org"))
                .contains("Corefile", "note", "example.net.conf");
        assertThat(ShardChange.remove(current(), "example.org", LAYOUT, 0, Claim.NONE))
                .isInstanceOf(ShardChange.Unchanged.class);
    }

    @Test
    void theFirstOfTwoWritersIntoAnEmptyShardWins() {
        create(Map.of());
        ShardChange one = ShardChange.decide(current(), zone(179), LAYOUT, 0, new Claim(41, 0));
        ShardChange two = ShardChange.decide(current(), zone(100), LAYOUT, 0, new Claim(41, 0));

        assertThat(publisher().publish(one))
                .isInstanceOfSatisfying(
                        Publication.Written.class,
                        written -> assertThat(written.serial()).contains(new Serial(42)));
        assertThat(publisher().publish(two)).isInstanceOf(Publication.Fenced.class);
    }

    @Test
    void theFirstOfTwoWritersOfAZoneIntoAForeignShardWins() {
        create(Map.of("note", "mine"));
        ShardChange one = ShardChange.decide(current(), zone(179), LAYOUT, 0, Claim.NONE);
        ShardChange two = ShardChange.decide(current(), zone(100), LAYOUT, 0, Claim.NONE);

        assertThat(publisher().publish(one)).isInstanceOf(Publication.Written.class);
        assertThat(publisher().publish(two)).isInstanceOf(Publication.Fenced.class);
    }

    @Test
    void labelsOfOthersSurvive() {
        client().resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("apportion-coredns-0")
                        .withNamespace("default")
                        .addToLabels("team", "web")
                        .endMetadata()
                        .addToData("note", "mine")
                        .build())
                .create();
        publish(zone(179));

        assertThat(current().getMetadata().getLabels())
                .containsEntry("team", "web")
                .containsAllEntriesOf(ConfigMapPatch.LABELS);
    }

    @Test
    void anImmutableShardIsRefused() {
        client().resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("apportion-coredns-0")
                        .withNamespace("default")
                        .endMetadata()
                        .withImmutable(true)
                        .build())
                .create();

        assertThat(publish(zone(179)))
                .isInstanceOfSatisfying(
                        Publication.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(ShardChange.Reason.Immutable));
    }

    @Test
    void aMissingNamespaceIsAFailure() {
        CoreDnsLayout elsewhere = new CoreDnsLayout("nowhere", "apportion-coredns", new Shards(1), "/etc/apportion");

        assertThat(publisher().publish(ShardChange.decide(null, zone(179), elsewhere, 0, Claim.NONE)))
                .isInstanceOfSatisfying(
                        Publication.Failed.class,
                        failed -> assertThat(failed.message()).contains("nowhere"));
    }

    private Publication publish(ZoneRecords zone) {
        ConfigMap current = client().configMaps()
                .inNamespace("default")
                .withName("apportion-coredns-0")
                .get();
        return publisher().publish(ShardChange.decide(current, zone, LAYOUT, 0, Claim.NONE));
    }

    private void create(Map<String, String> data) {
        client().resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("apportion-coredns-0")
                        .withNamespace("default")
                        .endMetadata()
                        .withData(data)
                        .build())
                .create();
    }

    private ConfigMap current() {
        return client().configMaps()
                .inNamespace("default")
                .withName("apportion-coredns-0")
                .require();
    }

    private ConfigMapPublisher publisher() {
        return new ConfigMapPublisher(client());
    }

    private KubernetesClient client() {
        return Objects.requireNonNull(connected);
    }

    private static ZoneRecords zone(int first) {
        return Corpus.zone(
                Answers.Single,
                Corpus.host(
                        "shop.example.org",
                        Corpus.stream("shop", new int[] {first, 256 - first}, "10.0.0.1", "10.0.0.2")));
    }
}
