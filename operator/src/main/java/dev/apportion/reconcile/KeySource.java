package dev.apportion.reconcile;

import dev.apportion.api.TrafficStreamSpec;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The keys of a stream at the place where they are listed.
 *
 * @param keys those to go on with: what stands there, or, where that cannot be had, what last stood there; empty where nothing
 *     is known
 * @param problem why they are not what stands there now; empty where they are
 */
public record KeySource(Optional<DeclaredKeys> keys, Optional<Finding> problem) {

    private static final String STAY = "the keys stay as they were";

    /** The keys that stand in the stream itself. */
    static KeySource of(List<TrafficStreamSpec.Key> list) {
        return new KeySource(Optional.of(DeclaredKeys.of(list)), Optional.empty());
    }

    /**
     * The keys that stand in a ConfigMap.
     *
     * @param ref the ConfigMap's place
     * @param key the key in it
     * @param found the ConfigMap, if there is one
     */
    public static KeySource of(Ref ref, String key, Optional<ConfigMap> found) {
        return of(ref, key, found, Optional.empty());
    }

    /**
     * The keys that stand in a ConfigMap.
     *
     * @param last those that stood there before
     */
    static KeySource of(Ref ref, String key, Optional<ConfigMap> found, Optional<DeclaredKeys> last) {
        if (found.isEmpty()) {
            return unresolved(
                    last,
                    "ConfigMapNotFound",
                    "there is no ConfigMap %s; %s; maybe create it, or delete the stream to take them out of DNS"
                            .formatted(ref, STAY));
        }
        Map<String, String> data = Objects.requireNonNullElse(found.get().getData(), Map.of());
        String text = data.get(key);
        if (text == null) {
            return unresolved(
                    last,
                    "ConfigMapKeyNotFound",
                    "the ConfigMap %s has no text \"%s\"; %s; %s"
                            .formatted(ref, key, STAY, advice(key, data.keySet(), found.get())));
        }
        DeclaredKeys declared = DeclaredKeys.read(text);
        return declared.keys().isEmpty()
                ? new KeySource(last, Optional.of(nothing(ref, key, declared)))
                : new KeySource(Optional.of(declared), Optional.empty());
    }

    private static String advice(String key, Set<String> texts, ConfigMap found) {
        if (Objects.requireNonNullElse(found.getBinaryData(), Map.of()).containsKey(key)) {
            return "it is binary there; maybe save the file as UTF-8";
        }
        return texts.isEmpty()
                ? "it has none; maybe add it"
                : "it has %s; maybe one of these is meant".formatted(String.join(", ", new TreeSet<>(texts)));
    }

    /** A list without a name is none: a program that failed may have left it so. */
    private static Finding nothing(Ref ref, String key, DeclaredKeys declared) {
        return Finding.no(
                Finding.ACCEPTED,
                "InvalidSpec",
                "spec.keys: \"%s\" of the ConfigMap %s lists no name%s; %s; maybe delete the stream to take them out of DNS"
                        .formatted(
                                key,
                                ref,
                                declared.problems().isEmpty()
                                        ? ""
                                        : " (%s)".formatted(declared.problems().getFirst()),
                                STAY));
    }

    /** The ConfigMap has not been read yet. */
    static KeySource pending(Ref ref) {
        return new KeySource(
                Optional.empty(),
                Optional.of(Finding.unknown(
                        Finding.RESOLVED_REFS, Findings.PENDING, "the ConfigMap %s is being read".formatted(ref))));
    }

    /** The API server refuses to tell of the ConfigMap. */
    static KeySource forbidden(Ref ref, String message, Optional<DeclaredKeys> last) {
        return unresolved(
                last,
                "ConfigMapForbidden",
                "the ConfigMap %s must not be read: %s; %s; maybe bind the role apportion-keys in the namespace %s"
                        .formatted(ref, message, STAY, ref.namespace()));
    }

    private static KeySource unresolved(Optional<DeclaredKeys> last, String reason, String message) {
        return new KeySource(last, Optional.of(Finding.no(Finding.RESOLVED_REFS, reason, message)));
    }
}
