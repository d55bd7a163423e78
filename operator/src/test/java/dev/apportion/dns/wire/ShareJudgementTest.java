package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShareJudgementTest {

    private static final int ROUNDS = 2000;

    private static WeightedRRset set(int... weights) {
        SortedMap<IPAddress, Integer> all = new TreeMap<>();
        for (int i = 0; i < weights.length; i++) {
            all.put(Corpus.address("192.0.2." + (i + 1)), weights[i]);
        }
        return new WeightedRRset("shop.example.org", "shop", false, all);
    }

    private static WeightedRRset set(String weights) {
        return set(
                List.of(weights.split(":")).stream().mapToInt(Integer::parseInt).toArray());
    }

    /** Draws one address: the first one that a resolver answers. */
    private static IPAddress draw(WeightedRRset set, RandomGenerator random) {
        int ticket = random.nextInt(
                set.weights().values().stream().mapToInt(Integer::intValue).sum());
        for (var row : set.weights().entrySet()) {
            ticket -= row.getValue();
            if (ticket < 0) {
                return row.getKey();
            }
        }
        throw new AssertionError();
    }

    private static IPAddress any(WeightedRRset set, RandomGenerator random) {
        return new ArrayList<>(set.weights().keySet())
                .get(random.nextInt(set.weights().size()));
    }

    /**
     * One round of questions.
     *
     * @param first what a resolver answers to a new name
     * @param again what it answers to the same name again, given the answer before
     */
    private static Draws round(
            WeightedRRset set,
            Answers answers,
            RandomGenerator random,
            BiFunction<WeightedRRset, RandomGenerator, IPAddress> first,
            BiFunction<IPAddress, RandomGenerator, IPAddress> again) {
        SortedMap<IPAddress, Integer> firsts = new TreeMap<>();
        SortedMap<IPAddress, Integer> repeats = new TreeMap<>();
        int agreed = 0;
        int pairs = ShareJudgement.pairs(set, answers);
        for (int i = 0; i < ShareJudgement.MOST_QUESTIONS - pairs; i++) {
            IPAddress one = first.apply(set, random);
            firsts.merge(one, 1, Integer::sum);
            if (i < pairs) {
                IPAddress other = again.apply(one, random);
                repeats.merge(other, 1, Integer::sum);
                agreed += one.equals(other) ? 1 : 0;
            }
        }
        return new Draws(firsts, repeats, agreed);
    }

    private static Draws honest(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::draw, (one, next) -> draw(set, next));
    }

    private static Draws shuffled(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::any, (one, next) -> any(set, next));
    }

    private static Draws cached(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::draw, (one, next) -> one);
    }

    /** None in 2000 rounds with fixed seeds, of which each is looked at after one, two ... five rounds have been added up. */
    @ParameterizedTest
    @ValueSource(strings = {"1:1", "7:3", "9:1", "255:1", "98:1:1", "5:3:2", "1:2:3:4:5:6:7:8", "200:20:20:10:5:1"})
    void weightsThatAreHonouredAreNeverSaidNotToBe(String weights) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(weights.hashCode());
        int undecided = 0;
        for (Answers answers : Corpus.COREDNS) {
            for (int i = 0; i < ROUNDS / 10; i++) {
                Draws sum = Draws.NONE;
                for (int round = 0; round < 5; round++) {
                    sum = sum.plus(honest(set, answers, random));
                    ShareVerdict verdict = ShareJudgement.judge(set, sum);
                    assertThat(verdict).isInstanceOfAny(ShareVerdict.Fit.class, ShareVerdict.Undecided.class);
                    undecided += verdict instanceof ShareVerdict.Undecided ? 1 : 0;
                }
            }
        }
        assertThat(undecided).as("of " + ROUNDS).isLessThan(ROUNDS / 50);
    }

    /** How many of 200 first rounds find it out, and how many of those that add up four; hardly any calls it honoured. */
    @ParameterizedTest
    @CsvSource({
        "Single, 4:1, 195, 200", "Single, 7:3, 140, 195", "Single, 13:7, 30, 190", "Single, 98:1:1, 195, 195",
        "List, 4:1, 195, 200", "List, 7:3, 140, 195", "List, 13:7, 25, 190", "List, 98:1:1, 195, 195",
        "Single, 255:1, 195, 195", "List, 1:2:3:4:5:6:7:8, 180, 195"
    })
    void equalSharesAreFoundOut(Answers answers, String weights, int atOnce, int soon) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(1);
        int found = 0;
        int later = 0;
        for (int i = 0; i < 200; i++) {
            Draws sum = shuffled(set, answers, random);
            found += ShareJudgement.judge(set, sum) instanceof ShareVerdict.Even ? 1 : 0;
            for (int round = 1; round < 4; round++) {
                sum = sum.plus(shuffled(set, answers, random));
            }
            later += ShareJudgement.judge(set, sum) instanceof ShareVerdict.Even ? 1 : 0;
        }
        System.out.println(answers + " " + weights + " equal shares: " + found + " at once, " + later + " later");
        assertThat(found).isGreaterThanOrEqualTo(atOnce);
        assertThat(later).isGreaterThanOrEqualTo(soon);
    }

    @ParameterizedTest
    @CsvSource({"Single, 1:1", "Single, 7:3", "Single, 9:1", "List, 4:1", "List, 5:3:2", "Single, 1:2:3:4:5:6:7:8"})
    void aCacheIsFoundOutByOneRound(Answers answers, String weights) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(2);
        for (int i = 0; i < 200; i++) {
            assertThat(ShareJudgement.judge(set, cached(set, answers, random)))
                    .isInstanceOfSatisfying(
                            ShareVerdict.Pinned.class,
                            pinned -> assertThat(pinned.everyName()).isFalse());
        }
    }

    /** Two caches behind one address: half of the repeated questions meet the one that knows the answer. */
    @Test
    void twoCachesBehindOneAddressAreFoundOut() {
        WeightedRRset set = set(7, 3);
        RandomGenerator random = new SplittableRandom(3);
        int found = 0;
        for (int i = 0; i < 100; i++) {
            Draws sum = Draws.NONE;
            for (int round = 0; round < 5; round++) {
                sum = sum.plus(round(
                        set,
                        Answers.List,
                        random,
                        ShareJudgementTest::draw,
                        (one, next) -> next.nextBoolean() ? one : draw(set, next)));
            }
            found += ShareJudgement.judge(set, sum) instanceof ShareVerdict.Pinned ? 1 : 0;
        }
        assertThat(found).isGreaterThan(95);
    }

    /** It passes on what it has asked for, and reorders what it remembers. */
    @Test
    void aCacheThatReordersIsFoundOut() {
        WeightedRRset set = set(9, 1);
        RandomGenerator random = new SplittableRandom(4);
        for (int i = 0; i < 200; i++) {
            Draws draws = round(set, Answers.List, random, ShareJudgementTest::draw, (one, next) -> any(set, next));
            assertThat(ShareJudgement.judge(set, draws)).isInstanceOf(ShareVerdict.Even.class);
        }
    }

    @Test
    void oneAddressForEveryNameIsPinned() {
        WeightedRRset set = set(7, 3);
        IPAddress only = set.weights().firstKey();
        Draws draws = round(set, Answers.Single, new SplittableRandom(5), (all, random) -> only, (one, random) -> one);

        assertThat(ShareJudgement.judge(set, draws))
                .isInstanceOfSatisfying(
                        ShareVerdict.Pinned.class,
                        pinned -> assertThat(pinned.everyName()).isTrue());
    }

    @Test
    void otherWeightsAreNeitherTheseNorEqual() {
        WeightedRRset set = set(90, 10);
        WeightedRRset other = set(10, 90);
        Draws draws = round(
                set,
                Answers.Single,
                new SplittableRandom(6),
                (all, random) -> draw(other, random),
                (one, random) -> draw(other, random));

        assertThat(ShareJudgement.judge(set, draws)).isInstanceOf(ShareVerdict.Other.class);
    }

    @Test
    void questionsAreBounded() {
        for (String weights : List.of("1:1", "255:1", "1:2:3:4:5:6:7:8")) {
            for (Answers answers : Corpus.COREDNS) {
                int pairs = ShareJudgement.pairs(set(weights), answers);
                assertThat(pairs).isBetween(1, ShareJudgement.MOST_QUESTIONS / 2);
            }
        }
        assertThat(ShareJudgement.pairs(set(7, 3), Answers.Single)).isEqualTo(26);
    }

    @Test
    void onlyWhatHasSeveralAddressesIsWeighed() {
        assertThat(WeightedRRset.of(Corpus.host("shop.example.org", Corpus.stream("shop", new int[] {16}, "10.0.0.1"))))
                .isEmpty();
        assertThat(WeightedRRset.of(Corpus.host(
                        "shop.example.org", Corpus.stream("shop", new int[] {12, 4}, "10.0.0.1", "10.0.0.2"))))
                .singleElement()
                .satisfies(
                        set -> assertThat(set.share(Corpus.address("10.0.0.1"))).isEqualTo(0.75));
        assertThat(Objects.requireNonNull(Corpus.zones().get("single-views")).hosts())
                .allSatisfy(host ->
                        assertThat(WeightedRRset.of(host)).hasSizeGreaterThan(2).doesNotHaveDuplicates());
    }
}
