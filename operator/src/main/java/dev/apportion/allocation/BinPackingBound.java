package dev.apportion.allocation;

import java.util.Arrays;

/**
 * A lower bound of the makespan on identical replicas that sees what the capacities alone do not.
 *
 * <p>At makespan T a stream with a rate above (k − 1)T is <em>bulky</em>: it needs all its k pieces, and its excess is
 * e = rate − (k − 1)T. Without cycles, bulky streams that are linked through common replicas have k − 1 replicas each, and
 * one more together, on which their excesses must find room. Hence no fewer replicas than the sum of k − 1 over the bulky
 * streams, plus the bins of size T that their excesses need, can do. The bins are bounded by the second bound of Martello and
 * Toth (Knapsack Problems, 1990) and by dual feasible functions (Fekete and Schepers, Mathematical Programming 91, 2001).
 */
final class BinPackingBound {

    /** Bulky streams for which the bound, which is quadratic in them, is worth its time. */
    private static final int MOST_BULKY = 1000;

    private static final int HALVINGS = 40;

    /** What rounding must not decide: a bin is full only beyond this, relatively. */
    private static final double ROUNDING = 1e-11;

    private static final int MOST_PARTS = 20;

    private final Instance in;
    private final Component component;
    private final double capacity;

    private BinPackingBound(Instance in, Component component) {
        this.in = in;
        this.component = component;
        capacity = in.capacity[component.replicas[0]];
    }

    /**
     * A bound between one that is known and a makespan that was reached.
     *
     * @param component streams of one class
     */
    static double of(Instance in, Component component, double known, double reached) {
        int[] replicas = component.replicas;
        if (in.capacity[replicas[0]] != in.capacity[replicas[replicas.length - 1]]) {
            return known;
        }
        BinPackingBound bound = new BinPackingBound(in, component);
        double impossible = known;
        double unknown = reached;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (impossible + unknown) / 2;
            if (bound.possible(middle)) {
                unknown = middle;
            } else {
                impossible = middle;
            }
        }
        return impossible;
    }

    private boolean possible(double level) {
        double size = level * capacity;
        double[] excess = new double[component.streams.length];
        int bulky = 0;
        long replicas = 0;
        for (int stream : component.streams) {
            int k = in.limit[stream];
            double over = in.rate[stream] - (k - 1) * size;
            if (over > size * ROUNDING) {
                excess[bulky++] = over / size;
                replicas += k - 1;
            }
        }
        return bulky > MOST_BULKY || replicas + bins(Arrays.copyOf(excess, bulky)) <= component.replicas.length;
    }

    /** The least number of bins of size 1 that can be proven. */
    private static int bins(double[] excess) {
        Arrays.sort(excess);
        return Math.max(martelloToth(excess), feketeSchepers(excess));
    }

    private static int martelloToth(double[] excess) {
        int most = 0;
        for (int a = 0; a <= excess.length; a++) {
            double small = a == 0 ? 0 : excess[a - 1];
            if (small > 0.5) {
                break;
            }
            int alone = 0;
            int large = 0;
            double roomBesideLarge = 0;
            double rest = 0;
            for (double e : excess) {
                if (e > 1 - small + ROUNDING) {
                    alone++;
                } else if (e > 0.5 + ROUNDING) {
                    large++;
                    roomBesideLarge += 1 - e;
                } else if (e >= small) {
                    rest += e;
                }
            }
            double more = Math.ceil(rest - roomBesideLarge - ROUNDING * excess.length);
            most = Math.max(most, alone + large + (int) Math.max(0, more));
        }
        return most;
    }

    /** Sizes may be rounded up to ⌊(p + 1)e⌋/p, where (p + 1)e is no integer, without making a bin overflow. */
    private static int feketeSchepers(double[] excess) {
        int most = 0;
        for (int p = 1; p <= MOST_PARTS; p++) {
            double sum = 0;
            for (double e : excess) {
                double parts = (p + 1) * e;
                boolean whole = Math.abs(parts - Math.rint(parts)) <= p * ROUNDING;
                sum += whole ? e : Math.floor(parts) / p;
            }
            most = Math.max(most, (int) Math.ceil(sum - ROUNDING * excess.length));
        }
        return most;
    }
}
