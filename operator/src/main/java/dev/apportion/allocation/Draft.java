package dev.apportion.allocation;

import java.util.Arrays;

/** An allocation in the making: the pieces of the streams that k limits, and what they do to the replicas. */
final class Draft {

    final Instance in;
    final Packing packing;

    Draft(Instance in) {
        this.in = in;
        packing = new Packing(in.n, in.n + in.m);
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
