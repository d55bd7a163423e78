package dev.apportion.allocation;

import static dev.apportion.allocation.Problems.replica;
import static dev.apportion.allocation.Problems.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssessmentTest {

    @Test
    void thePublishedSharesAreAssessedNotTheIntendedOnes() {
        Problem problem = new Problem(
                List.of(replica("r0", 10), replica("r1", 30), replica("idle", "elsewhere", 60)),
                List.of(stream("a", 40, 2, "main"), stream("b", 8, 1, "main")));
        List<List<Piece>> published = List.of(List.of(new Piece(0, 0.5), new Piece(1, 0.5)), List.of(new Piece(1, 1)));
        Allocation allocation = new Allocation(List.of(), List.of(1.0, 1.25, 0.0), 1.2);
        assertThat(Assessment.of(problem, published, allocation))
                .isEqualTo(new Assessment(List.of(2.0, 28.0 / 30, 0.0), 2, 1.2, 1.2, 2 / 1.2 - 1, 2));
    }

    @Test
    void nothingLoadedHasNoGap() {
        Problem problem = new Problem(Problems.identical(2), List.of(stream("a", 0, 2)));
        Allocation allocation = new WeightedRoundRobin().allocate(problem);
        assertThat(Assessment.of(problem, allocation.streams(), allocation))
                .isEqualTo(new Assessment(List.of(0.0, 0.0), 0, 0, 0, 0, 0));
    }

    @Test
    void loadWhereTheProblemHasNoUseForItIsAFiniteExcess() {
        Problem problem =
                new Problem(List.of(replica("here", 1), replica("there", "b", 1)), List.of(stream("a", 1, 1, "main")));
        Allocation allocation = new KSplittable().allocate(problem);
        Assessment assessment = Assessment.of(problem, List.of(List.of(new Piece(1, 1))), allocation);
        assertThat(assessment.worstOverLevel()).isEqualTo(Double.MAX_VALUE);
        assertThat(assessment.optimalityGap()).isZero();
    }
}
