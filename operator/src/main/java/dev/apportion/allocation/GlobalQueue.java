package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;

/**
 * Streams at home, and what would wait there for too long at sites with idle capacity: sites that are linked by a network of
 * limited capacity behave nearly like one with a single queue. Source: Tay and Pang, IEEE TKDE 12(3), 2000 (GWQ, and GWQ+L
 * with {@code reclaim}).
 *
 * @param reclaim if true, no more is away than has to be for the wait at home to meet the target; if false, home is relieved
 *     further once it overflows, down to half the target, as what was sent away is not called back
 * @param linkBudget the requests that may be served away from home at once; not negative
 * @param targetWait the predicted mean wait above which traffic overflows, in seconds; not negative
 * @param serviceTime the mean time that one request is served, in seconds; greater than zero
 */
public record GlobalQueue(boolean reclaim, double linkBudget, double targetWait, double serviceTime) implements Policy {

    @Override
    public Aim aim() {
        return Aim.AS_IS;
    }

    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        Overflow overflow = new Overflow(problem, this);
        overflow.run();
        Allocation measured = in.allocation(stream -> List.<Piece>of(), measure.level(), measure.bound());
        return new Allocation(overflow.pieces(), measured.levels(), measured.lowerBound(), overflow.reasons());
    }
}
