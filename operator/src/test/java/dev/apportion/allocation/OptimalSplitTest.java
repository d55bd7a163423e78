package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The optimal split against an exact solver that knows nothing of it. */
class OptimalSplitTest {

    private static final double WITHIN = 1e-6;
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private static Problem random(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int n = random.nextInt(1, 9);
        int m = random.nextInt(2, 7);
        int k = random.nextInt(1, 4);
        boolean identical = seed % 2 == 0;
        boolean zipf = random.nextBoolean();
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < m; i++) {
            replicas.add(Problems.replica("r" + i, identical ? 1 : random.nextDouble(1, 8)));
        }
        List<Stream> streams = new ArrayList<>();
        for (int j = 0; j < n; j++) {
            streams.add(Problems.stream("s" + j, zipf ? 1.0 / (j + 1) : random.nextDouble(0.05, 1.05), k));
        }
        return new Problem(replicas, streams);
    }

    @Test
    void threeHundredSmallInstancesAreSolvedExactly() {
        int proven = 0;
        for (int seed = 0; seed < 300; seed++) {
            Problem problem = random(seed);
            Allocation allocation = new KSplittable().allocate(problem);
            double makespan =
                    Assessment.of(problem, allocation.streams(), allocation).makespan();
            MixedInteger.Solution exact = MixedInteger.solve(problem, makespan, LIMIT);
            if (exact.proven()) {
                proven++;
                assertThat(makespan / exact.makespan()).as("seed %d", seed).isCloseTo(1, within(WITHIN));
            } else {
                // whatever it found is not better
                assertThat(makespan).isLessThanOrEqualTo(exact.makespan() * (1 + WITHIN));
            }
        }
        assertThat(proven).isGreaterThanOrEqualTo(290);
    }
}
