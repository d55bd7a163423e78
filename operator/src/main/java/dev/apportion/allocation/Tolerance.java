package dev.apportion.allocation;

/**
 * How far loads may be from what they shall be, and how much may move at a time.
 *
 * @param actAbove a load that is above its goal by more than this part of it is acted upon; not negative
 * @param repairTo a change brings loads to within this part above their goals; taken as actAbove where it is more
 * @param mostShifted the most of a stream that one change may move, 0 to 1
 */
public record Tolerance(double actAbove, double repairTo, double mostShifted) {

    public Tolerance {
        repairTo = Math.min(repairTo, actAbove);
    }
}
