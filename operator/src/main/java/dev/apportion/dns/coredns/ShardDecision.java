package dev.apportion.dns.coredns;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** What has to change among files so that they say what is desired, wherever they are kept. Pure. */
sealed interface ShardDecision {

    record Unchanged(Optional<Serial> serial) implements ShardDecision {}

    /**
     * Files to write and to remove.
     *
     * @param before the text of the serial's file as it was, nothing if there was none
     */
    record Write(
            SortedMap<String, String> put, SortedSet<String> remove, Optional<String> before, Optional<Serial> serial)
            implements ShardDecision {}

    record Refused(ShardChange.Reason reason, String message) implements ShardDecision {}

    /** A leader of a higher epoch has written: this writer has been replaced, and nothing may be written. */
    record Outranked(long epoch) implements ShardDecision {}

    /**
     * Decides.
     *
     * @param current all files that are there, those of others among them
     * @param claim who writes
     * @param mostBytes how much all files together may hold
     */
    static ShardDecision decide(
            Map<String, String> current,
            ZoneRecords desired,
            Shards shards,
            String directory,
            int shard,
            Claim claim,
            long mostBytes) {
        ShardKeys keys = new ShardKeys(desired.domain(), shard);
        return fenced(current, keys, claim, unfenced(current, desired, shards, directory, keys, claim, mostBytes));
    }

    private static ShardDecision unfenced(
            Map<String, String> current,
            ZoneRecords desired,
            Shards shards,
            String directory,
            ShardKeys keys,
            Claim claim,
            long mostBytes) {
        int shard = keys.shard();
        Optional<String> before = Optional.ofNullable(current.get(keys.serial()));
        boolean nothing = shards.of(desired.domain()) != shard
                && desired.hosts().stream().noneMatch(host -> shards.of(host.name()) == shard);
        if (nothing && (before.isEmpty() || shard >= shards.count())) {
            return removal(current, keys);
        }
        Optional<Serial> published = before.flatMap(Serial::parse);
        Serial serial = published.orElse(Serial.after(claim.floor()));
        Edition standing = Edition.of(current.get(keys.domainConf()));
        Edition edition = claim.reload() ? standing.next() : standing;
        ShardFiles rendered = ShardFiles.render(desired, shards, directory, shard, serial, edition);
        if (published.isPresent() && rendered instanceof ShardFiles.Rendered(var files)) {
            if (files.equals(owned(current, keys))) {
                return new Unchanged(published);
            }
            // CoreDNS reads a zone file anew only if its serial is another one.
            serial = serial.next();
            rendered = ShardFiles.render(desired, shards, directory, shard, serial, edition);
        }
        return switch (rendered) {
            case ShardFiles.NotRenderable(var subject, var message) ->
                new Refused(ShardChange.Reason.NotRenderable, subject + ": " + message);
            case ShardFiles.Rendered(var files) -> write(current, keys, files, before, serial, mostBytes);
        };
    }

    /** Decides what removes a zone. */
    static ShardDecision remove(Map<String, String> current, ShardKeys keys, Claim claim) {
        return fenced(current, keys, claim, removal(current, keys));
    }

    private static ShardDecision fenced(
            Map<String, String> current, ShardKeys keys, Claim claim, ShardDecision decision) {
        if (claim.epoch() == 0 || !(decision instanceof Write write)) {
            return decision;
        }
        long before = epoch(current.getOrDefault(keys.epoch(), ""));
        if (before > claim.epoch()) {
            return new Outranked(before);
        }
        if (write.serial().isPresent() && before < claim.epoch()) {
            SortedMap<String, String> put = new TreeMap<>(write.put());
            put.put(keys.epoch(), Long.toString(claim.epoch()));
            return new Write(put, write.remove(), write.before(), write.serial());
        }
        return write;
    }

    /** What is no number was not written by a leader. */
    private static long epoch(String digits) {
        return digits.matches("[1-9][0-9]{0,17}") ? Long.parseLong(digits) : 0;
    }

    private static ShardDecision removal(Map<String, String> current, ShardKeys keys) {
        SortedSet<String> remove = new TreeSet<>(owned(current, keys).keySet());
        if (current.containsKey(keys.epoch())) {
            remove.add(keys.epoch());
        }
        return remove.isEmpty()
                ? new Unchanged(Optional.empty())
                : new Write(new TreeMap<>(), remove, Optional.ofNullable(current.get(keys.serial())), Optional.empty());
    }

    private static ShardDecision write(
            Map<String, String> current,
            ShardKeys keys,
            SortedMap<String, String> files,
            Optional<String> before,
            Serial serial,
            long mostBytes) {
        SortedMap<String, String> owned = owned(current, keys);
        Optional<String> foreign = files.keySet().stream()
                .filter(key -> current.containsKey(key) && !owned.containsKey(key))
                .findFirst();
        if (foreign.isPresent()) {
            return new Refused(
                    ShardChange.Reason.ForeignKey,
                    "%s is there already in shard %d and was not written by Apportion; maybe it can be removed"
                            .formatted(foreign.get(), keys.shard()));
        }
        SortedSet<String> remove = new TreeSet<>(owned.keySet());
        remove.removeAll(files.keySet());
        SortedMap<String, String> put = new TreeMap<>(files);
        put.entrySet().removeIf(file -> file.getValue().equals(owned.get(file.getKey())));
        Map<String, String> after = new TreeMap<>(current);
        after.keySet().removeAll(remove);
        after.putAll(put);
        long bytes = bytes(after);
        if (bytes > mostBytes) {
            return new Refused(
                    ShardChange.Reason.ShardFull,
                    "shard %d would hold %d bytes, %d of them of %s; at most %d fit; maybe the zone needs more shards"
                            .formatted(keys.shard(), bytes, bytes(files), keys.domain(), mostBytes));
        }
        return new Write(put, remove, before, Optional.of(serial));
    }

    /**
     * What is there of the zone. With a serial, all that has its names is ours, even if it was edited; without one, only
     * what says so itself.
     */
    private static SortedMap<String, String> owned(Map<String, String> current, ShardKeys keys) {
        boolean numbered = current.containsKey(keys.serial());
        SortedMap<String, String> owned = new TreeMap<>(current);
        owned.entrySet()
                .removeIf(file -> !keys.owns(file.getKey())
                        || !(numbered
                                || file.getValue().contains(ServerBlocks.NOTICE)
                                || StateText.isState(file.getValue())));
        return owned;
    }

    private static long bytes(Map<String, String> data) {
        return data.entrySet().stream()
                .mapToLong(entry ->
                        entry.getKey().getBytes(UTF_8).length + entry.getValue().getBytes(UTF_8).length)
                .sum();
    }
}
