package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The change of a running allocation that moves least traffic, after what a policy would do from scratch.
 *
 * <p>A policy that begins anew gives replicas that are alike other names: at rates that differ by a fifth, nine tenths of the
 * traffic would move, where one or two hundredths suffice. So what runs is repaired. At least the traffic of replicas that are gone moves, and
 * what {@link ChurnBound} finds.
 */
public final class LeastChange {

    /** A stream whose shares add up to this has lost none. */
    static final double WHOLE = 1 - 1e-9;

    /** The tolerances that a repair tries, from the narrow to the wide one. */
    private static final int STEPS = 4;

    private static final double PERCENT = 100;

    private final Instance in;
    private final Allocation policy;
    private final Tolerance tolerance;
    private final Shares running;

    /** The canonical streams of which something is published, be it on replicas that are not there any more. */
    private final boolean[] known;

    private final Shares fresh;
    private final double[] level;
    private final double[] goal;
    private final double[] weight;
    private final List<Mover> movers;

    private LeastChange(Problem problem, Running published, Allocation policy, Aim aim, Tolerance tolerance) {
        this.in = new Instance(problem);
        this.policy = policy;
        this.tolerance = tolerance;
        running = Shares.of(in, published);
        known = new boolean[in.n];
        for (int j = 0; j < in.n; j++) {
            known[j] = in.limit[j] > 0
                    && published.shares().getOrDefault(in.stream(j).name(), Map.of()).values().stream()
                            .anyMatch(share -> share > 0);
        }
        weight = weights();
        Shares as = Shares.of(in, policy);
        int[] image = switch (aim) {
            case LEVELS, EQUAL_PIECES, PIECES_BY_CAPACITY -> Relabelling.of(in, as, running, weight);
            case LOADS, AS_IS -> Draft.range(in.m);
        };
        fresh = Relabelling.apply(as, image, in.n);
        level = new double[in.m];
        for (int i = 0; i < in.m; i++) {
            level[image[i]] = in.canonicalLoad(policy.levels().get(in.replicaIndex(i)));
        }
        double[] load = fresh.loads(in, in.rate, 0, in.rated);
        goal = load.clone();
        for (int i = 0; i < in.m; i++) {
            goal[i] = switch (aim) {
                case LEVELS -> level[i];
                case EQUAL_PIECES, PIECES_BY_CAPACITY -> Math.max(level[i], load[i]);
                case LOADS, AS_IS -> load[i];
            };
        }
        movers = List.of(rated(aim), unrated(aim));
    }

    /**
     * Decides.
     *
     * @param problem the replicas that are there, and the streams
     * @param running what is published; what of it is not in the problem any more moves at once
     * @param policy what the policy makes of the problem
     * @param aim what of it has to be kept up with
     */
    public static Change of(
            Problem problem, Running running, Allocation policy, Aim aim, Tolerance tolerance, Occasion occasion) {
        return new LeastChange(problem, running, policy, aim, tolerance).decide(occasion);
    }

    private Mover rated(Aim aim) {
        return switch (aim) {
            case LEVELS, LOADS -> new PieceSizes(in, goal);
            case EQUAL_PIECES -> new PiecePlaces(in, false, goal, in.rate, 0, in.rated);
            case PIECES_BY_CAPACITY -> new PiecePlaces(in, true, goal, in.rate, 0, in.rated);
            case AS_IS -> new PolicyShares(fresh, 0, in.rated);
        };
    }

    /** Streams without rate count among themselves. */
    private Mover unrated(Aim aim) {
        double[] nominal = PolicyShares.worstOfGroup(in, fresh.loads(in, weight, in.rated, in.n));
        return switch (aim) {
            case EQUAL_PIECES -> new PiecePlaces(in, false, nominal, weight, in.rated, in.n);
            case LEVELS, PIECES_BY_CAPACITY -> new PiecePlaces(in, true, nominal, weight, in.rated, in.n);
            case LOADS, AS_IS -> new PolicyShares(fresh, in.rated, in.n);
        };
    }

    /** Rates; for streams that have none, one that is lost beside them. */
    private double[] weights() {
        double[] weights = in.rate.clone();
        double small = in.rated == 0 ? 1 : in.rate[in.rated - 1] / 1024;
        for (int j = in.rated; j < in.n; j++) {
            weights[j] = small;
        }
        return weights;
    }

    private Change decide(Occasion occasion) {
        boolean any = false;
        for (int j = 0; j < in.n; j++) {
            any |= running.has(j);
        }
        if (!any) {
            return new Change.Resolved(effect(fresh, 0, false), "nothing is published on replicas that are there");
        }
        Shares placed = running.copy();
        movers.forEach(mover -> mover.place(placed));
        boolean settled = movers.stream().allMatch(mover -> mover.settled(placed, tolerance.actAbove()))
                && !leavesReplicasIdle(placed);
        return switch (occasion) {
            case COOLING -> kept(placed, !settled, settled ? within() : "too soon after the last change");
            case DRIFT -> settled ? kept(placed, false, within()) : act(placed);
            case INTENT -> act(placed);
        };
    }

    private String within() {
        return "acts above %s".formatted(decimal(1 + tolerance.actAbove()));
    }

    /** Where the running allocation has no use for a replica, and the policy's has. */
    private boolean leavesReplicasIdle(Shares shares) {
        double[] used = shares.loads(in, weight, 0, in.n);
        double[] wanted = fresh.loads(in, weight, 0, in.n);
        for (int i = 0; i < in.m; i++) {
            if (used[i] == 0 && wanted[i] > 0) {
                return true;
            }
        }
        return false;
    }

    private Change act(Shares placed) {
        if (nobodyIsLimited()) {
            // Such shares follow rates and capacities without jumps, and a repair would make them differ by stream.
            return resolved(placed, "every stream uses every replica");
        }
        for (int step = 0; step < STEPS; step++) {
            double within = tolerance.repairTo() + (tolerance.actAbove() - tolerance.repairTo()) * step / (STEPS - 1);
            Shares repaired = placed.copy();
            boolean done = true;
            for (Mover mover : movers) {
                done &= mover.repair(repaired, within);
            }
            if (done) {
                return hardlyMoreMoves(placed, repaired)
                        ? resolved(placed, "little more moves than by a repair")
                        : repaired(placed, repaired, within);
            }
        }
        return resolved(
                placed,
                "no repair brings every load below %s of its level".formatted(decimal(1 + tolerance.actAbove())));
    }

    private boolean nobodyIsLimited() {
        for (int j = 0; j < in.n; j++) {
            if (in.limit[j] > 0 && !in.free(j)) {
                return false;
            }
        }
        return true;
    }

    private Change repaired(Shares placed, Shares repaired, double within) {
        Shares result = limited(placed, repaired);
        boolean same = true;
        for (int j = 0; j < in.n; j++) {
            same &= result.same(j, placed);
        }
        if (same) {
            return kept(placed, false, within());
        }
        return new Change.Repaired(effect(result, within, result != repaired), "to %s".formatted(decimal(1 + within)));
    }

    private Change resolved(Shares placed, String reason) {
        Shares result = limited(placed, fresh);
        return new Change.Resolved(effect(result, tolerance.repairTo(), result != fresh), reason);
    }

    /** Nothing moves by choice. */
    private Change kept(Shares placed, boolean unfinished, String reason) {
        Change.Effect effect = effect(placed, tolerance.actAbove(), unfinished);
        return effect.moved() > 0 ? new Change.Repaired(effect, reason) : new Change.Kept(effect, reason);
    }

    /** Whether the policy's own allocation costs so little more than a repair that it is worth its exactness. */
    private boolean hardlyMoreMoves(Shares placed, Shares repaired) {
        return hardlyMoreMoves(placed, repaired, 0, in.rated) && hardlyMoreMoves(placed, repaired, in.rated, in.n);
    }

    private boolean hardlyMoreMoves(Shares placed, Shares repaired, int from, int to) {
        double all = 0;
        double more = 0;
        for (int j = from; j < to; j++) {
            if (running.has(j)) {
                all += weight[j];
                more += weight[j] * (repaired.common(j, placed) - fresh.common(j, placed));
            }
        }
        return more <= all * tolerance.repairTo();
    }

    /** Shares on the way to others, as far as one change may go. */
    private Shares limited(Shares placed, Shares target) {
        if (tolerance.mostShifted() >= 1) {
            return target;
        }
        Shares limited = target.copy();
        boolean cut = false;
        for (int j = 0; j < in.n; j++) {
            if (running.has(j) && 1 - placed.common(j, target) > tolerance.mostShifted() + 1 - WHOLE) {
                new Shift(in, j, placed, target).upTo(tolerance.mostShifted(), limited);
                cut = true;
            }
        }
        return cut ? limited : target;
    }

    private Change.Effect effect(Shares shares, double within, boolean unfinished) {
        List<List<Piece>> streams = new ArrayList<>(Collections.nCopies(in.n, List.of()));
        Set<String> kept = new HashSet<>();
        double all = 0;
        double moved = 0;
        double stranded = 0;
        for (int j = 0; j < in.n; j++) {
            int[] at = shares.at(j);
            if (at.length > 0) {
                streams.set(in.streamIndex(j), in.pieces(at, shares.share(j), 0, at.length));
            }
            if (!known[j]) {
                continue;
            }
            if (running.has(j) && shares.same(j, running)) {
                kept.add(in.stream(j).name());
            }
            all += in.rate[j];
            double lost = Math.max(0, 1 - running.sum(j));
            stranded += in.rate[j] * (lost > 1 - WHOLE ? lost : 0);
            moved += shares.same(j, running) ? 0 : in.rate[j] * Math.max(0, 1 - shares.common(j, running));
        }
        double[] most = new double[in.m];
        for (int i = 0; i < in.m; i++) {
            most[i] = goal[i] * (1 + within) * in.capacity[i];
        }
        double unavoidable = stranded + ChurnBound.of(in, running, most);
        double[] load = shares.loads(in, in.rate, 0, in.rated);
        double worst = 0;
        Double[] levels = new Double[in.m];
        for (int i = 0; i < in.m; i++) {
            levels[in.replicaIndex(i)] = in.load(level[i]);
            worst = load[i] > 0 ? Math.max(worst, load[i] / goal[i]) : worst;
        }
        return new Change.Effect(
                new Allocation(
                        Collections.unmodifiableList(streams), List.of(levels), policy.lowerBound(), policy.because()),
                Collections.unmodifiableSet(kept),
                all > 0 ? moved / all : 0,
                all > 0 ? unavoidable / all : 0,
                Math.min(worst, Double.MAX_VALUE),
                unfinished);
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.2f", Math.round(value * PERCENT) / PERCENT);
    }
}
