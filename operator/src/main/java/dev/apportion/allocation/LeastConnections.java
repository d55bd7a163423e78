package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * Shares as a least-connection scheduler would give them during the next time to live: each request to the replica with the
 * fewest connections, whatever the capacities. Where connections were not measured, requests in flight stand for them; a
 * replica of which neither is known counts as the mean of the others.
 */
public record LeastConnections() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        double[] weight = new double[in.m];
        Arrays.fill(weight, 1);
        ConnectionSpread spread = new ConnectionSpread(in, weight, OptionalInt.empty(), Round.ALLOCATION);
        List<List<Piece>> pieces = spread.pieces();
        return in.allocation(pieces::get, measure.level(), measure.bound()).because(spread.because());
    }
}
