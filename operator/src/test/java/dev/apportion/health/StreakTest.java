package dev.apportion.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreakTest {

    private static final HealthCheck CHECK =
            new HealthCheck(new HealthCheck.Question.Tcp(80), Duration.ofSeconds(5), Duration.ofSeconds(1), 3, 2);

    /** A plus passes, a minus fails; below, what is thought after each: ? unchecked, + healthy, - unhealthy. */
    @ParameterizedTest
    @CsvSource({
        "+,            +",
        "-,            -",
        "+--,          +++",
        "+---,         +++-",
        "+--+--,       ++++++",
        "+--+---,      ++++++-",
        "---+,         ----",
        "---++,        ----+",
        "-+-+-+,       ------",
        "-++--++---,   --+++++++-"
    })
    void oneResultBeginsAndAfterItSomeInARowDecide(String results, String thoughts) {
        Streak streak = Streak.NEW;
        assertThat(streak.health()).isInstanceOf(EndpointHealth.Unchecked.class);
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < results.length(); i++) {
            streak = streak.next(
                    results.charAt(i) == '+' ? new CheckResult.Passed() : new CheckResult.Failed("it is down"), CHECK);
            seen.append(
                    switch (streak.health()) {
                        case EndpointHealth.Unchecked unchecked -> '?';
                        case EndpointHealth.Healthy healthy -> '+';
                        case EndpointHealth.Unhealthy(String reason) -> {
                            assertThat(reason).isEqualTo("it is down");
                            yield '-';
                        }
                    });
        }
        assertThat(seen).hasToString(thoughts);
    }
}
