package dev.apportion.allocation;

import org.jspecify.annotations.Nullable;

/**
 * Exhaustive search over which replicas the streams use, for the smallest instances.
 *
 * <p>Given the replicas of each stream, the least makespan is the largest quotient, over sets of streams, of their rates and
 * the capacity of the replicas that they have together (maximum flow, minimum cut). A branch is cut where the streams chosen
 * so far already reach the best makespan known. If the search ends by itself, that makespan is optimal.
 */
final class Enumeration {

    static final int MOST_STREAMS = 6;
    static final int MOST_REPLICAS = 16;

    /** Most choices that are tried: some milliseconds. */
    private static final int MOST_TRIALS = 300_000;

    /** What counts as lower, relatively. */
    private static final double LOWER = 1e-10;

    private final Instance in;
    private final int[] streams;
    private final int[] replicas;
    private final double enough;
    private final double[] low;
    private final double[] high;
    private final int[] chosen;
    private final int[][] unions;
    private final double[][] rates;
    private double makespan;
    private int @Nullable [] best;
    private int trials;

    /**
     * @param streams canonical streams that k limits, all of one class, at most 6
     * @param replicas the replicas that they may use, at most 16
     * @param makespan what is to be undercut
     * @param enough a makespan that needs no improvement
     */
    Enumeration(Instance in, int[] streams, int[] replicas, double makespan, double enough) {
        this.in = in;
        this.streams = streams;
        this.replicas = replicas;
        this.makespan = makespan;
        this.enough = enough;
        low = capacities(0);
        high = capacities(8);
        chosen = new int[streams.length];
        unions = new int[streams.length + 1][];
        rates = new double[streams.length + 1][];
        for (int s = 0; s <= streams.length; s++) {
            unions[s] = new int[1 << s];
            rates[s] = new double[1 << s];
        }
    }

    /** The capacity of every set of eight of the replicas. */
    private double[] capacities(int from) {
        double[] sums = new double[256];
        for (int set = 1; set < sums.length; set++) {
            int lowest = Integer.numberOfTrailingZeros(set);
            int at = from + lowest;
            sums[set] = sums[set & (set - 1)] + (at < replicas.length ? in.capacity[replicas[at]] : 0);
        }
        return sums;
    }

    /** Searches; whether the least makespan is now known. */
    boolean search() {
        choose(0, 0);
        return trials < MOST_TRIALS;
    }

    /** The least makespan found. */
    double makespan() {
        return makespan;
    }

    /** A packing, not yet evened out, on the replicas that allow a lower makespan; null if there is none. */
    @Nullable
    Packing packing() {
        if (best == null) {
            return null;
        }
        Packing packing = new Packing(in.n, streams.length * 4);
        for (int s = 0; s < streams.length; s++) {
            packing.begin(streams[s]);
            for (int set = best[s]; set != 0; set &= set - 1) {
                int replica = replicas[Integer.numberOfTrailingZeros(set)];
                packing.add(streams[s], replica, in.capacity[replica]);
            }
        }
        return packing;
    }

    private void choose(int s, double reached) {
        if (s == streams.length) {
            makespan = reached;
            best = chosen.clone();
            return;
        }
        int k = in.limit[streams[s]];
        int end = 1 << replicas.length;
        // the sets of k replicas in ascending order, which begins with the fastest ones
        for (int set = (1 << k) - 1; set < end; set = following(set)) {
            if (++trials >= MOST_TRIALS || makespan <= enough) {
                return;
            }
            double level = with(s, set, reached);
            if (level < makespan * (1 - LOWER)) {
                chosen[s] = set;
                choose(s + 1, level);
            }
        }
    }

    /** The level that the streams so far need, if this one uses these replicas. */
    private double with(int s, int set, double reached) {
        double level = reached;
        int half = 1 << s;
        for (int q = 0; q < half; q++) {
            int union = unions[s][q] | set;
            double rate = rates[s][q] + in.rate[streams[s]];
            level = Math.max(level, rate / (low[union & 255] + high[union >>> 8]));
            unions[s + 1][q] = unions[s][q];
            rates[s + 1][q] = rates[s][q];
            unions[s + 1][half + q] = union;
            rates[s + 1][half + q] = rate;
        }
        return level;
    }

    /** The next larger integer with as many bits (Gosper). */
    private static int following(int set) {
        int lowest = set & -set;
        int ripple = set + lowest;
        return ripple | (((set ^ ripple) >>> 2) / lowest);
    }
}
