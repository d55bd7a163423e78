package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ResidualsTest {

    /** Against a plain sorted list, over thousands of random steps. */
    @Property(tries = 60)
    void behavesLikeASortedList(@ForAll @IntRange(max = 2000) int size, @ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] residual = random.doubles(size).toArray();
        List<Integer> sorted = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            sorted.add(i);
        }
        sorted.sort(Comparator.comparingDouble(i -> residual[i]));
        Residuals residuals = new Residuals(sorted.stream().mapToInt(i -> i).toArray(), residual);
        for (int step = 0; step < 3000; step++) {
            int k = random.nextInt(1, 6);
            double need = random.nextDouble() * k;
            int at = window(sorted, residual, k, need);
            assertThat(residuals.seekWindow(k, need)).isEqualTo(at >= 0);
            assertThat(residuals.size()).isEqualTo(sorted.size());
            if (at < 0) {
                if (sorted.isEmpty()) {
                    return;
                }
                int last = Math.min(k, sorted.size());
                residuals.seekLast(last);
                at = sorted.size() - last;
            }
            assertThat(residuals.atFirst()).isEqualTo(at == 0);
            int width = Math.min(k, sorted.size() - at);
            assertThat(residuals.sumAfterCursor(width - 1)).isEqualTo(sum(sorted, residual, at + 1, at + width));
            int[] taken = new int[width];
            for (int i = 0; i < width; i++) {
                assertThat(residuals.id()).isEqualTo(sorted.get(at));
                assertThat(residuals.value()).isEqualTo(residual[residuals.id()]);
                taken[i] = residuals.id();
                residuals.remove();
                sorted.remove(/* index */ at);
            }
            for (int id : Arrays.copyOf(taken, random.nextInt(0, width + 1))) {
                residual[id] *= random.nextDouble();
                residuals.insert(id, residual[id]);
                int to = 0;
                while (to < sorted.size() && residual[sorted.get(to)] <= residual[id]) {
                    to++;
                }
                sorted.add(to, id);
            }
            double value = random.nextDouble();
            int first = 0;
            while (first < sorted.size() && residual[sorted.get(first)] < value) {
                first++;
            }
            assertThat(residuals.seekValue(value)).isEqualTo(first < sorted.size());
            if (first < sorted.size()) {
                assertThat(residuals.id()).isEqualTo(sorted.get(first));
            }
        }
    }

    private static int window(List<Integer> sorted, double[] residual, int width, double need) {
        int k = Math.min(width, sorted.size());
        for (int at = 0; k > 0 && at + k <= sorted.size(); at++) {
            if (sum(sorted, residual, at, at + k) >= need) {
                return at;
            }
        }
        return -1;
    }

    private static double sum(List<Integer> sorted, double[] residual, int from, int to) {
        double sum = 0;
        for (int i = from; i < to; i++) {
            sum += residual[sorted.get(i)];
        }
        return sum;
    }
}
