package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Equal pieces on k replicas that are drawn for each stream by highest random weight: every pair of a stream and a replica
 * has a number made of the seed and the two names, and a stream uses the replicas with its k largest numbers.
 *
 * <p>Every set of k eligible replicas is as likely as every other. A stream's draw depends on nothing but its own name and
 * the names of its replicas, so that other streams and the rates move nothing, and a replica that comes or goes moves only
 * the pieces that it takes or leaves. Source: Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998. Costs
 * O(n m).
 */
final class RandomSpread {

    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final Instance in;
    private final long seed;

    RandomSpread(Instance in, long seed) {
        this.in = in;
        this.seed = seed;
    }

    /** The pieces of every canonical stream. */
    List<List<Piece>> pieces() {
        long[] replicaHash = new long[in.m];
        for (int i = 0; i < in.m; i++) {
            replicaHash[i] = hash(in.replica(i).name());
        }
        int[][] ofClass = new int[in.eligibility.classCount()][];
        for (int c = 0; c < ofClass.length; c++) {
            ofClass[c] = in.eligibleReplicas(c);
        }
        List<List<Piece>> pieces = new ArrayList<>(in.n);
        for (int j = 0; j < in.n; j++) {
            int k = in.limit[j];
            int[] drawn = k == 0 ? new int[0] : draw(in.stream(j).name(), ofClass[in.streamClass[j]], k, replicaHash);
            double[] amounts = new double[k];
            Arrays.fill(amounts, 1);
            pieces.add(in.pieces(drawn, amounts, 0, k));
        }
        return pieces;
    }

    private int[] draw(String stream, int[] eligible, int k, long[] replicaHash) {
        if (k == eligible.length) {
            return eligible;
        }
        long own = mix(hash(stream) ^ mix(seed));
        int[] drawn = new int[k];
        long[] weight = new long[k];
        int count = 0;
        for (int replica : eligible) {
            long number = mix(own ^ replicaHash[replica]);
            if (count == k && !above(number, replica, weight[k - 1], drawn[k - 1])) {
                continue;
            }
            int at = count < k ? count++ : k - 1;
            while (at > 0 && above(number, replica, weight[at - 1], drawn[at - 1])) {
                weight[at] = weight[at - 1];
                drawn[at] = drawn[at - 1];
                at--;
            }
            weight[at] = number;
            drawn[at] = replica;
        }
        return drawn;
    }

    private boolean above(long number, int replica, long other, int otherReplica) {
        return number != other ? number > other : in.nameRank(replica) < in.nameRank(otherReplica);
    }

    /** FNV-1a over the characters. */
    private static long hash(String name) {
        long hash = FNV_OFFSET;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * FNV_PRIME;
        }
        return mix(hash);
    }

    /** The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
    private static long mix(long value) {
        long z = value + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
