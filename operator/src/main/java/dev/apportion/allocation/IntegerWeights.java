package dev.apportion.allocation;

/** Turns shares into the integer weights that DNS back ends take. */
public final class IntegerWeights {

    private IntegerWeights() {}

    /**
     * The integer weights whose proportions are closest to the shares, by the largest relative error
     * max(q/p, p/q) − 1.
     *
     * @param shares the intended shares; finite, not negative, at least one greater than zero; they need not add up to one
     * @param resolution the integers that are allowed
     * @return a weight for each share; zero where the share is zero, or too small to be expressed
     */
    public static int[] of(double[] shares, Resolution resolution) {
        return new int[shares.length];
    }
}
