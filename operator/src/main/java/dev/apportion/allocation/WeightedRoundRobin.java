package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;

/**
 * Shares in proportion to capacity. A stream with fewer than all its eligible replicas uses the least loaded ones; streams
 * choose by descending rate.
 */
public record WeightedRoundRobin() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        List<List<Piece>> pieces = new RotatingSpread(in, RotatingSpread.Proportions.BY_CAPACITY).pieces();
        return in.allocation(pieces::get, measure.level(), measure.bound());
    }

    @Override
    public Aim aim() {
        return Aim.PIECES_BY_CAPACITY;
    }
}
