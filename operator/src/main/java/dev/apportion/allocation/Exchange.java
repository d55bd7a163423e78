package dev.apportion.allocation;

/**
 * Local search over which replicas the streams use, for small instances: a stream of the most loaded replicas takes another
 * replica in place of one of its own, or two streams exchange one each, as long as that lowers the makespan.
 *
 * <p>Every trial is evened out by {@link Balance}; the trials stop when none helps, or when they have cost enough.
 */
final class Exchange {

    /** Most pieces that are poured in all trials together: some milliseconds. */
    private static final long MOST_WORK = 400_000;

    /** What counts as lower, relatively. */
    private static final double LOWER = 1e-9;

    private final Instance in;
    private final int[] streams;
    private final Balance balance;
    private final double enough;

    /** The replicas that each stream may use. */
    private final int[][] candidates;

    private int[][] support;
    private Packing packing;
    private double makespan;

    /**
     * @param start a packing of the component's streams, evened out
     * @param enough a makespan that needs no improvement
     */
    Exchange(Instance in, Component component, Packing start, double enough) {
        this.in = in;
        this.enough = enough;
        streams = component.streams;
        balance = new Balance(in, component);
        candidates = new int[streams.length][];
        for (int c = 0; c < component.classes.length; c++) {
            for (int s = 0; s < streams.length; s++) {
                if (in.streamClass[streams[s]] == component.classes[c]) {
                    candidates[s] = component.eligible[c];
                }
            }
        }
        packing = start;
        makespan = balance.makespan(start);
        support = supports(start);
    }

    /** Searches; the answer is the best packing found. */
    Packing search() {
        while (makespan > enough && balance.work() < MOST_WORK && step()) {
            // the step has changed the packing
        }
        return packing;
    }

    /** The replicas of each stream, made up to k with the least loaded ones that it does not use. */
    private int[][] supports(Packing start) {
        double[] load = Draft.loads(in, start, streams);
        int[][] supports = new int[streams.length][];
        for (int s = 0; s < supports.length; s++) {
            int stream = streams[s];
            int[] own = new int[in.limit[stream]];
            int count = 0;
            for (int p = start.start(stream); p < start.end(stream); p++) {
                own[count++] = start.replicas()[p];
            }
            while (count < own.length) {
                int least = -1;
                for (int replica : candidates[s]) {
                    if (!contains(own, count, replica) && (least < 0 || load[replica] < load[least])) {
                        least = replica;
                    }
                }
                own[count++] = least;
            }
            supports[s] = own;
        }
        return supports;
    }

    private boolean step() {
        double[] load = Draft.loads(in, packing, streams);
        for (int s = 0; s < streams.length; s++) {
            boolean critical = false;
            for (int replica : support[s]) {
                critical |= load[replica] >= makespan * (1 - LOWER);
            }
            if (critical && (replaceOne(s) || exchangeOne(s))) {
                return true;
            }
        }
        return false;
    }

    private boolean replaceOne(int s) {
        int[] own = support[s];
        for (int p = 0; p < own.length; p++) {
            int before = own[p];
            for (int replica : candidates[s]) {
                if (!contains(own, own.length, replica)) {
                    own[p] = replica;
                    if (lowers()) {
                        return true;
                    }
                    own[p] = before;
                }
            }
        }
        return false;
    }

    private boolean exchangeOne(int s) {
        int[] own = support[s];
        for (int t = 0; t < streams.length; t++) {
            int[] other = support[t];
            for (int p = 0; t != s && p < own.length; p++) {
                for (int q = 0; q < other.length; q++) {
                    int mine = own[p];
                    int theirs = other[q];
                    if (contains(own, own.length, theirs)
                            || contains(other, other.length, mine)
                            || !in.mayUse(streams[s], theirs)
                            || !in.mayUse(streams[t], mine)) {
                        continue;
                    }
                    own[p] = theirs;
                    other[q] = mine;
                    if (lowers()) {
                        return true;
                    }
                    own[p] = mine;
                    other[q] = theirs;
                }
            }
        }
        return false;
    }

    private boolean lowers() {
        if (balance.work() >= MOST_WORK) {
            return false;
        }
        Packing trial = new Packing(in.n, streams.length * 4);
        for (int s = 0; s < streams.length; s++) {
            trial.begin(streams[s]);
            for (int replica : support[s]) {
                trial.add(streams[s], replica, in.capacity[replica]);
            }
        }
        double reached = balance.settle(trial);
        if (!(reached < makespan * (1 - LOWER))) {
            return false;
        }
        makespan = reached;
        packing = trial;
        return true;
    }

    private static boolean contains(int[] some, int count, int replica) {
        for (int i = 0; i < count; i++) {
            if (some[i] == replica) {
                return true;
            }
        }
        return false;
    }
}
