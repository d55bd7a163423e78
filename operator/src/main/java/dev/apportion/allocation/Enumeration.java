package dev.apportion.allocation;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Exhaustive search over which replicas the streams use, for the smallest instances.
 *
 * <p>Given the replicas of each stream, the least makespan is the largest quotient, over sets of streams, of their rates and
 * the capacity of the replicas that they have together (maximum flow, minimum cut). Free streams are streams
 * whose choice is made. A branch is cut where the streams chosen
 * so far already reach the best makespan known. If the search ends by itself, that makespan is optimal.
 */
final class Enumeration {

    private static final int MOST_STREAMS = 8;
    private static final int MOST_REPLICAS = 16;

    /** Most sets of streams that are looked at, over all choices: some hundredths of a second. */
    private static final long MOST_WORK = 20_000_000;

    /** What counts as lower, relatively. */
    private static final double LOWER = 1e-10;

    private final Instance in;
    private final int[] streams;
    private final int[] replicas;
    private final int[][] candidates;
    private final double enough;
    private final double[] low;
    private final double[] high;
    private final int[] chosen;
    private final int[][] unions;
    private final double[][] rates;
    private double makespan;
    private int @Nullable [] best;
    private long work;

    /**
     * @param makespan what is to be undercut
     * @param enough a makespan that needs no improvement
     */
    Enumeration(Instance in, Component component, double makespan, double enough) {
        this.in = in;
        this.makespan = makespan;
        this.enough = enough;
        streams = component.streams;
        replicas = component.replicas;
        candidates = new int[streams.length][];
        for (int s = 0; s < streams.length; s++) {
            candidates[s] = bits(in.eligibleReplicas(in.streamClass[streams[s]]));
        }
        low = capacities(0);
        high = capacities(8);
        chosen = new int[streams.length];
        int pouring =
                (int) Arrays.stream(component.free).filter(rate -> rate > 0).count();
        unions = new int[streams.length + 1][];
        rates = new double[streams.length + 1][];
        for (int s = 0; s <= streams.length; s++) {
            unions[s] = new int[1 << (s + pouring)];
            rates[s] = new double[1 << (s + pouring)];
        }
        int sets = 1;
        for (int c = 0; c < component.free.length; c++) {
            if (component.free[c] > 0) {
                int set = Arrays.stream(bits(component.eligible[c])).sum();
                for (int q = 0; q < sets; q++) {
                    unions[0][sets + q] = unions[0][q] | set;
                    rates[0][sets + q] = rates[0][q] + component.free[c];
                }
                sets *= 2;
            }
        }
    }

    /** Whether a component is small enough. */
    static boolean suits(Component component) {
        return component.streams.length + component.free.length <= MOST_STREAMS + 1
                && component.replicas.length <= MOST_REPLICAS;
    }

    /** The bit of each replica in a set. */
    private int[] bits(int[] some) {
        return Arrays.stream(some)
                .map(replica -> 1 << Arrays.binarySearch(replicas, replica))
                .toArray();
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
        return work < MOST_WORK;
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
        int end = 1 << candidates[s].length;
        // the sets of k candidates in ascending order, which begins with the fastest ones
        for (int code = (1 << k) - 1; code < end; code = following(code)) {
            work += unions[s].length;
            if (work >= MOST_WORK || makespan <= enough) {
                return;
            }
            int set = decoded(code, candidates[s]);
            double level = with(s, set, reached);
            if (level < makespan * (1 - LOWER)) {
                chosen[s] = set;
                choose(s + 1, level);
            }
        }
    }

    private static int decoded(int code, int[] candidates) {
        int set = 0;
        for (int rest = code; rest != 0; rest &= rest - 1) {
            set |= candidates[Integer.numberOfTrailingZeros(rest)];
        }
        return set;
    }

    /** The level that the streams so far need, if this one uses these replicas. */
    private double with(int s, int set, double reached) {
        double level = reached;
        int half = unions[s].length;
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
