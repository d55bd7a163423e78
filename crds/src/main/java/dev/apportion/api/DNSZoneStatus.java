package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was seen of a zone and done for it. */
public record DNSZoneStatus(
        @JsonPropertyDescription(Statuses.OBSERVED_GENERATION) @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(Statuses.CONDITIONS) @MapList("type")
        List<Condition> conditions,

        @JsonPropertyDescription("The serial of what is published.") @Nullable
        Long serial,

        @JsonPropertyDescription("The number of TrafficServices that are published in the zone.") @Nullable
        Integer services,

        @JsonPropertyDescription("The number of streams that are published in the zone.") @Nullable
        Integer streams)
        implements ResourceStatus {

    public DNSZoneStatus {
        conditions = Rules.list(conditions, "conditions");
    }
}
