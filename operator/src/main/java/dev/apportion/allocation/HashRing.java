package dev.apportion.allocation;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A circle on which replicas have points in proportion to their capacity; a key belongs to the replicas whose points follow
 * its own. When a replica comes or goes, only keys at its points move. Source: Karger et al., Consistent Hashing and Random
 * Trees (STOC 1997).
 */
final class HashRing {

    /**
     * The points of a replica of average capacity. The arcs of a replica vary by about 1/√points, 4 %, so that loads that are
     * bounded a few percent above the average seldom turn a key away.
     */
    static final int POINTS = 512;

    /** The bits of a point that name its replica; the others are its place. */
    private static final int REPLICA_BITS = 20;

    private static final long REPLICA = (1L << REPLICA_BITS) - 1;

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final long[] points;

    private HashRing(long[] points) {
        this.points = points;
    }

    /**
     * A circle for some replicas.
     *
     * @param names the names of the replicas
     * @param capacity their capacities; a replica whose capacity is far below the average has no point
     */
    static HashRing of(String[] names, double[] capacity) {
        double sum = 0;
        for (double one : capacity) {
            sum += one;
        }
        int[] counts = new int[names.length];
        int total = 0;
        for (int i = 0; i < names.length; i++) {
            counts[i] = (int) Math.rint(POINTS * names.length * (capacity[i] / sum));
            total += counts[i];
        }
        long[] points = new long[total];
        int next = 0;
        for (int i = 0; i < names.length; i++) {
            long start = hash(names[i]);
            for (int v = 0; v < counts[i]; v++) {
                points[next++] = (mix(start + v * GOLDEN) & ~REPLICA) | i;
            }
        }
        Arrays.sort(points);
        return new HashRing(points);
    }

    /** How many points there are. */
    int size() {
        return points.length;
    }

    /** The first point at or after the key's own. */
    int start(String key) {
        int found = Arrays.binarySearch(points, mix(hash(key)) & ~REPLICA);
        int at = found < 0 ? -found - 1 : found;
        return at == points.length ? 0 : at;
    }

    /** The replica, as an index of the list that the circle was made of, that owns a point. */
    int replica(int point) {
        return (int) (points[point] & REPLICA);
    }

    /** FNV-1a over the name's octets. */
    private static long hash(String text) {
        long hash = 0xCBF29CE484222325L;
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (octet & 0xFF)) * 0x100000001B3L;
        }
        return hash;
    }

    /** The finalizer of SplitMix64: every bit of the input changes half the bits of the output. */
    private static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
