package dev.apportion.simulation;

import java.util.Arrays;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * A mean of independent values and its confidence interval of 95 %, by Student's t.
 *
 * @param half the half of its width; infinite for a single value, NaN where there is none
 */
public record Interval(double mean, double half) {

    private static final double UPPER = 0.975;

    /** The interval of some values; those that are not known do not count. */
    public static Interval of(double... values) {
        double[] known =
                Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
        int n = known.length;
        if (n == 0) {
            return new Interval(Double.NaN, Double.NaN);
        }
        double mean = Arrays.stream(known).sum() / n;
        if (n == 1) {
            return new Interval(mean, Double.POSITIVE_INFINITY);
        }
        double squares = 0;
        for (double value : known) {
            squares += (value - mean) * (value - mean);
        }
        double quantile = TDistribution.of(n - 1).inverseCumulativeProbability(UPPER);
        return new Interval(mean, quantile * Math.sqrt(squares / (n - 1) / n));
    }

    public double low() {
        return mean - half;
    }

    public double high() {
        return mean + half;
    }

    public boolean contains(double value) {
        return low() <= value && value <= high();
    }
}
