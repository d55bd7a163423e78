package dev.apportion.dns.wire;

import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.SortedMap;
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
 *   <li>How much likelier are the responses to names that are asked for several times if caches answer than if every
 *       response is drawn ({@link Caches})?
 * </ul>
 *
 * <p>The last one is looked at from both sides: weights are honoured only where caches, too, have become improbable.
 */
public final class ShareJudgement {

    /** How often a verdict against a resolver may be wrong. */
    static final double SIGNIFICANCE = 1e-6;

    /** How often caches may be called weights that are honoured. */
    static final double MISSED = 1e-3;

    /** Where counts are that unlikely under equal shares, they are not called even. */
    private static final double NOT_EVEN = 1e-3;

    /** Where that many names are that unlikely to have one first answer, all of them are said to be given one. */
    private static final double NOT_BY_CHANCE = 1e-2;

    /** The logarithm of a likelihood ratio in favour of equal shares from which on nothing is said before more is known. */
    private static final double SUSPICIOUS_RATIO = 2;

    /** The most questions that are asked through a resolver in one round. */
    public static final int MOST_QUESTIONS = 200;

    /** After so many rounds, whatever can be told has been told. */
    public static final int MOST_ROUNDS = 5;

    /** So many answers are from four rounds or five, some of which may be lost. */
    private static final int MANY = (MOST_ROUNDS - 1) * MOST_QUESTIONS;

    /**
     * How often each name is asked for. A name that is asked for often tells most of caches, above all where there are several: all
     * answers to it are those of few. And where there is none, all answers are draws, whatever they were asked for.
     */
    private static final int TIMES = 10;

    private ShareJudgement() {}

    /**
     * How often each name is asked for in a row; there are {@link #MOST_QUESTIONS} in all. Servers that draw by themselves are asked
     * directly, where there is no cache.
     */
    public static int times(Answers answers) {
        return switch (answers) {
            case List, Single -> TIMES;
            case Drawn -> 1;
        };
    }

    /** Judges counts, all of which come from these weights. */
    public static ShareVerdict judge(WeightedRRset set, Draws draws) {
        if (draws.size() == 0) {
            return new ShareVerdict.Undecided(draws);
        }
        SortedMap<IPAddress, Integer> firsts = draws.firsts();
        SortedMap<IPAddress, Integer> repeats = draws.repeats();
        SortedMap<IPAddress, Integer> all = draws.all();
        double caches = Caches.evidence(set, draws);
        // Caches explain answers that are drawn by other shares, too, more or less, and other shares those of caches.
        // What explains them better by far is what they are.
        double shares = bestShares(set, firsts) + bestShares(set, repeats);
        boolean independent = draws.repeated() == 0 || shares - caches > -Math.log(MISSED);
        if (misfits(set, firsts)) {
            return misfit(set, draws, independent ? all : firsts);
        }
        if (independent && misfits(set, repeats)) {
            return misfit(set, draws, repeats);
        }
        if ((independent || all.size() == 1) && misfits(set, all)) {
            return misfit(set, draws, all);
        }
        if (caches > shares && caches > -Math.log(SIGNIFICANCE)) {
            return new ShareVerdict.Pinned(draws, isOneForEveryName(set, draws));
        }
        boolean suspicious = evenness(set, firsts) > SUSPICIOUS_RATIO
                || evenness(set, all) > SUSPICIOUS_RATIO
                || !areCachesRuledOut(set, draws);
        return suspicious ? new ShareVerdict.Undecided(draws) : new ShareVerdict.Fit(draws);
    }

    /**
     * Where one address has nearly all of the weight, nearly all answers are alike with caches and without: then it has to be enough
     * that, after many, nothing speaks for caches.
     */
    private static boolean areCachesRuledOut(WeightedRRset set, Draws draws) {
        return draws.repeated() == 0 || Caches.areUnlikelier(set, draws, draws.size() > MANY ? 0 : Math.log(MISSED));
    }

    /** Whether all answers are one address, although the first ones to so many names should not be. */
    private static boolean isOneForEveryName(WeightedRRset set, Draws draws) {
        SortedMap<IPAddress, Integer> all = draws.all();
        return all.size() == 1
                && Math.pow(set.share(all.firstKey()), draws.names().size()) < NOT_BY_CHANCE;
    }

    private static ShareVerdict misfit(WeightedRRset set, Draws draws, SortedMap<IPAddress, Integer> counts) {
        int total = Draws.total(counts);
        if (counts.containsValue(total)) {
            return new ShareVerdict.Pinned(draws, isOneForEveryName(set, draws));
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

    /** The logarithm of the ratio of the likelihoods under the shares that fit the counts best and under the weights. */
    private static double bestShares(WeightedRRset set, SortedMap<IPAddress, Integer> counts) {
        double total = Draws.total(counts);
        return counts.entrySet().stream()
                .mapToDouble(entry -> entry.getValue() * Math.log(entry.getValue() / total / set.share(entry.getKey())))
                .sum();
    }
}
