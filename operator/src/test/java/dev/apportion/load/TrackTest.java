package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.load.Track.Load;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrackTest {

    private static final Series COUNTER = new Series(Map.of(Quantity.REQUESTS, "requests_total"));
    private static final Series GAUGE = new Series(Map.of(Quantity.IN_FLIGHT, "in_flight"));
    private static final Duration STALE = Duration.ofSeconds(60);

    private static long nanos(double seconds) {
        return Math.round(seconds * TimeUnit.SECONDS.toNanos(1));
    }

    private static Readout values(Quantity quantity, double value, double atSeconds) {
        return new Readout.Values(Map.of(quantity, value), nanos(atSeconds), Math.round(atSeconds * 1000));
    }

    private static Load at(Track track, double seconds) {
        return track.at(nanos(seconds), STALE);
    }

    private static double requests(Load load) {
        return switch (load) {
            case Load.Measured(Reading reading) -> reading.sample().requests().orElse(-1);
            case Load.Held(Reading reading, String reason, boolean partly) ->
                reading.sample().requests().orElse(-1);
            case Load.Missing(String reason) -> -1;
        };
    }

    @Test
    void aCounterBecomesARateAtItsSecondSample() {
        Track first = Track.NEW.next(values(Quantity.REQUESTS, 1000, 0), COUNTER);
        Track second = first.next(values(Quantity.REQUESTS, 1500, 10), COUNTER);

        assertThat(at(first, 1)).isEqualTo(new Load.Missing("the rate of requests_total comes with its next sample"));
        assertThat(requests(at(second, 11))).isEqualTo(50);
    }

    @Test
    void aCounterThatFellBeganAnewAtZero() {
        Track track = Track.NEW
                .next(values(Quantity.REQUESTS, 1000, 0), COUNTER)
                .next(values(Quantity.REQUESTS, 30, 10), COUNTER);

        assertThat(requests(at(track, 10))).isEqualTo(3);
    }

    @Test
    void aRateIsOverTheTimeBetweenItsSamplesWhateverFailedMeanwhile() {
        Track track = Track.NEW
                .next(values(Quantity.REQUESTS, 0, 0), COUNTER)
                .next(new Readout.Failed(Gap.Unreachable, "no connection"), COUNTER)
                .next(values(Quantity.REQUESTS, 300, 30), COUNTER);

        assertThat(at(track, 30)).isInstanceOf(Load.Measured.class);
        assertThat(requests(at(track, 30))).isEqualTo(10);
    }

    @Test
    void theSameSampleAgainIsNoNewOne() {
        Track track = Track.NEW
                .next(values(Quantity.REQUESTS, 0, 0), COUNTER)
                .next(values(Quantity.REQUESTS, 100, 10), COUNTER);
        Track again = track.next(new Readout.Values(Map.of(Quantity.REQUESTS, 100.0), nanos(10.2), 10_000), COUNTER);

        assertThat(again).isEqualTo(track);
        assertThat(requests(at(again, 20))).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({
        "NaN,       NotFinite, inFlight is NaN",
        "Infinity,  NotFinite, inFlight is Infinity",
        "-Infinity, NotFinite, inFlight is -Infinity",
        "-0.513,    Negative,  inFlight is negative: -0.513",
        "1e13,      Absurd,    inFlight is absurd: 1.0E13"
    })
    void whatCannotBeIsMissingWithItsReason(double value, Gap gap, String reason) {
        assertThat(at(Track.NEW.next(values(Quantity.IN_FLIGHT, value, 0), GAUGE), 0))
                .isEqualTo(new Load.Missing(reason));

        Track held = Track.NEW
                .next(values(Quantity.IN_FLIGHT, 3, 0), GAUGE)
                .next(values(Quantity.IN_FLIGHT, value, 10), GAUGE);
        assertThat(held.gaps()).containsExactly(gap);
        assertThat(at(held, 10)).isInstanceOfSatisfying(Load.Held.class, load -> {
            assertThat(load.reason()).isEqualTo(reason);
            assertThat(load.reading().sample().inFlight()).hasValue(3);
        });
    }

    @Test
    void theLastGoodReadingHoldsUntilItIsStale() {
        Track track = Track.NEW
                .next(values(Quantity.IN_FLIGHT, 3, 0), GAUGE)
                .next(new Readout.Failed(Gap.Unreachable, "no connection"), GAUGE);

        assertThat(at(track, 59)).isInstanceOf(Load.Held.class);
        assertThat(at(track, 61)).isEqualTo(new Load.Missing("the last measurement is older than 60 s: no connection"));
    }

    @Test
    void aSourceThatKeepsTellingTheSameOldSampleGoesStaleToo() {
        Track track = Track.NEW.next(values(Quantity.IN_FLIGHT, 3, 0), GAUGE);
        for (int round = 1; round < 10; round++) {
            track = track.next(values(Quantity.IN_FLIGHT, 3, 0), GAUGE);
        }

        assertThat(at(track, 59)).isInstanceOf(Load.Measured.class);
        assertThat(at(track, 61)).isInstanceOf(Load.Missing.class);
    }

    /** A process, or a Prometheus server, whose clock is set while its counter goes on at 10 requests/s. */
    @ParameterizedTest
    @ValueSource(longs = {-5, -3600, 3600})
    void whereTheClockOfTheSourceIsSetRatesGoOn(long jump) {
        Track track = Track.NEW;
        for (int second = 0; second <= 600; second += 10) {
            long stamp = second * 1000L + (second >= 300 ? jump * 1000 : 0);
            track = track.next(
                    new Readout.Values(Map.of(Quantity.REQUESTS, second * 10.0), nanos(second), stamp), COUNTER);
            Load load = at(track, second);
            if (second > 0) {
                // The last rate may hold for a while; there is never a wrong one.
                assertThat(requests(load)).as("at %d", second).isBetween(6.6, 20.0);
            }
            if (second > 330) {
                assertThat(load).as("at %d", second).isInstanceOf(Load.Measured.class);
                assertThat(requests(load)).isEqualTo(10);
            }
        }
    }

    /** Two servers of which one lags behind, asked by turns. */
    @Test
    void whoAlternatesIsNoClockThatWasSet() {
        Track track = Track.NEW;
        for (int second = 0; second <= 100; second += 10) {
            int told = second % 20 == 0 ? second : second - 15;
            track = track.next(
                    new Readout.Values(Map.of(Quantity.REQUESTS, told * 10.0), nanos(told), told * 1000L), COUNTER);
        }

        assertThat(requests(at(track, 100))).isEqualTo(10);
    }

    @Test
    void aSampleThatIsOlderThanTheLastChangesNothing() {
        Track track = Track.NEW.next(values(Quantity.IN_FLIGHT, 3, 10), GAUGE);

        assertThat(track.next(values(Quantity.IN_FLIGHT, 9, 5), GAUGE).gaps()).containsExactly(Gap.Outdated);
        assertThat(at(track.next(values(Quantity.IN_FLIGHT, 9, 5), GAUGE), 11))
                .isInstanceOfSatisfying(
                        Load.Held.class,
                        load -> assertThat(load.reading().sample().inFlight()).hasValue(3));
    }

    @Test
    void aSeriesThatIsNotThereIsNamed() {
        Series both = new Series(Map.of(Quantity.IN_FLIGHT, "in_flight", Quantity.USERS, "sessions"));

        assertThat(at(Track.NEW.next(values(Quantity.IN_FLIGHT, 3, 0), both), 0))
                .isInstanceOfSatisfying(
                        Load.Held.class, load -> assertThat(load.reason()).isEqualTo("no sample of sessions"));
    }

    @Property
    void ratesAreNeverNegativeNorLargerThanWhatWasCounted(
            @ForAll @DoubleRange(max = 1e9) double before,
            @ForAll @DoubleRange(max = 1e9) double after,
            @ForAll @IntRange(min = 1, max = 3600) int seconds) {
        Track track = Track.NEW
                .next(values(Quantity.REQUESTS, before, 0), COUNTER)
                .next(values(Quantity.REQUESTS, after, seconds), COUNTER);

        assertThat(requests(at(track, seconds))).isBetween(0.0, after / seconds);
        if (after >= before) {
            assertThat(requests(at(track, seconds)) * seconds).isCloseTo(after - before, within(1e-3));
        }
    }
}
