package dev.apportion.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class HealthChecksTest {

    private static final HealthCheck OFTEN =
            new HealthCheck(new HealthCheck.Question.Tcp(80), Duration.ofMillis(10), Duration.ofSeconds(1), 3, 2);

    private final Map<Target, Boolean> well = new ConcurrentHashMap<>();
    private final Map<Target, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final BlockingQueue<String> news = new LinkedBlockingQueue<>();

    private static Target target(int number) {
        return new Target(InetAddress.ofLiteral("192.0.2." + number), OFTEN);
    }

    private CheckResult ask(Target target) {
        asked.computeIfAbsent(target, key -> new AtomicInteger()).incrementAndGet();
        return well.getOrDefault(target, false) ? new CheckResult.Passed() : new CheckResult.Failed("down");
    }

    private int asked(Target target) {
        AtomicInteger count = asked.get(target);
        return count == null ? 0 : count.get();
    }

    @Test
    void whoWantsToKnowIsToldOfEachChange() throws InterruptedException {
        well.put(target(1), true);
        try (HealthChecks<String> checks = new HealthChecks<>(this::ask, news::add)) {
            assertThat(checks.of(target(1))).isInstanceOf(EndpointHealth.Unchecked.class);
            checks.check("pool", Set.of(target(1)));
            assertThat(news.poll(5, TimeUnit.SECONDS)).isEqualTo("pool");
            assertThat(checks.of(target(1))).isInstanceOf(EndpointHealth.Healthy.class);

            well.put(target(1), false);
            assertThat(news.poll(5, TimeUnit.SECONDS)).isEqualTo("pool");
            assertThat(checks.of(target(1))).isEqualTo(new EndpointHealth.Unhealthy("down"));
            int then = asked(target(1));
            Awaitility.await().until(() -> asked(target(1)) > then + 5);
            assertThat(news).isEmpty();
        }
    }

    @Test
    void nobodyIsAskedWhomNobodyWantsToKnowOf() {
        try (HealthChecks<String> checks = new HealthChecks<>(this::ask, news::add)) {
            checks.check("one", Set.of(target(1), target(2)));
            checks.check("two", Set.of(target(2)));
            Awaitility.await().until(() -> asked(target(1)) > 2 && asked(target(2)) > 2);
            checks.check("one", Set.of());
            int first = asked(target(1));
            int second = asked(target(2));
            Awaitility.await().until(() -> asked(target(2)) > second + 10);
            assertThat(asked(target(1))).isLessThanOrEqualTo(first + 1);
            assertThat(checks.of(target(1))).isInstanceOf(EndpointHealth.Unchecked.class);
            assertThat(checks.of(target(2))).isInstanceOf(EndpointHealth.Unhealthy.class);
        }
    }

    @Test
    void oneThatHangsDelaysNobody() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        try (HealthChecks<String> checks = new HealthChecks<>(
                target -> {
                    if (target.equals(target(1))) {
                        try {
                            never.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    }
                    return ask(target);
                },
                news::add)) {
            checks.check("pool", Set.of(target(1), target(2)));
            assertThat(news.poll(5, TimeUnit.SECONDS)).isEqualTo("pool");
            Awaitility.await().until(() -> asked(target(2)) > 10);
            assertThat(checks.of(target(1))).isInstanceOf(EndpointHealth.Unchecked.class);
            assertThat(checks.of(target(2))).isInstanceOf(EndpointHealth.Unhealthy.class);
        }
    }
}
