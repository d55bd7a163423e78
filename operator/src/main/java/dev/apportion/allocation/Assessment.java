package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What an allocation does to the replicas, computed from the shares that are really published.
 *
 * @param loads the load (requests/s over capacity) of each replica, in the order of {@link Problem#replicas()}
 * @param makespan the largest load
 * @param average all rates that some replica can serve, over the capacity of all replicas that some stream may use
 * @param lowerBound no allocation whatever has a smaller makespan than this
 * @param optimalityGap makespan/lowerBound − 1: no allocation is better by more than this; 0 when nothing is loaded
 * @param worstOverLevel the largest load/level; 0 when nothing is loaded
 */
public record Assessment(
        List<Double> loads,
        double makespan,
        double average,
        double lowerBound,
        double optimalityGap,
        double worstOverLevel) {

    /**
     * Assesses published shares.
     *
     * @param problem the problem that they answer
     * @param published the pieces of each stream, in the order of {@link Problem#streams()}
     * @param allocation an allocation of the same problem; its levels and its bound are the measure
     */
    public static Assessment of(Problem problem, List<List<Piece>> published, Allocation allocation) {
        double[] served = new double[problem.replicas().size()];
        for (int j = 0; j < published.size(); j++) {
            double rate = problem.streams().get(j).rate();
            for (Piece piece : published.get(j)) {
                served[piece.replica()] += rate * piece.share();
            }
        }
        List<Double> loads = new ArrayList<>(served.length);
        double makespan = 0;
        double worstOverLevel = 0;
        for (int i = 0; i < served.length; i++) {
            double load = served[i] / problem.replicas().get(i).capacity();
            loads.add(load);
            makespan = Math.max(makespan, load);
            if (load > 0) {
                worstOverLevel =
                        Math.max(worstOverLevel, ratio(load, allocation.levels().get(i)));
            }
        }
        double bound = allocation.lowerBound();
        return new Assessment(
                Collections.unmodifiableList(loads),
                makespan,
                average(problem),
                bound,
                makespan > 0 ? Math.max(0, ratio(makespan, bound) - 1) : 0,
                worstOverLevel);
    }

    /** A quotient that stays a finite number: published shares may load a replica for which the problem has no use. */
    private static double ratio(double load, double measure) {
        return Math.min(load / measure, Double.MAX_VALUE);
    }

    private static double average(Problem problem) {
        Eligibility.Wishes wishes = new Eligibility.Wishes();
        for (Problem.Stream stream : problem.streams()) {
            wishes.number(stream.sites());
        }
        Eligibility eligibility = Eligibility.of(problem.replicas(), wishes);
        double rate = 0;
        for (Problem.Stream stream : problem.streams()) {
            if (eligibility.eligible(eligibility.classOf(wishes.number(stream.sites()))) > 0) {
                rate += stream.rate();
            }
        }
        double capacity = 0;
        for (int i = 0; i < problem.replicas().size(); i++) {
            if (eligibility.groupOf(i) >= 0) {
                capacity += problem.replicas().get(i).capacity();
            }
        }
        return capacity > 0 ? rate / capacity : 0;
    }
}
