package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
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
     * @param again what it answers to the same name again, given all answers before
     */
    private static Draws round(
            WeightedRRset set,
            Answers answers,
            RandomGenerator random,
            BiFunction<WeightedRRset, RandomGenerator, IPAddress> first,
            BiFunction<List<IPAddress>, RandomGenerator, IPAddress> again) {
        List<List<IPAddress>> names = new ArrayList<>();
        int times = ShareJudgement.times(answers);
        for (int i = 0; i < ShareJudgement.MOST_QUESTIONS / times; i++) {
            List<IPAddress> name = new ArrayList<>(List.of(first.apply(set, random)));
            while (name.size() < times) {
                name.add(again.apply(name, random));
            }
            names.add(name);
        }
        return new Draws(names);
    }

    private static Draws honest(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::draw, (before, next) -> draw(set, next));
    }

    private static Draws shuffled(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::any, (before, next) -> any(set, next));
    }

    private static Draws cached(WeightedRRset set, Answers answers, RandomGenerator random) {
        return round(set, answers, random, ShareJudgementTest::draw, (before, next) -> before.getFirst());
    }

    /** Through caches that keep what they answer to a name, each question by chance to one of them. */
    private static Draws cached(WeightedRRset set, Answers answers, int caches, RandomGenerator random) {
        List<List<IPAddress>> names = new ArrayList<>();
        int times = ShareJudgement.times(answers);
        for (int i = 0; i < ShareJudgement.MOST_QUESTIONS / times; i++) {
            Map<Integer, IPAddress> kept = new HashMap<>();
            names.add(IntStream.range(0, times)
                    .mapToObj(time -> kept.computeIfAbsent(random.nextInt(caches), cache -> draw(set, random)))
                    .toList());
        }
        return new Draws(names);
    }

    /** None in 2000 rounds with fixed seeds, of which each is looked at after one, two ... five rounds have been added up. */
    @ParameterizedTest
    @ValueSource(strings = {"1:1", "7:3", "9:1", "255:1", "98:1:1", "5:3:2", "1:2:3:4:5:6:7:8", "200:20:20:10:5:1"})
    void weightsThatAreHonouredAreNeverSaidNotToBe(String weights) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(weights.hashCode());
        for (Answers answers : Corpus.COREDNS) {
            for (int i = 0; i < ROUNDS / 10; i++) {
                Draws sum = Draws.NONE;
                for (int round = 0; round < 5; round++) {
                    sum = sum.plus(honest(set, answers, random));
                    ShareVerdict verdict = ShareJudgement.judge(set, sum);
                    assertThat(verdict).isInstanceOfAny(ShareVerdict.Fit.class, ShareVerdict.Undecided.class);
                }
            }
        }
    }

    /** How many of 500 are called honoured, at least, after one round, and after five at most. */
    @ParameterizedTest
    @CsvSource({
        "1:1, 220, 498",
        "7:3, 320, 498",
        "9:1, 400, 498",
        "5:3:2, 480, 500",
        "98:1:1, 200, 490",
        "255:1, 10, 440",
        "1:2:3:4:5:6:7:8, 480, 498",
        "200:20:20:10:5:1, 400, 498"
    })
    void whatIsHonouredIsSaidSoon(String weights, int atOnce, int soon) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(7);
        int found = 0;
        int later = 0;
        for (int i = 0; i < 500; i++) {
            Draws sum = Draws.NONE;
            boolean known = false;
            for (int round = 1; round <= ShareJudgement.MOST_ROUNDS && !known; round++) {
                sum = sum.plus(honest(set, Answers.Single, random));
                known = ShareJudgement.judge(set, sum) instanceof ShareVerdict.Fit;
                found += known && round == 1 ? 1 : 0;
            }
            later += known ? 1 : 0;
        }
        System.out.println(weights + " honoured: " + found + " at once, " + later + " in five rounds");
        assertThat(found).isGreaterThanOrEqualTo(atOnce);
        assertThat(later).isGreaterThanOrEqualTo(soon);
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

    /**
     * Several caches behind one address, as two replicas of a cluster's DNS are, by round: how many of 500 are found, at least,
     * after one round, and after five. None is called honoured before.
     */
    @ParameterizedTest
    @CsvSource({
        "2, 1:1, 495, 500", "2, 7:3, 495, 500", "2, 3:1, 495, 500", "2, 9:1, 480, 500", "2, 5:3:2, 500, 500",
        "2, 1:2:3:4:5:6:7:8, 500, 500", "3, 1:1, 370, 500", "3, 3:1, 390, 500", "4, 3:1, 190, 499", "4, 5:3:2, 460, 500"
    })
    void cachesBehindOneAddressAreFoundOut(int caches, String weights, int atOnce, int soon) {
        WeightedRRset set = set(weights);
        RandomGenerator random = new SplittableRandom(3);
        int found = 0;
        int later = 0;
        for (int i = 0; i < 500; i++) {
            Draws sum = Draws.NONE;
            boolean known = false;
            for (int round = 1; round <= ShareJudgement.MOST_ROUNDS && !known; round++) {
                sum = sum.plus(cached(set, Answers.Single, caches, random));
                ShareVerdict verdict = ShareJudgement.judge(set, sum);
                assertThat(verdict).isInstanceOfAny(ShareVerdict.Pinned.class, ShareVerdict.Undecided.class);
                known = verdict instanceof ShareVerdict.Pinned;
                found += known && round == 1 ? 1 : 0;
            }
            later += known ? 1 : 0;
        }
        System.out.println(caches + " caches, " + weights + ": " + found + " at once, " + later + " in five rounds");
        assertThat(found).isGreaterThanOrEqualTo(atOnce);
        assertThat(later).isGreaterThanOrEqualTo(soon);
    }

    /** It passes on what it has asked for, and reorders what it remembers. */
    @Test
    void aCacheThatReordersIsFoundOut() {
        WeightedRRset set = set(9, 1);
        RandomGenerator random = new SplittableRandom(4);
        for (int i = 0; i < 200; i++) {
            Draws draws = round(set, Answers.List, random, ShareJudgementTest::draw, (before, next) -> any(set, next));
            assertThat(ShareJudgement.judge(set, draws)).isInstanceOf(ShareVerdict.Even.class);
        }
    }

    @Test
    void oneAddressForEveryNameIsPinned() {
        WeightedRRset set = set(7, 3);
        IPAddress only = set.weights().firstKey();
        Draws draws =
                round(set, Answers.Single, new SplittableRandom(5), (all, random) -> only, (before, random) -> only);

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
                (before, random) -> draw(other, random));

        assertThat(ShareJudgement.judge(set, draws)).isInstanceOf(ShareVerdict.Other.class);
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
