package dev.apportion.allocation;

import com.google.ortools.Loader;
import com.google.ortools.linearsolver.MPConstraint;
import com.google.ortools.linearsolver.MPObjective;
import com.google.ortools.linearsolver.MPSolver;
import com.google.ortools.linearsolver.MPSolverParameters;
import com.google.ortools.linearsolver.MPVariable;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What has to move at least so that no replica bears too much, by mixed-integer programming with SCIP: the streams with the
 * largest rates have at most k replicas each, and all others may be anywhere, in any parts, so that no change moves less.
 */
final class LeastChurn {

    /** Tolerances of solvers are absolute: next to numbers of this size they are small. */
    private static final double SCALE = 1000;

    /** Streams that have no more than k replicas. */
    private static final int WHOLE_STREAMS = 16;

    /** How near the bound has to come to the best change that the solver knows, as a part of what stays. */
    private static final double GAP = 1e-4;

    static {
        Loader.loadNativeLibraries();
    }

    private final Problem problem;
    private final Running running;
    private final MPSolver solver;
    private final MPObjective staying;
    private final MPConstraint[] within;
    private final double[] most;
    private final double unit;

    private LeastChurn(Problem problem, Running running, List<Double> levels, double tolerance, MPSolver solver) {
        this.problem = problem;
        this.running = running;
        this.solver = solver;
        unit = SCALE / problem.streams().stream().mapToDouble(Stream::rate).sum();
        staying = solver.objective();
        within = new MPConstraint[problem.replicas().size()];
        most = new double[within.length];
        for (int i = 0; i < within.length; i++) {
            most[i] =
                    levels.get(i) * (1 + tolerance) * problem.replicas().get(i).capacity() * unit;
            within[i] = solver.makeConstraint(Double.NEGATIVE_INFINITY, most[i]);
        }
    }

    /**
     * A lower bound, as a part of all traffic.
     *
     * @param problem replicas that all streams may use
     * @param levels the load of each replica that is not too much
     * @param tolerance by what part of it a load may be above its level
     * @param limit time after which the bound that is known then has to do
     */
    static double bound(Problem problem, Running running, List<Double> levels, double tolerance, Duration limit) {
        MPSolver solver = MPSolver.createSolver("SCIP");
        try {
            return new LeastChurn(problem, running, levels, tolerance, solver).bound(limit);
        } finally {
            solver.delete();
        }
    }

    private double bound(Duration limit) {
        List<Stream> largest = problem.streams().stream()
                .sorted(Comparator.comparingDouble(Stream::rate).reversed())
                .limit(WHOLE_STREAMS)
                .toList();
        double[] others = new double[within.length];
        for (Stream stream : problem.streams()) {
            if (largest.contains(stream)) {
                add(stream);
            } else {
                for (int i = 0; i < others.length; i++) {
                    others[i] += first(stream, i);
                }
            }
        }
        for (int i = 0; i < others.length; i++) {
            stays(others[i], i);
        }
        staying.setMaximization();
        solver.setTimeLimit(limit.toMillis());
        MPSolverParameters parameters = new MPSolverParameters();
        parameters.setDoubleParam(MPSolverParameters.DoubleParam.RELATIVE_MIP_GAP, GAP);
        solver.solve(parameters);
        return Math.max(0, 1 - staying.bestBound() / SCALE);
    }

    /** At most k replicas, on each of which some of it stays, and more may come. */
    private void add(Stream stream) {
        MPConstraint all = solver.makeConstraint(stream.rate() * unit, stream.rate() * unit);
        MPConstraint few = solver.makeConstraint(0, stream.maxReplicas());
        for (int i = 0; i < within.length; i++) {
            MPVariable used = solver.makeBoolVar("y");
            few.setCoefficient(used, 1);
            double first = Math.min(first(stream, i), most[i]);
            if (first > 0) {
                MPVariable stays = stays(first, i);
                all.setCoefficient(stays, 1);
                onlyIf(used, stays, first);
            }
            double largest = Math.min(stream.rate() * unit, most[i]);
            MPVariable comes = solver.makeNumVar(0, largest, "x");
            all.setCoefficient(comes, 1);
            within[i].setCoefficient(comes, 1);
            onlyIf(used, comes, largest);
        }
    }

    private MPVariable stays(double atMost, int replica) {
        MPVariable stays = solver.makeNumVar(0, atMost, "s");
        staying.setCoefficient(stays, 1);
        within[replica].setCoefficient(stays, 1);
        return stays;
    }

    private void onlyIf(MPVariable used, MPVariable amount, double largest) {
        MPConstraint linked = solver.makeConstraint(Double.NEGATIVE_INFINITY, 0);
        linked.setCoefficient(amount, 1);
        linked.setCoefficient(used, -largest);
    }

    private double first(Stream stream, int replica) {
        Replica there = problem.replicas().get(replica);
        Map<String, Double> shares = Objects.requireNonNull(running.shares().get(stream.name()));
        return shares.getOrDefault(there.name(), 0.0) * stream.rate() * unit;
    }
}
