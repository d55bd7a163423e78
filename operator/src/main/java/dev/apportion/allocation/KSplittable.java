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
        if (in.rated == in.n) {
            return in.allocation(splitting::pieces, splitting.level(), splitting.bound());
        }
        List<List<Piece>> unrated = RotatingSpread.unrated(in, splitting.load());
        return in.allocation(
                stream -> stream < in.rated ? splitting.pieces(stream) : unrated.get(stream),
                splitting.level(),
                splitting.bound());
    }
}
