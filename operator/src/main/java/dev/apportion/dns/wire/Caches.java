package dev.apportion.dns.wire;

import inet.ipaddr.IPAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The assumption that so many caches stand behind a resolver's address, each of which keeps what it was answered first for a
 * name: every question meets one of them by chance, as a Service of Kubernetes spreads them. Where there is none, every
 * response is a draw by the weights.
 *
 * <p>How much likelier the responses are under this assumption than without a cache has the mean 1 where there is none, so that
 * it exceeds 10⁶ with a probability of 10⁻⁶ at most, however many names are asked for and however often one looks (Ville 1939);
 * and where there are so many caches it falls below 10⁻³ with a probability of 10⁻³ at most. That is Wald's sequential test
 * (Annals of Mathematical Statistics 16, 1945).
 *
 * @param count how many, one or more
 */
record Caches(int count) {

    /** Those that are looked for. With more of them behind one address what each keeps concerns few, and evens out. */
    private static final List<Caches> SOUGHT =
            List.of(new Caches(1), new Caches(2), new Caches(3), new Caches(4), new Caches(6), new Caches(8));

    /** Up to so many have to be ruled out before weights are called honoured. */
    private static final int MOST_RULED_OUT = 4;

    /**
     * The logarithm of how much likelier the responses are if there are caches, whose number is any of those that are sought,
     * than if there is none.
     */
    static double evidence(WeightedRRset set, Draws draws) {
        double[] each = SOUGHT.stream()
                .mapToDouble(caches -> caches.likelihoodRatio(set, draws))
                .toArray();
        double most = Double.NEGATIVE_INFINITY;
        for (double ratio : each) {
            most = Math.max(most, ratio);
        }
        if (most == Double.NEGATIVE_INFINITY) {
            return most;
        }
        double sum = 0;
        for (double ratio : each) {
            sum += Math.exp(ratio - most);
        }
        return most + Math.log(sum / each.length);
    }

    /**
     * Whether none of the numbers of caches that have to be ruled out is likelier, compared with no cache at all, than this.
     *
     * @param bound the logarithm of a likelihood ratio
     */
    static boolean areUnlikelier(WeightedRRset set, Draws draws, double bound) {
        return SOUGHT.stream()
                .filter(caches -> caches.count <= MOST_RULED_OUT)
                .allMatch(caches -> caches.likelihoodRatio(set, draws) <= bound);
    }

    /**
     * The logarithm of how much likelier the responses are with these caches than with none; minus infinity if one name has more
     * answers than there are caches.
     */
    double likelihoodRatio(WeightedRRset set, Draws draws) {
        Map<Map<IPAddress, Integer>, Double> known = new HashMap<>();
        double sum = 0;
        for (List<IPAddress> name : draws.names()) {
            SortedMap<IPAddress, Integer> counts = new TreeMap<>();
            name.forEach(address -> counts.merge(address, 1, Integer::sum));
            sum += known.computeIfAbsent(counts, found -> ofName(set, counts));
        }
        return sum;
    }

    /** The same of the responses to one name, in any order. */
    private double ofName(WeightedRRset set, SortedMap<IPAddress, Integer> counts) {
        double[] shares = counts.keySet().stream().mapToDouble(set::share).toArray();
        int[] times = counts.values().stream().mapToInt(Integer::intValue).toArray();
        double drawn = 0;
        double rest = 1;
        for (int i = 0; i < times.length; i++) {
            drawn += times[i] * Math.log(shares[i]);
            rest -= shares[i];
        }
        // Whatever caches keep that gave no answer is any other address.
        double cached = sumOverKept(shares, times, Math.max(0, rest), 0, count, 1);
        return Math.log(cached) - drawn;
    }

    /**
     * The probability of the responses: the sum over how many caches keep each address. A multinomial probability that so many do,
     * and for each response the part of the caches that keep its address.
     *
     * @param at the address that is looked at; those before have their caches
     * @param left the caches that are left
     * @param product the factors of those before
     */
    private double sumOverKept(double[] shares, int[] times, double rest, int at, int left, double product) {
        if (at == shares.length) {
            return product * Math.pow(rest, left);
        }
        double sum = 0;
        double ways = 1;
        for (int keep = 1; keep <= left; keep++) {
            ways = ways * (left - keep + 1) / keep;
            double factor = ways * Math.pow(shares[at], keep) * Math.pow((double) keep / count, times[at]);
            sum += sumOverKept(shares, times, rest, at + 1, left - keep, product * factor);
        }
        return sum;
    }

    /** Those that are looked for. */
    static Collection<Caches> sought() {
        return SOUGHT;
    }
}
