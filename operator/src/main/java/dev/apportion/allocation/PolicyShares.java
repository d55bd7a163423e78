package dev.apportion.allocation;

import java.util.Arrays;

/** Keeps running shares only while they are those of the policy, up to rounding. */
final class PolicyShares implements Mover {

    /** How far rounding to integers takes a share from what it should be: by an eighth of it, or one of 255 parts. */
    private static final double RELATIVE_ROUNDING = 0.125;

    private static final double ABSOLUTE_ROUNDING = 1.0 / 255;

    private final Shares fresh;
    private final int from;
    private final int to;

    /**
     * @param from the first canonical stream to look after
     * @param to the first one that is not to be looked after
     */
    PolicyShares(Shares fresh, int from, int to) {
        this.fresh = fresh;
        this.from = from;
        this.to = to;
    }

    @Override
    public void place(Shares shares) {
        for (int j = from; j < to; j++) {
            if (shares.sum(j) < LeastChange.WHOLE || shares.at(j).length > fresh.at(j).length) {
                shares.take(j, fresh);
            }
        }
    }

    @Override
    public boolean settled(Shares shares, double tolerance) {
        for (int j = from; j < to; j++) {
            if (!isRounded(shares, fresh, j)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean repair(Shares shares, double tolerance) {
        for (int j = from; j < to; j++) {
            if (!isRounded(shares, fresh, j) || !isSame(shares.share(j), reordered(fresh, j, shares.at(j)))) {
                shares.take(j, fresh);
            }
        }
        return true;
    }

    private static double[] reordered(Shares shares, int stream, int[] at) {
        return Arrays.stream(at)
                .mapToDouble(replica -> shares.of(stream, replica))
                .toArray();
    }

    /** Whether shares on the same replicas differ by less than one of 255 parts makes out. */
    static boolean isSame(double[] some, double[] others) {
        for (int p = 0; p < some.length; p++) {
            if (Math.abs(some[p] - others[p]) > ABSOLUTE_ROUNDING / 2) {
                return false;
            }
        }
        return true;
    }

    /** Whether the shares of a stream may be others after rounding. */
    static boolean isRounded(Shares rounded, Shares exact, int stream) {
        int[] at = exact.at(stream);
        if (rounded.at(stream).length != at.length) {
            return false;
        }
        for (int p = 0; p < at.length; p++) {
            if (!isRounded(rounded.of(stream, at[p]), exact.share(stream)[p])) {
                return false;
            }
        }
        return true;
    }

    static boolean isRounded(double rounded, double exact) {
        return rounded > 0 && Math.abs(rounded - exact) <= exact * RELATIVE_ROUNDING + ABSOLUTE_ROUNDING;
    }

    /** The load that the policy gives the worst of the replicas that the same streams may use. */
    static double[] worstOfGroup(Instance in, double[] load) {
        double[] worst = new double[in.eligibility.groupCount()];
        for (int i = 0; i < in.m; i++) {
            if (in.group[i] != Eligibility.NONE) {
                worst[in.group[i]] = Math.max(worst[in.group[i]], load[i]);
            }
        }
        return Arrays.stream(Draft.range(in.m))
                .mapToDouble(i -> in.group[i] == Eligibility.NONE ? 0 : worst[in.group[i]])
                .toArray();
    }
}
