package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.api.ReplicaPoolStatus;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class NoisyStatusesTest {

    private final AtomicLong second = new AtomicLong();
    private final NoisyStatuses noisy =
            new NoisyStatuses(() -> Duration.ofSeconds(second.get()).toNanos());

    private static ReplicaPoolStatus status(String reason, String state, String number, int silent) {
        return new ReplicaPoolStatus(
                1L,
                List.of(new ConditionBuilder()
                        .withType("Allocated")
                        .withStatus("True")
                        .withReason(reason)
                        .withMessage("kept: worst load %s of its level".formatted(number))
                        .build()),
                new ReplicaPoolStatus.Replicas(1, 1, 0, 0, silent),
                number,
                number,
                number,
                "0",
                number,
                null,
                List.of(new ReplicaPoolStatus.Row(
                        "a",
                        "192.0.2.1",
                        "main",
                        state,
                        "100",
                        number + " requests/s",
                        number,
                        number,
                        "1",
                        "from " + number)));
    }

    /** A sample each second, each of them another one: four statuses in a minute, and no more. */
    @Test
    void numbersAreWrittenNowAndThen() {
        ReplicaPoolStatus stands = status("Allocated", "Ready", "0", 0);
        noisy.written("uid");
        int writes = 0;
        for (int now = 1; now <= 60; now++) {
            second.set(now);
            ReplicaPoolStatus next = status("Allocated", "Ready", Integer.toString(now), 0);
            if (noisy.wait("uid", stands, next).isEmpty()) {
                noisy.written("uid");
                stands = next;
                writes++;
            }
        }

        assertThat(writes).isEqualTo(4);
    }

    @Test
    void itIsSaidHowLong() {
        noisy.written("uid");
        second.set(5);

        assertThat(noisy.wait("uid", status("Allocated", "Ready", "1", 0), status("Allocated", "Ready", "2", 0)))
                .contains(NoisyStatuses.QUIET.minusSeconds(5));
    }

    @Test
    void whatHappenedIsWrittenAtOnce() {
        ReplicaPoolStatus stands = status("Allocated", "Ready", "1", 0);
        noisy.written("uid");

        assertThat(noisy.wait("uid", stands, status("AllHot", "Ready", "1", 0))).isEmpty();
        assertThat(noisy.wait("uid", stands, status("Allocated", "Warming", "1", 0)))
                .isEmpty();
        assertThat(noisy.wait("uid", stands, status("Allocated", "Ready", "1", 1)))
                .isEmpty();
        assertThat(noisy.wait("uid", null, stands)).isEmpty();
        assertThat(noisy.wait("other", stands, status("Allocated", "Ready", "2", 0)))
                .isEmpty();
    }
}
