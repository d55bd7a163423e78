package dev.apportion.allocation;

import java.util.Arrays;

/**
 * The least of several numbers, of which one at a time changes: a binary tree of matches, so that a change takes as many steps
 * as the tree is high. Of equal numbers the first one is the least.
 */
final class Tournament {

    private final double[] key;

    /** The winner below each inner node; a node's children are at twice its index and at the one after that. */
    private final int[] winner;

    private final int leaves;

    /** @param keys the numbers, of which infinity never wins */
    Tournament(double[] keys) {
        key = keys.clone();
        leaves = key.length == 1 ? 1 : Integer.highestOneBit(key.length - 1) << 1;
        winner = new int[2 * leaves];
        Arrays.fill(winner, -1);
        for (int i = 0; i < key.length; i++) {
            winner[leaves + i] = key[i] < Double.POSITIVE_INFINITY ? i : -1;
        }
        for (int node = leaves - 1; node > 0; node--) {
            winner[node] = better(winner[2 * node], winner[2 * node + 1]);
        }
    }

    /** The index of the least number; −1 if all are infinite. */
    int least() {
        return winner[1];
    }

    void set(int index, double number) {
        key[index] = number;
        int node = leaves + index;
        winner[node] = number < Double.POSITIVE_INFINITY ? index : -1;
        for (node /= 2; node > 0; node /= 2) {
            winner[node] = better(winner[2 * node], winner[2 * node + 1]);
        }
    }

    private int better(int left, int right) {
        if (left < 0 || right < 0) {
            return Math.max(left, right);
        }
        return key[right] < key[left] ? right : left;
    }
}
