package dev.apportion.allocation;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is published now.
 *
 * @param shares for each stream, by name, the share of each replica, by name; replicas that are not there any more may be
 *     among them
 */
public record Running(Map<String, Map<String, Double>> shares) {

    /** Nothing is published. */
    public static final Running NOTHING = new Running(Map.of());

    public Running {
        Map<String, Map<String, Double>> sorted = new TreeMap<>();
        // sums must not depend on the order of a hash table
        shares.forEach((stream, parts) -> sorted.put(stream, Collections.unmodifiableMap(new TreeMap<>(parts))));
        shares = Collections.unmodifiableMap(sorted);
    }
}
