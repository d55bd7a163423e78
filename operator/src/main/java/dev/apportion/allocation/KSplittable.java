package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;

/**
 * The optimal k-splittable allocation: each stream in at most k pieces, which may differ in size, so that the largest load
 * is as small as possible, and then each lower one.
 *
 * <p>Source: Agarwal, Asano et al., Euro-Par 2003. The bound is published beside the allocation; where the makespan meets
 * it the allocation is proven optimal.
 */
public record KSplittable() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting splitting = Splitting.of(in);
        List<List<Piece>> pieces = splitting.pieces();
        RotatingSpread.placeUnrated(in, splitting.load(), pieces);
        return in.allocation(pieces, splitting.level(), splitting.bound());
    }
}
