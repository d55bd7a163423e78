package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rounds of a source that gives what the test says. */
class SamplerTest {

    private static final Method METHOD =
            new Method.Scrape("/metrics", new Series(Map.of(Quantity.IN_FLIGHT, "in_flight")));
    private static final Duration OFTEN = Duration.ofMillis(20);

    private final Map<String, Readout> answers = new ConcurrentHashMap<>();
    private final Map<Gap, Integer> missing = new ConcurrentHashMap<>();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger told = new AtomicInteger();
    private final AtomicInteger measured = new AtomicInteger();
    private final Sampler sampler = new Sampler(
            (method, targets, found) -> {
                reads.incrementAndGet();
                targets.forEach(target -> {
                    Readout answer = answers.get(target.name());
                    if (answer != null) {
                        found.accept(target, answer);
                    }
                });
            },
            pool -> told.incrementAndGet(),
            new Sampler.Meter() {
                @Override
                public void measured(Method method, Duration took) {
                    measured.incrementAndGet();
                }

                @Override
                public void missing(Gap gap) {
                    missing.merge(gap, 1, Integer::sum);
                }
            });

    @AfterEach
    void stop() {
        sampler.close();
    }

    private static Readout inFlight(double value) {
        long now = System.nanoTime();
        return new Readout.Values(Map.of(Quantity.IN_FLIGHT, value), now, now);
    }

    private static List<Target> targets(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Target("t" + i, "uid-" + i, new Target.Place.Nowhere("here")))
                .toList();
    }

    @Test
    void missingSamplesAreCountedByReasonAndOnceForEachRound() {
        answers.put("t0", inFlight(3));
        answers.put("t1", inFlight(-1));
        answers.put("t2", inFlight(Double.NaN));
        answers.put("t3", new Readout.Failed(Gap.Unreachable, "no connection"));
        answers.put("t4", new Readout.Failed(Gap.Unreachable, "no connection"));
        sampler.follow("web/shop", new Assignment(METHOD, Duration.ofHours(1), targets(6)));
        await().until(() -> sampler.standing("web/shop").rounds() == 1);

        assertThat(missing).isEqualTo(Map.of(Gap.Negative, 1, Gap.NotFinite, 1, Gap.Unreachable, 2, Gap.Absent, 1));
        assertThat(measured).hasValue(1);
        assertThat(told).hasPositiveValue();
    }

    @Test
    void aSourceWithoutANewerSampleLacksNothing() {
        answers.put("t0", inFlight(3));
        sampler.follow("web/shop", new Assignment(METHOD, OFTEN, targets(1)));
        await().until(() -> sampler.standing("web/shop").rounds() > 3);

        assertThat(missing).isEmpty();
    }

    @Test
    void aTargetThatComesIsMeasuredAtOnceAndOneThatGoesIsForgotten() {
        answers.put("t0", inFlight(3));
        answers.put("t1", inFlight(4));
        sampler.follow("web/shop", new Assignment(METHOD, Duration.ofHours(1), targets(1)));
        await().until(() -> sampler.standing("web/shop").tracks().size() == 1);
        sampler.follow("web/shop", new Assignment(METHOD, Duration.ofHours(1), targets(2)));
        await().until(() -> sampler.standing("web/shop").tracks().size() == 2);
        sampler.follow("web/shop", new Assignment(METHOD, Duration.ofHours(1), targets(1)));
        await().until(() -> sampler.standing("web/shop").tracks().size() == 1);

        assertThat(measured).hasValue(1);
    }

    /** A pool that is measured no more has no thread left. */
    @Test
    void whereNothingIsMeasuredNothingRuns() throws InterruptedException {
        answers.put("t0", inFlight(3));
        sampler.follow("web/shop", new Assignment(METHOD, OFTEN, targets(1)));
        await().until(() -> reads.get() > 2);
        sampler.forget("web/shop");
        int after = reads.get();
        Thread.sleep(OFTEN.multipliedBy(10));

        assertThat(reads.get()).isLessThanOrEqualTo(after + 1);
        assertThat(sampler.pools()).isZero();
        assertThat(sampler.standing("web/shop")).isEqualTo(Sampler.Standing.NOTHING);
    }
}
