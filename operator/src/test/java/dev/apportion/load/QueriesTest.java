package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QueriesTest {

    private static final Duration STALE = Duration.ofSeconds(60);
    private static final RateQuery A = new RateQuery("default", "a");
    private static final RateQuery B = new RateQuery("default", "b");

    private final ConcurrentMap<String, Double> answers = new ConcurrentHashMap<>();
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger told = new AtomicInteger();
    private final Queue<Gap> missing = new ConcurrentLinkedQueue<>();
    private final CountDownLatch never = new CountDownLatch(1);
    private final Queries queries = new Queries(this::answer, pool -> told.incrementAndGet(), missing::add);

    private OptionalDouble answer(String source, String query) throws IOException, InterruptedException {
        asked.incrementAndGet();
        if (query.equals("hangs")) {
            never.await();
        }
        Double answer = answers.get(query);
        if (answer == null) {
            throw new IOException("no such server");
        }
        return OptionalDouble.of(answer);
    }

    @AfterEach
    void stop() {
        queries.close();
    }

    private Rate.Standing rate(RateQuery query) {
        return queries.rate("web/shop", query).at(System.nanoTime(), STALE);
    }

    @Test
    void queriesAreAskedAgainAndAgainUntilTheyAreForgotten() {
        answers.put("a", 3.0);
        queries.follow("web/shop", Set.of(A), Duration.ofMillis(20));
        await().until(() -> rate(A).equals(new Rate.Standing.Known(3)));
        answers.put("a", 4.0);
        await().until(() -> rate(A).equals(new Rate.Standing.Known(4)));
        assertThat(told).hasPositiveValue();
        assertThat(missing).isEmpty();
        answers.clear();
        await().until(() -> rate(A).equals(new Rate.Standing.Held(4, "no such server")));
        assertThat(missing).containsOnly(Gap.Unreachable);
        missing.clear();
        answers.put("a", -1.0);
        await().until(() -> missing.contains(Gap.Negative));

        queries.forget("web/shop");
        int before = asked.get();
        await().pollDelay(Duration.ofMillis(100)).until(() -> asked.get() <= before + 1);
        assertThat(rate(A)).isEqualTo(new Rate.Standing.Missing("not asked yet"));
    }

    @Test
    void aNewQueryIsAskedAtOnceAndOneThatHangsDelaysNoOther() {
        answers.put("a", 3.0);
        answers.put("b", 5.0);
        queries.follow("web/shop", Set.of(A), Duration.ofHours(1));
        await().until(() -> rate(A).equals(new Rate.Standing.Known(3)));
        queries.follow("web/shop", Set.of(A, B, new RateQuery("default", "hangs")), Duration.ofHours(1));
        await().until(() -> rate(B).equals(new Rate.Standing.Known(5)));

        assertThat(rate(A)).isEqualTo(new Rate.Standing.Known(3));
    }

    @Test
    void whereThereAreNoneThereIsNoThread() {
        queries.follow("web/shop", Set.of(), Duration.ofMillis(1));

        assertThat(asked).hasValue(0);
        assertThat(rate(A)).isEqualTo(new Rate.Standing.Missing("not asked yet"));
    }
}
