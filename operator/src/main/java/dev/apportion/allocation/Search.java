package dev.apportion.allocation;

import dev.apportion.allocation.Packer.Rule;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Looks for a smaller makespan where packing block by block does not meet the bound: mostly few streams on replicas of very
 * different capacity, which is where the problem is hard (it is strongly NP-hard).
 *
 * <p>Tried are packings of all streams on all replicas at the least level that bisection finds, by both rules and in several
 * orders; equal pieces on the least loaded replicas; and the packing with one piece more than k, which always succeeds at
 * the bound, without the least piece of each stream. Each is then evened out, in small instances replicas
 * are exchanged, and in the smallest all choices of replicas are tried, which also proves the least makespan.
 *
 * <p>The packing without the least pieces is never more than 1 + 1/k times the bound when k is the same for all.
 */
final class Search {

    /** Orders that are tried beside the first. */
    private static final int ORDERS = 12;

    private static final long SEED = 0x5EEDL;

    /** Most streams that are packed in all attempts together. */
    private static final long MOST_WORK = 4_000_000;

    /** Streams, and replicas, up to which the choice of replicas is searched. */
    private static final int SMALL = 64;

    /** How close a bisection goes, relatively. */
    private static final double PRECISION = 1e-6;

    private final Instance in;
    private final Packer packer;
    private final Component component;
    private final int[] streams;
    private final int[] replicas;
    private final double bound;
    private final Balance balance;

    private @Nullable Packing best;
    private double makespan;
    private double proven;
    private long work;

    /**
     * @param bound the lower bound
     */
    Search(Instance in, Packer packer, Component component, double bound) {
        this.in = in;
        this.packer = packer;
        this.component = component;
        this.bound = bound;
        streams = component.streams;
        replicas = component.replicas;
        balance = new Balance(in, component);
    }

    /** The lower bound, raised if the makespan is proven to be the least. */
    double bound() {
        return Math.max(bound, proven);
    }

    /** Replaces the pieces of the streams by better ones, if such are found. */
    void improve(Draft draft) {
        makespan = balance.makespan(draft.packing);
        double enough = bound * (1 + Levelling.CERTAIN);
        if (met()) {
            return;
        }
        Packing evened = new Packing(in.n, streams.length + in.m);
        Draft.copy(draft.packing, evened, streams);
        offer(evened);
        offer(equalPieces());
        if (component.classes.length == 1) {
            offer(withoutLeastPieces());
            packings();
        }
        if (!met() && streams.length <= SMALL && replicas.length <= SMALL) {
            offer(new Exchange(in, component, best == null ? evened : best, enough).search());
        }
        if (!met() && Enumeration.suits(component)) {
            Enumeration enumeration = new Enumeration(in, component, makespan, enough);
            boolean complete = enumeration.search();
            offer(enumeration.packing());
            if (complete && !met()) {
                proven = enumeration.makespan() * (1 - Levelling.CERTAIN / 2);
            }
        }
        if (best != null) {
            Draft.copy(best, draft.packing, streams);
        }
    }

    /** Raises the levels that cannot be kept to the loads that there are now. */
    void raise(Draft draft) {
        double[] load = balance.loads(draft.packing);
        for (int replica : replicas) {
            draft.raise(replica, load[replica]);
        }
    }

    private boolean met() {
        return makespan <= bound * (1 + Levelling.CERTAIN);
    }

    private void offer(@Nullable Packing packing) {
        if (packing == null || met()) {
            return;
        }
        double reached = balance.settle(packing);
        if (reached < makespan) {
            makespan = reached;
            best = packing;
        }
    }

    private void packings() {
        SplittableRandom random = new SplittableRandom(SEED);
        int[] order = streams;
        for (int attempt = 0; attempt <= ORDERS && !met() && work < MOST_WORK; attempt++) {
            if (attempt > 0) {
                order = jittered(random, attempt);
            }
            offer(packed(order));
        }
    }

    /** The streams in an order that is disturbed by up to a factor of two. */
    private int[] jittered(SplittableRandom random, int attempt) {
        double spread = (double) attempt / ORDERS;
        double[] keys = new double[streams.length];
        for (int s = 0; s < keys.length; s++) {
            keys[s] = in.rate[streams[s]] / in.limit[streams[s]] * (1 + spread * random.nextDouble());
        }
        int[] order = DescendingOrder.of(keys, Integer::compare);
        for (int s = 0; s < order.length; s++) {
            order[s] = streams[order[s]];
        }
        return order;
    }

    /** The packing at the least level that is found for an order, if that is below the makespan known. */
    private @Nullable Packing packed(int[] order) {
        Packing found = null;
        for (Rule rule : Rule.values()) {
            double impossible = bound;
            double possible = makespan * (1 - PRECISION);
            Packing packing = at(order, bound, rule, 0);
            if (packing != null) {
                return packing;
            }
            packing = at(order, possible, rule, 0);
            while (packing != null && work < MOST_WORK) {
                found = packing;
                if (possible - impossible <= PRECISION * possible) {
                    break;
                }
                double middle = (possible + impossible) / 2;
                Packing lower = at(order, middle, rule, 0);
                if (lower == null) {
                    impossible = middle;
                } else {
                    possible = middle;
                    packing = lower;
                }
            }
        }
        return found;
    }

    private @Nullable Packing at(int[] order, double level, Rule rule, int spare) {
        Packing packing = new Packing(in.n, streams.length + in.m);
        packer.open(replicas, 0, replicas.length, level);
        work += streams.length;
        return packer.pack(order, 0, order.length, replicas, 0, replicas.length, spare, rule, packing) ? packing : null;
    }

    private @Nullable Packing withoutLeastPieces() {
        int[] order = streams.clone();
        Arrays.sort(order);
        Packing spare = at(order, bound, Rule.WINDOW, 1);
        if (spare == null) {
            return null;
        }
        Packing kept = new Packing(in.n, streams.length + in.m);
        for (int stream : streams) {
            int from = spare.start(stream);
            int to = spare.end(stream);
            int least = to - from <= in.limit[stream] ? -1 : from;
            for (int p = from; p < to && least >= 0; p++) {
                least = spare.amounts()[p] < spare.amounts()[least] ? p : least;
            }
            kept.begin(stream);
            for (int p = from; p < to; p++) {
                if (p != least) {
                    kept.add(stream, spare.replicas()[p], spare.amounts()[p]);
                }
            }
        }
        return kept;
    }

    private Packing equalPieces() {
        double[] load = new double[in.m];
        LeastLoaded order = new LeastLoaded(in, load, new double[in.m]);
        Packing packing = new Packing(in.n, streams.length * 2);
        for (int stream : streams) {
            int[] taken = order.take(in.streamClass[stream], in.limit[stream]);
            packing.begin(stream);
            double amount = in.rate[stream] / taken.length;
            for (int replica : taken) {
                packing.add(stream, replica, amount);
                load[replica] += amount / in.capacity[replica];
            }
            order.putBack(taken);
        }
        return packing;
    }
}
