package dev.apportion.dns.wire;

import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.SortedMap;
import org.apache.commons.statistics.inference.AlternativeHypothesis;
import org.apache.commons.statistics.inference.BinomialTest;

/**
 * Tests whether the addresses that come first through a resolver are drawn by the published weights. Pure.
 *
 * <p>Three tests, none of which rests on large counts, since a verdict must not be wrong more than once in a million times
 * and the chi-squared distribution is off by orders of magnitude in so small a tail where an address is seldom drawn:
 *
 * <ul>
 *   <li>How much likelier are the counts under equal shares than under the weights? Under the weights that ratio exceeds
 *       10⁶ with a probability of 10⁻⁶ at most, however many responses there are and however often one looks (Ville's
 *       inequality for likelihood ratios).
 *   <li>Is the count of one address too large or too small? Binomial, exact, divided by the number of addresses.
 *   <li>Do two questions for one name agree more often than two draws would? Binomial, exact, one-sided. Behind an address
 *       with several caches some pairs of questions meet the same one, and that is enough.
 * </ul>
 */
public final class ShareJudgement {

    /** How often a verdict against a resolver may be wrong. */
    static final double SIGNIFICANCE = 1e-6;

    /** Where counts are that unlikely under equal shares, they are not called even. */
    private static final double NOT_EVEN = 1e-3;

    /** Counts of repeated questions that are that unlikely are looked at again before anything is said. */
    private static final double SUSPICIOUS = 1e-3;

    /** The logarithm of a likelihood ratio in favour of equal shares from which on nothing is said before more is known. */
    private static final double SUSPICIOUS_RATIO = 2;

    /** The most questions that are asked through a resolver about one change of a host. */
    public static final int MOST_QUESTIONS = 200;

    private ShareJudgement() {}

    /**
     * How many names are asked twice; the other questions go to names of their own. With Single the repeated ones have to
     * show only whether there is a cache: as few as make it certain that they would not all agree by chance. With List a
     * cache may answer in another order than what it was filled with, which takes as many as the first ones. Servers that
     * draw by themselves are asked directly, where there is no cache.
     */
    public static int pairs(WeightedRRset set, Answers answers) {
        int half = MOST_QUESTIONS / 2;
        return switch (answers) {
            case List -> half;
            case Drawn -> 0;
            case Single -> Math.min(half, (int) Math.ceil(Math.log(SIGNIFICANCE) / Math.log(set.agreement())));
        };
    }

    /** Judges counts, all of which come from these weights. */
    public static ShareVerdict judge(WeightedRRset set, Draws draws) {
        if (draws.size() == 0) {
            return new ShareVerdict.Undecided(draws);
        }
        double agreement = draws.pairs() == 0 ? 1 : agreement(set, draws);
        boolean pinned = agreement < SIGNIFICANCE;
        if (misfits(set, draws.firsts())) {
            return misfit(set, draws, draws.firsts());
        }
        if (!pinned && misfits(set, draws.repeats())) {
            return misfit(set, draws, draws.repeats());
        }
        // Where questions are not answered from what was answered before, all are draws alike.
        if (!pinned && misfits(set, draws.all())) {
            return misfit(set, draws, draws.all());
        }
        if (pinned) {
            return new ShareVerdict.Pinned(draws, false);
        }
        boolean suspicious = agreement < SUSPICIOUS
                || evenness(set, draws.firsts()) > SUSPICIOUS_RATIO
                || evenness(set, draws.all()) > SUSPICIOUS_RATIO;
        return suspicious ? new ShareVerdict.Undecided(draws) : new ShareVerdict.Fit(draws);
    }

    private static ShareVerdict misfit(WeightedRRset set, Draws draws, SortedMap<IPAddress, Integer> counts) {
        int total = Draws.total(counts);
        if (counts.containsValue(total)) {
            return new ShareVerdict.Pinned(draws, true);
        }
        int addresses = set.weights().size();
        boolean even = set.weights().keySet().stream()
                .allMatch(address ->
                        probability(total, counts.getOrDefault(address, 0), 1.0 / addresses) * addresses > NOT_EVEN);
        return even ? new ShareVerdict.Even(draws) : new ShareVerdict.Other(draws);
    }

    private static boolean misfits(WeightedRRset set, SortedMap<IPAddress, Integer> counts) {
        int total = Draws.total(counts);
        return evenness(set, counts) > -Math.log(SIGNIFICANCE)
                || set.weights().keySet().stream()
                        .anyMatch(address -> probability(total, counts.getOrDefault(address, 0), set.share(address))
                                        * set.weights().size()
                                < SIGNIFICANCE);
    }

    /** The logarithm of the ratio of the likelihoods under equal shares and under the weights. */
    private static double evenness(WeightedRRset set, SortedMap<IPAddress, Integer> counts) {
        double equal = 1.0 / set.weights().size();
        return counts.entrySet().stream()
                .mapToDouble(entry -> entry.getValue() * Math.log(equal / set.share(entry.getKey())))
                .sum();
    }

    private static double probability(int total, int count, double share) {
        return BinomialTest.withDefaults().test(total, count, share).getPValue();
    }

    private static double agreement(WeightedRRset set, Draws draws) {
        return BinomialTest.withDefaults()
                .with(AlternativeHypothesis.GREATER_THAN)
                .test(draws.pairs(), draws.agreed(), set.agreement())
                .getPValue();
    }
}
