package dev.apportion.dns.coredns;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Writes the files of CoreDNS into a folder, for a CoreDNS that does not see ConfigMaps.
 *
 * <p>Each file is replaced whole, by renaming a temporary one. A file {@value #MANIFEST} lists what was written here; no
 * other file is ever touched. Zone files and weights are written before the configuration that names them, and removed
 * after it. One process at a time may write a folder.
 */
public final class DirectoryPublisher {

    static final String MANIFEST = ".apportion";

    /** No domain has such a name. */
    static final String EDITION = "~edition.conf";

    private static final String TEMPORARY = ".apportion.tmp";

    private final Path directory;

    /** @param directory the folder, under the name by which CoreDNS knows it; it is created if need be */
    public DirectoryPublisher(Path directory) {
        this.directory = directory.toAbsolutePath().normalize();
    }

    /** What became of the folder. */
    public sealed interface Outcome {

        /**
         * The folder says what is desired, but for zones that are refused.
         *
         * @param written the files that were written
         * @param removed the files that were removed
         * @param serials the serial of each zone in each shard, by {@code domain/shard}
         * @param refused why a zone stays as it was, by domain
         */
        record Written(
                List<String> written,
                List<String> removed,
                SortedMap<String, Serial> serials,
                SortedMap<String, String> refused)
                implements Outcome {

            /** Whether CoreDNS has another configuration to load. */
            public boolean isConfiguration() {
                return Stream.concat(written.stream(), removed.stream()).anyMatch(name -> name.endsWith(".conf"));
            }

            public boolean isChange() {
                return !written.isEmpty() || !removed.isEmpty();
            }
        }

        /** A file of somebody else stands in the way; nothing was changed. */
        record Blocked(String message) implements Outcome {}

        /** The file system refused; what was written so far is whole files. */
        record Failed(String message) implements Outcome {}
    }

    /** What the folder is to hold. */
    private static final class Desired {

        final SortedMap<String, String> files = new TreeMap<>();
        final SortedMap<String, Serial> serials = new TreeMap<>();
        final SortedMap<String, String> refused = new TreeMap<>();
    }

    /** Makes the folder hold exactly these zones. A zone that cannot be rendered stays as it is. */
    public Outcome publish(Collection<ZoneRecords> zones, Shards shards) {
        try {
            SortedMap<String, String> present = read();
            Desired desired = new Desired();
            for (ZoneRecords zone : zones) {
                SortedMap<String, String> files = new TreeMap<>();
                for (int shard = 0; shard < shards.count(); shard++) {
                    files.putAll(decide(present, zone, shards, shard, desired));
                }
                if (desired.refused.containsKey(zone.domain())) {
                    keep(present, zone.domain(), desired);
                } else {
                    desired.files.putAll(files);
                }
            }
            return write(present, desired);
        } catch (IOException e) {
            return new Outcome.Failed(directory + " cannot be written: " + e);
        }
    }

    /**
     * Makes the folder hold exactly what ConfigMaps hold. Where their configuration names another folder, this one is
     * named instead. A zone whose state cannot be read stays as it is.
     *
     * <p>CoreDNS does not notice a change that comes while it loads the one before: it looks at what is there after it has loaded.
     * Another edition makes it load once more.
     *
     * @param configMaps the data of each ConfigMap, by shard
     * @param edition the number of the configuration's edition, zero if there was none to tell apart yet
     */
    public Outcome mirror(Map<Integer, Map<String, String>> configMaps, int edition) {
        try {
            SortedMap<String, String> present = read();
            Desired desired = new Desired();
            new TreeMap<>(configMaps)
                    .forEach((shard, data) -> ShardState.read(data).stream()
                            .filter(state -> state.shard() == shard)
                            .forEach(state -> mirror(state, data, desired)));
            desired.refused.keySet().forEach(domain -> keep(present, domain, desired));
            if (edition > 0) {
                desired.files.put(EDITION, edition(edition));
            }
            return write(present, desired);
        } catch (IOException e) {
            return new Outcome.Failed(directory + " cannot be written: " + e);
        }
    }

    /** CoreDNS compares words, not comments, so this is a zone: one below a name that nobody asks for (RFC 6761, section 6.4). */
    private static String edition(int number) {
        return """
            # %s
            # Another number makes CoreDNS load its configuration again.
            edition-%d.apportion.invalid {
            }
            """.formatted(ServerBlocks.NOTICE, number);
    }

    private SortedMap<String, String> decide(
            Map<String, String> present, ZoneRecords zone, Shards shards, int shard, Desired desired) {
        ShardKeys keys = new ShardKeys(zone.domain(), shard);
        SortedMap<String, String> files = ofShard(present, keys, shards.of(zone.domain()) == shard);
        Optional<Serial> published = switch (ShardDecision.decide(
                files, zone, shards, directory.toString(), shard, Claim.NONE, Long.MAX_VALUE)) {
            case ShardDecision.Refused(var reason, var message) -> {
                desired.refused.put(zone.domain(), reason + ": " + message);
                yield Optional.empty();
            }
            // Nobody is elected to write a folder.
            case ShardDecision.Outranked(var epoch) -> throw new AssertionError(epoch);
            case ShardDecision.Unchanged(var serial) -> serial;
            case ShardDecision.Write(var put, var remove, var before, var serial) -> {
                files.keySet().removeAll(remove);
                files.putAll(put);
                yield serial;
            }
        };
        published.ifPresent(serial -> desired.serials.put(zone.domain() + "/" + shard, serial));
        return files;
    }

    private void mirror(ShardState state, Map<String, String> data, Desired desired) {
        switch (state) {
            case ShardState.Unreadable(var domain, var shard, var reason) ->
                desired.refused.put(domain, "shard " + shard + ": " + reason);
            case ShardState.Published(var domain, var shard, var serial, var part, var shards, var from) -> {
                ShardKeys keys = new ShardKeys(domain, shard);
                SortedMap<String, String> files = new TreeMap<>(data);
                files.keySet().removeIf(key -> !keys.owns(key));
                repoint(files, from);
                desired.files.putAll(files);
                desired.serials.put(domain + "/" + shard, serial);
            }
        }
    }

    private static void keep(Map<String, String> present, String domain, Desired desired) {
        for (ShardKeys keys : ShardKeys.within(present.keySet())) {
            if (keys.domain().equals(domain)) {
                present.forEach((name, text) -> {
                    if (keys.owns(name)) {
                        desired.files.put(name, text);
                    }
                });
            }
        }
    }

    /** All shards stand in one folder, so the domain's own files are seen in its own shard only. */
    private static SortedMap<String, String> ofShard(Map<String, String> present, ShardKeys keys, boolean home) {
        SortedMap<String, String> files = new TreeMap<>(present);
        files.keySet()
                .removeIf(key ->
                        !keys.owns(key) || (!home && (key.equals(keys.domainConf()) || key.equals(keys.domainZone()))));
        return files;
    }

    private void repoint(SortedMap<String, String> files, String from) {
        if (from.equals(directory.toString())) {
            return;
        }
        Map<String, String> repointed = new HashMap<>();
        files.forEach((name, text) -> {
            if (name.endsWith(".conf")) {
                String now = text;
                for (String file : files.keySet()) {
                    now = now.replace(" " + from + "/" + file + " ", " " + directory + "/" + file + " ");
                }
                repointed.put(name, now);
            }
        });
        files.putAll(repointed);
    }

    /** The files of ours that are there. */
    private SortedMap<String, String> read() throws IOException {
        SortedMap<String, String> present = new TreeMap<>();
        for (String name : manifest()) {
            Path file = directory.resolve(name);
            if (Files.isRegularFile(file)) {
                present.put(name, Files.readString(file));
            }
        }
        return present;
    }

    private NavigableSet<String> manifest() throws IOException {
        Path manifest = directory.resolve(MANIFEST);
        NavigableSet<String> names = new TreeSet<>();
        if (Files.exists(manifest)) {
            Files.readAllLines(manifest).stream()
                    .filter(name -> !name.isBlank() && !name.contains("/"))
                    .forEach(names::add);
        }
        return names;
    }

    private Outcome write(SortedMap<String, String> present, Desired goal) throws IOException {
        SortedMap<String, String> desired = goal.files;
        List<String> written = desired.entrySet().stream()
                .filter(file -> !file.getValue().equals(present.get(file.getKey())))
                .map(Map.Entry::getKey)
                .sorted(Comparator.comparingInt(DirectoryPublisher::rank).thenComparing(Comparator.naturalOrder()))
                .toList();
        for (String name : written) {
            if (!present.containsKey(name)
                    && Files.exists(directory.resolve(name))
                    && !manifest().contains(name)) {
                return new Outcome.Blocked(
                        "%s is there already and was not written by Apportion".formatted(directory.resolve(name)));
            }
        }
        List<String> removed = present.keySet().stream()
                .filter(name -> !desired.containsKey(name))
                .sorted(Comparator.comparingInt(DirectoryPublisher::rank)
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
        if (!written.isEmpty() || !removed.isEmpty()) {
            Files.createDirectories(directory);
            NavigableSet<String> both = new TreeSet<>(present.keySet());
            both.addAll(desired.keySet());
            replace(MANIFEST, lines(both));
            for (String name : written) {
                replace(name, Optional.ofNullable(desired.get(name)).orElse(""));
            }
            for (String name : removed) {
                Files.deleteIfExists(directory.resolve(name));
            }
            if (!both.equals(desired.keySet())) {
                replace(MANIFEST, lines(new TreeSet<>(desired.keySet())));
            }
            sync(directory);
        }
        return new Outcome.Written(written, removed, goal.serials, goal.refused);
    }

    /**
     * The order of writing: a serial before what it numbers, so that no number is ever given twice, then what the
     * configuration names, then the configuration.
     */
    private static int rank(String name) {
        if (name.endsWith(".serial")) {
            return 0;
        }
        return name.endsWith(".conf") ? 2 : name.endsWith(".state") ? 3 : 1;
    }

    private static String lines(NavigableSet<String> names) {
        return String.join("\n", names) + "\n";
    }

    private void replace(String name, String text) throws IOException {
        Path temporary = directory.resolve(TEMPORARY);
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(
                temporary,
                directory.resolve(name),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** Makes the renames last through a loss of power. */
    private static void sync(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
