package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.util.SortedMap;

/** The files of a zone in one shard: rendered, then read back and checked. */
public sealed interface ShardFiles {

    /** The most that the data of one ConfigMap may hold, in bytes: Kubernetes refuses objects above 1 MiB. */
    int MOST_BYTES = 900 * 1024;

    /** The files by name; all of them say the one serial. */
    record Rendered(SortedMap<String, String> files) implements ShardFiles {}

    /**
     * Some part of the zone cannot be said.
     *
     * @param subject the domain, host or record that is at fault
     * @param message why, for people
     */
    record NotRenderable(String subject, String message) implements ShardFiles {}

    /**
     * Renders.
     *
     * @param zone the whole zone
     * @param directory the folder in which CoreDNS sees the files
     * @param shard the shard; one that the zone is no longer spread over holds only its state
     * @throws IllegalArgumentException if weights are not what the answers need: for Single, a sum of 16, 256, 4096 or
     *     65536 in each family; for List, 1 to 255 each
     */
    static ShardFiles render(ZoneRecords zone, Shards shards, String directory, int shard, Serial serial) {
        return render(zone, shards, directory, shard, serial, Edition.FIRST);
    }

    /**
     * Renders an edition.
     *
     * @param edition which one of the equivalent texts of the zone's own configuration
     */
    static ShardFiles render(
            ZoneRecords zone, Shards shards, String directory, int shard, Serial serial, Edition edition) {
        return new ShardRendering(zone, shards, directory, shard, serial, edition).render();
    }
}
