package dev.apportion.dns.wire;

import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.util.Collection;

/** Zones, indexed for answering. Immutable. */
public final class PublishedZones {

    private PublishedZones() {}

    int size() {
        return 0;
    }

    /** Zones as they are to be answered. */
    public static PublishedZones of(Collection<ZoneRecords> zones, Shards shards) {
        throw new UnsupportedOperationException(zones + " " + shards);
    }
}
