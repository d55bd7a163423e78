package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaseStepTest {

    private static LeaseStep step(String holder, long transitions, long unchangedSeconds, long floor) {
        return LeaseStep.of(
                "me",
                new LeaseStep.Sight(holder, transitions, Duration.ofSeconds(15), Duration.ofSeconds(unchangedSeconds)),
                floor);
    }

    @ParameterizedTest
    @CsvSource({
        "'', 4, 0, 0, 5",
        "'', 0, 0, 0, 1",
        "other, 4, 16, 0, 5",
        "other, 4, 16, 9, 10",
        "'', 1, 0, 9, 10",
    })
    void aLeaseThatNobodyRenewsIsTakenUnderAHigherEpoch(
            String holder, long transitions, long unchanged, long floor, long epoch) {
        assertThat(step(holder, transitions, unchanged, floor)).isEqualTo(new LeaseStep.Take(epoch));
    }

    @Test
    void aLeaseThatChangesIsLeftToItsHolder() {
        assertThat(step("other", 4, 15, 0)).isEqualTo(new LeaseStep.Wait("other"));
        assertThat(step("other", 4, 0, 9)).isEqualTo(new LeaseStep.Wait("other"));
    }

    @Test
    void theOwnLeaseIsRenewed() {
        assertThat(step("me", 4, 100, 0)).isEqualTo(new LeaseStep.Renew(4));
        assertThat(step("me", 4, 0, 4)).isEqualTo(new LeaseStep.Renew(4));
    }

    /** A lease that was made anew numbers its leaders from one, while higher numbers are published. */
    @Test
    void anEpochBelowWhatIsPublishedIsRaised() {
        assertThat(step("me", 1, 0, 9)).isEqualTo(new LeaseStep.Take(10));
    }
}
