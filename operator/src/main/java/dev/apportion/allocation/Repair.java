package dev.apportion.allocation;

import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Takes from replicas that have too much no more than that. Streams that outgrew their replicas give some of them up for others
 * first, where least moves by that; then the replica that is worst is relieved by {@link Chains}, and where none leads
 * to room, by having a stream near it give replicas up. At last what has moved most is looked at once more: less may do.
 */
final class Repair {

    private static final double ROUNDING = Placement.ROUNDING;

    /** Ways out that are tried for a stream that outgrew its replicas. */
    private static final int MOST_TRIED = 64;

    /** How often, and of how many streams, it is tried to move less. */
    private static final int MOST_ROUNDS = 3;

    private static final int MOST_IMPROVED = 48;

    private final Instance in;
    private final Placement placement;
    private final Chains chains;

    private Repair(Placement placement) {
        this.placement = placement;
        in = placement.in;
        chains = new Chains(placement);
    }

    /** A way out that a stream may take, and what more moves by it. */
    private record Trial(int stream, Widening.Choice choice, double cost) {}

    /** Repairs; returns whether no replica has too much any more. */
    static boolean of(Placement placement) {
        Repair repair = new Repair(placement);
        boolean done = repair.relieve();
        if (done) {
            repair.improve();
        }
        return done;
    }

    private boolean relieve() {
        for (int j = 0; j < in.rated; j++) {
            if (Widening.outgrew(in, j, placement.at(j), placement.most)) {
                Trial best = cheapest(j, null, () -> true);
                if (best != null) {
                    take(best.stream(), best.choice());
                }
            }
        }
        int[] over = IntStream.range(0, in.m)
                .filter(placement::isAbove)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer i) -> placement.room[i] / placement.most[i])
                        .thenComparingInt(in::nameRank))
                .mapToInt(Integer::intValue)
                .toArray();
        boolean done = true;
        for (int replica : over) {
            if (!chains.relieve(replica)) {
                rearrange(replica);
            }
            done &= !placement.isAbove(replica);
        }
        return done;
    }

    /** Has a stream on a replica, or on one beside it, give replicas up for others, so that the replica is relieved. */
    private void rearrange(int replica) {
        Set<Integer> near = new TreeSet<>(placement.on(replica));
        for (int stream : placement.on(replica)) {
            for (int other : placement.at(stream)) {
                near.addAll(placement.on(other));
            }
        }
        Trial best = null;
        for (int stream : near) {
            if (placement.at(stream).length <= Widening.MOST_CHOICES && !placement.isTired()) {
                best = cheapest(stream, best, () -> chains.relieve(replica));
            }
        }
        if (best != null) {
            take(best.stream(), best.choice());
            chains.relieve(replica);
        }
    }

    /** The cheapest way out of a stream after which all is well, if it is cheaper than one that is known. */
    private @Nullable Trial cheapest(int stream, @Nullable Trial known, BooleanSupplier andThen) {
        Widening widening = new Widening(
                in,
                stream,
                placement.most,
                i -> placement.room[i] + placement.amountOn(stream, i),
                placement.firstAt(stream),
                placement.firstAmounts(stream));
        placement.worked((long) in.m << placement.firstAt(stream).length);
        Trial best = known;
        for (Widening.Choice choice : widening.cheapest(MOST_TRIED)) {
            placement.trial();
            boolean done = take(stream, choice) && andThen.getAsBoolean();
            double cost = placement.undo();
            if (done && (best == null || cost < best.cost())) {
                best = new Trial(stream, choice, cost);
            }
        }
        return best;
    }

    private void improve() {
        boolean better = true;
        for (int round = 0; round < MOST_ROUNDS && better; round++) {
            better = false;
            int[] movedMost = IntStream.range(0, in.rated)
                    .filter(j -> placement.isTouched(j)
                            && placement.away(j) > 0
                            && placement.firstAt(j).length <= Widening.MOST_CHOICES)
                    .boxed()
                    .sorted(Comparator.comparingDouble((Integer j) -> -placement.away(j))
                            .thenComparingInt(j -> j))
                    .limit(MOST_IMPROVED)
                    .mapToInt(Integer::intValue)
                    .toArray();
            for (int stream : movedMost) {
                better |= !placement.isTired() && improve(stream);
            }
        }
    }

    private boolean improve(int stream) {
        Trial best = cheapest(stream, null, () -> true);
        if (best == null || best.cost() >= -in.rate[0] * ROUNDING) {
            return false;
        }
        take(stream, best.choice());
        return true;
    }

    /** Fills what is free, and then what drives others away; whether they find a place. */
    private boolean take(int stream, Widening.Choice choice) {
        int[] left = placement.at(stream);
        int[] own = placement.firstAt(stream);
        int[] to = IntStream.concat(
                        IntStream.range(0, own.length).filter(choice::keeps).map(p -> own[p]),
                        choice.added().stream().mapToInt(Integer::intValue))
                .toArray();
        placement.replace(stream, to, amounts(stream, to));
        boolean done = true;
        for (int replica : to) {
            done = done && chains.relieve(replica);
        }
        for (int replica : left) {
            comeBack(replica);
        }
        return done;
    }

    private double[] amounts(int stream, int[] to) {
        double[] amounts = new double[to.length];
        double[] free = new double[to.length];
        double more = in.rate[stream];
        double all = 0;
        for (int p = 0; p < to.length; p++) {
            double most = placement.most[to[p]];
            double unused = placement.room[to[p]] + placement.amountOn(stream, to[p]);
            amounts[p] = Math.min(most, placement.first(stream, to[p]));
            free[p] = Math.clamp(unused - amounts[p], 0, most - amounts[p]);
            more -= amounts[p];
            all += free[p];
        }
        double part = all > 0 ? Math.clamp(more / all, 0, 1) : 0;
        for (int p = 0; p < to.length; p++) {
            amounts[p] += part * free[p];
            more -= part * free[p];
        }
        for (int p = to.length - 1; p >= 0 && more > 0; p--) {
            double crowding = Math.min(more, placement.most[to[p]] - amounts[p]);
            amounts[p] += crowding;
            more -= crowding;
        }
        return amounts;
    }

    /** Has what was on a replica come back, as far as there is room. */
    private void comeBack(int replica) {
        for (int stream : placement.firstOn(replica)) {
            double missing = placement.first(stream, replica) - placement.amountOn(stream, replica);
            for (int from : placement.at(stream)) {
                double there = placement.amountOn(stream, from);
                double surplus = there - placement.first(stream, from);
                double shift = Math.min(Math.min(missing, surplus), placement.room[replica]);
                if (from == replica || !(shift > in.rate[stream] * Placement.LEAST_SHARE)) {
                    continue;
                }
                boolean whole = shift >= there - in.rate[stream] * ROUNDING;
                if (whole || placement.amountOn(stream, replica) > 0 || placement.mayHaveMore(stream)) {
                    placement.move(stream, from, replica, shift);
                    missing -= shift;
                }
            }
        }
    }
}
