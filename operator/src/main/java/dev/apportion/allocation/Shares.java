package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The shares of every canonical stream on canonical replicas. */
final class Shares {

    private static final int[] NOWHERE = {};
    private static final double[] NOTHING = {};

    private final int[][] at;
    private final double[][] share;

    Shares(int streams) {
        at = new int[streams][];
        share = new double[streams][];
        Arrays.fill(at, NOWHERE);
        Arrays.fill(share, NOTHING);
    }

    private Shares(Shares other) {
        at = other.at.clone();
        share = other.share.clone();
    }

    /** The shares of an allocation of the same problem. */
    static Shares of(Instance in, Allocation allocation) {
        int[] canonical = new int[in.m];
        for (int i = 0; i < in.m; i++) {
            canonical[in.replicaIndex(i)] = i;
        }
        Shares shares = new Shares(in.n);
        for (int j = 0; j < in.n; j++) {
            List<Piece> pieces = allocation.streams().get(in.streamIndex(j));
            int[] where = new int[pieces.size()];
            double[] parts = new double[where.length];
            for (int p = 0; p < where.length; p++) {
                where[p] = canonical[pieces.get(p).replica()];
                parts[p] = pieces.get(p).share();
            }
            shares.set(j, where, parts);
        }
        return shares;
    }

    /** What of the running shares can stay: on replicas that are there and may serve the stream, normalised over all. */
    static Shares of(Instance in, Running running) {
        Map<String, Integer> canonical = new HashMap<>();
        for (int i = 0; i < in.m; i++) {
            canonical.put(in.replica(i).name(), i);
        }
        Shares shares = new Shares(in.n);
        for (int j = 0; j < in.n; j++) {
            Map<String, Double> known =
                    running.shares().getOrDefault(in.stream(j).name(), Map.of());
            double sum = 0;
            for (double value : known.values()) {
                sum += Math.max(0, value);
            }
            if (!(sum > 0) || in.limit[j] == 0) {
                continue;
            }
            double[] dense = new double[known.size()];
            int[] where = new int[known.size()];
            int count = 0;
            for (Map.Entry<String, Double> entry : known.entrySet()) {
                Integer replica = canonical.get(entry.getKey());
                if (replica != null && entry.getValue() > 0 && in.mayUse(j, replica)) {
                    where[count++] = replica;
                }
            }
            where = Arrays.copyOf(where, count);
            Arrays.sort(where);
            for (int p = 0; p < count; p++) {
                dense[p] = known.getOrDefault(in.replica(where[p]).name(), 0.0) / sum;
            }
            shares.set(j, where, Arrays.copyOf(dense, count));
        }
        return shares;
    }

    Shares copy() {
        return new Shares(this);
    }

    int[] at(int stream) {
        return at[stream];
    }

    double[] share(int stream) {
        return share[stream];
    }

    boolean has(int stream) {
        return at[stream].length > 0;
    }

    /** The arrays are not copied. */
    void set(int stream, int[] replicas, double[] shares) {
        at[stream] = replicas;
        share[stream] = shares;
    }

    void take(int stream, Shares other) {
        at[stream] = other.at[stream];
        share[stream] = other.share[stream];
    }

    /** Whether a stream has exactly the shares that it has in another object. */
    boolean same(int stream, Shares other) {
        return Arrays.equals(at[stream], other.at[stream]) && Arrays.equals(share[stream], other.share[stream]);
    }

    double of(int stream, int replica) {
        for (int p = 0; p < at[stream].length; p++) {
            if (at[stream][p] == replica) {
                return share[stream][p];
            }
        }
        return 0;
    }

    double sum(int stream) {
        double sum = 0;
        for (double part : share[stream]) {
            sum += part;
        }
        return sum;
    }

    /** The part of a stream that stays where it is. */
    double common(int stream, Shares other) {
        if (same(stream, other)) {
            return sum(stream);
        }
        Map<Integer, Double> theirs = HashMap.newHashMap(other.at[stream].length);
        for (int p = 0; p < other.at[stream].length; p++) {
            theirs.put(other.at[stream][p], other.share[stream][p]);
        }
        double common = 0;
        for (int p = 0; p < at[stream].length; p++) {
            common += Math.min(share[stream][p], theirs.getOrDefault(at[stream][p], 0.0));
        }
        return common;
    }

    /**
     * The load of each canonical replica.
     *
     * @param rate the rate of each canonical stream
     * @param from the first stream that counts
     * @param to the first one that counts no more
     */
    double[] loads(Instance in, double[] rate, int from, int to) {
        double[] load = new double[in.m];
        for (int j = from; j < to; j++) {
            for (int p = 0; p < at[j].length; p++) {
                load[at[j][p]] += rate[j] * share[j][p];
            }
        }
        for (int i = 0; i < in.m; i++) {
            load[i] /= in.capacity[i];
        }
        return load;
    }
}
