package dev.apportion.dns.coredns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every shape of a zone gives the files that are kept, byte for byte; {@code -Dapportion.golden=write} renews them. */
class GoldenTest {

    private static final Path GOLDEN = Path.of("src/test/resources/dns/golden");

    static Stream<String> cases() {
        return Corpus.zones().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void rendersWhatIsKept(String name) throws IOException {
        SortedMap<String, String> rendered = render(zone(name));
        if ("write".equals(System.getProperty("apportion.golden"))) {
            write(GOLDEN.resolve(name), rendered);
        }
        assertThat(read(GOLDEN.resolve(name))).isEqualTo(rendered);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void whatIsKeptReadsBackAsTheZone(String name) throws IOException {
        ZoneRecords zone = zone(name);
        SortedMap<String, String> files = read(GOLDEN.resolve(name));

        assertThat(ShardState.read(files)).hasSize(Corpus.SHARDS.count()).allSatisfy(state -> {
            switch (state) {
                case ShardState.Unreadable(var domain, var shard, var reason) -> fail(domain + shard + reason);
                case ShardState.Published published -> {
                    assertThat(published.serial()).isEqualTo(Serial.FIRST);
                    assertThat(published.part().hosts())
                            .isEqualTo(zone.hosts().stream()
                                    .filter(host -> Corpus.SHARDS.of(host.name()) == published.shard())
                                    .toList());
                    if (published.shard() == Corpus.SHARDS.of(zone.domain())) {
                        assertThat(published.part().withHosts(zone.hosts())).isEqualTo(zone);
                    }
                }
            }
        });
    }

    @Test
    void nothingIsKeptForNoZone() throws IOException {
        try (Stream<Path> folders = Files.list(GOLDEN)) {
            assertThat(folders.map(folder -> folder.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(Corpus.zones().keySet());
        }
    }

    private static ZoneRecords zone(String name) {
        return Objects.requireNonNull(Corpus.zones().get(name));
    }

    private static SortedMap<String, String> render(ZoneRecords zone) {
        SortedMap<String, String> all = new TreeMap<>();
        for (int shard = 0; shard < Corpus.SHARDS.count(); shard++) {
            switch (ShardFiles.render(zone, Corpus.SHARDS, "/etc/apportion", shard, Serial.FIRST)) {
                case ShardFiles.Rendered(var files) -> all.putAll(files);
                case ShardFiles.NotRenderable(var subject, var message) -> fail(subject + ": " + message);
            }
        }
        return all;
    }

    private static SortedMap<String, String> read(Path folder) throws IOException {
        SortedMap<String, String> files = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> paths = Files.list(folder)) {
                for (Path path : paths.toList()) {
                    files.put(path.getFileName().toString(), Files.readString(path));
                }
            }
        }
        return files;
    }

    private static void write(Path folder, SortedMap<String, String> files) throws IOException {
        Files.createDirectories(folder);
        for (String stale : read(folder).keySet()) {
            Files.delete(folder.resolve(stale));
        }
        for (String name : files.keySet()) {
            Files.writeString(folder.resolve(name), files.getOrDefault(name, ""));
        }
    }
}
