package dev.apportion.allocation;

import dev.apportion.allocation.Packer.Rule;

/**
 * Streams of one or more classes that are to be packed at one level, which leaves no slack.
 *
 * <p>In one attempt all classes share the room, and those with the fewest replicas come first; in another each class has room
 * of its own, as much of each group as a fluid would take. If no attempt fits, the streams that do not fit overflow, or the
 * level is raised for all, whichever loads the replicas less.
 */
final class Part {

    /** How far a level is raised for all, relatively, before only overflow is left. */
    private static final double MOST_RAISED = 1.0;

    private static final double FIRST_STEP = 1e-3;

    /** Loads that exceed the level by less than this, relatively, are as good as level. */
    private static final double NEAR = 0.01;

    private final Instance in;
    private final Packer packer;
    private final Component component;
    private final double[][] flow;
    private final double base;
    private final boolean pours;

    /** By class, and by position among its replicas. */
    private final double[][] ownRoom;

    /**
     * @param component the streams, and the replicas that take part
     * @param flow of each class and group, what a fluid takes
     * @param base the level
     */
    Part(Instance in, Packer packer, Component component, double[][] flow, double base) {
        this.in = in;
        this.packer = packer;
        this.component = component;
        this.flow = flow;
        this.base = base;
        pours = component.pours();
        ownRoom = deal();
    }

    /** Packs the streams. */
    void pack(Draft draft) {
        Packing out = draft.packing;
        int mark = out.mark();
        if (packAt(1, out)) {
            return;
        }
        double step = FIRST_STEP;
        boolean fits = false;
        double lastStep = 0;
        while (!fits && step <= MOST_RAISED) {
            out.reset(mark);
            fits = packAt(1 + step, out);
            if (!fits) {
                lastStep = step;
                step *= 2;
            }
        }
        while (fits && step - lastStep > FIRST_STEP / 2) {
            double middle = (step + lastStep) / 2;
            out.reset(mark);
            if (packAt(1 + middle, out)) {
                step = middle;
            } else {
                lastStep = middle;
            }
        }
        Balance balance = new Balance(in, component);
        Packing best = null;
        Score least = null;
        for (Rule rule : Rule.values()) {
            for (boolean apart : new boolean[] {false, true}) {
                Packing loose = new Packing(in.n, component.streams.length + in.m);
                packLoosely(apart, rule, loose);
                balance.settle(loose);
                Score score = score(balance.loads(loose));
                if (least == null || score.better(least)) {
                    least = score;
                    best = loose;
                }
            }
        }
        if (fits) {
            Packing raised = new Packing(in.n, component.streams.length + in.m);
            packAt(1 + step, raised);
            balance.settle(raised);
            if (least == null || score(balance.loads(raised)).better(least)) {
                best = raised;
            }
        }
        out.reset(mark);
        if (best != null) {
            Draft.copy(best, out, component.streams);
            double[] load = balance.loads(best);
            for (int replica : component.replicas) {
                draft.raise(replica, load[replica]);
            }
        }
    }

    /** What a packing does to the replicas: the largest load, if it is far from the level; then how uneven they are. */
    private record Score(double largest, double squares) {
        boolean better(Score other) {
            return largest != other.largest ? largest < other.largest : squares < other.squares;
        }
    }

    private Score score(double[] load) {
        double largest = base * (1 + NEAR);
        double squares = 0;
        for (int replica : component.replicas) {
            largest = Math.max(largest, load[replica]);
            squares += in.capacity[replica] * load[replica] * load[replica];
        }
        return new Score(largest, squares);
    }

    private boolean packAt(double factor, Packing out) {
        int mark = out.mark();
        for (Rule rule : Rule.values()) {
            for (boolean apart : new boolean[] {false, true}) {
                out.reset(mark);
                // shared room might be that of streams of another class that are poured later
                if ((apart || !pours || component.classes.length == 1) && pack(apart, factor, rule, out)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean pack(boolean apart, double factor, Rule rule, Packing out) {
        share(apart, factor);
        for (int c = 0; c < component.classes.length; c++) {
            int[] replicas = component.eligible[c];
            if (apart) {
                own(c, factor);
            }
            int[] streams = component.limited[c];
            if (!packer.pack(streams, 0, streams.length, replicas, 0, replicas.length, 0, rule, out)) {
                return false;
            }
        }
        return true;
    }

    private void packLoosely(boolean apart, Rule rule, Packing out) {
        share(apart, 1);
        for (int c = 0; c < component.classes.length; c++) {
            if (apart) {
                own(c, 1);
            }
            packer.packLoosely(component.limited[c], component.eligible[c], rule, out);
        }
    }

    /** Opens all replicas at the level, for all classes. */
    private void share(boolean apart, double factor) {
        if (!apart) {
            packer.open(component.replicas, 0, component.replicas.length, base * factor);
        }
    }

    /** Opens room for one class alone. */
    private void own(int c, double factor) {
        packer.open(component.eligible[c], 0, component.eligible[c].length, 0);
        for (int i = 0; i < component.eligible[c].length; i++) {
            if (ownRoom[c][i] > 0) {
                packer.open(component.eligible[c][i], ownRoom[c][i] * factor);
            }
        }
    }

    /**
     * Deals out the replicas of each group to the classes, as much to each as the fluid takes: the fastest first, each to the
     * class that lacks the largest part, so that all get fast and slow ones.
     */
    private double[][] deal() {
        int classes = component.classes.length;
        double[][] dealt = new double[classes][];
        double[][] lack = new double[classes][];
        int[] at = new int[classes];
        for (int c = 0; c < classes; c++) {
            dealt[c] = new double[component.eligible[c].length];
            lack[c] = flow[c].clone();
        }
        for (int replica : component.replicas) {
            int g = in.group[replica];
            for (int c = 0; c < classes; c++) {
                while (at[c] < dealt[c].length && component.eligible[c][at[c]] < replica) {
                    at[c]++;
                }
            }
            double whole = base * in.capacity[replica];
            double left = whole;
            while (left > whole * Levelling.CERTAIN) {
                int neediest = -1;
                for (int c = 0; c < classes; c++) {
                    if (lack[c][g] > flow[c][g] * Levelling.CERTAIN
                            && at[c] < dealt[c].length
                            && component.eligible[c][at[c]] == replica
                            && (neediest < 0 || lack[c][g] * flow[neediest][g] > lack[neediest][g] * flow[c][g])) {
                        neediest = c;
                    }
                }
                if (neediest < 0) {
                    break;
                }
                double given = Math.min(left, lack[neediest][g]);
                dealt[neediest][at[neediest]] += given;
                lack[neediest][g] -= given;
                left -= given;
            }
        }
        return dealt;
    }
}
