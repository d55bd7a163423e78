package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Splits streams of several classes whose replicas overlap.
 *
 * <p>{@link Bottlenecks} are taken out first. What remains is poured as a fluid, which cuts it into parts with a level each;
 * each {@link Part} is then packed.
 */
final class Overlap {

    private final Instance in;
    private final Packer packer;
    private final Component component;
    private final Draft out;
    private final int[][] groups;

    /**
     * @param out receives the pieces and the levels
     */
    Overlap(Instance in, Packer packer, Component component, Draft out) {
        this.in = in;
        this.packer = packer;
        this.component = component;
        this.out = out;
        groups = Arrays.stream(component.classes)
                .mapToObj(in.eligibility::groups)
                .toArray(int[][]::new);
    }

    /** Packs the streams; the answer is a lower bound of the makespan. */
    double pack() {
        double bound = bound();
        Levelling levelling = new Levelling(in, packer);
        Bottlenecks bottlenecks = new Bottlenecks(in, levelling, component);
        for (int c = 0; c < groups.length; c++) {
            bound = Math.max(bound, bottlenecks.fluid().classLevel(c));
        }
        bottlenecks.take(out);
        packParts(bottlenecks);
        double reached = new Balance(in, component).makespan(out.packing);
        return levelling.improved(component, bound, reached, out);
    }

    /** The best of the bounds of the classes, each with all classes whose replicas are among its own. */
    private double bound() {
        double bound = 0;
        for (int c = 0; c < groups.length; c++) {
            int[] own = groups[c];
            double poured = 0;
            List<int[]> within = new ArrayList<>();
            for (int d = 0; d < groups.length; d++) {
                if (Arrays.stream(groups[d]).allMatch(g -> Arrays.binarySearch(own, g) >= 0)) {
                    within.add(component.limited[d]);
                    poured += component.free[d];
                }
            }
            int[] streams =
                    within.stream().flatMapToInt(Arrays::stream).sorted().toArray();
            Blocks blocks = new Blocks(in, Splitting.byPieceSize(in, streams), component.eligible[c], poured);
            bound = Math.max(bound, blocks.bound());
        }
        return bound;
    }

    private void packParts(Bottlenecks bottlenecks) {
        Fluid fluid = bottlenecks.fluid();
        double lowest = Double.POSITIVE_INFINITY;
        for (int g = 0; g < in.eligibility.groupCount(); g++) {
            if (fluid.groupLevel(g) > 0) {
                lowest = Math.min(lowest, fluid.groupLevel(g));
            }
        }
        for (int g = 0; g < in.eligibility.groupCount(); g++) {
            for (int replica : bottlenecks.remaining(g)) {
                double own = fluid.groupLevel(g);
                // nobody comes here; it could bear what the idlest does
                out.level[replica] = own > 0 ? own : lowest < Double.POSITIVE_INFINITY ? lowest : 0;
            }
        }
        Integer[] order = new Integer[groups.length];
        Arrays.setAll(order, c -> c);
        Arrays.sort(order, (a, b) -> {
            int byLevel = Double.compare(fluid.classLevel(b), fluid.classLevel(a));
            int bySize = Integer.compare(component.eligible[a].length, component.eligible[b].length);
            return byLevel != 0 ? byLevel : bySize != 0 ? bySize : Integer.compare(a, b);
        });
        for (int from = 0; from < order.length; ) {
            int to = from + 1;
            while (to < order.length && fluid.classLevel(order[to]) == fluid.classLevel(order[from])) {
                to++;
            }
            if (fluid.classLevel(order[from]) > 0) {
                packPart(bottlenecks, Arrays.copyOfRange(order, from, to));
            }
            from = to;
        }
    }

    private void packPart(Bottlenecks bottlenecks, Integer[] members) {
        Fluid fluid = bottlenecks.fluid();
        int size = members.length;
        int[] classes = new int[size];
        int[][] limited = new int[size][];
        double[] free = new double[size];
        int[][] eligible = new int[size][];
        double[][] flow = new double[size][in.eligibility.groupCount()];
        double base = fluid.classLevel(members[0]);
        for (int i = 0; i < size; i++) {
            int c = members[i];
            int[] streams = component.limited[c];
            classes[i] = component.classes[c];
            limited[i] = Arrays.copyOfRange(streams, bottlenecks.next(c), streams.length);
            free[i] = component.free[c];
            eligible[i] = Arrays.stream(groups[c])
                    .filter(g -> fluid.groupLevel(g) == base)
                    .flatMap(g -> Arrays.stream(bottlenecks.remaining(g)))
                    .sorted()
                    .toArray();
            if (eligible[i].length == 0) {
                eligible[i] = component.eligible[c];
            }
            for (int g : groups[c]) {
                flow[i][g] = fluid.flow(c, g);
            }
        }
        new Part(in, packer, new Component(in, classes, limited, free, eligible), flow, base).pack(out);
    }
}
