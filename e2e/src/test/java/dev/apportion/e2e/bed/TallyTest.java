package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TallyTest {

    private static Tally tally(Map<String, Long> counts) {
        return new Tally(new TreeMap<>(counts));
    }

    @Test
    void computesPearsonsTest() {
        // (60 - 50)^2 / 50 + (40 - 50)^2 / 50 = 4 with one degree of freedom
        assertThat(tally(Map.of("a", 60L, "b", 40L)).pValue(Map.of("a", 1, "b", 1)))
                .isCloseTo(0.04550, within(0.00001));
        assertThat(tally(Map.of("a", 70L, "b", 30L)).pValue(Map.of("a", 7, "b", 3)))
                .isEqualTo(1);
    }

    @Test
    void countsAnOutcomeThatNeverCame() {
        assertThat(tally(Map.of("a", 100L)).pValue(Map.of("a", 1, "b", 1))).isLessThan(1e-20);
    }

    @Test
    void excludesAnOutcomeWithoutWeight() {
        assertThat(tally(Map.of("a", 99L, "b", 1L)).pValue(Map.of("a", 5, "b", 0)))
                .isZero();
        assertThat(tally(Map.of("a", 99L, "NXDOMAIN", 1L)).pValue(Map.of("a", 5)))
                .isZero();
        assertThat(tally(Map.of("a", 99L)).pValue(Map.of("a", 5, "b", 0))).isEqualTo(1);
    }
}
