package dev.apportion.dns.coredns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.Answers;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryPublisherTest {

    private static final Shards SHARDS = new Shards(2);

    @TempDir
    Path root;

    @Test
    void writesThenLeavesAloneThenChanges() throws IOException {
        Path folder = root.resolve("new/folder");
        DirectoryPublisher publisher = new DirectoryPublisher(folder);

        DirectoryPublisher.Outcome.Written first = written(publisher.publish(List.of(zone(179)), SHARDS));
        assertThat(first.written()).contains("example.org.conf", "example.org.zone");
        assertThat(first.serials())
                .containsOnlyKeys("example.org/0", "example.org/1")
                .containsValue(Serial.FIRST);
        assertThat(Files.readString(folder.resolve("example.org.conf")))
                .contains("file " + folder + "/example.org.zone {");
        FileTime before = Files.getLastModifiedTime(folder.resolve("example.org.zone"));

        DirectoryPublisher.Outcome.Written second = written(publisher.publish(List.of(zone(179)), SHARDS));
        assertThat(second.written()).isEmpty();
        assertThat(second.removed()).isEmpty();
        assertThat(second.serials()).isEqualTo(first.serials());
        assertThat(Files.getLastModifiedTime(folder.resolve("example.org.zone")))
                .isEqualTo(before);

        // A publisher that knows nothing of the earlier one.
        DirectoryPublisher.Outcome.Written third =
                written(new DirectoryPublisher(folder).publish(List.of(zone(100)), SHARDS));
        assertThat(third.written()).isNotEmpty().noneMatch(name -> name.endsWith(".conf"));
        assertThat(third.serials()).containsValue(new Serial(2));
    }

    @Test
    void writesConfigurationAfterWhatItNames() {
        List<String> written = written(new DirectoryPublisher(root)
                        .publish(List.of(Objects.requireNonNull(Corpus.zones().get("list"))), SHARDS))
                .written();

        int firstConf = written.stream()
                .filter(name -> name.endsWith(".conf"))
                .mapToInt(written::indexOf)
                .min()
                .orElseThrow();
        assertThat(written.subList(0, firstConf))
                .anyMatch(name -> name.endsWith(".weights"))
                .anyMatch(name -> name.endsWith(".zone"));
        assertThat(written.subList(firstConf, written.size()))
                .noneMatch(name -> name.endsWith(".zone") || name.endsWith(".weights"));
    }

    @Test
    void whatIsNoLongerDesiredGoesAndOthersStay() throws IOException {
        Files.writeString(root.resolve("Corefile"), "mine");
        Files.writeString(root.resolve("other.conf"), "mine too");
        DirectoryPublisher publisher = new DirectoryPublisher(root);
        publisher.publish(List.of(zone(179)), SHARDS);

        DirectoryPublisher.Outcome.Written written = written(publisher.publish(List.of(), SHARDS));

        assertThat(written.removed()).startsWith("example.org.s0.state").contains("example.org.zone");
        assertThat(files(root)).containsOnlyKeys("Corefile", "other.conf", DirectoryPublisher.MANIFEST);
    }

    @Test
    void aFileOfSomebodyElseStaysAndBlocks() throws IOException {
        Files.writeString(root.resolve("example.org.conf"), "mine");

        assertThat(new DirectoryPublisher(root).publish(List.of(zone(179)), SHARDS))
                .isInstanceOfSatisfying(
                        DirectoryPublisher.Outcome.Blocked.class,
                        blocked -> assertThat(blocked.message()).contains("example.org.conf"));
        assertThat(files(root)).containsOnlyKeys("example.org.conf").containsValue("mine");
    }

    @Test
    void aZoneThatCannotBeSaidStaysAsItWasAndOthersGoOn() throws IOException {
        DirectoryPublisher publisher = new DirectoryPublisher(root);
        publisher.publish(List.of(zone(179)), SHARDS);
        Map<String, String> before = files(root);
        ZoneRecords bad = Corpus.zone(
                Answers.Single, Corpus.host("a..b.example.org", Corpus.stream("x", new int[] {16}, "10.0.0.1")));

        DirectoryPublisher.Outcome.Written written = written(publisher.publish(List.of(bad, other()), SHARDS));

        assertThat(written.refused()).containsOnlyKeys("example.org");
        assertThat(files(root))
                .containsAllEntriesOf(without(before, DirectoryPublisher.MANIFEST))
                .containsKey("example.net.conf");
    }

    @Test
    void aSpoiltFileIsWrittenAnew() throws IOException {
        DirectoryPublisher publisher = new DirectoryPublisher(root);
        publisher.publish(List.of(zone(179)), SHARDS);
        Files.writeString(root.resolve("example.org.zone"), "garbage");
        Files.delete(root.resolve("example.org.conf"));

        assertThat(written(publisher.publish(List.of(zone(179)), SHARDS)).written())
                .contains("example.org.zone", "example.org.conf");
        assertThat(Files.readString(root.resolve("example.org.zone"))).contains(" 2 7200 ");
    }

    @Test
    void mirrorsConfigMapsAndNamesItsOwnFolder() throws IOException {
        Path source = root.resolve("source");
        new DirectoryPublisher(source).publish(List.of(zone(179), other()), SHARDS);
        Map<Integer, Map<String, String>> configMaps = configMaps(source);
        configMaps.forEach((shard, data) -> data.put("foreign.conf", "not ours"));
        Path target = root.resolve("target");

        DirectoryPublisher.Outcome.Written written = written(new DirectoryPublisher(target).mirror(configMaps, 0));

        assertThat(written.refused()).isEmpty();
        Map<String, String> expected = new TreeMap<>(files(source));
        expected.replaceAll((name, text) -> name.endsWith(".conf") ? text.replace(source + "/", target + "/") : text);
        assertThat(files(target)).isEqualTo(expected);
        assertThat(written(new DirectoryPublisher(target).mirror(configMaps, 0)).written())
                .isEmpty();

        configMaps.forEach((shard, data) -> data.keySet().removeIf(key -> key.startsWith("example.net")));
        assertThat(written(new DirectoryPublisher(target).mirror(configMaps, 0)).removed())
                .isNotEmpty()
                .allMatch(name -> name.startsWith("example.net"));
    }

    @Test
    void anotherEditionOfAConfigurationIsMirroredAndKept() throws IOException {
        Path source = root.resolve("source");
        DirectoryPublisher publisher = new DirectoryPublisher(source);
        publisher.publish(List.of(zone(179)), SHARDS);
        Path target = root.resolve("target");
        new DirectoryPublisher(target).mirror(configMaps(source), 0);
        Path configuration = source.resolve("example.org.conf");

        Files.writeString(configuration, Files.readString(configuration).replaceFirst("\n", "\n#\n"));

        assertThat(written(new DirectoryPublisher(target).mirror(configMaps(source), 0))
                        .written())
                .containsExactly("example.org.conf");
        assertThat(target.resolve("example.org.conf"))
                .hasContent(Files.readString(configuration).replace(source + "/", target + "/"));
        assertThat(written(publisher.publish(List.of(zone(179)), SHARDS)).written())
                .isEmpty();
    }

    @Test
    void anEditionOfTheMirrorConcernsNoZone() throws IOException {
        Path source = root.resolve("source");
        new DirectoryPublisher(source).publish(List.of(zone(179)), SHARDS);
        DirectoryPublisher target = new DirectoryPublisher(root.resolve("target"));
        Map<Integer, Map<String, String>> configMaps = configMaps(source);
        assertThat(written(target.mirror(configMaps, 0)).isConfiguration()).isTrue();
        assertThat(written(target.mirror(configMaps, 0)).isChange()).isFalse();

        for (int edition = 1; edition <= 2; edition++) {
            assertThat(written(target.mirror(configMaps, edition)).written())
                    .containsExactly(DirectoryPublisher.EDITION);
            assertThat(root.resolve("target").resolve(DirectoryPublisher.EDITION))
                    .content()
                    .contains("\nedition-%d.apportion.invalid {\n}\n".formatted(edition));
        }
        assertThat(written(target.mirror(configMaps, 2)).isChange()).isFalse();
    }

    @Test
    void aStateThatCannotBeReadLeavesTheMirrorAsItWas() throws IOException {
        Path source = root.resolve("source");
        new DirectoryPublisher(source).publish(List.of(zone(179)), SHARDS);
        Map<Integer, Map<String, String>> configMaps = configMaps(source);
        DirectoryPublisher target = new DirectoryPublisher(root.resolve("target"));
        target.mirror(configMaps, 0);
        Map<String, String> before = files(root.resolve("target"));
        Objects.requireNonNull(configMaps.get(0)).replaceAll((key, text) -> "garbage");

        assertThat(written(target.mirror(configMaps, 0)).refused()).containsOnlyKeys("example.org");
        assertThat(files(root.resolve("target"))).isEqualTo(before);
    }

    @Test
    void aFolderThatCannotBeWrittenIsSaid() throws IOException {
        Path file = Files.writeString(root.resolve("file"), "x");

        assertThat(new DirectoryPublisher(file).publish(List.of(zone(179)), SHARDS))
                .isInstanceOfSatisfying(
                        DirectoryPublisher.Outcome.Failed.class,
                        failed -> assertThat(failed.message()).contains(file.toString()));
    }

    /** The files as they stand in ConfigMaps. */
    private static Map<Integer, Map<String, String>> configMaps(Path folder) throws IOException {
        Map<Integer, Map<String, String>> configMaps = new HashMap<>();
        for (int shard = 0; shard < SHARDS.count(); shard++) {
            Map<String, String> data = new TreeMap<>();
            for (String domain : List.of("example.org", "example.net")) {
                ShardKeys keys = new ShardKeys(domain, shard);
                boolean home = SHARDS.of(domain) == shard;
                files(folder).forEach((name, text) -> {
                    boolean own = name.equals(keys.domainConf()) || name.equals(keys.domainZone());
                    if (keys.owns(name) && (home || !own)) {
                        data.put(name, text);
                    }
                });
            }
            configMaps.put(shard, data);
        }
        return configMaps;
    }

    private static Map<String, String> without(Map<String, String> files, String name) {
        Map<String, String> rest = new TreeMap<>(files);
        rest.remove(name);
        return rest;
    }

    private static Map<String, String> files(Path folder) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.list(folder)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                files.put(path.getFileName().toString(), Files.readString(path));
            }
        }
        return files;
    }

    private static DirectoryPublisher.Outcome.Written written(DirectoryPublisher.Outcome outcome) {
        assertThat(outcome).isInstanceOf(DirectoryPublisher.Outcome.Written.class);
        return (DirectoryPublisher.Outcome.Written) outcome;
    }

    private static ZoneRecords other() {
        return new ZoneRecords(
                "example.net",
                "dns/example-net",
                Answers.List,
                15,
                5,
                zone(1).nameServers(),
                List.of(),
                List.of(Corpus.host("a.example.net", Corpus.stream("a", new int[] {1}, "10.0.0.9"))));
    }

    private static ZoneRecords zone(int first) {
        return Corpus.zone(
                Answers.Single,
                Corpus.host(
                        "shop.example.org",
                        Corpus.stream("shop", new int[] {first, 256 - first}, "10.0.0.1", "10.0.0.2")),
                Corpus.host("blog.example.org", Corpus.stream("blog", new int[] {16}, "10.0.0.3")));
    }
}
