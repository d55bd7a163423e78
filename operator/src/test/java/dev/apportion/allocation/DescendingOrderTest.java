package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class DescendingOrderTest {

    @Property(tries = 300)
    void sortsByKeyThenByTie(@ForAll @IntRange(max = 500) int size, @ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] keys = new double[size];
        for (int i = 0; i < size; i++) {
            double base = new double[] {0, 1, 1e-300, 1e300, 0.1, Double.MIN_VALUE}[random.nextInt(6)];
            // some keys differ in the last bits only
            keys[i] = random.nextBoolean() ? base : Math.nextUp(base);
        }
        int[] tie = random.ints(size, 0, 1 << 20).toArray();
        Comparator<Integer> ties = Comparator.<Integer>comparingInt(i -> tie[i]).thenComparing(i -> i);
        List<Integer> expected = IntStream.range(0, size)
                .boxed()
                .sorted(Comparator.<Integer>comparingDouble(i -> -keys[i]).thenComparing(ties))
                .toList();
        assertThat(Arrays.stream(DescendingOrder.of(keys, ties::compare))
                        .boxed()
                        .toList())
                .isEqualTo(expected);
    }
}
