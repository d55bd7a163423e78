package dev.apportion.allocation;

import java.util.Arrays;
import java.util.function.IntBinaryOperator;

/**
 * Sorts indices by a key, descending, in the time of sorting primitive numbers: the leading bits of the key and the index
 * are packed into one long, and only runs that agree in those bits (to about ten digits) are compared in full.
 */
final class DescendingOrder {

    private DescendingOrder() {}

    /**
     * The indices of the keys, by descending key.
     *
     * @param keys finite and not negative
     * @param ties compares indices with equal keys
     */
    static int[] of(double[] keys, IntBinaryOperator ties) {
        int n = keys.length;
        int indexBits = Math.max(1, Integer.SIZE - Integer.numberOfLeadingZeros(n));
        long indexMask = (1L << indexBits) - 1;
        long[] packed = new long[n];
        for (int i = 0; i < n; i++) {
            // not negative, so the sign bit is free, and the bits of a double are in the order of its values
            long descending = ~(Double.doubleToRawLongBits(keys[i] + 0.0) << 1);
            packed[i] = ((descending & ~indexMask) | i) ^ Long.MIN_VALUE;
        }
        Arrays.sort(packed);
        int[] order = new int[n];
        for (int i = 0; i < n; i++) {
            order[i] = (int) (packed[i] & indexMask);
        }
        for (int from = 0; from < n; ) {
            long lead = packed[from] & ~indexMask;
            int to = from + 1;
            while (to < n && (packed[to] & ~indexMask) == lead) {
                to++;
            }
            if (to - from > 1) {
                sortRun(order, from, to, keys, ties);
            }
            from = to;
        }
        return order;
    }

    private static void sortRun(int[] order, int from, int to, double[] keys, IntBinaryOperator ties) {
        boolean sorted = true;
        for (int i = from + 1; i < to && sorted; i++) {
            sorted = compare(order[i - 1], order[i], keys, ties) <= 0;
        }
        if (sorted) {
            return;
        }
        Integer[] run = new Integer[to - from];
        for (int i = from; i < to; i++) {
            run[i - from] = order[i];
        }
        Arrays.sort(run, (a, b) -> compare(a, b, keys, ties));
        for (int i = from; i < to; i++) {
            order[i] = run[i - from];
        }
    }

    private static int compare(int a, int b, double[] keys, IntBinaryOperator ties) {
        int byKey = Double.compare(keys[b], keys[a]);
        return byKey != 0 ? byKey : ties.applyAsInt(a, b);
    }
}
