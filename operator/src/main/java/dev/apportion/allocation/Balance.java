package dev.apportion.allocation;

import java.util.Arrays;

/**
 * Evens out loads without a new piece: each stream in turn is poured again over its own replicas, to one level as far as it
 * reaches.
 *
 * <p>Every step lowers the sum of capacity times load squared, which is convex; where no stream can gain, each load is as
 * low as these replicas allow, the highest first. The sweeps converge geometrically.
 */
final class Balance {

    private static final int MOST_SWEEPS = 200;

    /** Pieces poured after which no further sweep begins. */
    private static final long MOST_WORK = 1_000_000;

    /** A sweep that moves less than this part of the largest load is the last. */
    private static final double SETTLED = 1e-12;

    private final Instance in;
    private final Component component;
    private long work;

    Balance(Instance in, Component component) {
        this.in = in;
        this.component = component;
    }

    /** Evens out the amounts of a packing; the answer is the largest load that follows, with the free streams. */
    double settle(Packing packing) {
        double[] load = Draft.loads(in, packing, component.streams);
        double[][] poured = new double[component.free.length][in.m];
        long until = work + MOST_WORK;
        for (int sweep = 0; sweep < MOST_SWEEPS && work < until; sweep++) {
            double moved = pourFree(load, poured);
            double largest = 0;
            for (int stream : component.streams) {
                work += packing.end(stream) - packing.start(stream);
                moved = Math.max(moved, pour(packing, stream, load));
            }
            for (int replica : component.replicas) {
                largest = Math.max(largest, load[replica]);
            }
            if (moved <= SETTLED * largest) {
                break;
            }
        }
        return makespan(packing);
    }

    /** How many pieces were poured so far. */
    long work() {
        return work;
    }

    /** The largest load of a packing, with the free streams poured on top. */
    double makespan(Packing packing) {
        double[] load = loads(packing);
        double largest = 0;
        for (int replica : component.replicas) {
            largest = Math.max(largest, load[replica]);
        }
        return largest;
    }

    /** The load of each replica in a packing, with the free streams poured on top. */
    double[] loads(Packing packing) {
        double[] load = Draft.loads(in, packing, component.streams);
        double[][] poured = new double[component.free.length][in.m];
        for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
            double moved = pourFree(load, poured);
            if (component.free.length == 1
                    || moved <= SETTLED * Arrays.stream(load).max().orElse(0)) {
                break;
            }
        }
        return load;
    }

    private double pourFree(double[] load, double[][] poured) {
        double moved = 0;
        for (int c = 0; c < poured.length; c++) {
            if (component.free[c] > 0) {
                moved = Math.max(moved, pourFree(component.eligible[c], component.free[c], load, poured[c]));
            }
        }
        return moved;
    }

    private double pourFree(int[] replicas, double amount, double[] load, double[] poured) {
        work += replicas.length;
        for (int replica : replicas) {
            load[replica] = Math.max(0, load[replica] - poured[replica]);
        }
        double level = waterLevel(replicas, 0, replicas.length, load, amount);
        double moved = 0;
        for (int replica : replicas) {
            double more = Math.max(0, level - load[replica]);
            moved = Math.max(moved, Math.abs(more - poured[replica]));
            poured[replica] = more;
            load[replica] += more;
        }
        return moved;
    }

    private double pour(Packing packing, int stream, double[] load) {
        int from = packing.start(stream);
        int to = packing.end(stream);
        if (to - from < 2) {
            return 0;
        }
        int[] at = packing.replicas();
        double[] amounts = packing.amounts();
        double sum = 0;
        for (int p = from; p < to; p++) {
            sum += amounts[p];
        }
        double scale = in.rate[stream] / sum;
        for (int p = from; p < to; p++) {
            load[at[p]] = Math.max(0, load[at[p]] - amounts[p] * scale / in.capacity[at[p]]);
        }
        double level = waterLevel(at, from, to, load, in.rate[stream]);
        double moved = 0;
        int least = from;
        for (int p = from; p < to; p++) {
            least = load[at[p]] < load[at[least]] ? p : least;
        }
        boolean lost = !(level > load[at[least]]);
        for (int p = from; p < to; p++) {
            double amount = Math.max(0, level - load[at[p]]) * in.capacity[at[p]];
            if (lost) {
                // next to the load that is there the stream is nothing but rounding
                amount = p == least ? in.rate[stream] : 0;
            }
            moved = Math.max(moved, Math.abs(amount - amounts[p] * scale) / in.capacity[at[p]]);
            amounts[p] = amount;
            load[at[p]] += amount / in.capacity[at[p]];
        }
        return moved;
    }

    /** The level to which an amount fills some replicas that have loads already. */
    private double waterLevel(int[] at, int from, int to, double[] load, double amount) {
        double level = Double.POSITIVE_INFINITY;
        while (true) {
            double capacity = 0;
            double volume = amount;
            for (int p = from; p < to; p++) {
                if (load[at[p]] < level) {
                    capacity += in.capacity[at[p]];
                    volume += in.capacity[at[p]] * load[at[p]];
                }
            }
            double lower = volume / capacity;
            if (!(lower < level)) {
                return level;
            }
            level = lower;
        }
    }
}
