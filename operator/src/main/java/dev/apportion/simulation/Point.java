package dev.apportion.simulation;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One point of a sweep.
 *
 * @param labels what is special about it: the value of each thing that the sweep varies, in that order
 */
public record Point(Map<String, String> labels, Setting setting) {

    public Point {
        labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
    }

    /** Whether it has all of some labels. */
    boolean has(Map<String, String> some) {
        return some.entrySet().stream().allMatch(entry -> entry.getValue().equals(labels.get(entry.getKey())));
    }
}
