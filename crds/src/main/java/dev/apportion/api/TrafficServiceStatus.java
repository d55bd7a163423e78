package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was seen of a service and done for it; the rate and the answers are those of its implicit stream. */
public record TrafficServiceStatus(
        @JsonPropertyDescription(Statuses.OBSERVED_GENERATION) @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(Statuses.CONDITIONS) @MapList("type")
        List<Condition> conditions,

        @JsonPropertyDescription(Statuses.RATE) @Nullable String rate,

        @JsonPropertyDescription(Statuses.ANSWERS) List<Answer> answers)
        implements ResourceStatus {

    public TrafficServiceStatus {
        conditions = Rules.list(conditions, "conditions");
        answers = Rules.list(answers, "answers");
    }
}
