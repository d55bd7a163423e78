package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.allocation.ErlangC;
import dev.apportion.simulation.Server.Discipline;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues of which theory knows everything. */
class TheoryTest {

    private static final double SERVICE = 0.01;
    private static final int SEEDS = 30;

    /** Long enough that an interval is narrow. */
    private static final double NARROW = 0.02;

    private static Interval measured(Setting setting, Metric metric, int seeds) throws InterruptedException {
        List<Row> rows = Sweep.run(
                List.of(new Point(Map.of(), setting)),
                LongStream.rangeClosed(1, seeds).boxed().toList(),
                2,
                () -> false,
                requests -> {});
        return rows.getFirst().interval(metric);
    }

    private static void agrees(Interval measured, double theory) {
        assertThat(measured.half()).isLessThan(NARROW * theory);
        assertThat(theory).isBetween(measured.low(), measured.high());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.3, 0.5, 0.8})
    void oneServerWithoutMemory(double utilisation) throws InterruptedException {
        Setting setting = Settings.queues(10, 1, Discipline.FIFO, new Law.Exponential(SERVICE), utilisation, 300);

        agrees(measured(setting, Metric.WAIT, SEEDS), utilisation / (1 - utilisation) * SERVICE);
    }

    @ParameterizedTest
    @CsvSource({"2, 0.5", "4, 0.8", "10, 0.8"})
    void severalServersWithOneQueue(int slots, double utilisation) throws InterruptedException {
        Setting setting = Settings.queues(4, slots, Discipline.FIFO, new Law.Exponential(SERVICE), utilisation, 400);

        double theory = new ErlangC(slots, utilisation * slots / SERVICE, SERVICE).meanWait();
        agrees(measured(setting, Metric.WAIT, SEEDS), theory);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 0.8})
    void constantService(double utilisation) throws InterruptedException {
        Setting setting = Settings.queues(10, 1, Discipline.FIFO, new Law.Fixed(SERVICE), utilisation, 300);

        agrees(measured(setting, Metric.WAIT, SEEDS), utilisation / (1 - utilisation) * SERVICE / 2);
    }

    /** The mean delay depends on the mean size alone. */
    @ParameterizedTest
    @ValueSource(doubles = {0.5, 0.7})
    void sharingOfAnySizes(double utilisation) throws InterruptedException {
        for (Law size :
                List.of(new Law.Exponential(SERVICE), new Law.Fixed(SERVICE), new Law.BoundedPareto(1.5, 0.004, 1))) {
            Setting setting = Settings.queues(10, 1, Discipline.SHARING, size, utilisation, 300);

            agrees(measured(setting, Metric.DELAY, SEEDS), size.mean() / (1 - utilisation));
        }
    }

    /** Pollaczek and Khinchine: the wait grows with the second moment. */
    @Test
    void fewLargeRequestsMakeAllWait() throws InterruptedException {
        Law size = new Law.BoundedPareto(2.5, 0.006, 0.5);
        Setting setting = Settings.queues(10, 1, Discipline.FIFO, size, 0.6, 300);

        double theory = setting.rate() / 10 * size.secondMoment() / 2 / (1 - 0.6);
        agrees(measured(setting, Metric.WAIT, SEEDS), theory);
    }

    @ParameterizedTest
    @CsvSource({"1.5, 0.004, 1", "1, 0.001, 2", "2, 0.01, 3", "0.7, 0.01, 1"})
    void sizesHaveTheMomentsThatTheirLawSays(double shape, double least, double most) {
        Law law = new Law.BoundedPareto(shape, least, most);
        Chance chance = Chance.of(1);
        double sum = 0;
        double squares = 0;
        int count = 4_000_000;
        for (int i = 0; i < count; i++) {
            double value = law.draw(chance.sizes());
            assertThat(value).isBetween(least * (1 - 1e-12), most * (1 + 1e-9));
            sum += value;
            squares += value * value;
        }
        double mean = law.mean();
        double error = 5 * Math.sqrt(law.secondMoment() / count);
        assertThat(sum / count).isBetween(mean - error, mean + error);
        assertThat(squares / count / law.secondMoment()).isBetween(0.95, 1.05);
    }

    /** Of intervals of 95 %, about so many have the true value in them. */
    @Test
    void intervalsAreAsWideAsTheySay() throws InterruptedException {
        Setting setting = Settings.queues(5, 1, Discipline.FIFO, new Law.Exponential(SERVICE), 0.5, 100);
        int groups = 100;
        int each = 5;
        List<Row> rows = Sweep.run(
                List.of(new Point(Map.of(), setting)),
                LongStream.rangeClosed(1, (long) groups * each).boxed().toList(),
                2,
                () -> false,
                requests -> {});
        double[] values = rows.getFirst().values(Metric.WAIT);
        int covered = 0;
        for (int g = 0; g < groups; g++) {
            double[] some = Arrays.copyOfRange(values, g * each, (g + 1) * each);
            covered += Interval.of(some).contains(SERVICE) ? 1 : 0;
        }
        assertThat(covered).isBetween(88, 100);
    }
}
