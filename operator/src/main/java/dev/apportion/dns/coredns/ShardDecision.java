package dev.apportion.dns.coredns;

import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import org.jspecify.annotations.Nullable;

final class ShardDecision {
    private ShardDecision() {}

    static ShardChange decide(
            @Nullable ConfigMap current, ZoneRecords desired, CoreDnsLayout layout, int shard, long floor) {
        return new ShardChange.Refused(
                ShardChange.Reason.NotRenderable, "" + current + desired + layout + shard + floor);
    }

    static ShardChange remove(@Nullable ConfigMap current, String domain, CoreDnsLayout layout, int shard) {
        return new ShardChange.Refused(ShardChange.Reason.NotRenderable, "" + current + domain + layout + shard);
    }
}
