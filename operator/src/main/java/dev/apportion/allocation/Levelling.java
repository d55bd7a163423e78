package dev.apportion.allocation;

import dev.apportion.allocation.Packer.Rule;
import org.jspecify.annotations.Nullable;

/**
 * Splits streams that may all use the same replicas: block by block, each at its own level.
 *
 * <p>A block of one stream is that stream on its replicas in proportion to their capacity. A larger block, and the last one,
 * in which streams share replicas, is packed at its level; if that fails, at the least level found by bisection.
 */
final class Levelling {

    /** A makespan this close to the bound, relatively, meets it. */
    static final double CERTAIN = 1e-9;

    /** How close a bisection goes, relatively: for small blocks and for large ones. */
    private static final double FINE = 1e-7;

    private static final double COARSE = 1e-4;

    /** Streams in a small block. */
    private static final int SMALL = 2000;

    private final Instance in;
    private final Packer packer;

    Levelling(Instance in, Packer packer) {
        this.in = in;
        this.packer = packer;
    }

    /**
     * Packs the streams of a component that has one class.
     *
     * @param out receives the pieces and the levels
     * @return the lower bound
     */
    double pack(Component component, Draft out) {
        int[] streams = component.streams;
        int[] replicas = component.replicas;
        Blocks blocks = new Blocks(in, streams, replicas, component.free[0]);
        double lowest = 0;
        double reached = 0;
        for (int b = 0; b < blocks.count(); b++) {
            int from = blocks.streamStart(b);
            int to = blocks.streamEnd(b);
            int first = blocks.replicaStart(b);
            int last = blocks.replicaEnd(b);
            lowest = blocks.level(b) > 0 ? blocks.level(b) : lowest;
            for (int i = first; i < last; i++) {
                out.level[replicas[i]] = lowest;
            }
            reached = Math.max(reached, packBlock(streams, from, to, replicas, first, last, blocks.level(b), out));
        }
        return improved(component, blocks.bound(), reached, out);
    }

    /** Packs a block at its level, or at the least one that is found to do; the answer is that level. */
    double packBlock(int[] streams, int from, int to, int[] replicas, int first, int last, double level, Draft out) {
        if (to == from) {
            return level;
        }
        if (to - from == 1 && last - first == in.limit[streams[from]]) {
            out.proportional(streams[from], replicas, first, last);
            return level;
        }
        double reached = packAtLeast(streams, from, to, replicas, first, last, level, out.packing);
        for (int i = first; i < last; i++) {
            out.raise(replicas[i], reached);
        }
        return reached;
    }

    /** Searches for a smaller makespan, if the bound was not met; the answer is the bound, or a better one. */
    double improved(Component component, double bound, double reached, Draft out) {
        if (reached <= bound * (1 + CERTAIN)) {
            return bound;
        }
        double better = component.classes.length == 1 ? BinPackingBound.of(in, component, bound, reached) : bound;
        Search search = new Search(in, packer, component, better);
        search.improve(out);
        search.raise(out);
        return search.bound();
    }

    /** Packs at the least level that is found to do, from the one given upwards. */
    private double packAtLeast(
            int[] streams, int from, int to, int[] replicas, int first, int last, double level, Packing out) {
        int mark = out.mark();
        for (Rule rule : Rule.values()) {
            if (packAt(streams, from, to, replicas, first, last, level, rule, out)) {
                return level;
            }
            out.reset(mark);
        }
        double impossible = level;
        double step = 1e-3;
        double possible = level * (1 + step);
        Rule rule = ruleAt(streams, from, to, replicas, first, last, possible, out);
        while (rule == null) {
            impossible = possible;
            step *= 4;
            possible = level * (1 + step);
            rule = ruleAt(streams, from, to, replicas, first, last, possible, out);
        }
        double precision = to - from <= SMALL ? FINE : COARSE;
        while (possible - impossible > precision * possible) {
            double middle = (possible + impossible) / 2;
            Rule found = ruleAt(streams, from, to, replicas, first, last, middle, out);
            if (found == null) {
                impossible = middle;
            } else {
                possible = middle;
                rule = found;
            }
        }
        packAt(streams, from, to, replicas, first, last, possible, rule, out);
        return possible;
    }

    private @Nullable Rule ruleAt(
            int[] streams, int from, int to, int[] replicas, int first, int last, double level, Packing out) {
        int mark = out.mark();
        for (Rule rule : Rule.values()) {
            boolean fits = packAt(streams, from, to, replicas, first, last, level, rule, out);
            out.reset(mark);
            if (fits) {
                return rule;
            }
        }
        return null;
    }

    private boolean packAt(
            int[] streams,
            int from,
            int to,
            int[] replicas,
            int first,
            int last,
            double level,
            Rule rule,
            Packing out) {
        packer.open(replicas, first, last, level);
        return packer.pack(streams, from, to, replicas, first, last, 0, rule, out);
    }
}
