package dev.apportion.dns.coredns;

import dev.apportion.records.ZoneRecords;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Empty ConfigMaps that zones are written into in thought, one after the other, to see whether they fit. */
public final class ShardFilling {

    /** The data of each ConfigMap, by namespace and name. */
    private final Map<String, Map<String, String>> filled = new HashMap<>();

    /** Adds a zone; what it is refused for, by shard, is what the cluster would say. */
    public List<ShardChange.Refused> add(ZoneRecords zone, CoreDnsLayout layout) {
        List<ShardChange.Refused> refused = new ArrayList<>();
        for (int shard = 0; shard < layout.shards().count(); shard++) {
            Map<String, String> data = filled.computeIfAbsent(
                    layout.namespace() + "/" + layout.configMapName(shard), absent -> new TreeMap<>());
            switch (ShardDecision.decide(
                    data, zone, layout.shards(), layout.directory(), shard, Claim.NONE, ShardFiles.MOST_BYTES)) {
                case ShardDecision.Write write -> data.putAll(write.put());
                case ShardDecision.Refused(var reason, var message) ->
                    refused.add(new ShardChange.Refused(reason, message));
                case ShardDecision.Unchanged unchanged -> {}
                case ShardDecision.Outranked outranked -> {}
            }
        }
        return refused;
    }
}
