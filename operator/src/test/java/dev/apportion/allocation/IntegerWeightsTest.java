package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Resolution.AtMost;
import dev.apportion.allocation.Resolution.FixedSum;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IntegerWeightsTest {

    private static final AtMost BYTE = new AtMost(255);

    @ParameterizedTest
    @CsvSource({
        "179 77, 179 77",
        "0.69921875 0.30078125, 179 77",
        "2 1, 2 1",
        "100 50, 2 1",
        "1, 1",
        "5 5 5, 1 1 1",
        "0.5 0.3 0.2, 5 3 2",
        "255 1, 255 1",
        "0 1 0, 0 1 0",
        "509 1, 255 1",
        "510 1, 255 1",
        "512 1, 1 0",
        "1e300 1e300 1e290, 1 1 0",
        "1e-300 2e-300, 1 2",
        "0 0, 0 0"
    })
    void upToAByte(String shares, String expected) {
        assertThat(IntegerWeights.of(doubles(shares), BYTE)).isEqualTo(ints(expected));
    }

    @ParameterizedTest
    @CsvSource({
        "1 1 1, 256, 86 85 85",
        "179 77, 256, 179 77",
        "1, 256, 256",
        "0 1 0, 7, 0 7 0",
        "1 1e-9, 256, 255 1",
        "1e-9 1 1e-9, 3, 1 1 1",
        "1 1 1 1, 3, 1 1 1 0",
        "4 1 1, 2, 2 0 0",
        "1 1 1, 1, 1 0 0",
        "3 2 1, 6, 3 2 1",
        "0 0, 9, 0 0"
    })
    void withAFixedSum(String shares, int sum, String expected) {
        assertThat(IntegerWeights.of(doubles(shares), new FixedSum(sum))).isEqualTo(ints(expected));
    }

    @Test
    void hundredsOfEqualSharesStayEqual() {
        for (int m : new int[] {3, 150, 255, 256, 300, 5000}) {
            double[] shares = new double[m];
            Arrays.fill(shares, 1.0 / m);
            assertThat(IntegerWeights.of(shares, BYTE)).containsOnly(1);
        }
    }

    @Test
    void sharesThatDifferByRoundingAreEqual() {
        double third = 1.0 / 3;
        double[] shares = {third, 1 - 2 * third, Math.nextUp(third), Math.nextDown(third)};
        assertThat(IntegerWeights.of(shares, BYTE)).isEqualTo(new int[] {1, 1, 1, 1});
        assertThat(IntegerWeights.of(shares, new FixedSum(6))).isEqualTo(new int[] {2, 2, 1, 1});
    }

    /** Mean and largest errors, in percent, of shares drawn evenly, none below .02 of the largest. */
    @ParameterizedTest
    @CsvSource({"2, 0.02, 0.3", "4, 0.22, 4.5", "8, 0.8, 4.5", "16, 1.7, 6"})
    void theSweepIsAsAccurateAsItIsKnownToBe(int m, double meanPercent, double largestPercent) {
        SplittableRandom random = new SplittableRandom(m);
        double sum = 0;
        double largest = 0;
        int tries = 1000;
        for (int t = 0; t < tries; t++) {
            double[] shares = random.doubles(m).map(u -> 0.02 + 0.98 * u).toArray();
            double error = 100 * IntegerWeights.largestError(shares, IntegerWeights.of(shares, BYTE));
            sum += error;
            largest = Math.max(largest, error);
        }
        assertThat(sum / tries).isLessThan(meanPercent);
        assertThat(largest).isLessThan(largestPercent);
    }

    @Property(tries = 300)
    void noDivisorIsBetterThanTheSweep(
            @ForAll @Size(min = 2, max = 6) List<@DoubleRange(min = 0.01, max = 1) Double> list,
            @ForAll @DoubleRange(min = 0, max = 1) double part) {
        double[] shares = list.stream().mapToDouble(d -> d).toArray();
        double swept = IntegerWeights.largestError(shares, IntegerWeights.of(shares, BYTE));
        double largest = Arrays.stream(shares).max().orElseThrow();
        for (int t = 1; t <= 200; t++) {
            double c = 255 / largest * (t - part) / 200;
            int[] weights = new int[shares.length];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = Math.clamp(Math.round(c * shares[i]), 1, 255);
            }
            assertThat(swept).isLessThanOrEqualTo(IntegerWeights.largestError(shares, weights) + 1e-9);
        }
    }

    @Property(tries = 300)
    void noIntegersWithTheSumAreBetter(
            @ForAll @Size(min = 1, max = 4) List<@DoubleRange(min = 0.01, max = 1) Double> list,
            @ForAll @IntRange(min = 4, max = 24) int sum) {
        double[] shares = list.stream().mapToDouble(d -> d).toArray();
        int[] weights = IntegerWeights.of(shares, new FixedSum(sum));
        assertThat(Arrays.stream(weights).sum()).isEqualTo(sum);
        double best = leastError(shares, new int[shares.length], 0, sum);
        assertThat(IntegerWeights.largestError(shares, weights)).isCloseTo(best, within(1e-9 * (1 + best)));
    }

    /** By trying them all. */
    private static double leastError(double[] shares, int[] weights, int at, int left) {
        if (at == shares.length - 1) {
            weights[at] = left;
            return IntegerWeights.largestError(shares, weights);
        }
        double least = Double.POSITIVE_INFINITY;
        for (int w = 1; w <= left - (shares.length - 1 - at); w++) {
            weights[at] = w;
            least = Math.min(least, leastError(shares, weights, at + 1, left - w));
        }
        return least;
    }

    @Property(tries = 500)
    void aFixedSumIsMetAndTheOrderOfSharesIsKept(
            @ForAll @Size(min = 1, max = 40) List<@DoubleRange(min = 0, max = 1) Double> list,
            @ForAll @IntRange(min = 1, max = 300) int sum) {
        double[] shares = list.stream().mapToDouble(d -> d).toArray();
        int[] weights = IntegerWeights.of(shares, new FixedSum(sum));
        long positive = Arrays.stream(shares).filter(p -> p > 0).count();
        assertThat(Arrays.stream(weights).sum()).isEqualTo(positive == 0 ? 0 : sum);
        for (int i = 0; i < weights.length; i++) {
            assertThat(weights[i]).isGreaterThanOrEqualTo(shares[i] > 0 && positive <= sum ? 1 : 0);
            for (int j = 0; j < i; j++) {
                if (shares[i] == shares[j]) {
                    assertThat(weights[j] - weights[i]).isBetween(0, 1);
                } else if (shares[i] > shares[j] * (1 + 1e-9)) {
                    assertThat(weights[i]).isGreaterThanOrEqualTo(weights[j]);
                }
            }
        }
    }

    @Test
    void manyPiecesAreBearable() {
        SplittableRandom random = new SplittableRandom(1);
        double[] shares = random.doubles(5000).map(u -> 0.01 + u).toArray();
        assertThat(IntegerWeights.largestError(shares, IntegerWeights.of(shares, BYTE)))
                .isLessThan(0.5);
        int[] slots = IntegerWeights.of(random.doubles(10_000).map(u -> 0.5 + u).toArray(), new FixedSum(65_536));
        assertThat(Arrays.stream(slots).sum()).isEqualTo(65_536);
    }

    @Test
    void piecesThatCannotBeExpressedAreDroppedAndTheRestAddsUpToOne() {
        List<Piece> intended = List.of(new Piece(4, 0.0009), new Piece(5, 0.666), new Piece(7, 0.3331));
        assertThat(IntegerWeights.published(intended, BYTE))
                .isEqualTo(List.of(new Piece(5, 2.0 / 3), new Piece(7, 1.0 / 3)));
        assertThat(IntegerWeights.published(List.of(), BYTE)).isEmpty();
    }

    private static double[] doubles(String text) {
        return Arrays.stream(text.split(" ")).mapToDouble(Double::parseDouble).toArray();
    }

    private static int[] ints(String text) {
        return Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
    }
}
