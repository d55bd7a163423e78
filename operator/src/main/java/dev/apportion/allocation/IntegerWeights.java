package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Turns shares into the integer weights that DNS back ends take. */
public final class IntegerWeights {

    /** Shares, scales and errors that differ by no more than this, relatively, are the same but for rounding. */
    private static final double SAME = 1e-12;

    /** More rounding breakpoints than this are not walked one by one. */
    private static final int MOST_BREAKPOINTS = 1 << 16;

    /** Halvings after which an interval of doubles has collapsed. */
    private static final int HALVINGS = 100;

    private IntegerWeights() {}

    /**
     * The integer weights whose proportions are closest to the shares, by the largest relative error
     * max(q/p, p/q) − 1.
     *
     * <p>With {@link Resolution.AtMost} a share below 1/(2·most) of the largest cannot be expressed and gets 0. With
     * {@link Resolution.FixedSum} every positive share gets at least 1, unless there are more of them than the sum; then the
     * shares are rounded by Webster's method, which lets the smallest fall to 0.
     *
     * <p>Equal shares get equal weights, or with a fixed sum weights that differ by at most 1, the earlier one having the
     * more. Among equally good answers the smallest weights are taken.
     *
     * @param shares the intended shares; finite, not negative, at least one greater than zero; they need not add up to one
     * @param resolution the integers that are allowed
     * @return a weight for each share; zero where the share is zero, or too small to be expressed; all zero if no share is
     *     greater than zero
     */
    public static int[] of(double[] shares, Resolution resolution) {
        double[] p = normalised(shares);
        return switch (resolution) {
            case Resolution.AtMost(int most) -> atMost(p, most);
            case Resolution.FixedSum(int sum) -> fixedSum(p, sum);
        };
    }

    /**
     * The pieces that are really published in place of the intended ones: those that have a weight, with the shares that
     * the weights give.
     */
    public static List<Piece> published(List<Piece> intended, Resolution resolution) {
        double[] shares = new double[intended.size()];
        for (int i = 0; i < shares.length; i++) {
            shares[i] = intended.get(i).share();
        }
        int[] weights = of(shares, resolution);
        long sum = sum(weights);
        List<Piece> published = new ArrayList<>(shares.length);
        for (int i = 0; i < shares.length; i++) {
            if (weights[i] > 0) {
                published.add(new Piece(intended.get(i).replica(), (double) weights[i] / sum));
            }
        }
        return List.copyOf(published);
    }

    /** The largest of max(q/p, p/q) − 1 over the shares p that have a weight, where q is the weights' proportion. */
    public static double largestError(double[] shares, int[] weights) {
        double total = 0;
        long sum = 0;
        for (int i = 0; i < shares.length; i++) {
            if (weights[i] > 0) {
                total += shares[i];
                sum += weights[i];
            }
        }
        double worst = 1;
        for (int i = 0; i < shares.length; i++) {
            if (weights[i] > 0) {
                double ratio = weights[i] / (shares[i] / total * sum);
                worst = Math.max(worst, Math.max(ratio, 1 / ratio));
            }
        }
        return worst - 1;
    }

    /** The shares divided by their sum; shares that are equal but for rounding are made equal. */
    private static double[] normalised(double[] shares) {
        double largest = 0;
        for (double share : shares) {
            largest = Math.max(largest, share);
        }
        double[] p = new double[shares.length];
        if (!(largest > 0)) {
            return p;
        }
        for (int i = 0; i < p.length; i++) {
            p[i] = shares[i] / largest;
        }
        double[] distinct = p.clone();
        Arrays.sort(distinct);
        int count = 0;
        for (double value : distinct) {
            if (count == 0 || value > distinct[count - 1] * (1 + SAME)) {
                distinct[count++] = value;
            }
        }
        double total = 0;
        for (int i = 0; i < p.length; i++) {
            int at = Arrays.binarySearch(distinct, 0, count, p[i]);
            p[i] = distinct[at >= 0 ? at : -at - 2];
            total += p[i];
        }
        for (int i = 0; i < p.length; i++) {
            p[i] /= total;
        }
        return p;
    }

    // ---- weights up to a maximum: the divisor sweep

    private static int[] atMost(double[] p, int most) {
        int[] expressed = new int[p.length];
        double largest = 0;
        for (double share : p) {
            largest = Math.max(largest, share);
        }
        int m = 0;
        double total = 0;
        for (int i = 0; i < p.length; i++) {
            if (p[i] > 0 && p[i] * 2 * most >= largest * (1 - SAME)) {
                expressed[m++] = i;
                total += p[i];
            }
        }
        int[] weights = new int[p.length];
        if (m == 0) {
            return weights;
        }
        double[] shares = new double[m];
        for (int i = 0; i < m; i++) {
            shares[i] = p[expressed[i]] / total;
        }
        int[] swept = new Sweep(shares, largest / total, most).best();
        for (int i = 0; i < m; i++) {
            weights[expressed[i]] = swept[i];
        }
        return weights;
    }

    /**
     * The divisor sweep: of all weights clamp(round(c·p), 1, most), for the scale c from 0 to most/p_max, the ones with the
     * least largest relative error.
     *
     * <p>The weights change only at the breakpoints c = (w + ½)/p_i; between two of them nothing needs to be tried. Equal
     * shares have the same breakpoints, so the walk is over the distinct shares: O(B log B + B·d) for B breakpoints of d
     * distinct shares. Where B would exceed 65,536 only the scales at which the largest share is a whole number are tried.
     */
    private static final class Sweep {
        private final double[] shares;
        private final double[] distinct;
        private final int[] kind;
        private final long[] copies;
        private final double largest;
        private final int most;

        private final int[] weight;
        private int[] best;
        private double bestError = Double.POSITIVE_INFINITY;

        Sweep(double[] shares, double largest, int most) {
            this.shares = shares;
            this.largest = largest;
            this.most = most;
            double[] sorted = shares.clone();
            Arrays.sort(sorted);
            int d = 0;
            for (double value : sorted) {
                if (d == 0 || value > sorted[d - 1]) {
                    sorted[d++] = value;
                }
            }
            distinct = Arrays.copyOf(sorted, d);
            kind = new int[shares.length];
            copies = new long[d];
            for (int i = 0; i < shares.length; i++) {
                kind[i] = Arrays.binarySearch(distinct, shares[i]);
                copies[kind[i]]++;
            }
            weight = new int[d];
            Arrays.fill(weight, 1);
            best = weight.clone();
        }

        int[] best() {
            consider();
            double end = most / largest;
            long breakpoints = 0;
            for (double share : distinct) {
                breakpoints += (long) Math.floor(end * share + 0.5);
            }
            if (breakpoints <= MOST_BREAKPOINTS) {
                walk((int) breakpoints, end);
            } else {
                for (int w = 1; w <= most; w++) {
                    double c = w / largest;
                    for (int i = 0; i < weight.length; i++) {
                        weight[i] = rounded(c * distinct[i]);
                    }
                    consider();
                }
            }
            int[] weights = new int[shares.length];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = best[kind[i]];
            }
            return weights;
        }

        private void walk(int breakpoints, double end) {
            double[] at = new double[breakpoints];
            int count = 0;
            for (double share : distinct) {
                // the first breakpoint takes a weight from 0 to 1, where the clamp has it anyway
                for (int w = 1; w < most && (w + 0.5) / share <= end && count < breakpoints; w++) {
                    at[count++] = (w + 0.5) / share;
                }
            }
            Arrays.sort(at, 0, count);
            int next = 0;
            while (next < count) {
                double c = at[next] * (1 + SAME);
                while (next < count && at[next] <= c) {
                    next++;
                }
                for (int i = 0; i < weight.length; i++) {
                    weight[i] = rounded(c * distinct[i]);
                }
                consider();
            }
        }

        private int rounded(double value) {
            return (int) Math.clamp(Math.floor(value + 0.5), 1, most);
        }

        private void consider() {
            long sum = 0;
            for (int i = 0; i < weight.length; i++) {
                sum += copies[i] * weight[i];
            }
            double worst = 1;
            for (int i = 0; i < weight.length; i++) {
                double ratio = weight[i] / (distinct[i] * sum);
                worst = Math.max(worst, Math.max(ratio, 1 / ratio));
            }
            if (worst < bestError - SAME) {
                bestError = worst;
                best = weight.clone();
            }
        }
    }

    // ---- weights with a fixed sum

    /**
     * With a fixed sum S the error of a share depends on its own weight alone, so that an error e is possible if, and only
     * if, the weights between S·p/(1+e) and S·p·(1+e) can add up to S. The least e is found by bisection, to the last bits;
     * inside its intervals Hill's method, which rounds at the geometric mean, shares out the rest.
     */
    private static int[] fixedSum(double[] p, int sum) {
        int m = p.length;
        int positive = 0;
        for (double share : p) {
            positive += share > 0 ? 1 : 0;
        }
        int[] low = new int[m];
        int[] high = new int[m];
        if (positive == 0 || sum <= 0) {
            return low;
        }
        if (positive > sum) {
            for (int i = 0; i < m; i++) {
                high[i] = p[i] > 0 ? sum : 0;
            }
            return byDivisor(p, sum, low, high, Rounding.WEBSTER);
        }
        double possible = Math.nextUp(1.0);
        if (!bounds(p, sum, possible, low, high)) {
            double impossible = possible;
            possible = 2;
            while (!bounds(p, sum, possible, low, high)) {
                impossible = possible;
                possible *= possible;
            }
            for (int i = 0; i < HALVINGS && impossible < possible; i++) {
                double middle = (impossible + possible) / 2;
                if (middle <= impossible || middle >= possible) {
                    break;
                }
                if (bounds(p, sum, middle, low, high)) {
                    possible = middle;
                } else {
                    impossible = middle;
                }
            }
        }
        bounds(p, sum, possible * (1 + SAME), low, high);
        return byDivisor(p, sum, low, high, Rounding.HILL);
    }

    /** The weights that keep the ratio of proportion and share within a factor; false if they cannot add up to the sum. */
    private static boolean bounds(double[] p, int sum, double factor, int[] low, int[] high) {
        long least = 0;
        long most = 0;
        boolean every = true;
        for (int i = 0; i < p.length; i++) {
            if (p[i] > 0) {
                double ideal = sum * p[i];
                low[i] = (int) Math.clamp(Math.ceil(ideal / factor * (1 - SAME)), 1, sum);
                high[i] = (int) Math.clamp(Math.floor(ideal * factor * (1 + SAME)), 0, sum);
                every &= low[i] <= high[i];
                least += low[i];
                most += high[i];
            }
        }
        return every && least <= sum && sum <= most;
    }

    private enum Rounding {
        /** Rounds up from the arithmetic mean of two integers. */
        WEBSTER,
        /** Rounds up from the geometric mean of two integers. */
        HILL;

        /** The value from which on a weight is increased. */
        double threshold(int weight) {
            return switch (this) {
                case WEBSTER -> weight + 0.5;
                case HILL -> Math.sqrt((double) weight * (weight + 1.0));
            };
        }

        int rounded(double value, int low, int high) {
            double floor = Math.floor(value);
            if (floor >= high) {
                return high;
            }
            int weight = (int) floor;
            return Math.clamp(value > threshold(weight) ? weight + 1 : weight, low, high);
        }
    }

    /** A divisor method within bounds: the largest scale whose rounded shares do not exceed the sum; then ties, by index. */
    private static int[] byDivisor(double[] p, int sum, int[] low, int[] high, Rounding rounding) {
        double under = 0;
        double over = 1;
        while (sum(rounded(p, over, low, high, rounding)) < sum && over < Double.MAX_VALUE / 4) {
            over *= 2;
        }
        for (int i = 0; i < HALVINGS && over - under > SAME / 100 * over; i++) {
            double middle = (under + over) / 2;
            if (sum(rounded(p, middle, low, high, rounding)) <= sum) {
                under = middle;
            } else {
                over = middle;
            }
        }
        int[] weights = rounded(p, under, low, high, rounding);
        long missing = sum - sum(weights);
        for (int i = 0; i < p.length && missing > 0; i++) {
            if (weights[i] < high[i] && p[i] * over * (1 + SAME) >= rounding.threshold(weights[i])) {
                weights[i]++;
                missing--;
            }
        }
        for (int i = 0; i < p.length && missing > 0; i++) {
            int more = (int) Math.min(missing, high[i] - weights[i]);
            weights[i] += more;
            missing -= more;
        }
        return weights;
    }

    private static int[] rounded(double[] p, double scale, int[] low, int[] high, Rounding rounding) {
        int[] weights = new int[p.length];
        for (int i = 0; i < p.length; i++) {
            weights[i] = p[i] > 0 ? rounding.rounded(p[i] * scale, low[i], high[i]) : 0;
        }
        return weights;
    }

    private static long sum(int[] weights) {
        long sum = 0;
        for (int weight : weights) {
            sum += weight;
        }
        return sum;
    }
}
