package dev.apportion.allocation;

import com.google.ortools.Loader;
import com.google.ortools.linearsolver.MPConstraint;
import com.google.ortools.linearsolver.MPObjective;
import com.google.ortools.linearsolver.MPSolver;
import com.google.ortools.linearsolver.MPVariable;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.time.Duration;
import java.util.List;

/**
 * The least makespan of a problem by mixed-integer programming, with SCIP: min T, where every stream is shared out, a share
 * is on a chosen replica, no stream has chosen more than k, and no replica has more than its capacity times T.
 */
final class MixedInteger {

    /** Tolerances of solvers are absolute: next to numbers of this size they are small. */
    private static final double SCALE = 1000;

    /** The makespan of a choice costs time in the number of sets of streams. */
    private static final int MOST_STREAMS = 16;

    static {
        Loader.loadNativeLibraries();
    }

    private MixedInteger() {}

    /**
     * What the solver found.
     *
     * @param makespan the makespan of the best choice of replicas that it found; of few streams computed from that choice, else
     *     as the solver has it
     * @param bound no allocation is better, as far as the solver's arithmetic goes
     * @param proven whether it says that the best one is optimal
     */
    record Solution(double makespan, double bound, boolean proven) {}

    /**
     * Solves a problem whose streams have rates and eligible replicas.
     *
     * @param reached a makespan that is known to be possible; better ones are looked for
     */
    static Solution solve(Problem problem, double reached, Duration limit) {
        MPSolver solver = MPSolver.createSolver("SCIP");
        try {
            return solve(solver, problem, reached, limit);
        } finally {
            solver.delete();
        }
    }

    private static Solution solve(MPSolver solver, Problem problem, double reached, Duration limit) {
        List<Replica> replicas = problem.replicas();
        List<Stream> streams = problem.streams();
        double unit = SCALE / reached;
        MPVariable makespan = solver.makeNumVar(0, SCALE * (1 + 1e-6), "T");
        MPVariable[][] chosen = new MPVariable[streams.size()][replicas.size()];
        MPConstraint[] within = new MPConstraint[replicas.size()];
        for (int i = 0; i < within.length; i++) {
            within[i] = solver.makeConstraint(Double.NEGATIVE_INFINITY, 0);
            within[i].setCoefficient(makespan, -replicas.get(i).capacity());
        }
        for (int j = 0; j < streams.size(); j++) {
            Stream stream = streams.get(j);
            MPConstraint all = solver.makeConstraint(1, 1);
            MPConstraint few = solver.makeConstraint(0, stream.maxReplicas());
            for (int i = 0; i < within.length; i++) {
                if (stream.sites().isEmpty()
                        || stream.sites().contains(replicas.get(i).site())) {
                    MPVariable share = solver.makeNumVar(0, 1, "x");
                    chosen[j][i] = solver.makeBoolVar("y");
                    MPConstraint linked = solver.makeConstraint(Double.NEGATIVE_INFINITY, 0);
                    linked.setCoefficient(share, 1);
                    linked.setCoefficient(chosen[j][i], -1);
                    all.setCoefficient(share, 1);
                    few.setCoefficient(chosen[j][i], 1);
                    within[i].setCoefficient(share, stream.rate() * unit);
                }
            }
        }
        MPObjective objective = solver.objective();
        objective.setCoefficient(makespan, 1);
        objective.setMinimization();
        solver.setTimeLimit(limit.toMillis());
        MPSolver.ResultStatus status = solver.solve();
        boolean found = status == MPSolver.ResultStatus.OPTIMAL || status == MPSolver.ResultStatus.FEASIBLE;
        if (!found) {
            return new Solution(Double.POSITIVE_INFINITY, 0, false);
        }
        int[] choice = new int[streams.size()];
        for (int j = 0; j < choice.length; j++) {
            for (int i = 0; i < within.length; i++) {
                if (chosen[j][i] != null && chosen[j][i].solutionValue() > 0.5) {
                    choice[j] |= 1 << i;
                }
            }
        }
        return new Solution(
                choice.length <= MOST_STREAMS ? Optimum.ofChoice(problem, choice) : objective.value() / unit,
                objective.bestBound() / unit,
                status == MPSolver.ResultStatus.OPTIMAL);
    }
}
