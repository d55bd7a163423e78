package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.simulation.Rhythm.Arrivals;
import dev.apportion.simulation.Server.Discipline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RhythmTest {

    private static final double RATE = 50;
    private static final double SECONDS = 200_000;

    /** How many requests come in each second; the mean and the index of dispersion, which is 1 for a Poisson process. */
    private static final class Counts {
        final double mean;
        final double dispersion;
        final double[] perSecond;

        private Counts(double mean, double dispersion, double[] perSecond) {
            this.mean = mean;
            this.dispersion = dispersion;
            this.perSecond = perSecond;
        }

        static Counts of(Rhythm rhythm) {
            Arrivals arrivals = rhythm.begin(RATE, Chance.of(3).arrivals());
            double[] counts = new double[(int) SECONDS];
            for (double time = arrivals.after(0); time < SECONDS; time = arrivals.after(time)) {
                counts[(int) time]++;
            }
            double sum = 0;
            double squares = 0;
            for (double count : counts) {
                sum += count;
                squares += count * count;
            }
            double mean = sum / SECONDS;
            return new Counts(mean, (squares / SECONDS - mean * mean) / mean, counts);
        }
    }

    @Test
    void steadyArrivalsArePoisson() {
        Counts counts = Counts.of(new Rhythm.Steady());

        assertThat(counts.mean).isCloseTo(RATE, within(0.1));
        assertThat(counts.dispersion).isCloseTo(1, within(0.02));
    }

    @Test
    void daysAndNights() {
        Counts counts = Counts.of(new Rhythm.Diurnal(1000, 0.8));

        assertThat(counts.mean).isCloseTo(RATE, within(0.1));
        double peak = 0;
        double trough = 0;
        for (int second = 0; second < SECONDS; second++) {
            peak += second % 1000 >= 240 && second % 1000 < 260 ? counts.perSecond[second] : 0;
            trough += second % 1000 >= 740 && second % 1000 < 760 ? counts.perSecond[second] : 0;
        }
        assertThat(peak / 20 / 200).isCloseTo(1.8 * RATE, within(1.0));
        assertThat(trough / 20 / 200).isCloseTo(0.2 * RATE, within(0.5));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 2, 4})
    void burstsKeepTheMean(double times) {
        Rhythm.Bursts bursts = new Rhythm.Bursts(times, 5, 15);
        Counts counts = Counts.of(bursts);

        assertThat(counts.mean).isCloseTo(RATE, within(1.0));
        assertThat(bursts.calm()).isCloseTo((4 - times) / 3, within(1e-12));
        if (times == 1) {
            assertThat(counts.dispersion).isCloseTo(1, within(0.02));
        } else {
            assertThat(counts.dispersion).isGreaterThan(2);
        }
    }

    @Test
    void burstsMakeRequestsWait() {
        Setting steady = Settings.queues(1, 1, Discipline.FIFO, new Law.Exponential(0.01), 0.6, 2000);
        Setting bursts = new Setting(
                steady.servers(),
                steady.populations(),
                steady.size(),
                steady.remoteDelay(),
                steady.bandwidth(),
                steady.resolvers(),
                steady.dispatch(),
                new Rhythm.Bursts(2, 1, 3),
                steady.seconds(),
                steady.warmUp());

        assertThat(wait(bursts)).isGreaterThan(5 * wait(steady));
    }

    private static double wait(Setting setting) {
        return Replication.run(setting, 1, () -> false).orElseThrow().values().getOrDefault(Metric.WAIT, Double.NaN);
    }
}
