package dev.apportion.reconcile;

import dev.apportion.api.DNSZoneSpec.LabelRequirement;
import dev.apportion.api.DNSZoneSpec.NamespaceSelector;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Matches labels as Kubernetes does. */
final class Selectors {

    private Selectors() {}

    /** An empty selector matches everything, none matches nothing. */
    static boolean matches(@Nullable NamespaceSelector selector, Map<String, String> labels) {
        return selector != null
                && selector.matchLabels().entrySet().stream()
                        .allMatch(wanted -> wanted.getValue().equals(labels.get(wanted.getKey())))
                && selector.matchExpressions().stream().allMatch(wanted -> matches(wanted, labels));
    }

    private static boolean matches(LabelRequirement wanted, Map<String, String> labels) {
        String value = labels.get(wanted.key());
        return switch (wanted.operator()) {
            case In -> value != null && wanted.values().contains(value);
            case NotIn -> value == null || !wanted.values().contains(value);
            case Exists -> value != null;
            case DoesNotExist -> value == null;
        };
    }
}
