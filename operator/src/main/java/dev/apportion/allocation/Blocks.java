package dev.apportion.allocation;

import java.util.Arrays;

/**
 * The levels of streams that may all use the same replicas.
 *
 * <p>At makespan T the q largest streams, in k pieces each, cannot get more than T times the capacity of the fastest qk
 * replicas. The q for which this demands most names a bottleneck block: those streams on those replicas, at that load; the
 * rest is the same problem again. All of it at once is the least concave majorant of the points (capacity of the fastest qk
 * replicas, rate of the q largest streams): its edges are the blocks, its slopes their levels, found by pooling adjacent
 * violators in O(n + m). The first slope is the lower bound of the makespan.
 */
final class Blocks {

    /** Slopes that differ by less than this, relatively, differ by rounding: their blocks stay apart. */
    private static final double SAME = 1e-12;

    private int count;
    private int[] streamEnd = new int[16];
    private int[] replicaEnd = new int[16];
    private double[] capacity = new double[16];
    private double[] rate = new double[16];

    /**
     * @param streams canonical streams in the order of descending rate over k
     * @param replicas canonical replicas, ascending
     * @param free the rate of streams that can use every replica
     */
    Blocks(Instance in, int[] streams, int[] replicas, double free) {
        int used = 0;
        int s = 0;
        for (; s < streams.length && used + in.limit[streams[s]] < replicas.length; s++) {
            int end = used + in.limit[streams[s]];
            double speed = 0;
            for (; used < end; used++) {
                speed += in.capacity[replicas[used]];
            }
            add(s + 1, used, speed, in.rate[streams[s]]);
        }
        double rest = free;
        for (; s < streams.length; s++) {
            rest += in.rate[streams[s]];
        }
        double speed = 0;
        for (; used < replicas.length; used++) {
            speed += in.capacity[replicas[used]];
        }
        add(streams.length, replicas.length, speed, rest);
    }

    private void add(int streamsEnd, int replicasEnd, double speed, double rates) {
        double x = speed;
        double y = rates;
        while (count > 0 && level(count - 1) * (1 + SAME) < y / x) {
            count--;
            x += capacity[count];
            y += rate[count];
        }
        if (count == streamEnd.length) {
            streamEnd = Arrays.copyOf(streamEnd, 2 * count);
            replicaEnd = Arrays.copyOf(replicaEnd, 2 * count);
            capacity = Arrays.copyOf(capacity, 2 * count);
            rate = Arrays.copyOf(rate, 2 * count);
        }
        streamEnd[count] = streamsEnd;
        replicaEnd[count] = replicasEnd;
        capacity[count] = x;
        rate[count++] = y;
    }

    int count() {
        return count;
    }

    int streamStart(int block) {
        return block == 0 ? 0 : streamEnd[block - 1];
    }

    int streamEnd(int block) {
        return streamEnd[block];
    }

    int replicaStart(int block) {
        return block == 0 ? 0 : replicaEnd[block - 1];
    }

    int replicaEnd(int block) {
        return replicaEnd[block];
    }

    /** The load of the block's replicas; zero in a last block without streams. */
    double level(int block) {
        return rate[block] / capacity[block];
    }

    /** The lower bound of the makespan. */
    double bound() {
        return level(0);
    }
}
