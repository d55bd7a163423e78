package dev.apportion.allocation;

/**
 * A lower bound of the traffic that has to leave where it is, so that no replica bears more than it may.
 *
 * <p>What a replica bears above that has to leave it. And a stream whose k replicas together may not bear its rate has to
 * give some of them up, even where each of them has room for what it bears now: of all that it may keep, what it would keep
 * most of beside the roomiest other replicas bounds what it moves. The traffic of such streams and that of the others are
 * counted apart, so that the sum is a bound too.
 */
final class ChurnBound {

    /** Streams on more replicas than this are not looked at for what they may keep. */
    private static final int MOST_CHOICES = 10;

    private static final double ROUNDING = 1e-9;

    private final Instance in;
    private final Shares running;
    private final double[] most;

    private ChurnBound(Instance in, Shares running, double[] most) {
        this.in = in;
        this.running = running;
        this.most = most;
    }

    /** @param most what each canonical replica may bear, in the unit of the rates */
    static double of(Instance in, Shares running, double[] most) {
        return new ChurnBound(in, running, most).value();
    }

    private double value() {
        double confined = 0;
        double[] others = new double[in.m];
        double[] all = new double[in.m];
        for (int j = 0; j < in.rated; j++) {
            int[] at = running.at(j);
            double leaves = leaves(j);
            confined += leaves;
            for (int p = 0; p < at.length; p++) {
                double amount = in.rate[j] * running.share(j)[p];
                all[at[p]] += amount;
                others[at[p]] += leaves > 0 ? 0 : amount;
            }
        }
        return Math.max(above(all), confined + above(others));
    }

    private double above(double[] amount) {
        double above = 0;
        for (int i = 0; i < in.m; i++) {
            above += Math.max(0, amount[i] - most[i]);
        }
        return above;
    }

    /** What a stream moves at least because its replicas may not bear it; zero if they may. */
    private double leaves(int stream) {
        int[] at = running.at(stream);
        double[] room = new double[at.length];
        double together = 0;
        for (int p = 0; p < at.length; p++) {
            room[p] = most[at[p]];
            together += room[p];
        }
        double need = in.rate[stream] * (1 - ROUNDING);
        int limit = in.limit[stream];
        if (at.length == 0 || at.length > Math.min(limit, MOST_CHOICES) || together >= need) {
            return 0;
        }
        double[] roomiest = roomiest(stream, limit);
        double present = 0;
        double stays = 0;
        boolean possible = false;
        for (int kept = 0; kept < 1 << at.length; kept++) {
            double bears = roomiest[limit - Integer.bitCount(kept)];
            double keeps = 0;
            for (int p = 0; p < at.length; p++) {
                if ((kept & 1 << p) != 0) {
                    bears += room[p];
                    keeps += Math.min(room[p], in.rate[stream] * running.share(stream)[p]);
                }
            }
            if (bears >= need) {
                possible = true;
                stays = Math.max(stays, keeps);
            }
        }
        for (int p = 0; p < at.length; p++) {
            present += in.rate[stream] * running.share(stream)[p];
        }
        return possible ? Math.max(0, present - stays) : 0;
    }

    /** What the roomiest replicas that a stream may use and does not may bear together, by their number. */
    private double[] roomiest(int stream, int count) {
        double[] largest = new double[count + 1];
        for (int replica : in.eligibleReplicas(in.streamClass[stream])) {
            if (running.of(stream, replica) == 0) {
                double room = most[replica];
                for (int r = 1; r <= count; r++) {
                    double larger = Math.max(largest[r], room);
                    room = Math.min(largest[r], room);
                    largest[r] = larger;
                }
            }
        }
        for (int r = 1; r <= count; r++) {
            largest[r] += largest[r - 1];
        }
        return largest;
    }
}
