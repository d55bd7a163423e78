package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The optimal split of an instance, as far as it is found, with levels and a bound that belong to the instance itself.
 *
 * <p>Eligibility may cut the instance into components that have nothing in common; each is solved alone. Streams that can use
 * every replica that they may use are poured last, into what the others left.
 */
final class Splitting {

    private final Instance in;
    private final Draft draft;
    private final double[] load;
    private final List<List<Piece>> freePieces;
    private double bound;

    private Splitting(Instance in) {
        this.in = in;
        draft = new Draft(in);
        load = new double[in.m];
        freePieces = new ArrayList<>(Collections.nCopies(in.eligibility.classCount(), List.of()));
    }

    static Splitting of(Instance in) {
        Splitting splitting = new Splitting(in);
        splitting.solve();
        return splitting;
    }

    /** The level of each canonical replica. */
    double[] level() {
        return draft.level;
    }

    /** The most by which a level exceeds the bound of its block, as a factor; 1 if every block was packed at its bound. */
    double raised() {
        return draft.raised();
    }

    /** No allocation has a smaller makespan. */
    double bound() {
        return bound;
    }

    /** The load of each canonical replica; known only if there are streams without rate, which are placed by it. */
    double[] load() {
        return load;
    }

    /** The pieces of a canonical stream that has a rate. */
    List<Piece> pieces(int stream) {
        if (in.limit[stream] == 0) {
            return List.of();
        }
        if (in.free(stream)) {
            return freePieces.get(in.streamClass[stream]);
        }
        Packing packing = draft.packing;
        return in.pieces(packing.replicas(), packing.amounts(), packing.start(stream), packing.end(stream));
    }

    /** Streams by descending rate over k. */
    static int[] byPieceSize(Instance in, int[] streams) {
        boolean sorted = true;
        for (int s = 1; s < streams.length && sorted; s++) {
            sorted = streams[s - 1] < streams[s] && in.limit[streams[s - 1]] == in.limit[streams[s]];
        }
        if (sorted) {
            return streams;
        }
        double[] size = new double[streams.length];
        for (int s = 0; s < size.length; s++) {
            size[s] = in.rate[streams[s]] / in.limit[streams[s]];
        }
        int[] order = DescendingOrder.of(size, (a, b) -> Integer.compare(streams[a], streams[b]));
        for (int s = 0; s < order.length; s++) {
            order[s] = streams[order[s]];
        }
        return order;
    }

    private void solve() {
        int classCount = in.eligibility.classCount();
        int[] sizes = new int[classCount];
        for (int j = 0; j < in.rated; j++) {
            if (in.streamClass[j] != Eligibility.NONE) {
                sizes[in.streamClass[j]]++;
            }
        }
        double[] free = new double[classCount];
        boolean[] present = new boolean[classCount];
        int[][] limited = new int[classCount][];
        for (int c = 0; c < classCount; c++) {
            present[c] = sizes[c] > 0;
            limited[c] = new int[sizes[c]];
            sizes[c] = 0;
        }
        for (int j = 0; j < in.rated; j++) {
            int c = in.streamClass[j];
            if (c != Eligibility.NONE) {
                if (in.free(j)) {
                    free[c] += in.rate[j];
                } else {
                    limited[c][sizes[c]++] = j;
                }
            }
        }
        for (int c = 0; c < classCount; c++) {
            limited[c] =
                    byPieceSize(in, sizes[c] == limited[c].length ? limited[c] : Arrays.copyOf(limited[c], sizes[c]));
        }
        Packer packer = new Packer(in);
        for (int[] classes : components(present)) {
            int[][] streams = new int[classes.length][];
            double[] poured = new double[classes.length];
            for (int c = 0; c < classes.length; c++) {
                streams[c] = limited[classes[c]];
                poured[c] = free[classes[c]];
            }
            Component component = new Component(in, classes, streams, poured);
            double needed = classes.length == 1
                    ? new Levelling(in, packer).pack(component, draft)
                    : new Overlap(in, packer, component, draft).pack();
            bound = Math.max(bound, needed);
            if (component.pours() || in.rated < in.n) {
                for (int stream : component.streams) {
                    Draft.addLoads(in, draft.packing, stream, load);
                }
            }
            if (component.pours()) {
                pour(component);
            }
        }
    }

    /** Classes that share replicas, directly or through others. */
    private List<int[]> components(boolean[] present) {
        int[] ownerOfGroup = new int[in.eligibility.groupCount()];
        Arrays.fill(ownerOfGroup, -1);
        int[] parent = Draft.range(present.length);
        for (int c = 0; c < present.length; c++) {
            if (present[c]) {
                for (int g : in.eligibility.groups(c)) {
                    if (ownerOfGroup[g] < 0) {
                        ownerOfGroup[g] = c;
                    } else {
                        int a = root(parent, ownerOfGroup[g]);
                        int b = root(parent, c);
                        parent[Math.max(a, b)] = Math.min(a, b);
                    }
                }
            }
        }
        List<int[]> components = new ArrayList<>();
        for (int c = 0; c < present.length; c++) {
            if (present[c] && root(parent, c) == c) {
                int top = c;
                components.add(Arrays.stream(Draft.range(present.length))
                        .filter(d -> present[d] && root(parent, d) == top)
                        .toArray());
            }
        }
        return components;
    }

    private static int root(int[] parent, int of) {
        int at = of;
        while (parent[at] != at) {
            at = parent[at];
        }
        return at;
    }

    private void pour(Component component) {
        int[][] groups = new int[component.classes.length][];
        for (int c = 0; c < groups.length; c++) {
            groups[c] = in.eligibility.groups(component.classes[c]);
        }
        Fluid.Basin[] basins = new Fluid.Basin[in.eligibility.groupCount()];
        for (int g = 0; g < basins.length; g++) {
            basins[g] = new Fluid.Basin(in.replicasOfGroup[g], in.capacity, load);
        }
        Fluid fluid = new Fluid(groups, component.free, basins);
        double[] before = load.clone();
        double[] filled = new double[basins.length];
        for (int c = 0; c < groups.length; c++) {
            if (component.free[c] > 0) {
                int[] replicas = component.eligible[c];
                double[] amounts = new double[replicas.length];
                for (int g : groups[c]) {
                    fill(replicas, amounts, g, fluid.flow(c, g), fluid.groupLevel(g), before, filled);
                }
                for (int p = 0; p < replicas.length; p++) {
                    load[replicas[p]] += amounts[p] / in.capacity[replicas[p]];
                }
                freePieces.set(component.classes[c], in.pieces(replicas, amounts, 0, replicas.length));
            }
        }
        for (int replica : component.replicas) {
            draft.raise(replica, load[replica]);
        }
    }

    /**
     * Spreads an amount over the replicas of a group, to raise their loads to one level. No replica gets more than it has
     * room for, but the largest, where the rounding comes from: between capacities of any spread it might swamp a small one.
     *
     * @param filled the part of the room of each group that others took
     */
    private void fill(
            int[] replicas, double[] amounts, int g, double amount, double to, double[] before, double[] filled) {
        if (!(amount > 0)) {
            return;
        }
        double volume = 0;
        int largest = -1;
        int idlest = -1;
        for (int p = 0; p < replicas.length; p++) {
            int replica = replicas[p];
            if (in.group[replica] == g) {
                volume += room(replica, to, before);
                idlest = idlest < 0 || before[replica] < before[replicas[idlest]] ? p : idlest;
                // the first one is the largest
                largest = largest < 0 && before[replica] <= to * (1 + Levelling.CERTAIN) ? p : largest;
            }
        }
        double part = volume > 0 ? Math.min(1 - filled[g], amount / volume) : 0;
        filled[g] += part;
        double rest = amount;
        for (int p = 0; p < replicas.length; p++) {
            if (in.group[replicas[p]] == g) {
                amounts[p] = part * room(replicas[p], to, before);
                rest -= amounts[p];
            }
        }
        if (rest > 0) {
            amounts[largest < 0 ? idlest : largest] += rest;
        }
    }

    private double room(int replica, double level, double[] load) {
        return in.capacity[replica] * Math.max(0, level - load[replica]);
    }
}
