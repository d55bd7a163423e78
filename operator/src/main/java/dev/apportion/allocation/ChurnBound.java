package dev.apportion.allocation;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * A lower bound of the traffic that has to leave where it is, so that no replica bears more than it may.
 *
 * <p>What a replica bears above that has to leave it. And a stream whose k replicas together may not bear its rate has to
 * give some of them up for others, where it needs room that others use: see {@link Widening}. Streams that outgrew their replicas
 * and the others are counted apart, so that the sum is a bound too: n streams that come to a replica drive at least those away
 * that each of them would alone.
 */
final class ChurnBound {

    /** Looks for the cheapest way out of a stream after which no more streams are tried apart. */
    private static final int MOST_LOOKS = 1500;

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
        double[] others = running.loads(in, in.rate, 0, in.rated);
        for (int i = 0; i < in.m; i++) {
            others[i] *= in.capacity[i];
        }
        double best = above(others);
        Set<Integer> apart = new TreeSet<>();
        for (int j = 0; j < in.rated; j++) {
            if (Widening.outgrew(in, j, running.at(j), most)) {
                apart.add(j);
                count(j, -1, others);
            }
        }
        double value = value(apart, others);
        best = Math.max(best, value);
        int looks = 0;
        for (int j = 0; j < in.rated && looks < MOST_LOOKS; j++) {
            if (!apart.contains(j) && isPressed(j, others)) {
                count(j, -1, others);
                apart.add(j);
                looks += apart.size();
                double with = value(apart, others);
                if (with > value) {
                    value = with;
                } else {
                    count(j, 1, others);
                    apart.remove(j);
                }
            }
        }
        return Math.max(best, value);
    }

    private void count(int stream, int sign, double[] amount) {
        int[] at = running.at(stream);
        for (int p = 0; p < at.length; p++) {
            amount[at[p]] += sign * in.rate[stream] * running.share(stream)[p];
        }
    }

    /** Whether a stream is on a replica that bears too much. */
    private boolean isPressed(int stream, double[] others) {
        int[] at = running.at(stream);
        return at.length <= Math.min(in.limit[stream], Widening.MOST_CHOICES)
                && Arrays.stream(at).anyMatch(i -> others[i] > most[i]);
    }

    /** What moves at least, with some streams counted apart. */
    private double value(Set<Integer> apart, double[] others) {
        double value = above(others);
        for (int j : apart) {
            double least = new Widening(in, j, most, i -> most[i] - others[i], running.at(j), amounts(j)).least();
            // where no replicas bear the stream, nothing is known of it
            value += least < Double.POSITIVE_INFINITY ? least : 0;
        }
        return value;
    }

    private double[] amounts(int stream) {
        return Arrays.stream(running.share(stream))
                .map(share -> share * in.rate[stream])
                .toArray();
    }

    private double above(double[] amount) {
        double above = 0;
        for (int i = 0; i < in.m; i++) {
            above += Math.max(0, amount[i] - most[i]);
        }
        return above;
    }
}
