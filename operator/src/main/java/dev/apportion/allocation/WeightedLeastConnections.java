package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import java.util.List;
import java.util.OptionalInt;

/**
 * Shares as a weighted least-connection scheduler would give them during the next time to live: each request to the replica
 * with the fewest connections for its capacity. Where connections were not measured, requests in flight stand for them; a
 * replica of which neither is known counts as if it had as many as the others for its capacity.
 *
 * <p>Source: Choi et al., improved weighted least-connection, 2010.
 *
 * @param maxContinuousAllocations L, the most requests in a row that go to a new replica, at least one; empty for no limit
 * @param round what is counted until a replica that was passed over comes back
 */
public record WeightedLeastConnections(OptionalInt maxContinuousAllocations, Round round) implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        ConnectionSpread spread = new ConnectionSpread(in, in.capacity, maxContinuousAllocations, round);
        List<List<Piece>> pieces = spread.pieces();
        return in.allocation(pieces::get, measure.level(), measure.bound()).because(spread.because());
    }
}
