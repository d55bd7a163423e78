package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;

/**
 * Equal shares, whatever the capacities: what a plain rotated address list does. A stream with fewer than all its eligible
 * replicas uses the least loaded ones; streams choose by descending rate. Source: RFC 1794.
 */
public record RoundRobin() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        List<List<Piece>> pieces = new RotatingSpread(in, RotatingSpread.Proportions.EQUAL).pieces();
        return in.allocation(pieces::get, measure.level(), measure.bound());
    }

    @Override
    public Aim aim() {
        return Aim.EQUAL_PIECES;
    }
}
