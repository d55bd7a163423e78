package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.dns.Corpus;
import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The probabilities of errors, computed, not drawn. */
class CachesTest {

    private static final int TIMES = ShareJudgement.times(Answers.Single);
    private static final int NAMES = ShareJudgement.MOST_QUESTIONS / TIMES;

    /** The width of a cell in which logarithms of ratios are counted; whatever is in it counts as its lower end. */
    private static final double CELL = 1e-3;

    /** The responses to one name, in any order, and how likely they are where every response is drawn. */
    private record Outcome(Draws draws, double probability) {}

    private static WeightedRRset set(String weights) {
        SortedMap<IPAddress, Integer> all = new TreeMap<>();
        for (String weight : weights.split(":", -1)) {
            all.put(Corpus.address("192.0.2." + (all.size() + 1)), Integer.parseInt(weight));
        }
        return new WeightedRRset("shop.example.org", "shop", false, all);
    }

    private static List<Outcome> outcomes(WeightedRRset set) {
        List<Outcome> outcomes = new ArrayList<>();
        outcomes(set, new ArrayList<>(set.weights().keySet()), List.of(), 1, outcomes);
        return outcomes;
    }

    /** Goes on with each number of the first of the addresses that are left; a multinomial probability. */
    private static void outcomes(
            WeightedRRset set, List<IPAddress> left, List<IPAddress> name, double probability, List<Outcome> outcomes) {
        if (left.isEmpty()) {
            if (name.size() == TIMES) {
                outcomes.add(new Outcome(new Draws(List.of(name)), probability));
            }
            return;
        }
        double factor = probability;
        for (int count = 0; name.size() + count <= TIMES; count++) {
            if (count > 0) {
                factor *= set.share(left.getFirst()) * (TIMES - name.size() - count + 1) / count;
            }
            List<IPAddress> next = new ArrayList<>(name);
            next.addAll(Collections.nCopies(count, left.getFirst()));
            outcomes(set, left.subList(1, left.size()), next, factor, outcomes);
        }
    }

    /**
     * How the sum over names of a logarithm is distributed, in cells of {@link #CELL}, the lowest of which has all that is below.
     *
     * @param each the logarithm of one name
     * @param probability of the responses to one name
     * @return the probability that the sum is greater than the bound
     */
    private static double above(
            double bound,
            int names,
            List<Outcome> outcomes,
            ToDoubleFunction<Outcome> each,
            ToDoubleFunction<Outcome> probability) {
        int cells = 200_000;
        int zero = cells / 2;
        double[] sum = new double[cells];
        sum[zero] = 1;
        for (int i = 0; i < names; i++) {
            double[] next = new double[cells];
            for (Outcome outcome : outcomes) {
                double logarithm = each.applyAsDouble(outcome);
                int shift = logarithm < -cells * CELL ? -cells : (int) Math.floor(logarithm / CELL);
                double factor = probability.applyAsDouble(outcome);
                for (int cell = 0; cell < cells; cell++) {
                    if (sum[cell] > 0) {
                        next[Math.clamp((long) cell + shift, 0, cells - 1)] += sum[cell] * factor;
                    }
                }
            }
            sum = next;
        }
        double above = 0;
        for (int cell = Math.clamp((long) Math.ceil(bound / CELL) + zero + 1, 0, cells); cell < cells; cell++) {
            above += sum[cell];
        }
        return above;
    }

    /** So that by Ville's inequality hardly any resolver without a cache is said to have one, however often one looks. */
    @ParameterizedTest
    @ValueSource(strings = {"1:1", "3:1", "9:1", "255:1", "5:3:2", "98:1:1", "4:3:2:1"})
    void theMeanOfTheRatioIsOneWhereThereIsNoCache(String weights) {
        WeightedRRset set = set(weights);
        List<Outcome> outcomes = outcomes(set);
        assertThat(outcomes.stream().mapToDouble(Outcome::probability).sum()).isCloseTo(1, within(1e-9));
        for (Caches caches : Caches.sought()) {
            double mean = outcomes.stream()
                    .mapToDouble(
                            outcome -> outcome.probability() * Math.exp(caches.likelihoodRatio(set, outcome.draws())))
                    .sum();
            assertThat(mean).as(caches.toString()).isCloseTo(1, within(1e-9));
        }
        double mean = outcomes.stream()
                .mapToDouble(outcome -> outcome.probability() * Math.exp(Caches.evidence(set, outcome.draws())))
                .sum();
        assertThat(mean).isCloseTo(1, within(1e-9));
    }

    /**
     * How likely it is that caches are found, after one round and after five; a lower bound, since the evidence of all numbers of
     * caches is at least that of the true one, divided by how many numbers there are. And how likely they are called honoured.
     */
    @ParameterizedTest
    @CsvSource({
        "1, 1:1, 0.999999, 0.999999999",
        "1, 3:1, 0.99999, 0.999999999",
        "2, 1:1, 0.99, 0.999999999",
        "2, 7:3, 0.99, 0.999999999",
        "2, 3:1, 0.99, 0.999999999",
        "2, 9:1, 0.9, 0.999999",
        "3, 3:1, 0.7, 0.99999",
        "4, 3:1, 0.3, 0.99"
    })
    void severalCachesAreFound(int count, String weights, double atOnce, double soon) {
        WeightedRRset set = set(weights);
        Caches caches = new Caches(count);
        List<Outcome> outcomes = outcomes(set);
        double bound = -Math.log(ShareJudgement.SIGNIFICANCE)
                + Math.log(Caches.sought().size());
        ToDoubleFunction<Outcome> ratio = outcome -> caches.likelihoodRatio(set, outcome.draws());
        ToDoubleFunction<Outcome> probability =
                outcome -> outcome.probability() * Math.exp(caches.likelihoodRatio(set, outcome.draws()));
        double once = above(bound, NAMES, outcomes, ratio, probability);
        double five = above(bound, ShareJudgement.MOST_ROUNDS * NAMES, outcomes, ratio, probability);
        double missed = 1 - above(Math.log(ShareJudgement.MISSED), NAMES, outcomes, ratio, probability);
        System.out.printf(
                "%d caches, %s: found with a probability of %.6f at once and %.9f in five rounds; called honoured at"
                        + " once with %.1e%n",
                count, weights, once, five, missed);
        assertThat(once).isGreaterThan(atOnce);
        assertThat(five).isGreaterThan(soon);
        assertThat(missed).isLessThan(ShareJudgement.MISSED);
    }

    /** Both computed by hand: two of two caches keep the same address, or one each. */
    @Test
    void theRatioIsThatOfTheProbabilities() {
        WeightedRRset set = set("3:1");
        IPAddress often = set.weights().firstKey();
        IPAddress seldom = set.weights().lastKey();
        double same = (0.75 * 0.75 + 2 * 0.75 * 0.25 / 8) / Math.pow(0.75, 3);
        double mixed = 2 * 0.75 * 0.25 / 8 / (0.75 * 0.75 * 0.25);
        Draws draws = new Draws(List.of(List.of(often, often, often), List.of(often, seldom, often)));

        assertThat(new Caches(2).likelihoodRatio(set, draws)).isCloseTo(Math.log(same * mixed), within(1e-12));
        assertThat(new Caches(1).likelihoodRatio(set, draws)).isEqualTo(Double.NEGATIVE_INFINITY);
    }
}
