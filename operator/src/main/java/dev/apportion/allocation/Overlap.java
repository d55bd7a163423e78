package dev.apportion.allocation;

import dev.apportion.allocation.Packer.Rule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Splits streams of several classes whose replicas overlap.
 *
 * <p>While some stream alone needs a higher level on its k fastest replicas than its class does as a fluid, it takes them
 * for itself. What remains is poured as a fluid, which cuts it into parts with a level each; in a part the classes with the
 * fewest replicas are packed first. If that fails, each class gets the room that the fluid had; if that fails too, the level
 * is raised.
 */
final class Overlap {

    private final Instance in;
    private final Packer packer;
    private final Component component;
    private final int[] classes;
    private final int[][] streams;
    private final double[] free;
    private final Draft out;
    private final double[] level;

    private final int[][] groups;
    private final int[][] remaining;
    private final double[] capacityLeft;
    private final int[] next;

    /** Of each class, the rate of the streams from one on, with the free ones. */
    private final double[][] rateFrom;

    /**
     * @param out receives the pieces
     * @param level receives the level of each replica
     */
    Overlap(Instance in, Packer packer, Component component, Draft out, double[] level) {
        this.in = in;
        this.packer = packer;
        this.component = component;
        this.out = out;
        this.level = level;
        classes = component.classes;
        streams = component.limited;
        free = component.free;
        groups = new int[classes.length][];
        for (int c = 0; c < classes.length; c++) {
            groups[c] = in.eligibility.groups(classes[c]);
        }
        remaining = new int[in.eligibility.groupCount()][];
        for (int[] used : groups) {
            for (int g : used) {
                remaining[g] = in.replicasOfGroup[g];
            }
        }
        for (int g = 0; g < remaining.length; g++) {
            remaining[g] = remaining[g] == null ? new int[0] : remaining[g];
        }
        next = new int[classes.length];
        capacityLeft = new double[remaining.length];
        for (int g = 0; g < remaining.length; g++) {
            capacityLeft[g] = capacity(remaining[g]);
        }
        rateFrom = new double[classes.length][];
        for (int c = 0; c < classes.length; c++) {
            rateFrom[c] = new double[streams[c].length + 1];
            rateFrom[c][streams[c].length] = free[c];
            for (int s = streams[c].length - 1; s >= 0; s--) {
                rateFrom[c][s] = rateFrom[c][s + 1] + in.rate[streams[c][s]];
            }
        }
    }

    /** Packs the streams; the answer is a lower bound of the makespan. */
    double pack() {
        double bound = bound();
        Fluid fluid = fluid();
        for (int c = 0; c < classes.length; c++) {
            bound = Math.max(bound, fluid.classLevel(c));
        }
        Fluid settled = takeBulky(fluid);
        packParts(settled);
        double reached = new Balance(in, component).makespan(out.packing);
        return new Levelling(in, packer).improved(component, bound, reached, out, level);
    }

    /** The best of the bounds of the classes, each with all classes whose replicas are among its own. */
    private double bound() {
        double bound = 0;
        for (int c = 0; c < classes.length; c++) {
            int[] own = groups[c];
            int size = 0;
            double poured = 0;
            List<int[]> within = new ArrayList<>();
            for (int d = 0; d < classes.length; d++) {
                if (Arrays.stream(groups[d]).allMatch(g -> Arrays.binarySearch(own, g) >= 0)) {
                    within.add(streams[d]);
                    size += streams[d].length;
                    poured += free[d];
                }
            }
            int[] all = new int[size];
            int count = 0;
            for (int[] some : within) {
                System.arraycopy(some, 0, all, count, some.length);
                count += some.length;
            }
            int[] replicas = component.eligible[c];
            bound = Math.max(bound, new Blocks(in, Splitting.byPieceSize(in, all), replicas, poured).bound());
        }
        return bound;
    }

    private Fluid fluid() {
        Fluid.Basin[] basins = new Fluid.Basin[remaining.length];
        for (int g = 0; g < basins.length; g++) {
            basins[g] = new Fluid.Basin(capacityLeft[g]);
        }
        double[] rates = new double[classes.length];
        for (int c = 0; c < rates.length; c++) {
            rates[c] = rateFrom[c][next[c]];
        }
        return new Fluid(groups, rates, basins);
    }

    private double capacity(int[] some) {
        double capacity = 0;
        for (int replica : some) {
            capacity += in.capacity[replica];
        }
        return capacity;
    }

    /** Lets streams that need more than their class take replicas for themselves; the answer is what remains, as a fluid. */
    private Fluid takeBulky(Fluid start) {
        Fluid fluid = start;
        boolean[] settled = new boolean[classes.length];
        while (true) {
            int bulkiest = -1;
            double highest = 0;
            int[] taken = {};
            for (int c = 0; c < classes.length; c++) {
                if (settled[c] || next[c] == streams[c].length) {
                    continue;
                }
                int[] fastest = fastest(c, in.limit[streams[c][next[c]]], fluid);
                double needed = in.rate[streams[c][next[c]]] / capacity(fastest);
                if (fastest.length == in.limit[streams[c][next[c]]]
                        && needed >= fluid.classLevel(c) * (1 - Levelling.CERTAIN)
                        && needed > highest) {
                    bulkiest = c;
                    highest = needed;
                    taken = fastest;
                }
            }
            if (bulkiest < 0) {
                return fluid;
            }
            int[][] before = remaining.clone();
            for (int replica : taken) {
                int g = in.group[replica];
                remaining[g] = without(remaining[g], replica);
                capacityLeft[g] = capacity(remaining[g]);
            }
            int stream = streams[bulkiest][next[bulkiest]++];
            Fluid after = fluid();
            if (harmful(fluid, after, highest)) {
                next[bulkiest]--;
                for (int replica : taken) {
                    int g = in.group[replica];
                    remaining[g] = before[g];
                    capacityLeft[g] = capacity(remaining[g]);
                }
                settled[bulkiest] = true;
                continue;
            }
            out.proportional(stream, taken, 0, taken.length);
            for (int replica : taken) {
                level[replica] = highest;
            }
            fluid = after;
        }
    }

    /** Whether a class would have to bear more than before, and more than the stream that took its replicas. */
    private boolean harmful(Fluid before, Fluid after, double highest) {
        for (int c = 0; c < classes.length; c++) {
            double bearable = Math.max(highest, before.classLevel(c)) * (1 + Levelling.CERTAIN);
            if (!(after.classLevel(c) <= bearable)) {
                return true;
            }
        }
        return false;
    }

    /** The fastest replicas that a class has left; among equally fast ones those of groups with the lowest level. */
    private int[] fastest(int c, int count, Fluid fluid) {
        int[] heads = new int[groups[c].length];
        int[] fastest = new int[count];
        int found = 0;
        while (found < count) {
            int best = -1;
            for (int i = 0; i < heads.length; i++) {
                int g = groups[c][i];
                if (heads[i] < remaining[g].length
                        && (best < 0
                                || faster(remaining[g][heads[i]], remaining[groups[c][best]][heads[best]], fluid))) {
                    best = i;
                }
            }
            if (best < 0) {
                return Arrays.copyOf(fastest, found);
            }
            fastest[found++] = remaining[groups[c][best]][heads[best]++];
        }
        return fastest;
    }

    private boolean faster(int a, int b, Fluid fluid) {
        if (in.capacity[a] != in.capacity[b]) {
            return in.capacity[a] > in.capacity[b];
        }
        double levelA = fluid.groupLevel(in.group[a]);
        double levelB = fluid.groupLevel(in.group[b]);
        return levelA != levelB ? levelA < levelB : a < b;
    }

    private static int[] without(int[] replicas, int replica) {
        int[] rest = new int[replicas.length - 1];
        int count = 0;
        for (int other : replicas) {
            if (other != replica) {
                rest[count++] = other;
            }
        }
        return rest;
    }

    private void packParts(Fluid fluid) {
        double lowest = Double.POSITIVE_INFINITY;
        for (int g = 0; g < remaining.length; g++) {
            if (fluid.groupLevel(g) > 0) {
                lowest = Math.min(lowest, fluid.groupLevel(g));
            }
        }
        for (int[] left : remaining) {
            for (int replica : left) {
                double own = fluid.groupLevel(in.group[replica]);
                level[replica] = own > 0 ? own : lowest < Double.POSITIVE_INFINITY ? lowest : 0;
            }
        }
        Integer[] order = new Integer[classes.length];
        Arrays.setAll(order, c -> c);
        Arrays.sort(order, (a, b) -> {
            int byLevel = Double.compare(fluid.classLevel(b), fluid.classLevel(a));
            int bySize = Integer.compare(in.eligibility.eligible(classes[a]), in.eligibility.eligible(classes[b]));
            return byLevel != 0 ? byLevel : bySize != 0 ? bySize : Integer.compare(a, b);
        });
        for (int from = 0; from < order.length; ) {
            int to = from + 1;
            while (to < order.length && fluid.classLevel(order[to]) == fluid.classLevel(order[from])) {
                to++;
            }
            packPart(fluid, Arrays.copyOfRange(order, from, to));
            from = to;
        }
    }

    private void packPart(Fluid fluid, Integer[] part) {
        double base = fluid.classLevel(part[0]);
        if (!(base > 0)) {
            return;
        }
        int mark = out.packing.mark();
        for (double step = 0; ; step = step == 0 ? 1e-3 : step * 1.5) {
            for (Rule rule : Rule.values()) {
                if (packShared(fluid, part, base * (1 + step), rule)) {
                    return;
                }
                out.packing.reset(mark);
                if (packApart(fluid, part, base, 1 + step, rule)) {
                    return;
                }
                out.packing.reset(mark);
            }
        }
    }

    private boolean packShared(Fluid fluid, Integer[] part, double at, Rule rule) {
        for (int c : part) {
            for (int g : groups[c]) {
                packer.open(remaining[g], 0, remaining[g].length, 0);
            }
        }
        for (int c : part) {
            for (int g : groups[c]) {
                if (fluid.groupLevel(g) == fluid.classLevel(c)) {
                    packer.open(remaining[g], 0, remaining[g].length, at);
                }
            }
        }
        for (int c : part) {
            int[] replicas = left(c);
            if (!packer.pack(
                    streams[c], next[c], streams[c].length, replicas, 0, replicas.length, 0, rule, out.packing)) {
                return false;
            }
        }
        return true;
    }

    /** Gives every class room of its own, as much of each group as the fluid took. */
    private boolean packApart(Fluid fluid, Integer[] part, double base, double factor, Rule rule) {
        double[] taken = new double[remaining.length];
        for (int c : part) {
            int[] replicas = left(c);
            packer.open(replicas, 0, replicas.length, 0);
            for (int g : groups[c]) {
                double from = taken[g];
                double to = from + fluid.flow(c, g);
                taken[g] = to;
                double at = 0;
                for (int replica : remaining[g]) {
                    double end = at + base * in.capacity[replica];
                    double room = Math.min(end, to) - Math.max(at, from);
                    if (room > 0) {
                        packer.open(replica, room * factor);
                    }
                    at = end;
                }
            }
            if (!packer.pack(
                    streams[c], next[c], streams[c].length, replicas, 0, replicas.length, 0, rule, out.packing)) {
                return false;
            }
        }
        return true;
    }

    private int[] left(int c) {
        int size = 0;
        for (int g : groups[c]) {
            size += remaining[g].length;
        }
        int[] left = new int[size];
        int count = 0;
        for (int g : groups[c]) {
            System.arraycopy(remaining[g], 0, left, count, remaining[g].length);
            count += remaining[g].length;
        }
        Arrays.sort(left);
        return left;
    }
}
