package dev.apportion.simulation;

import java.util.List;

/**
 * An experiment.
 *
 * @param name its name
 * @param about what it is, for people
 * @param source where it was published; empty if nowhere
 * @param reconstruction whether numbers were filled in that the source does not say
 * @param points what is run
 * @param seeds what each point is run with
 * @param claims what is to come out
 * @param show the quantities that matter
 */
public record Scenario(
        String name,
        String about,
        String source,
        boolean reconstruction,
        List<Point> points,
        List<Long> seeds,
        List<Claim> claims,
        List<Metric> show) {

    public Scenario {
        points = List.copyOf(points);
        seeds = List.copyOf(seeds);
        claims = List.copyOf(claims);
        show = List.copyOf(show);
    }

    /** How many runs there are. */
    public int runs() {
        return points.size() * seeds.size();
    }
}
