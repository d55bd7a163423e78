package dev.apportion.allocation;

import java.util.stream.IntStream;

/**
 * The weights of answers of which one is drawn: whole numbers of slots, of as few slots as express the shares well. The slots
 * are those of one to four hexadecimal digits of a query's id.
 */
public final class SlotWeights {

    private static final int[] SLOTS = {256, 4096, 65536};

    /** Finer slots are taken when some share would be wrong by more than this part of itself: one slot in eight. */
    private static final double TOLERANCE = 0.125;

    private SlotWeights() {}

    /**
     * The slots of each share.
     *
     * @param shares not negative; their sum is greater than zero
     * @return weights that add up to 256, 4096 or 65536; zero for a share of zero
     */
    public static int[] of(double[] shares) {
        for (int slots : SLOTS) {
            int[] weights = IntegerWeights.of(shares, new Resolution.FixedSum(slots));
            if (slots == SLOTS[SLOTS.length - 1] || largestError(shares, weights, slots) <= TOLERANCE) {
                return weights;
            }
        }
        throw new AssertionError("the last resolution is always taken");
    }

    /** Says whether weights fill the slots of some resolution, or there are none. */
    public static boolean fill(int[] weights) {
        int sum = IntStream.of(weights).sum();
        return weights.length == 0 || IntStream.of(SLOTS).anyMatch(slots -> slots == sum);
    }

    private static double largestError(double[] shares, int[] weights, int slots) {
        double sum = 0;
        for (double share : shares) {
            sum += share;
        }
        double largest = 0;
        for (int i = 0; i < shares.length; i++) {
            if (shares[i] > 0) {
                double intended = shares[i] / sum * slots;
                double error = weights[i] == 0
                        ? Double.POSITIVE_INFINITY
                        : Math.max(weights[i] / intended, intended / weights[i]) - 1;
                largest = Math.max(largest, error);
            }
        }
        return largest;
    }
}
