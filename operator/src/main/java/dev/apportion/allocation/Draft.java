package dev.apportion.allocation;

import java.util.Arrays;

/** An allocation in the making: the pieces of the streams that k limits, and the level of each replica. */
final class Draft {

    final Instance in;
    final Packing packing;
    final double[] level;
    private double raised = 1;

    Draft(Instance in) {
        this.in = in;
        packing = new Packing(in.n, in.n + in.m);
        level = new double[in.m];
    }

    /** Raises the level of a replica to a load, if that is higher: what its bound asks for was not found to be possible. */
    void raise(int replica, double load) {
        if (load > level[replica] * (1 + Levelling.CERTAIN)) {
            raised = Math.max(raised, load / level[replica]);
            level[replica] = load;
        }
    }

    /** The most by which a level was raised above the bound of its block, as a factor. */
    double raised() {
        return raised;
    }

    /** Puts a stream on replicas in proportion to their capacity. */
    void proportional(int stream, int[] replicas, int from, int to) {
        double capacity = 0;
        for (int i = from; i < to; i++) {
            capacity += in.capacity[replicas[i]];
        }
        packing.begin(stream);
        for (int i = from; i < to; i++) {
            packing.add(stream, replicas[i], in.rate[stream] * (in.capacity[replicas[i]] / capacity));
        }
    }

    /** Copies the pieces of streams. */
    static void copy(Packing from, Packing to, int[] streams) {
        for (int stream : streams) {
            to.begin(stream);
            for (int p = from.start(stream); p < from.end(stream); p++) {
                to.add(stream, from.replicas()[p], from.amounts()[p]);
            }
        }
    }

    /** The load of each replica from the pieces of streams; every stream counts with its whole rate. */
    static double[] loads(Instance in, Packing packing, int[] streams) {
        double[] load = new double[in.m];
        for (int stream : streams) {
            addLoads(in, packing, stream, load);
        }
        return load;
    }

    static void addLoads(Instance in, Packing packing, int stream, double[] load) {
        int from = packing.start(stream);
        int to = packing.end(stream);
        double sum = 0;
        for (int p = from; p < to; p++) {
            sum += packing.amounts()[p];
        }
        for (int p = from; p < to; p++) {
            int replica = packing.replicas()[p];
            load[replica] += packing.amounts()[p] / sum * in.rate[stream] / in.capacity[replica];
        }
    }

    static int[] range(int count) {
        int[] range = new int[count];
        Arrays.setAll(range, i -> i);
        return range;
    }
}
