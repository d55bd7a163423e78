package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.load.Rate.Standing;
import java.time.Duration;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateTest {

    private static final Duration STALE = Duration.ofSeconds(60);

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }

    @Test
    void aRateHoldsUntilItIsStale() {
        Rate rate = Rate.NEW.next(OptionalDouble.of(12), seconds(100));
        assertThat(rate.at(seconds(101), STALE)).isEqualTo(new Standing.Known(12));

        Rate failed = rate.failed("no connection");
        assertThat(failed.at(seconds(160), STALE)).isEqualTo(new Standing.Held(12, "no connection"));
        assertThat(failed.at(seconds(161), STALE))
                .isEqualTo(new Standing.Missing("the last rate is older than 60 s: no connection"));
        assertThat(failed.next(OptionalDouble.of(13), seconds(170)).at(seconds(171), STALE))
                .isEqualTo(new Standing.Known(13));
    }

    @ParameterizedTest
    @CsvSource({
        "NaN, 'the query gives NaN, which is no rate'",
        "-1, 'the query gives -1.0, which is no rate'",
        "Infinity, 'the query gives Infinity, which is no rate'",
        "1e13, 'the query gives 1.0E13, which is no rate'",
        ", the query gives nothing"
    })
    void whatIsNoRateIsMissingWithItsReason(Double answer, String reason) {
        Rate rate = Rate.NEW.next(answer == null ? OptionalDouble.empty() : OptionalDouble.of(answer), 0);

        assertThat(rate.at(0, STALE)).isEqualTo(new Standing.Missing(reason));
    }
}
