package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was seen of a stream and done for it. */
public record TrafficStreamStatus(
        @JsonPropertyDescription(Statuses.OBSERVED_GENERATION) @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(Statuses.CONDITIONS) @MapList("type")
        List<Condition> conditions,

        @JsonPropertyDescription(Statuses.RATE) @Nullable String rate,

        @JsonPropertyDescription(Statuses.ANSWERS) List<Answer> answers)
        implements ResourceStatus {

    public TrafficStreamStatus {
        conditions = Rules.list(conditions, "conditions");
        answers = Rules.list(answers, "answers");
    }
}
