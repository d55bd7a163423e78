package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErlangCTest {

    @ParameterizedTest
    @CsvSource({"10, 0.8, 0.4092, 0.2046", "50, 0.8, 0.0870, 0.0087", "10, 0.9, 0.6687, 0.6687", "1, 0.5, 0.5, 1"})
    void publishedValues(int servers, double utilisation, double waiting, double meanWait) {
        ErlangC queue = new ErlangC(servers, servers * utilisation, 1);
        assertThat(queue.utilisation()).isCloseTo(utilisation, within(1e-12));
        assertThat(queue.waiting()).isCloseTo(waiting, within(5e-5));
        assertThat(queue.meanWait()).isCloseTo(meanWait, within(5e-5));
    }

    /** Waits in service times of five sites with ten slots each: alone, and as one site with fifty. */
    @ParameterizedTest
    @CsvSource({"0.8, 0.205, 0.0087", "0.9, 0.669, 0.073"})
    void fiveSitesAloneAndAsOne(double utilisation, double alone, double central) {
        assertThat(new ErlangC(10, 10 * utilisation, 1).meanWait()).isCloseTo(alone, within(5e-4));
        assertThat(new ErlangC(50, 50 * utilisation, 1).meanWait()).isCloseTo(central, within(3e-3));
    }

    @Property
    void blockingFollowsTheRecursion(
            @ForAll @IntRange(min = 1, max = 400) int servers,
            @ForAll @DoubleRange(min = 0.01, max = 500) double offered) {
        double blocking = 1;
        for (int k = 1; k <= servers; k++) {
            blocking = offered * blocking / (k + offered * blocking);
        }
        assertThat(new ErlangC(servers, offered, 1).blocking()).isCloseTo(blocking, within(1e-12 + blocking * 1e-9));
    }

    @Property
    void theRateAtAWaitHasThatWait(
            @ForAll @IntRange(min = 1, max = 2000) int servers,
            @ForAll @DoubleRange(min = 0.01, max = 100) double wait,
            @ForAll @DoubleRange(min = 0.01, max = 10) double serviceTime) {
        double rate = ErlangC.rateAt(servers, serviceTime, wait);
        assertThat(rate).isPositive().isLessThan(servers / serviceTime);
        assertThat(new ErlangC(servers, rate, serviceTime).meanWait()).isCloseTo(wait, within(wait * 1e-6));
    }

    @Test
    void timesScaleWithTheServiceTime() {
        ErlangC queue = new ErlangC(10, 800, 0.01);
        assertThat(queue.meanWait()).isCloseTo(0.002046, within(1e-6));
        assertThat(queue.waitsLongerThan(0)).isCloseTo(0.4092, within(5e-5));
        // the spare rate is 200/s
        assertThat(queue.waitsLongerThan(0.01)).isCloseTo(0.4092 * Math.exp(-2), within(5e-5));
    }

    @Test
    void constantServiceHalvesTheWait() {
        ErlangC queue = new ErlangC(1, 0.5, 1);
        assertThat(queue.meanWait(1, 1)).isEqualTo(queue.meanWait());
        assertThat(queue.meanWait(1, 0)).isCloseTo(0.5, within(1e-12));
    }

    @Test
    void whatIsIdleOrOverloadedHasAValueToo() {
        assertThat(new ErlangC(3, 0, 1).waiting()).isZero();
        assertThat(new ErlangC(3, 0, 1).meanWait()).isZero();
        ErlangC overloaded = new ErlangC(3, 4, 1);
        assertThat(overloaded.waiting()).isOne();
        assertThat(overloaded.meanWait()).isInfinite();
        assertThat(overloaded.meanWait(1, 0)).isInfinite();
        assertThat(overloaded.waitsLongerThan(100)).isOne();
        assertThat(ErlangC.rateAt(3, 0.5, Double.POSITIVE_INFINITY)).isEqualTo(6);
    }

    @Test
    void aHundredMillionServersAreCounted() {
        // Halfin and Whitt: with spare capacity β√c, C tends to 1/(1 + √(2π) β Φ(β) e^{β²/2}); for β = 1 that is 0.2234
        double servers = 1e8;
        assertThat(new ErlangC((long) servers, servers - Math.sqrt(servers), 1).waiting())
                .isCloseTo(0.2234, within(5e-4));
    }
}
