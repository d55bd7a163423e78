package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;

/**
 * A k-splittable allocation: each stream in at most k pieces.
 *
 * <p>Source: Agarwal et al., An Experimental Study of k-Splittable Scheduling for DNS-Based Traffic Allocation, Euro-Par
 * 2003. The bound is published beside the allocation; where the makespan meets it the allocation is proven optimal.
 *
 * @param split how streams are cut and where the pieces go
 * @param seed what {@link Split#EQUAL_RANDOM} draws from
 */
public record KSplittable(Split split, long seed) implements Policy {

    /** How streams are cut and where the pieces go. */
    public enum Split {
        /** Pieces of any size, so that the largest load is as small as possible, and then each lower one. */
        OPTIMAL,
        /** Equal pieces on replicas that are drawn for each stream alone. */
        EQUAL_RANDOM,
        /** Equal pieces on the least loaded replicas, the stream of the highest rate first. */
        EQUAL_SCHEDULED
    }

    /*
     * The algorithm of the optimal split, for n streams and m replicas.
     *
     * The problem is strongly NP-hard, already on identical replicas (Shachnai and Tamir, Algorithmica 32, 2002), but a greedy
     * packing at the right level nearly always meets the lower bound, which proves it optimal.
     *
     * 1. Eligibility cuts the instance into components. A stream that k does not limit is free: it is poured at the end, like
     *    a fluid, into what the others left, in proportions that all free streams of its class share (Fluid).
     * 2. The makespan is at least, for every set of streams, its rate over the capacity of the replicas that it can use. For
     *    the q largest streams that is the capacity of the qk fastest replicas. The best q names a bottleneck block; without
     *    it the rest is the same problem again, at a lower level. All blocks together are a concave majorant: O(n + m)
     *    after sorting (Blocks).
     * 3. A block of one stream is that stream on its k replicas. In a larger one, and in the last, where streams share
     *    replicas, each stream by descending rate over k takes the least window of consecutive residual capacities that
     *    suffices and fills it from the small end: O(k log m) each by searching a sorted sequence (Packer, Residuals). With
     *    small streams on identical replicas this is McNaughton's wrap-around (Management Science 6, 1959).
     * 4. Where a block cannot be packed at its level, a higher one is found by bisection. If that touches the makespan,
     *    other orders of packing, equal pieces, local search and, for the smallest instances, all choices of replicas are
     *    tried (Search), and on identical replicas a bound that counts bins (BinPackingBound).
     *
     * With one k for all, the result is within 1 + 1/k of the bound, on replicas of any capacities. Let windows have k + 1
     * replicas, and call T the bound. Invariant: for every p the p largest of the remaining streams do not exceed the pk
     * largest residuals. A least window of k + 1 loses exactly the stream's rate, and k of its replicas entirely. If all of
     * it is among the (p + 1)k largest residuals, then at least pk of those remain, with the old sum less the rate; if not,
     * it lies below the pk largest, which remain, and streams only get smaller (at the low end, where less is lost, either
     * that holds, or no more than pk residuals remain, and their sum suffices). So the invariant stands, and every stream
     * finds its window at T. Then the least of the k + 1 pieces is dropped, and the others grow by at most 1 + 1/k.
     *
     * Classes of streams whose replicas overlap: the same blocks class by class, then levels by a parametric maximum flow
     * (Overlap). Sorting dominates: O(n log n + n k log m) in all when the blocks fit, O(n + m + pieces) memory.
     */

    /** The optimal split. */
    public KSplittable() {
        this(Split.OPTIMAL, 0);
    }

    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting splitting = Splitting.of(in);
        return switch (split) {
            case OPTIMAL -> optimal(in, splitting);
            case EQUAL_RANDOM -> equal(in, splitting, new RandomSpread(in, seed).pieces());
            case EQUAL_SCHEDULED ->
                equal(in, splitting, new RotatingSpread(in, RotatingSpread.Proportions.EQUAL).pieces());
        };
    }

    @Override
    public Aim aim() {
        return switch (split) {
            case OPTIMAL -> Aim.LEVELS;
            case EQUAL_SCHEDULED -> Aim.EQUAL_PIECES;
            case EQUAL_RANDOM -> Aim.AS_IS;
        };
    }

    private static Allocation equal(Instance in, Splitting measure, List<List<Piece>> pieces) {
        return in.allocation(pieces::get, measure.level(), measure.bound());
    }

    private static Allocation optimal(Instance in, Splitting splitting) {
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
