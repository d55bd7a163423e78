package dev.apportion.simulation;

import java.util.Arrays;
import org.HdrHistogram.Histogram;

/** Counts what becomes of requests; those that came before the measurement began do not count. */
final class Tally {

    /** Delays are told apart by a thousandth of them, from a microsecond to eleven days. */
    private static final double PER_SECOND = 1e6;

    private static final long MOST = 1_000_000_000_000L;
    private static final int DIGITS = 3;

    private final double from;
    private final Histogram delays = new Histogram(1, MOST, DIGITS);
    final long[] served;
    final double[] delaySum;
    final double[] workSum;
    long requests;
    long lost;
    long remote;
    double sum;
    double max;
    double waitSum;
    private boolean waitKnown = true;

    /** When servers come that were not there, and until when they count as having just come; empty if none does. */
    private double[] came = new double[0];

    private double newFor;
    long newServed;
    double newDelaySum;

    /**
     * @param from when the measurement begins, in seconds
     */
    Tally(int servers, double from) {
        this.from = from;
        served = new long[servers];
        delaySum = new double[servers];
        workSum = new double[servers];
    }

    /** Also counts the requests that come to a server in its first seconds. */
    void newcomers(double[] times, double seconds) {
        came = times;
        newFor = seconds;
    }

    /** Whether a server has just come. */
    boolean isNew(int server, double time) {
        return came.length > 0 && time >= came[server] && time < came[server] + newFor;
    }

    boolean counts(double arrived) {
        return arrived >= from;
    }

    /**
     * A request was served.
     *
     * @param delay from the client's request until it has the whole answer, in seconds
     * @param wait until service began, in seconds; NaN where it begins at once, but slowly
     * @param work the seconds that it would have taken alone
     */
    void served(int server, double arrived, double delay, double wait, double work) {
        if (arrived < from) {
            return;
        }
        requests++;
        served[server]++;
        delaySum[server] += delay;
        workSum[server] += work;
        if (isNew(server, arrived)) {
            newServed++;
            newDelaySum += delay;
        }
        sum += delay;
        if (delay > max) {
            max = delay;
        }
        if (wait >= 0) {
            waitSum += wait;
        } else {
            waitKnown = false;
        }
        delays.recordValue(Math.clamp((long) (delay * PER_SECOND), 1, MOST));
    }

    void lost(double arrived) {
        if (arrived >= from) {
            lost++;
        }
    }

    double mean() {
        return sum / requests;
    }

    double meanWait() {
        return waitKnown ? waitSum / requests : Double.NaN;
    }

    /** The delay that a part of the requests does not exceed. */
    double quantile(double part) {
        return requests == 0 ? Double.NaN : delays.getValueAtPercentile(part * 100) / PER_SECOND;
    }

    /** The part of the requests that each server had. */
    double[] shares() {
        double all = Math.max(1, Arrays.stream(served).sum());
        return Arrays.stream(served).mapToDouble(count -> count / all).toArray();
    }
}
