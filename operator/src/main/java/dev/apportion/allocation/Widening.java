package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The cheapest way out for a stream whose replicas together may not bear it: which of them it keeps, and which others it takes
 * in place of the rest.
 *
 * <p>What it gives up moves. What it brings to replicas whose room others use drives those away, which moves too. On replicas
 * with bounds b, where it has x and others leave it s, the stream may have anything between min(x, s) and max(x, s) at the
 * same cost, so that with kept replicas K and new ones N it costs all of x outside of K, (x − s)⁺ within, and what of its rate
 * exceeds the sum of max(x, s) over K and N.
 */
final class Widening {

    /** Streams on more replicas than this are not looked at for what they may keep. */
    static final int MOST_CHOICES = 10;

    /** Replicas that are looked at for the last one of several. */
    private static final int MOST_LAST = 12;

    private static final double ROUNDING = 1e-9;

    /**
     * A way out.
     *
     * @param kept which of the stream's replicas, by position, it keeps
     * @param added the replicas that it takes
     * @param cost what moves by that
     */
    record Choice(int kept, List<Integer> added, double cost) {

        boolean keeps(int position) {
            return (kept & 1 << position) != 0;
        }
    }

    private final Instance in;
    private final double[] most;
    private final IntToDoubleFunction spare;
    private final int[] at;
    private final double[] amount;
    private final double rate;
    private final int limit;

    /** What it may take: replicas beside which there are few that bear as much and leave as much. */
    private final int[] others;

    /** Of the others, those that leave most to the stream, and those that bear most. */
    private final int[] sparest;

    private final int[] strongest;

    /**
     * @param most what each replica may bear
     * @param spare what is left of it for the stream beside the others
     * @param at the replicas of the stream
     * @param amount what it has there
     */
    Widening(Instance in, int stream, double[] most, IntToDoubleFunction spare, int[] at, double[] amount) {
        this.in = in;
        this.most = most;
        this.spare = i -> Math.clamp(spare.applyAsDouble(i), 0, most[i]);
        this.at = at;
        this.amount = amount;
        rate = in.rate[stream] * (1 - ROUNDING);
        limit = in.limit[stream];
        others = candidates(in.eligibleReplicas(in.streamClass[stream]), limit + MOST_LAST);
        sparest = largest(this.spare, i -> true, limit);
        strongest = largest(i -> most[i], i -> true, limit);
    }

    /** All but those that {@code depth} others outdo, which are never among the first of any choice. */
    private int[] candidates(int[] eligible, int depth) {
        double[] spared = new double[eligible.length];
        for (int p = 0; p < spared.length; p++) {
            spared[p] = spare.applyAsDouble(eligible[p]);
        }
        int[] own = at.clone();
        Arrays.sort(own);
        int[] candidates = new int[eligible.length];
        int found = 0;
        PriorityQueue<Double> bearMost = new PriorityQueue<>();
        for (int p : DescendingOrder.of(spared, (a, b) -> in.nameRank(eligible[a]) - in.nameRank(eligible[b]))) {
            int replica = eligible[p];
            boolean outdone = bearMost.size() == depth && bearMost.element() >= most[replica];
            if (!outdone && Arrays.binarySearch(own, replica) < 0) {
                candidates[found++] = replica;
                bearMost.add(most[replica]);
                if (bearMost.size() > depth) {
                    bearMost.remove();
                }
            }
        }
        return Arrays.copyOf(candidates, found);
    }

    /** Whether all that a stream uses may not bear it. */
    static boolean outgrew(Instance in, int stream, int[] at, double[] most) {
        double together = 0;
        for (int replica : at) {
            together += most[replica];
        }
        return at.length > 0
                && at.length <= Math.min(in.limit[stream], MOST_CHOICES)
                && together < in.rate[stream] * (1 - ROUNDING);
    }

    /** Of the others that fit, those that rank first in a quantity. */
    private int[] largest(IntToDoubleFunction quantity, IntPredicate fits, int count) {
        int[] first = new int[Math.min(count, others.length)];
        double[] value = new double[first.length];
        int found = 0;
        for (int replica : others) {
            if (!fits.test(replica)) {
                continue;
            }
            double own = quantity.applyAsDouble(replica);
            int p = found;
            while (p > 0
                    && (value[p - 1] < own
                            || (value[p - 1] == own && in.nameRank(first[p - 1]) > in.nameRank(replica)))) {
                p--;
            }
            if (p < first.length) {
                int last = Math.min(found, first.length - 1);
                System.arraycopy(first, p, first, p + 1, last - p);
                System.arraycopy(value, p, value, p + 1, last - p);
                first[p] = replica;
                value[p] = own;
                found = last + 1;
            }
        }
        return Arrays.copyOf(first, found);
    }

    /** No way out costs less; infinite if there is none. */
    double least() {
        double least = Double.POSITIVE_INFINITY;
        for (int kept = 0; kept < 1 << at.length; kept++) {
            Side side = new Side(kept);
            if (side.cost < least) {
                least = Math.min(least, side.least());
            }
        }
        return least;
    }

    /** The cheapest ways out that are found, the best first. */
    List<Choice> cheapest(int count) {
        List<Choice> choices = new ArrayList<>();
        for (int kept = 0; kept < 1 << at.length; kept++) {
            new Side(kept).addTo(choices);
        }
        choices.sort(Comparator.comparingDouble(Choice::cost));
        return choices.subList(0, Math.min(count, choices.size()));
    }

    /** One choice of what is kept. */
    private final class Side {

        final int kept;

        /** How many replicas may be added. */
        final int places;

        /** What moves whatever is added. */
        double cost;

        /** What the added ones have to bear at least. */
        double need = rate;

        /** What they have to leave to the stream so that nobody else has to go. */
        double wish = rate;

        Side(int kept) {
            this.kept = kept;
            places = Math.min(limit - Integer.bitCount(kept), others.length);
            for (int p = 0; p < at.length; p++) {
                double bears = most[at[p]];
                if ((kept & 1 << p) != 0) {
                    double stays = Math.min(amount[p], bears);
                    double room = spare.applyAsDouble(at[p]);
                    cost += amount[p] - Math.min(stays, room);
                    need -= bears;
                    wish -= Math.max(stays, room);
                } else {
                    cost += amount[p];
                }
            }
        }

        double least() {
            double bearable = 0;
            double spared = 0;
            for (int p = 0; p < places; p++) {
                bearable += most[strongest[p]];
                spared += spare.applyAsDouble(sparest[p]);
            }
            if (bearable < need) {
                return Double.POSITIVE_INFINITY;
            }
            if (places == 1) {
                spared = spare.applyAsDouble(largest(spare, i -> most[i] >= need, 1)[0]);
            }
            return cost + Math.max(0, wish - spared);
        }

        void addTo(List<Choice> choices) {
            if (need <= 0) {
                choices.add(new Choice(kept, List.of(), cost + Math.max(0, wish)));
            }
            if (places > 0) {
                addTo(choices, sparest);
            }
            if (places > 1) {
                addTo(choices, strongest);
                int[] alike = largest(spare, i -> most[i] >= need / places, places - 1);
                if (alike.length == places - 1) {
                    addTo(choices, alike);
                }
            }
        }

        /** All but the last in an order, and the last as it fits. */
        private void addTo(List<Choice> choices, int[] order) {
            int[] added = Arrays.copyOf(order, places - 1);
            double needed = need;
            double wished = wish;
            for (int replica : added) {
                needed -= most[replica];
                wished -= spare.applyAsDouble(replica);
            }
            double least = needed;
            IntPredicate fits = i -> most[i] >= least && Arrays.stream(added).noneMatch(other -> other == i);
            for (int last : largest(spare, fits, MOST_LAST)) {
                List<Integer> all = IntStream.concat(Arrays.stream(added), IntStream.of(last))
                        .boxed()
                        .toList();
                choices.add(new Choice(kept, all, cost + Math.max(0, wished - spare.applyAsDouble(last))));
            }
        }
    }
}
