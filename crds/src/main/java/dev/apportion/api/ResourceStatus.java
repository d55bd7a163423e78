package dev.apportion.api;

import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import java.util.Optional;

/** What every status has. */
public interface ResourceStatus {

    List<Condition> conditions();

    /** The condition of a type; empty if there is none. */
    default Optional<Condition> condition(String type) {
        return conditions().stream()
                .filter(condition -> type.equals(condition.getType()))
                .findFirst();
    }
}
