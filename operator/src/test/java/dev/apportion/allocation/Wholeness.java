package dev.apportion.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** That an allocation shares every stream out, over no more than k of the replicas that may serve it. */
final class Wholeness {

    private Wholeness() {}

    /**
     * Fails if it does not.
     *
     * @param what names the allocation in the message
     */
    static void check(String what, Problem problem, Allocation allocation) {
        assertThat(allocation.streams()).as(what).hasSameSizeAs(problem.streams());
        assertThat(allocation.levels()).as(what).hasSameSizeAs(problem.replicas());
        for (int j = 0; j < problem.streams().size(); j++) {
            Stream stream = problem.streams().get(j);
            List<Piece> pieces = allocation.streams().get(j);
            List<Replica> eligible = problem.replicas().stream()
                    .filter(r -> stream.sites().isEmpty() || stream.sites().contains(r.site()))
                    .toList();
            if (eligible.isEmpty()) {
                assertThat(pieces).isEmpty();
                continue;
            }
            assertThat(pieces).as("%s, %s", what, stream).isNotEmpty().hasSizeLessThanOrEqualTo(stream.maxReplicas());
            Set<Integer> used = new HashSet<>();
            double sum = 0;
            for (Piece piece : pieces) {
                assertThat(used.add(piece.replica())).isTrue();
                assertThat(piece.replica()).isBetween(0, problem.replicas().size() - 1);
                assertThat(eligible).contains(problem.replicas().get(piece.replica()));
                assertThat(piece.share()).isPositive().isLessThanOrEqualTo(1);
                sum += piece.share();
            }
            assertThat(sum).isCloseTo(1, within(1e-9));
        }
    }
}
