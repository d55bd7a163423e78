package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import dev.apportion.records.ZoneRecords;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is published of one zone in one shard, as it was read back. */
public sealed interface ShardState {

    String domain();

    int shard();

    /**
     * It could be read.
     *
     * @param part the zone with the hosts of this shard; the fixed records are there in the domain's own shard only
     * @param shards over how many shards the zone was spread
     * @param directory the folder that the configuration names
     */
    record Published(String domain, int shard, Serial serial, ZoneRecords part, int shards, String directory)
            implements ShardState {}

    /** It could not be read, for a reason that is for people. */
    record Unreadable(String domain, int shard, String reason) implements ShardState {}

    /** Everything that the data of a ConfigMap holds, by domain and shard; keys of others are left aside. */
    static List<ShardState> read(Map<String, String> data) {
        List<ShardState> states = new ArrayList<>();
        for (ShardKeys keys : ShardKeys.within(data.keySet())) {
            states.add(read(keys, data));
        }
        states.sort(Comparator.comparing(ShardState::domain).thenComparingInt(ShardState::shard));
        return states;
    }

    private static ShardState read(ShardKeys keys, Map<String, String> data) {
        String digits = data.getOrDefault(keys.serial(), "").strip();
        Optional<Serial> serial = Serial.parse(digits);
        if (serial.isEmpty()) {
            return new Unreadable(
                    keys.domain(), keys.shard(), "%s is not a serial: %s".formatted(keys.serial(), digits));
        }
        String text = data.get(keys.state());
        if (text == null) {
            return new Unreadable(keys.domain(), keys.shard(), "%s is missing".formatted(keys.state()));
        }
        try {
            StateText state = StateText.read(text);
            if (!state.part().domain().equals(keys.domain())) {
                return new Unreadable(
                        keys.domain(),
                        keys.shard(),
                        "%s is of the domain %s"
                                .formatted(keys.state(), state.part().domain()));
            }
            return new Published(
                    keys.domain(), keys.shard(), serial.get(), state.part(), state.shards(), state.directory());
        } catch (IllegalArgumentException e) {
            return new Unreadable(
                    keys.domain(), keys.shard(), "%s cannot be read: %s".formatted(keys.state(), e.getMessage()));
        }
    }
}
