package dev.apportion.allocation;

import java.util.Arrays;

/**
 * Takes the bottleneck blocks out of a component of several classes: while the largest streams of a class need a higher level
 * for themselves, on its fastest replicas, than the class does as a fluid, they get those replicas, the highest level first.
 *
 * <p>If another class suffers from that, the class is confined to the groups that bear no more than it does itself; if that
 * is not enough, its other streams stay with the rest.
 */
final class Bottlenecks {

    /** The first streams of a class that need some replicas for themselves, and the level there. */
    private record Bottleneck(int streams, int replicas, double level) {
        private static final Bottleneck NONE = new Bottleneck(0, 0, 0);
    }

    private final Instance in;
    private final Levelling levelling;
    private final Component component;
    private final int[][] groups;
    private final int[] next;
    private final boolean[] taken;
    private final int[][] remaining;
    private final double[] capacityLeft;

    /** Of each class, the rate of the streams from one on, with the free ones. */
    private final double[][] rateFrom;

    private final boolean[] confined;
    private final boolean[] settled;
    private final boolean[] stale;
    private final Bottleneck[] known;
    private Fluid fluid;

    Bottlenecks(Instance in, Levelling levelling, Component component) {
        this.in = in;
        this.levelling = levelling;
        this.component = component;
        int classes = component.classes.length;
        groups = new int[classes][];
        next = new int[classes];
        rateFrom = new double[classes][];
        taken = new boolean[in.m];
        remaining = new int[in.eligibility.groupCount()][];
        capacityLeft = new double[remaining.length];
        Arrays.fill(remaining, new int[0]);
        for (int c = 0; c < classes; c++) {
            groups[c] = in.eligibility.groups(component.classes[c]);
            for (int g : groups[c]) {
                remaining[g] = in.replicasOfGroup[g];
                capacityLeft[g] = capacity(remaining[g]);
            }
            int[] streams = component.limited[c];
            rateFrom[c] = new double[streams.length + 1];
            rateFrom[c][streams.length] = component.free[c];
            for (int s = streams.length - 1; s >= 0; s--) {
                rateFrom[c][s] = rateFrom[c][s + 1] + in.rate[streams[s]];
            }
        }
        confined = new boolean[classes];
        settled = new boolean[classes];
        stale = new boolean[classes];
        Arrays.fill(stale, true);
        known = new Bottleneck[classes];
        Arrays.fill(known, Bottleneck.NONE);
        fluid = poured();
    }

    /** What remains, as a fluid. */
    Fluid fluid() {
        return fluid;
    }

    /** The streams of a class that remain begin here. */
    int next(int c) {
        return next[c];
    }

    /** The replicas of a group that remain, ascending. */
    int[] remaining(int g) {
        return remaining[g];
    }

    /** Takes the blocks out, packs them, and sets their levels. */
    void take(Draft out) {
        int c = highest();
        while (c >= 0) {
            Bottleneck block = known[c];
            int from = next[c];
            int[] replicas = fastest(c, block.replicas);
            mark(replicas, true);
            next[c] += block.streams;
            Fluid after = poured();
            if (harmful(after, block.level)) {
                mark(replicas, false);
                next[c] = from;
                settled[c] = confined[c];
                confined[c] = true;
                stale[c] = true;
            } else {
                for (int replica : replicas) {
                    out.level[replica] = block.level;
                }
                levelling.packBlock(
                        component.limited[c], from, next[c], replicas, 0, replicas.length, block.level, out);
                fluid = after;
                for (int d = 0; d < stale.length; d++) {
                    stale[d] |= d == c || confined[d] || touches(d, replicas);
                }
            }
            c = highest();
        }
    }

    /** The class whose bottleneck needs the highest level, or −1 if none needs more than its class. */
    private int highest() {
        int highest = -1;
        for (int c = 0; c < known.length; c++) {
            if (settled[c]) {
                continue;
            }
            if (stale[c]) {
                known[c] = bottleneck(c);
                stale[c] = false;
            }
            if (known[c].streams > 0
                    && known[c].level >= fluid.classLevel(c) * (1 - Levelling.CERTAIN)
                    && (highest < 0 || known[c].level > known[highest].level)) {
                highest = c;
            }
        }
        return highest;
    }

    private Bottleneck bottleneck(int c) {
        int[] streams = component.limited[c];
        int[] left = Arrays.stream(component.eligible[c])
                .filter(replica -> !taken[replica] && open(c, in.group[replica]))
                .toArray();
        if (left.length == 0 || next[c] == streams.length) {
            return Bottleneck.NONE;
        }
        Blocks blocks = new Blocks(in, Arrays.copyOfRange(streams, next[c], streams.length), left, component.free[c]);
        return blocks.count() == 1
                ? Bottleneck.NONE
                : new Bottleneck(blocks.streamEnd(0), blocks.replicaEnd(0), blocks.level(0));
    }

    /** Whether a class may take replicas of a group: hotter ones are for those who have no others. */
    private boolean open(int c, int g) {
        return !confined[c] || fluid.groupLevel(g) <= fluid.classLevel(c);
    }

    /** Whether a class would have to bear more than before, and more than the streams that took its replicas. */
    private boolean harmful(Fluid after, double level) {
        for (int c = 0; c < known.length; c++) {
            double bearable = Math.max(level, fluid.classLevel(c)) * (1 + Levelling.CERTAIN);
            if (!(after.classLevel(c) <= bearable)) {
                return true;
            }
        }
        return false;
    }

    private boolean touches(int c, int[] replicas) {
        for (int replica : replicas) {
            if (Arrays.binarySearch(groups[c], in.group[replica]) >= 0) {
                return true;
            }
        }
        return false;
    }

    private void mark(int[] replicas, boolean take) {
        for (int replica : replicas) {
            taken[replica] = take;
        }
        int[] changed = Arrays.stream(replicas)
                .map(replica -> in.group[replica])
                .distinct()
                .toArray();
        for (int g : changed) {
            remaining[g] = Arrays.stream(in.replicasOfGroup[g])
                    .filter(replica -> !taken[replica])
                    .toArray();
            capacityLeft[g] = capacity(remaining[g]);
        }
    }

    private double capacity(int[] some) {
        double capacity = 0;
        for (int replica : some) {
            capacity += in.capacity[replica];
        }
        return capacity;
    }

    private Fluid poured() {
        Fluid.Basin[] basins = new Fluid.Basin[remaining.length];
        for (int g = 0; g < basins.length; g++) {
            basins[g] = new Fluid.Basin(capacityLeft[g]);
        }
        double[] rates = new double[next.length];
        for (int c = 0; c < rates.length; c++) {
            rates[c] = rateFrom[c][next[c]];
        }
        return new Fluid(groups, rates, basins);
    }

    /** The fastest replicas that a class has left; among equally fast ones those of groups with the lowest level. */
    private int[] fastest(int c, int count) {
        int[] heads = new int[groups[c].length];
        int[] fastest = new int[count];
        for (int found = 0; found < count; found++) {
            int best = -1;
            for (int i = 0; i < heads.length; i++) {
                int g = groups[c][i];
                if (heads[i] < remaining[g].length
                        && open(c, g)
                        && (best < 0 || faster(remaining[g][heads[i]], remaining[groups[c][best]][heads[best]]))) {
                    best = i;
                }
            }
            fastest[found] = remaining[groups[c][best]][heads[best]++];
        }
        return fastest;
    }

    private boolean faster(int a, int b) {
        if (in.capacity[a] != in.capacity[b]) {
            return in.capacity[a] > in.capacity[b];
        }
        double levelA = fluid.groupLevel(in.group[a]);
        double levelB = fluid.groupLevel(in.group[b]);
        return levelA != levelB ? levelA < levelB : a < b;
    }
}
