package dev.apportion.dns.wire;

import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.util.Collection;

/** Zones, indexed for answering. Immutable. */
public final class PublishedZones {

    private final int size;

    private PublishedZones(int size) {
        this.size = size;
    }

    int size() {
        return size;
    }

    /** Zones as they are to be answered. */
    public static PublishedZones of(Collection<ZoneRecords> zones, Shards shards) {
        return new PublishedZones(zones.size() * shards.count());
    }
}
