package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClockWatchTest {

    /** Both clocks of a machine, of which one can be set. */
    private static final class Machine extends Clock {

        Instant wall = Instant.parse("2030-01-01T00:00:00Z");
        long nanos;

        void pass(Duration time) {
            wall = wall.plus(time);
            nanos += time.toNanos();
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return wall;
        }
    }

    @Test
    void whatIsSetIsNoticedOnceAndWhatPassesIsNot() {
        Machine machine = new Machine();
        List<Duration> jumps = new ArrayList<>();
        ClockWatch watch = new ClockWatch(machine, () -> machine.nanos, jumps::add);
        for (int i = 0; i < 1000; i++) {
            machine.pass(Duration.ofSeconds(i));
            watch.look();
        }
        assertThat(jumps).isEmpty();
        for (Duration jump : List.of(Duration.ofSeconds(-5), Duration.ofHours(-1), Duration.ofHours(1))) {
            machine.wall = machine.wall.plus(jump);
            machine.pass(Duration.ofSeconds(1));
            watch.look();
            watch.look();
        }
        assertThat(jumps).containsExactly(Duration.ofSeconds(-5), Duration.ofHours(-1), Duration.ofHours(1));
    }
}
