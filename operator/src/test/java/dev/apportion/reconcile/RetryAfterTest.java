package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RetryAfterTest {

    private static final RetryAfter.Call ONE = RetryAfter.Call.patch("shop", "configmaps", "apportion-coredns-0");
    private static final RetryAfter.Call OTHER = RetryAfter.Call.patch("shop", "configmaps", "apportion-coredns-1");

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-01T12:00:00Z"));
    private final InstantSource time = now::get;
    private final Clock clock = time.withZone(ZoneOffset.UTC);
    private final AtomicLong nanos = new AtomicLong();
    private final RetryAfter retryAfter = new RetryAfter(clock, nanos::get, Duration.ZERO);

    private void pass(Duration time) {
        now.updateAndGet(before -> before.plus(time));
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void aClockThatIsSetBackMakesNobodyWait() {
        retryAfter.wait(ONE, Duration.ofSeconds(7));

        now.updateAndGet(before -> before.minus(Duration.ofHours(1)));
        assertThat(retryAfter.left(ONE)).contains(Duration.ofSeconds(7));
        pass(Duration.ofSeconds(7));
        assertThat(retryAfter.left(ONE)).isEmpty();
    }

    @Test
    void holdsUntilTheTimeIsOverAndOnlyThatRequest() {
        retryAfter.wait(ONE, Duration.ofSeconds(7));

        pass(Duration.ofSeconds(3));
        assertThat(retryAfter.left(ONE)).contains(Duration.ofSeconds(4));
        assertThat(retryAfter.left(OTHER)).isEmpty();
        pass(Duration.ofSeconds(4));
        assertThat(retryAfter.left(ONE)).isEmpty();
    }

    @Test
    void theLaterOfTwoTimesCounts() {
        retryAfter.wait(ONE, Duration.ofSeconds(7));
        retryAfter.wait(ONE, Duration.ofSeconds(2));

        assertThat(retryAfter.left(ONE)).contains(Duration.ofSeconds(7));
    }

    @Test
    void aSlipOfTheServerIsBounded() {
        retryAfter.wait(ONE, Duration.ofDays(300));
        retryAfter.wait(OTHER, Duration.ofSeconds(-5));

        assertThat(retryAfter.left(ONE)).contains(RetryAfter.LONGEST);
        assertThat(retryAfter.left(OTHER)).isEmpty();
    }

    @Test
    void readsTheDetailsOfAStatus() {
        retryAfter.refused(
                ONE,
                new KubernetesClientException(new StatusBuilder()
                        .withCode(429)
                        .withMessage("slowly")
                        .withNewDetails()
                        .withRetryAfterSeconds(3)
                        .endDetails()
                        .build()));
        retryAfter.refused(OTHER, new KubernetesClientException("no answer"));

        assertThat(retryAfter.left(ONE)).contains(Duration.ofSeconds(3));
        assertThat(retryAfter.left(OTHER)).isEmpty();
    }

    @Test
    void readsBothFormsOfTheHeader() {
        assertThat(retryAfter.delay("120")).contains(Duration.ofMinutes(2));
        assertThat(retryAfter.delay("Sun, 01 Mar 2026 12:00:30 GMT")).contains(Duration.ofSeconds(30));
        assertThat(retryAfter.delay("soon")).isEmpty();
        assertThat(retryAfter.delay("-1")).isEmpty();
    }
}
