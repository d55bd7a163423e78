package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.wire.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class LostReloadsTest {

    private static final Ref ZONE = new Ref("dns", "example-org");
    private static final Ref OTHER = new Ref("dns", "example-com");
    private static final Duration FIRST = LostReloads.FIRST_PAUSE;

    private static final Verdict WELL = new Verdict.Verified(10);
    private static final Verdict DOWN = new Verdict.Silent("no response");
    private static final Verdict UNLOADED = lags("REFUSED", false);
    private static final Verdict LATE = lags("the serial 4", true);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final LostReloads reloads = new LostReloads(now::get, Duration.ZERO);

    private static Verdict lags(String observed, boolean otherFile) {
        return new Verdict.Lags(List.of(
                new Verdict.Difference("example.org", "", "example.org SOA", "the serial 5", observed, otherFile)));
    }

    private void saw(Ref zone, Object... serversAndVerdicts) {
        TreeMap<String, Verdict> verdicts = new TreeMap<>();
        for (int i = 0; i < serversAndVerdicts.length; i += 2) {
            verdicts.put((String) serversAndVerdicts[i], (Verdict) serversAndVerdicts[i + 1]);
        }
        reloads.saw(zone, verdicts);
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void aServerThatAnswersAsPublishedIsLeftAlone() {
        saw(ZONE, "a", WELL, "b", WELL);
        pass(Duration.ofDays(1));
        saw(ZONE, "a", WELL, "b", WELL);

        assertThat(reloads.left(ZONE, FIRST)).isEmpty();
    }

    @Test
    void aServerWithoutTheConfigurationIsAskedAfterAReloadShouldHaveTakenPlace() {
        saw(ZONE, "a", WELL, "b", UNLOADED);
        assertThat(reloads.left(ZONE, FIRST)).contains(FIRST);
        assertThat(reloads.left(ZONE, LostReloads.FIRST_PAUSE_UNTOLD)).contains(LostReloads.FIRST_PAUSE_UNTOLD);
        assertThat(reloads.left(OTHER, FIRST)).isEmpty();

        pass(Duration.ofSeconds(4));
        saw(ZONE, "a", WELL, "b", UNLOADED);
        assertThat(reloads.left(ZONE, FIRST)).contains(Duration.ofSeconds(6));

        pass(Duration.ofSeconds(7));
        assertThat(reloads.left(ZONE, FIRST)).contains(Duration.ZERO);
    }

    @Test
    void whatIsSaidLateCountsFromTheChange() {
        LostReloads told = new LostReloads(now::get, Duration.ofSeconds(8));
        told.saw(ZONE, new TreeMap<>(Map.of("a", UNLOADED)));
        assertThat(told.left(ZONE, FIRST)).contains(Duration.ofSeconds(2));
    }

    @Test
    void aServerThatIsDownOrHasYetToGetAFileIsNotAsked() {
        saw(ZONE, "a", DOWN, "b", LATE);
        pass(Duration.ofDays(1));
        saw(ZONE, "a", DOWN, "b", LATE);
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();

        saw(ZONE, "a", UNLOADED, "b", UNLOADED);
        pass(FIRST);
        saw(ZONE, "a", DOWN, "b", LATE);
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();
    }

    @Test
    void pausesDoubleAndEnd() {
        saw(ZONE, "a", UNLOADED);
        Duration pause = FIRST;
        for (int i = 0; i < LostReloads.MOST_TIMES; i++) {
            assertThat(reloads.left(ZONE, FIRST)).contains(pause);
            pass(pause);
            reloads.asked(ZONE);
            pause = FIRST.multipliedBy(1L << (i + 1));
        }
        pass(Duration.ofDays(1));
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();

        saw(ZONE, "a", WELL);
        saw(ZONE, "a", UNLOADED);
        assertThat(reloads.left(ZONE, FIRST)).contains(FIRST);
    }

    @Test
    void aServerThatWasDownInBetweenIsNotAskedMoreOften() {
        for (int i = 0; i < LostReloads.MOST_TIMES; i++) {
            saw(ZONE, "a", UNLOADED);
            pass(Duration.ofHours(1));
            reloads.asked(ZONE);
            saw(ZONE, "a", DOWN);
        }
        saw(ZONE, "a", UNLOADED);
        pass(Duration.ofHours(1));
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();
    }

    @Test
    void zonesOfOneServerDoNotEachAsk() {
        saw(ZONE, "a", UNLOADED);
        saw(OTHER, "a", UNLOADED);
        pass(FIRST);
        assertThat(reloads.left(OTHER, FIRST)).contains(Duration.ZERO);

        reloads.asked(ZONE);

        assertThat(reloads.left(OTHER, FIRST)).contains(FIRST.multipliedBy(2));
        saw(OTHER, "a", WELL);
        assertThat(reloads.left(ZONE, FIRST)).contains(FIRST.multipliedBy(2));
    }

    @Test
    void aServerThatIsNotAskedAboutAnyMoreCountsNothing() {
        saw(ZONE, "a", UNLOADED);
        pass(FIRST);
        saw(ZONE, "b", WELL);
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();

        saw(ZONE, "a", UNLOADED);
        reloads.forget(ZONE);
        assertThat(reloads.left(ZONE, FIRST)).isEmpty();
    }

    /** Whatever servers do, nothing is written more often than a reload takes, and never often in vain. */
    @Property(tries = 300)
    void requestsAreFewAndFarBetween(
            @ForAll @Size(max = 200) List<@IntRange(max = 3) Integer> seen,
            @ForAll @IntRange(min = 1, max = 60) int step) {
        AtomicLong time = new AtomicLong();
        LostReloads some = new LostReloads(time::get, Duration.ZERO);
        List<Long> asked = new ArrayList<>();
        int inVain = 0;
        for (int verdict : seen) {
            time.addAndGet(Duration.ofSeconds(step).toNanos());
            some.saw(
                    ZONE,
                    new TreeMap<>(
                            Map.of("a", List.of(WELL, DOWN, LATE, UNLOADED).get(verdict))));
            if (verdict == 0) {
                inVain = 0;
            }
            if (some.left(ZONE, FIRST).filter(Duration::isZero).isPresent()) {
                assertThat(verdict).isEqualTo(3);
                asked.add(time.get());
                some.asked(ZONE);
                inVain++;
            }
            assertThat(inVain).isLessThanOrEqualTo(LostReloads.MOST_TIMES);
        }
        for (int i = 1; i < asked.size(); i++) {
            assertThat(asked.get(i) - asked.get(i - 1)).isGreaterThanOrEqualTo(FIRST.toNanos());
        }
    }
}
