package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was seen of a pool and computed for it. */
public record ReplicaPoolStatus(
        @JsonPropertyDescription(Statuses.OBSERVED_GENERATION) @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(Statuses.CONDITIONS) @MapList("type")
        List<Condition> conditions,

        @JsonPropertyDescription("The numbers of replicas.") @Nullable
        Replicas replicas,

        @JsonPropertyDescription(
                "The largest load of a replica, where a load is requests per second over capacity, as a decimal"
                        + " text. It is computed from what is published.")
        @Nullable
        String makespan,

        @JsonPropertyDescription("All rates over all capacities, as a decimal text.") @Nullable
        String average,

        @JsonPropertyDescription("A bound that no allocation's makespan can be below, as a decimal text.") @Nullable
        String lowerBound,

        @JsonPropertyDescription(
                "How far the makespan is above the lower bound at most: makespan / lowerBound - 1, as a decimal"
                        + " text.")
        @Nullable
        String optimalityGap,

        @JsonPropertyDescription(
                "The largest load of a replica over its own level, as a decimal text. A change is due when it is"
                        + " above 1 by more than actAbovePercent.")
        @Nullable
        String worstOverLevel,

        @JsonPropertyDescription("The last change of the allocation.") @Nullable
        LastChange lastChange,

        @JsonPropertyDescription("The replicas with the explanation of their shares. At most 50 are shown.")
        List<Row> rows)
        implements ResourceStatus {

    public ReplicaPoolStatus {
        conditions = Rules.list(conditions, "conditions");
        rows = Rules.list(rows, "rows");
    }

    /** The numbers of replicas. */
    public record Replicas(
            @JsonPropertyDescription("The number of replicas that are known.")
            int total,

            @JsonPropertyDescription("The number of replicas that may serve.")
            int ready,

            @JsonPropertyDescription("The number of replicas whose share still grows.")
            int warming,

            @JsonPropertyDescription("The number of replicas that are known but stand in no answer because they drain.")
            int draining,

            @JsonPropertyDescription("The number of replicas without a measurement that counts.")
            int silent) {}

    /** A change of the allocation. */
    public record LastChange(
            @JsonPropertyDescription("When it was made, as an RFC 3339 date and time.") @Nullable
            String time,

            @JsonPropertyDescription("The part of the traffic that it moved, in percent, as a decimal text.") @Nullable
            String movedPercent,

            @JsonPropertyDescription("Why it was made, as a CamelCase word.") @Nullable
            String reason) {}

    /** One replica with the explanation of its share. */
    public record Row(
            @JsonPropertyDescription("The replica's name.") String name,

            @JsonPropertyDescription("The replica's first address.") @Nullable
            String address,

            @JsonPropertyDescription("The site that the replica belongs to.") @Nullable
            String site,

            @JsonPropertyDescription(
                    "What the replica does, as a CamelCase word: for example Ready, Warming or Draining.")
            @Nullable
            String state,

            @JsonPropertyDescription("What the replica can bear, in requests per second, as a decimal text.") @Nullable
            String capacity,

            @JsonPropertyDescription(
                    "The load that was measured, as a text with its quantities, the time since when they are so, and"
                            + " what is wrong with it.")
            @Nullable
            String measured,

            @JsonPropertyDescription("The requests per second that it is given over its capacity, as a decimal text.")
            @Nullable
            String load,

            @JsonPropertyDescription("The load that it should have, as a decimal text.") @Nullable
            String level,

            @JsonPropertyDescription("Its part of the pool's traffic, from 0 to 1, as a decimal text.") @Nullable
            String share,

            @JsonPropertyDescription("Why its share is what it is.") @Nullable
            String because) {}
}
