package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Rating;
import dev.apportion.allocation.Sample;
import dev.apportion.records.Answers;
import dev.apportion.simulation.Server.Absence;
import dev.apportion.simulation.Server.Discipline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SweepTest {

    private static final Dispatch.Dns TURNS = new Dispatch.Dns(
            new KSplittable(), Answers.List, 4, 10, OptionalDouble.empty(), 0, Settings.TIGHT, Dispatch.Order.IN_TURN);

    private static List<Row> rows(int threads, Setting... settings) throws InterruptedException {
        List<Point> points = new ArrayList<>();
        for (Setting setting : settings) {
            points.add(new Point(Map.of("n", Integer.toString(points.size())), setting));
        }
        return Sweep.run(points, List.of(1L, 2L, 3L), threads, () -> false, requests -> {});
    }

    private static Setting dns(Dispatch.Dns dns, Resolvers resolvers, Server... servers) {
        return new Setting(
                List.of(servers),
                List.of(
                        new Population("a", 60, Optional.empty(), 0.01),
                        new Population("b", 30, Optional.empty(), 0.01)),
                new Law.Exponential(0.01),
                0,
                Double.POSITIVE_INFINITY,
                resolvers,
                dns,
                400,
                20);
    }

    private static Dispatch.Dns optimal(Answers answers) {
        return new Dispatch.Dns(new KSplittable(), answers, 4, 10, OptionalDouble.empty(), 0, Settings.TIGHT);
    }

    private static Server server(String name, double speed) {
        return new Server(name, "main", speed, 1, Discipline.FIFO);
    }

    private static double value(Setting setting, Metric metric) {
        return Replication.run(setting, 1, () -> false).orElseThrow().values().getOrDefault(metric, Double.NaN);
    }

    /** Whatever the dispatch, which thread runs what is not to be seen. */
    @Test
    void theSameSeedsGiveTheSameNumbersOnAnyThreads() throws InterruptedException {
        Server shared = new Server("c", "main", 1, 2, Discipline.SHARING);
        Dispatch.Dns rating = new Dispatch.Dns(
                new Rating(Rating.Mode.BEST, 100, 3, 200),
                Answers.Single,
                3,
                5,
                OptionalDouble.of(10),
                1,
                Settings.TIGHT);
        Setting measured = dns(rating, new Resolvers(3, List.of()), server("a", 1), server("b", 2), shared);
        Setting[] settings = {
            Settings.kSplittable(KSplittable.Split.EQUAL_RANDOM, 2, 0.8, 20),
            measured,
            Settings.with(measured, new Dispatch.Connections(OptionalInt.of(5), Round.CYCLE)),
            Settings.with(measured, new Dispatch.Turns())
        };

        List<Row> one = rows(1, settings);

        assertThat(rows(4, settings)).isEqualTo(one);
        assertThat(rows(2, settings)).isEqualTo(one);
        assertThat(one.getFirst().values(Metric.DELAY)).doesNotHaveDuplicates();
    }

    @Test
    void whatIsStoppedIsAbsent() throws InterruptedException {
        Setting setting = Settings.kSplittable(KSplittable.Split.OPTIMAL, 2, 0.8, 1e6);

        List<Row> rows =
                Sweep.run(List.of(new Point(Map.of(), setting)), List.of(1L, 2L), 2, () -> true, requests -> {});

        assertThat(rows).hasSize(1);
        assertThat(rows.getFirst().outcomes()).isEmpty();
        assertThat(rows.getFirst().interval(Metric.DELAY).mean()).isNaN();
    }

    /** Requests of a resolver come in cycles of one miss and, on average, rate × TTL hits. */
    @Test
    void resolversKeepAnswersForTheirTimeToLive() {
        Setting setting = dns(optimal(Answers.Single), new Resolvers(10, List.of()), server("a", 1), server("b", 1));

        double often = 6 * 10.0;
        double seldom = 3 * 10.0;
        double expected = (60 * often / (1 + often) + 30 * seldom / (1 + seldom)) / 90;
        assertThat(value(setting, Metric.CACHED)).isBetween(expected - 0.002, expected + 0.002);
    }

    @Test
    void sharesAreThoseOfThePlan() throws InterruptedException {
        Setting setting = dns(optimal(Answers.Single), new Resolvers(50, List.of()), server("a", 1), server("b", 3));

        List<Outcome.Serving> servers = rows(2, setting).getFirst().servers();

        assertThat(servers.get(0).share()).isBetween(0.23, 0.27);
        assertThat(servers.get(0).utilisation()).isBetween(0.2, 0.25);
        assertThat(servers.get(1).utilisation()).isBetween(0.2, 0.25);
    }

    /** What resolvers do to a list whose first address was drawn by weight. */
    @ParameterizedTest
    @EnumSource(Resolvers.Habit.class)
    void someResolversDestroyShares(Resolvers.Habit habit) throws InterruptedException {
        Setting setting = dns(
                optimal(Answers.List),
                new Resolvers(200, List.of(new Resolvers.Share(habit, 1))),
                server("a", 1),
                server("b", 3));

        double share = rows(2, setting).getFirst().servers().getFirst().share();

        switch (habit) {
            case HONEST, KEEPS_LONGER, PINS -> assertThat(share).isBetween(0.19, 0.31);
            case ROTATES, SHUFFLES -> assertThat(share).isBetween(0.4, 0.55);
            case SORTS -> assertThat(share).isEqualTo(1);
        }
    }

    /** An answer of a minute and a half is asked for a ninth as often as one of ten seconds. */
    @Test
    void someResolversHaveAMinimumOfTheirOwn() {
        Resolvers longer = new Resolvers(10, List.of(new Resolvers.Share(Resolvers.Habit.KEEPS_LONGER, 1)), 90);
        Setting honest = dns(optimal(Answers.Single), new Resolvers(10, List.of()), server("a", 1), server("b", 1));
        Setting keeping = dns(optimal(Answers.Single), longer, server("a", 1), server("b", 1));

        double asked = (1 - value(keeping, Metric.CACHED)) / (1 - value(honest, Metric.CACHED));
        assertThat(asked).isBetween(0.9 / 9, 1.35 / 9);
    }

    /** Without caches, turns give each server what its weight says, but for one question of each population. */
    @Test
    void rotationListsKeepSharesWithoutChance() {
        Server[] servers = {server("a", 1), server("b", 2), server("c", 5)};
        Setting rotating = dns(TURNS, new Resolvers(0, List.of()), servers);
        Setting drawing = dns(optimal(Answers.List), new Resolvers(0, List.of()), servers);

        assertThat(off(rotating)).isLessThan(3e-4).isLessThan(off(drawing) / 3);
    }

    /** By how much a server's share is beside its part of all speeds. */
    private static double off(Setting setting) {
        List<Outcome.Serving> servers =
                Replication.run(setting, 1, () -> false).orElseThrow().servers();
        double[] expected = {1 / 8.0, 2 / 8.0, 5 / 8.0};
        double most = 0;
        for (int i = 0; i < expected.length; i++) {
            most = Math.max(most, Math.abs(servers.get(i).share() - expected[i]));
        }
        return most;
    }

    /** What is drawn goes on evenly: never is a server behind its share by more than one question. */
    @Test
    void turnsAreAsEvenAsTheyCanBe() {
        Setting setting = dns(TURNS, new Resolvers(0, List.of()), server("a", 1), server("b", 3));
        Answering answering = new Answering(setting, TURNS);
        answering.plan(List.of(0, 1), List.of(Sample.NONE, Sample.NONE), Occasion.INTENT);
        int population = answering.servers(0).length > 1 ? 0 : 1;
        int places = answering.servers(population).length;
        double sum = 0;
        for (int place = 0; place < places; place++) {
            sum += answering.weight(population, place);
        }
        int[] count = new int[places];
        for (int question = 1; question <= 1000; question++) {
            count[answering.first(population, new SplittableRandom(1))]++;
            for (int place = 0; place < places; place++) {
                assertThat(count[place] - question * answering.weight(population, place) / sum)
                        .isBetween(-1.0, 1.0);
            }
        }
    }

    /** Requests of a log come at its times, whatever the seed. */
    @Test
    void aLogIsPlayedAgain() {
        double[] times = {0, 0.25, 0.5, 3, 3, 9.5};
        ArrivalLog log = new ArrivalLog(List.of("a", "b"), times, new int[] {0, 1, 0, 0, 1, 0});
        Setting setting = new Setting(
                List.of(server("x", 1)),
                List.of(
                        new Population("a", log.rate(0), Optional.empty(), 0),
                        new Population("b", log.rate(1), Optional.empty(), 0.5)),
                new Law.Fixed(1),
                0,
                Double.POSITIVE_INFINITY,
                new Resolvers(0, List.of()),
                new Dispatch.Turns(),
                new Rhythm.Replay(log, 1),
                10,
                0);

        assertThat(log.rate(0)).isEqualTo(0.4);
        assertThat(value(setting, Metric.REQUESTS)).isEqualTo(6);
        // Waits: 0, .75, 1.5, 0, 1, 0; the second and the fifth are of b.
        assertThat(value(setting, Metric.WAIT)).isCloseTo(3.25 / 6, offset(1e-9));
        assertThat(value(setting, Metric.DELAY)).isCloseTo(1 + 3.25 / 6 + 2 * 0.5 / 6, offset(1e-9));
        Setting twice = new Setting(
                setting.servers(),
                setting.populations(),
                setting.size(),
                0,
                setting.bandwidth(),
                setting.resolvers(),
                setting.dispatch(),
                new Rhythm.Replay(log, 2),
                5,
                0);
        // At 0, .125, .25, 1.5, 1.5, 4.75: waits 0, .875, 1.75, 1.5, 2.5, .25.
        assertThat(value(twice, Metric.WAIT)).isCloseTo(6.875 / 6, offset(1e-9));
    }

    @Test
    void aServerThatIsGoneLosesWhatItHasAndWhatIsStillSentToIt() {
        Server mortal = new Server(
                "a",
                "main",
                1,
                1,
                Discipline.FIFO,
                Optional.of(new Absence(100, Double.POSITIVE_INFINITY)),
                Optional.empty());
        Dispatch.Dns slow =
                new Dispatch.Dns(new KSplittable(), Answers.Single, 4, 10, OptionalDouble.empty(), 5, Settings.TIGHT);
        Setting setting = dns(slow, new Resolvers(20, List.of()), mortal, server("b", 1));

        double lost = value(setting, Metric.LOST) * 90 * 380;

        // Half of the traffic for 5 s until it is known, then what was asked in the 10 s before: half of that, on the
        // mean.
        assertThat(lost).isBetween(45 * (5 + 3.0), 45 * (5 + 7.0));
        assertThat(value(setting, Metric.MOVED)).isBetween(0.4, 0.6);
    }

    @Test
    void aPopulationThatPinsIsLostOnlyUntilItIsKnown() {
        Setting setting = dns(
                optimal(Answers.Single),
                new Resolvers(20, List.of(new Resolvers.Share(Resolvers.Habit.PINS, 1))),
                new Server(
                        "a",
                        "main",
                        1,
                        1,
                        Discipline.SHARING,
                        Optional.of(new Absence(100, 200)),
                        Optional.of(new Server.SlowStart(20, 0.2))),
                server("b", 1));

        assertThat(value(setting, Metric.LOST)).isLessThan(0.001);
    }

    @Test
    void theNetworkTakesItsTime() {
        Setting near = dns(optimal(Answers.Single), new Resolvers(5, List.of()), server("a", 1), server("b", 1));
        Setting far = new Setting(
                near.servers(),
                near.populations().stream()
                        .map(each -> new Population(each.name(), each.rate(), Optional.of("elsewhere"), each.delay()))
                        .toList(),
                near.size(),
                0.05,
                2,
                near.resolvers(),
                near.dispatch(),
                near.seconds(),
                near.warmUp());

        assertThat(value(far, Metric.DELAY) - value(near, Metric.DELAY)).isCloseTo(0.05 + 0.01 / 2, offset(0.0005));
        assertThat(value(far, Metric.REMOTE)).isEqualTo(1);
    }
}
