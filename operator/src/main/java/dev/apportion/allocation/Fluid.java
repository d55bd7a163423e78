package dev.apportion.allocation;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Classes of streams poured like fluids over the replicas that they may use, so that the largest load is as small as
 * possible, then the next lower one, and so on.
 *
 * <p>Each round finds the classes that need the highest level: beginning with all of them, a maximum flow at the level that
 * they need together either satisfies everybody, or its minimum cut names classes that need more (Newton's method on a
 * parametric flow). Those classes and their groups are then settled, and the rest is the same problem again.
 */
final class Fluid {

    /** A class lacks something if it is more than this part of its rate. */
    private static final double ROUNDING = 1e-12;

    /** A level is higher only by more than this part of it. */
    private static final double NOISE = 1e-15;

    /** The part of what a group can serve that rounding may hide, when most of it is taken already. */
    private static final double CANCELLED = 1e-14;

    private final int[][] groups;
    private final double[] rate;
    private final Basin[] basins;

    private final double[] groupLevel;
    private final double[] classLevel;
    private final double[][] flow;

    /** A group of replicas with the loads that they have already. */
    static final class Basin {
        private final double[] loads;
        private final double[] capacities;
        private final double[] served;

        /**
         * @param replicas the replicas that take part
         * @param capacity by replica
         * @param load by replica
         */
        Basin(int[] replicas, double[] capacity, double[] load) {
            double[] keys = new double[replicas.length];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = load[replicas[i]];
            }
            int[] descending = DescendingOrder.of(keys, Integer::compare);
            int size = keys.length;
            loads = new double[size];
            capacities = new double[size + 1];
            served = new double[size + 1];
            for (int i = 0; i < size; i++) {
                int replica = replicas[descending[size - 1 - i]];
                loads[i] = load[replica];
                capacities[i + 1] = capacities[i] + capacity[replica];
                served[i + 1] = served[i] + capacity[replica] * load[replica];
            }
        }

        /** A group without loads. */
        Basin(double capacity) {
            loads = new double[] {0};
            capacities = new double[] {0, capacity};
            served = new double[] {0, 0};
        }

        /** How many replicas have a load below the level. */
        private int below(double level) {
            int at = Arrays.binarySearch(loads, level);
            if (at < 0) {
                return -at - 1;
            }
            while (at > 0 && loads[at - 1] == level) {
                at--;
            }
            return at;
        }

        /** What fits in up to a level, and what may have been lost in the difference. */
        double volume(double level) {
            int count = below(level);
            double whole = capacities[count] * level;
            return Math.max(0, whole - served[count]) + CANCELLED * whole;
        }
    }

    /**
     * @param groups the groups that each class may use, ascending
     * @param rate what each class pours; nothing or more
     * @param basins the groups
     */
    Fluid(int[][] groups, double[] rate, Basin[] basins) {
        this.groups = groups;
        this.rate = rate;
        this.basins = basins;
        groupLevel = new double[basins.length];
        classLevel = new double[rate.length];
        flow = new double[rate.length][basins.length];
        pour();
    }

    /** The level to which a group was filled; zero if nothing flowed there. */
    double groupLevel(int group) {
        return groupLevel[group];
    }

    /** The level that a class needed. */
    double classLevel(int streamClass) {
        return classLevel[streamClass];
    }

    /** How much of a class went into a group. */
    double flow(int streamClass, int group) {
        return flow[streamClass][group];
    }

    private void pour() {
        BitSet waiting = new BitSet();
        BitSet open = new BitSet();
        for (int c = 0; c < rate.length; c++) {
            if (rate[c] > 0) {
                waiting.set(c);
                for (int g : groups[c]) {
                    open.set(g);
                }
            }
        }
        while (!waiting.isEmpty()) {
            BitSet tight = (BitSet) waiting.clone();
            double level = level(tight, open);
            BitSet lacking = flowAt(level, waiting, open);
            while (!lacking.isEmpty()) {
                double higher = level(lacking, open);
                if (!(higher > level * (1 + NOISE))) {
                    break;
                }
                level = higher;
                tight = lacking;
                lacking = flowAt(level, waiting, open);
            }
            BitSet filled = groupsOf(tight, open);
            for (int g = filled.nextSetBit(0); g >= 0; g = filled.nextSetBit(g + 1)) {
                groupLevel[g] = level;
            }
            open.andNot(filled);
            for (int c = waiting.nextSetBit(0); c >= 0; c = waiting.nextSetBit(c + 1)) {
                if (tight.get(c)) {
                    classLevel[c] = level;
                    complete(c, filled);
                    waiting.clear(c);
                } else if (Arrays.stream(groups[c]).noneMatch(open::get)) {
                    // only rounding leads here: all that it may use is filled, and the class is nothing beside it
                    classLevel[c] = Arrays.stream(groups[c])
                            .mapToDouble(g -> groupLevel[g])
                            .min()
                            .orElse(0);
                    complete(c, atLevel(c));
                    waiting.clear(c);
                }
            }
        }
    }

    private BitSet atLevel(int c) {
        BitSet filled = new BitSet();
        for (int g : groups[c]) {
            filled.set(g, groupLevel[g] == classLevel[c]);
        }
        return filled;
    }

    /** Gives what rounding left of a class to the largest group that it fills, where the rounding came from. */
    private void complete(int c, BitSet filled) {
        double missing = rate[c];
        int largest = -1;
        for (int g : groups[c]) {
            if (filled.get(g)) {
                missing -= flow[c][g];
                if (largest < 0 || basins[g].volume(classLevel[c]) > basins[largest].volume(classLevel[c])) {
                    largest = g;
                }
            } else {
                flow[c][g] = 0;
            }
        }
        if (missing > 0 && largest >= 0) {
            flow[c][largest] += missing;
        }
    }

    private BitSet groupsOf(BitSet classes, BitSet open) {
        BitSet used = new BitSet();
        for (int c = classes.nextSetBit(0); c >= 0; c = classes.nextSetBit(c + 1)) {
            for (int g : groups[c]) {
                used.set(g);
            }
        }
        used.and(open);
        return used;
    }

    /** The level that classes need if the groups that they may use are theirs alone. */
    private double level(BitSet classes, BitSet open) {
        double sum = 0;
        for (int c = classes.nextSetBit(0); c >= 0; c = classes.nextSetBit(c + 1)) {
            sum += rate[c];
        }
        BitSet used = groupsOf(classes, open);
        double level = Double.POSITIVE_INFINITY;
        while (true) {
            double capacity = 0;
            double volume = sum;
            for (int g = used.nextSetBit(0); g >= 0; g = used.nextSetBit(g + 1)) {
                int count = level == Double.POSITIVE_INFINITY ? basins[g].loads.length : basins[g].below(level);
                capacity += basins[g].capacities[count];
                volume += basins[g].served[count];
            }
            double lower = volume / capacity;
            if (!(lower < level)) {
                return level;
            }
            level = lower;
        }
    }

    /** A maximum flow at a level; the answer is the classes that reach a lack of flow, none if all are satisfied. */
    private BitSet flowAt(double level, BitSet classes, BitSet open) {
        double[] left = new double[basins.length];
        for (int g = open.nextSetBit(0); g >= 0; g = open.nextSetBit(g + 1)) {
            left[g] = basins[g].volume(level);
        }
        double[] volume = left.clone();
        BitSet lacking = new BitSet();
        for (int c = classes.nextSetBit(0); c >= 0; c = classes.nextSetBit(c + 1)) {
            Arrays.fill(flow[c], 0);
        }
        for (int c = classes.nextSetBit(0); c >= 0; c = classes.nextSetBit(c + 1)) {
            double need = rate[c];
            while (need > ROUNDING * rate[c]) {
                double pushed = augment(c, need, classes, open, left, volume);
                if (pushed <= 0) {
                    break;
                }
                need -= pushed;
            }
            if (need > ROUNDING * rate[c]) {
                lacking.or(reached(c, classes, open));
            }
        }
        return lacking;
    }

    /** Pushes flow from a class along a shortest augmenting path; zero if there is none. */
    private double augment(int source, double need, BitSet classes, BitSet open, double[] left, double[] volume) {
        int[] classFrom = new int[rate.length];
        int[] groupFrom = new int[basins.length];
        Arrays.fill(classFrom, -1);
        Arrays.fill(groupFrom, -1);
        int[] queue = new int[rate.length];
        int tail = 0;
        queue[tail++] = source;
        for (int head = 0; head < tail; head++) {
            int c = queue[head];
            for (int g : groups[c]) {
                if (!open.get(g) || groupFrom[g] >= 0) {
                    continue;
                }
                groupFrom[g] = c;
                if (left[g] > ROUNDING * ROUNDING * volume[g]) {
                    return push(source, g, Math.min(need, left[g]), classFrom, groupFrom, left);
                }
                for (int d = classes.nextSetBit(0); d >= 0; d = classes.nextSetBit(d + 1)) {
                    if (d != source && classFrom[d] < 0 && flow[d][g] > 0) {
                        classFrom[d] = g;
                        queue[tail++] = d;
                    }
                }
            }
        }
        return 0;
    }

    private double push(int source, int sink, double most, int[] classFrom, int[] groupFrom, double[] left) {
        double amount = most;
        for (int c = groupFrom[sink]; c != source; c = groupFrom[classFrom[c]]) {
            amount = Math.min(amount, flow[c][classFrom[c]]);
        }
        left[sink] -= amount;
        int g = sink;
        while (true) {
            int c = groupFrom[g];
            flow[c][g] += amount;
            if (c == source) {
                return amount;
            }
            g = classFrom[c];
            flow[c][g] = Math.max(0, flow[c][g] - amount);
        }
    }

    private BitSet reached(int source, BitSet classes, BitSet open) {
        BitSet reached = new BitSet();
        BitSet seen = new BitSet();
        int[] queue = new int[rate.length];
        int tail = 0;
        queue[tail++] = source;
        reached.set(source);
        for (int head = 0; head < tail; head++) {
            for (int g : groups[queue[head]]) {
                if (!open.get(g) || seen.get(g)) {
                    continue;
                }
                seen.set(g);
                for (int d = classes.nextSetBit(0); d >= 0; d = classes.nextSetBit(d + 1)) {
                    if (!reached.get(d) && flow[d][g] > 0) {
                        reached.set(d);
                        queue[tail++] = d;
                    }
                }
            }
        }
        return reached;
    }
}
