package dev.apportion.allocation;

/**
 * The waiting line of a site: Poisson arrivals, c servers, one queue (M/M/c). Times are in seconds. Source: A. K. Erlang
 * (1917); the approximation for other laws is Allen and Cunneen's.
 *
 * @param servers c, the requests that are served at once; at least one
 * @param rate λ, the arrivals in requests/s; not negative
 * @param serviceTime 1/μ, the mean time that one request is served; greater than zero
 */
public record ErlangC(long servers, double rate, double serviceTime) {

    /** Above this the inverse of a blocking probability counts as infinite. */
    private static final double NEVER = 0x1p1000;

    /** Terms of a sum that are smaller than this part of it do not change it any more. */
    private static final double NEGLIGIBLE = 0x1p-60;

    /** Halvings of an interval of utilisations; what is left is below the precision of a number. */
    private static final int HALVINGS = 60;

    /** λ/μ, the servers that are busy on average, if there are as many. */
    public double offered() {
        return rate * serviceTime;
    }

    /** The part of the servers that is busy on average; one or more means that the queue grows without end. */
    public double utilisation() {
        return offered() / servers;
    }

    /** B, the probability that a request finds every server busy, when there is no queue and such requests are lost. */
    public double blocking() {
        double offered = offered();
        if (!(offered > 0)) {
            return 0;
        }
        // B_k = aB_{k-1} / (k + aB_{k-1}), unrolled from its end: 1/B = Σ_j c!/(c−j)! a^{−j}. Only the terms around c −
        // a
        // matter, so that the cost is O(√c).
        double sum = 1;
        double term = 1;
        for (long k = servers; k > 0; k--) {
            term *= k / offered;
            sum += term;
            if (sum > NEVER) {
                return 0;
            }
            if (k < offered && term < sum * NEGLIGIBLE) {
                break;
            }
        }
        return 1 / sum;
    }

    /** C, the probability that a request has to wait. */
    public double waiting() {
        double utilisation = utilisation();
        if (utilisation >= 1) {
            return 1;
        }
        double blocking = blocking();
        return blocking / (1 - utilisation * (1 - blocking));
    }

    /** W_q, the mean time until service begins; infinite if the queue grows without end. */
    public double meanWait() {
        double utilisation = utilisation();
        if (utilisation >= 1) {
            return Double.POSITIVE_INFINITY;
        }
        return waiting() * serviceTime / (servers * (1 - utilisation));
    }

    /**
     * W_q, approximately, when arrivals and service have other laws.
     *
     * @param arrivalVariation C_a, the coefficient of variation of the times between arrivals; 1 for Poisson arrivals
     * @param serviceVariation C_s, the coefficient of variation of service times; 1 for exponential, 0 for constant ones
     */
    public double meanWait(double arrivalVariation, double serviceVariation) {
        double wait = meanWait();
        double factor = (arrivalVariation * arrivalVariation + serviceVariation * serviceVariation) / 2;
        return Double.isInfinite(wait) ? wait : wait * factor;
    }

    /** P(W > t), the probability that a request waits for longer than a time. */
    public double waitsLongerThan(double time) {
        double spare = servers / serviceTime - rate;
        return spare <= 0 ? 1 : waiting() * Math.exp(-spare * time);
    }

    /** The rate at which requests wait for a given mean time; all that the servers can serve if the time is infinite. */
    static double rateAt(long servers, double serviceTime, double meanWait) {
        double most = servers / serviceTime;
        if (Double.isInfinite(meanWait)) {
            return most;
        }
        double low = 0;
        double high = 1;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (new ErlangC(servers, middle * most, serviceTime).meanWait() <= meanWait) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low * most;
    }
}
