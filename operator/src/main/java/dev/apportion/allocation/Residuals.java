package dev.apportion.allocation;

import java.util.Arrays;

/**
 * The capacities that are left on the replicas, in ascending order, with search for a window of consecutive ones.
 *
 * <p>A sequence of sorted blocks of at most 128 entries. The sum of k consecutive entries grows with the position of the
 * first, so that the least sufficient window is found by halving, over blocks and then inside one: O(k log m). Taking and
 * putting back move at most one block: O(128), and O(1) at the low end, where small streams are packed.
 */
final class Residuals {

    private static final int BLOCK = 128;

    private double[][] values;
    private int[][] ids;
    private int[] starts;
    private int[] ends;
    private int blocks;
    private int size;

    /** The position of the cursor. */
    private int atBlock;

    private int at;

    /**
     * @param order replicas by ascending residual
     * @param residual by replica, greater than zero
     */
    Residuals(int[] order, double[] residual) {
        int half = BLOCK / 2;
        size = order.length;
        blocks = (size + half - 1) / half;
        int room = Math.max(1, blocks + blocks / 2);
        values = new double[room][];
        ids = new int[room][];
        starts = new int[room];
        ends = new int[room];
        for (int b = 0; b < blocks; b++) {
            values[b] = new double[BLOCK];
            ids[b] = new int[BLOCK];
            int from = b * half;
            int count = Math.min(half, size - from);
            // centred, so that there is room on either side
            starts[b] = half / 2;
            ends[b] = starts[b] + count;
            for (int i = 0; i < count; i++) {
                ids[b][starts[b] + i] = order[from + i];
                values[b][starts[b] + i] = residual[order[from + i]];
            }
        }
    }

    int size() {
        return size;
    }

    /** Puts the cursor on the least residual. */
    void seekFirst() {
        atBlock = 0;
        at = size > 0 ? starts[0] : 0;
    }

    /** Puts the cursor where as many residuals follow: the largest ones. */
    void seekLast(int count) {
        int missing = count;
        atBlock = blocks - 1;
        while (missing > ends[atBlock] - starts[atBlock]) {
            missing -= ends[atBlock] - starts[atBlock];
            atBlock--;
        }
        at = ends[atBlock] - missing;
    }

    boolean atFirst() {
        return atBlock == 0 && (size == 0 || at == starts[0]);
    }

    /**
     * Puts the cursor on the first residual of the least window of consecutive ones whose sum suffices.
     *
     * @param width the width of the window, at least 1; never more than all
     * @param need what the sum must reach
     * @return false if not even the largest residuals suffice
     */
    boolean seekWindow(int width, double need) {
        int k = Math.min(width, size);
        seekFirst();
        if (k == 0) {
            return false;
        }
        if (sufficient(0, starts[0], k, need)) {
            return true;
        }
        int low = 0;
        int high = blocks;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (sufficient(middle, starts[middle], k, need)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        int insufficient = starts[low];
        int end = ends[low];
        while (end - insufficient > 1) {
            int middle = (insufficient + end) >>> 1;
            if (sufficient(low, middle, k, need)) {
                end = middle;
            } else {
                insufficient = middle;
            }
        }
        atBlock = low;
        at = end;
        normalise();
        return whole(k);
    }

    /** Puts the cursor on the least residual that is not less than a value. */
    boolean seekValue(double value) {
        seekFirst();
        if (size == 0) {
            return false;
        }
        if (values[0][starts[0]] >= value) {
            return true;
        }
        atBlock = lastBlockBelow(value, false);
        at = position(atBlock, value, false);
        normalise();
        return atBlock < blocks;
    }

    /** The sum of the residuals from the cursor on, without the first one. */
    double sumAfterCursor(int count) {
        double sum = 0;
        int b = atBlock;
        int i = at + 1;
        for (int taken = 0; taken < count; i++) {
            if (i >= ends[b]) {
                if (++b == blocks) {
                    break;
                }
                i = starts[b] - 1;
                continue;
            }
            sum += values[b][i];
            taken++;
        }
        return sum;
    }

    /** Moves the cursor to the next residual. */
    void next() {
        at++;
        normalise();
    }

    double value() {
        return values[atBlock][at];
    }

    int id() {
        return ids[atBlock][at];
    }

    /** Takes the residual under the cursor out; the cursor is then on the next one. */
    void remove() {
        double[] v = values[atBlock];
        int[] r = ids[atBlock];
        size--;
        if (at == starts[atBlock]) {
            at = ++starts[atBlock];
        } else {
            System.arraycopy(v, at + 1, v, at, ends[atBlock] - at - 1);
            System.arraycopy(r, at + 1, r, at, ends[atBlock] - at - 1);
            ends[atBlock]--;
        }
        if (starts[atBlock] == ends[atBlock]) {
            blocks--;
            System.arraycopy(values, atBlock + 1, values, atBlock, blocks - atBlock);
            System.arraycopy(ids, atBlock + 1, ids, atBlock, blocks - atBlock);
            System.arraycopy(starts, atBlock + 1, starts, atBlock, blocks - atBlock);
            System.arraycopy(ends, atBlock + 1, ends, atBlock, blocks - atBlock);
            at = atBlock < blocks ? starts[atBlock] : 0;
        } else {
            normalise();
        }
    }

    /** Reduces the least residual, under the cursor, where it is. */
    void reduceFirst(double value) {
        values[atBlock][at] = value;
    }

    /** Puts a residual in; the cursor is lost. */
    void insert(int id, double value) {
        if (blocks == 0) {
            values[0] = new double[BLOCK];
            ids[0] = new int[BLOCK];
            starts[0] = BLOCK / 2;
            ends[0] = BLOCK / 2;
            blocks = 1;
        }
        int b = lastBlockBelow(value, true);
        if (ends[b] - starts[b] == BLOCK) {
            split(b);
            if (values[b + 1][starts[b + 1]] <= value) {
                b++;
            }
        }
        int to = position(b, value, true);
        double[] v = values[b];
        int[] r = ids[b];
        boolean leftwards = starts[b] > 0 && (ends[b] == BLOCK || to - starts[b] < ends[b] - to);
        if (leftwards) {
            System.arraycopy(v, starts[b], v, starts[b] - 1, to - starts[b]);
            System.arraycopy(r, starts[b], r, starts[b] - 1, to - starts[b]);
            starts[b]--;
            to--;
        } else {
            System.arraycopy(v, to, v, to + 1, ends[b] - to);
            System.arraycopy(r, to, r, to + 1, ends[b] - to);
            ends[b]++;
        }
        v[to] = value;
        r[to] = id;
        size++;
    }

    private void normalise() {
        if (atBlock < blocks && at >= ends[atBlock]) {
            atBlock++;
            at = atBlock < blocks ? starts[atBlock] : 0;
        }
    }

    /** Whether k residuals from the cursor on exist. */
    private boolean whole(int k) {
        int missing = k;
        int from = at;
        for (int b = atBlock; b < blocks; b++) {
            missing -= ends[b] - from;
            if (missing <= 0) {
                return true;
            }
            from = b + 1 < blocks ? starts[b + 1] : 0;
        }
        return false;
    }

    /** Whether the window that starts here suffices, or is cut off by the end. */
    private boolean sufficient(int block, int from, int k, double need) {
        double sum = values[block][from];
        int b = block;
        int i = from + 1;
        for (int taken = 1; taken < k && sum < need; taken++) {
            if (i == ends[b]) {
                if (++b == blocks) {
                    return true;
                }
                i = starts[b];
            }
            sum += values[b][i++];
        }
        return sum >= need;
    }

    /** The last block that starts below a value (or at it), or the first block. */
    private int lastBlockBelow(double value, boolean orAtIt) {
        int low = 0;
        int high = blocks;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            double first = values[middle][starts[middle]];
            if (first < value || (orAtIt && first == value)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The first position in a block that is not below a value (or above it). */
    private int position(int block, double value, boolean above) {
        int low = starts[block] - 1;
        int high = ends[block];
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            double v = values[block][middle];
            if (v < value || (above && v == value)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return high;
    }

    private void split(int b) {
        if (blocks == values.length) {
            int room = blocks + blocks / 2 + 1;
            values = Arrays.copyOf(values, room);
            ids = Arrays.copyOf(ids, room);
            starts = Arrays.copyOf(starts, room);
            ends = Arrays.copyOf(ends, room);
        }
        System.arraycopy(values, b + 1, values, b + 2, blocks - b - 1);
        System.arraycopy(ids, b + 1, ids, b + 2, blocks - b - 1);
        System.arraycopy(starts, b + 1, starts, b + 2, blocks - b - 1);
        System.arraycopy(ends, b + 1, ends, b + 2, blocks - b - 1);
        blocks++;
        int half = BLOCK / 2;
        values[b + 1] = new double[BLOCK];
        ids[b + 1] = new int[BLOCK];
        starts[b + 1] = half / 2;
        ends[b + 1] = half / 2 + half;
        System.arraycopy(values[b], half, values[b + 1], half / 2, half);
        System.arraycopy(ids[b], half, ids[b + 1], half / 2, half);
        starts[b] = 0;
        ends[b] = half;
    }
}
