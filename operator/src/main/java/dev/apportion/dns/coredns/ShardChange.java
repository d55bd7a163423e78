package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What has to be written so that a zone's part of one shard's ConfigMap says what is desired. */
public sealed interface ShardChange {

    /**
     * Everything stands there already.
     *
     * @param serial the serial of the zone in this shard, nothing if the shard does not hold the zone
     */
    record Unchanged(Optional<Serial> serial) implements ShardChange {}

    /** The ConfigMap does not exist and is created whole. */
    record Create(ConfigMap configMap, Serial serial) implements ShardChange {}

    /**
     * The zone's own keys are changed by a JSON Patch (RFC 6902) that fails if another writer was faster.
     *
     * @param operations the patch, as JSON
     * @param serial the serial that is written, nothing if the zone is removed
     */
    record Patch(String namespace, String name, String operations, Optional<Serial> serial) implements ShardChange {}

    /**
     * Nothing may be written; what is published stays.
     *
     * @param reason why, for conditions
     * @param message why, for people: names the host or record, and the values
     */
    record Refused(Reason reason, String message) implements ShardChange {}

    /** A leader of a higher epoch has written: this writer has been replaced. */
    record Outranked(long epoch) implements ShardChange {}

    /** Why a change is refused. */
    enum Reason {
        /** Some name, record or size cannot be said in a zone file or configuration. */
        NotRenderable,
        /** The ConfigMap would become larger than {@link ShardFiles#MOST_BYTES}. */
        ShardFull,
        /** A key that would be written is there already, and somebody else's. */
        ForeignKey,
        /** The ConfigMap is immutable. */
        Immutable,
        /** The namespace is being deleted: nothing can be created in it any more. */
        NamespaceTerminating
    }

    /**
     * Decides what one shard's ConfigMap needs.
     *
     * @param current the ConfigMap as it was read, null if there is none
     * @param desired the whole zone
     * @param layout where it is written
     * @param shard the shard
     * @param claim who writes
     */
    static ShardChange decide(
            @Nullable ConfigMap current, ZoneRecords desired, CoreDnsLayout layout, int shard, Claim claim) {
        Map<String, String> data = ConfigMapPatch.data(current);
        long most = ShardFiles.MOST_BYTES - ConfigMapPatch.binaryBytes(current);
        return ConfigMapPatch.of(
                current,
                ShardDecision.decide(data, desired, layout.shards(), layout.directory(), shard, claim, most),
                new ShardKeys(desired.domain(), shard),
                layout);
    }

    /** Decides what removes a zone from one shard's ConfigMap. */
    static ShardChange remove(
            @Nullable ConfigMap current, String domain, CoreDnsLayout layout, int shard, Claim claim) {
        ShardKeys keys = new ShardKeys(domain, shard);
        return ConfigMapPatch.of(
                current, ShardDecision.remove(ConfigMapPatch.data(current), keys, claim), keys, layout);
    }
}
