package dev.apportion.simulation;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What one run measured.
 *
 * @param values what is known of the quantities; one that a run cannot know is absent
 * @param servers what each server did, in the order of {@link Setting#servers()}
 */
public record Outcome(Map<Metric, Double> values, List<Serving> servers) {

    public Outcome {
        EnumMap<Metric, Double> finite = new EnumMap<>(Metric.class);
        values.forEach((metric, value) -> {
            if (!value.isNaN()) {
                finite.put(metric, value);
            }
        });
        values = finite;
        servers = List.copyOf(servers);
    }

    /**
     * What a server did.
     *
     * @param share its part of all requests
     * @param utilisation the part of its slots that was busy
     * @param delay the mean delay of its requests, in seconds; NaN if it had none
     */
    public record Serving(String server, double share, double utilisation, double delay) {}
}
