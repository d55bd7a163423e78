package dev.apportion.api;

import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;

/** What every status has. */
public interface ResourceStatus {

    List<Condition> conditions();
}
