package dev.apportion.allocation;

import java.util.Arrays;

/**
 * The greedy fit of streams into replicas of given room: each stream, in the order given, takes the least window of
 * consecutive residuals that suffices, and fills it from its small end.
 *
 * <p>A window that is not at the low end loses all its replicas but the last, so that there are at most m/(k−1) of them;
 * at the low end a stream takes up what others left. Together O((n + m) k log m), and at most n + m − 1 pieces.
 *
 * <p>With one piece more than k the fit always succeeds at the lower bound of {@link Blocks}, on replicas of any speeds:
 * such a window gives up exactly the stream's rate and k whole replicas, hence what remains still satisfies the bound.
 */
final class Packer {

    /** Room given beyond the exact bound, relatively, so that rounding cannot spoil a fit without slack. */
    static final double SLACK = 1e-11;

    /** A part of a stream that is nothing but rounding. */
    private static final double ROUNDING = 1e-14;

    /** Which residuals a stream takes. */
    enum Rule {
        /** The least sufficient window. */
        WINDOW,
        /** The window, with its least residual replaced by the least one that still suffices. */
        BEST_FIT
    }

    private final Instance in;
    private final double[] whole;
    private final double[] room;

    Packer(Instance in) {
        this.in = in;
        whole = new double[in.m];
        room = new double[in.m];
    }

    /** Gives replicas the room that they have at a level. */
    void open(int[] replicas, int from, int to, double level) {
        for (int i = from; i < to; i++) {
            int replica = replicas[i];
            room[replica] = level * (1 + SLACK) * in.capacity[replica];
            whole[replica] = room[replica];
        }
    }

    /** Gives one replica some room. */
    void open(int replica, double amount) {
        room[replica] = amount * (1 + SLACK);
        whole[replica] = room[replica];
    }

    /**
     * Packs streams into the room that replicas still have.
     *
     * @param streams canonical streams, in the order of packing
     * @param replicas canonical replicas; those between {@code first} and {@code last} are used
     * @param spare pieces allowed beyond k
     * @param out receives the pieces; those added are to be forgotten if the answer is false
     * @return whether everything fitted
     */
    boolean pack(
            int[] streams, int from, int to, int[] replicas, int first, int last, int spare, Rule rule, Packing out) {
        return pack(streams, from, to, replicas, first, last, spare, rule, false, out);
    }

    /** Packs streams; one that does not fit overflows the largest residuals. */
    void packLoosely(int[] streams, int[] replicas, Rule rule, Packing out) {
        pack(streams, 0, streams.length, replicas, 0, replicas.length, 0, rule, true, out);
    }

    private boolean pack(
            int[] streams,
            int from,
            int to,
            int[] replicas,
            int first,
            int last,
            int spare,
            Rule rule,
            boolean loosely,
            Packing out) {
        Residuals residuals = residuals(replicas, first, last);
        for (int s = from; s < to; s++) {
            int stream = streams[s];
            int k = in.limit[stream] + spare;
            double need = in.rate[stream];
            out.begin(stream);
            if (!residuals.seekWindow(k, need)) {
                if (!loosely) {
                    return false;
                }
                overflow(residuals, stream, k, replicas, out);
                continue;
            }
            if (residuals.atFirst()) {
                fillFromFirst(residuals, stream, k, need, out);
            } else {
                fillWindow(residuals, stream, k, need, rule, out);
            }
        }
        return true;
    }

    private Residuals residuals(int[] replicas, int first, int last) {
        int[] ascending = new int[last - first];
        int count = 0;
        boolean sorted = true;
        for (int i = last - 1; i >= first; i--) {
            if (room[replicas[i]] > 0) {
                sorted &= count == 0 || room[ascending[count - 1]] <= room[replicas[i]];
                ascending[count++] = replicas[i];
            }
        }
        int[] order = Arrays.copyOf(ascending, count);
        if (!sorted) {
            double[] keys = new double[count];
            for (int i = 0; i < count; i++) {
                keys[i] = room[order[i]];
            }
            int[] descending = DescendingOrder.of(keys, (a, b) -> Integer.compare(order[a], order[b]));
            int[] byRoom = new int[count];
            for (int i = 0; i < count; i++) {
                byRoom[count - 1 - i] = order[descending[i]];
            }
            return new Residuals(byRoom, room);
        }
        return new Residuals(order, room);
    }

    /** Fills the k largest residuals; what is left over raises those replicas evenly. */
    private void overflow(Residuals residuals, int stream, int k, int[] replicas, Packing out) {
        int width = Math.min(k, residuals.size());
        int[] chosen = width == 0 ? Arrays.copyOf(replicas, Math.min(k, replicas.length)) : new int[width];
        double[] value = new double[chosen.length];
        if (width > 0) {
            residuals.seekLast(width);
            take(residuals, chosen, value, 0, width);
        }
        double excess = in.rate[stream];
        double capacity = 0;
        for (int i = 0; i < chosen.length; i++) {
            excess -= value[i];
            capacity += in.capacity[chosen[i]];
        }
        for (int i = 0; i < chosen.length; i++) {
            out.add(stream, chosen[i], value[i] + Math.max(0, excess) * (in.capacity[chosen[i]] / capacity));
            room[chosen[i]] = 0;
        }
    }

    private void fillFromFirst(Residuals residuals, int stream, int k, double rate, Packing out) {
        double need = rate;
        while (need > rate * ROUNDING && residuals.size() > 0) {
            int replica = residuals.id();
            double value = residuals.value();
            double left = value - need;
            if (left <= k * SLACK * whole[replica]) {
                double amount = Math.min(value, need);
                out.add(stream, replica, amount);
                room[replica] = 0;
                residuals.remove();
                need -= amount;
            } else {
                out.add(stream, replica, need);
                room[replica] = left;
                residuals.reduceFirst(left);
                need = 0;
            }
        }
    }

    private void fillWindow(Residuals residuals, int stream, int k, double rate, Rule rule, Packing out) {
        int width = Math.min(k, residuals.size());
        int[] replica = new int[width];
        double[] value = new double[width];
        if (rule == Rule.BEST_FIT && width > 1) {
            double rest = rate - residuals.sumAfterCursor(width - 1);
            residuals.next();
            take(residuals, replica, value, 1, width);
            residuals.seekValue(rest - rate * ROUNDING);
            take(residuals, replica, value, 0, 1);
        } else {
            take(residuals, replica, value, 0, width);
        }
        double need = rate;
        for (int i = 0; i < width; i++) {
            double left = value[i] - need;
            if (need <= rate * ROUNDING) {
                residuals.insert(replica[i], value[i]);
            } else if (left <= k * SLACK * whole[replica[i]]) {
                double amount = Math.min(value[i], need);
                out.add(stream, replica[i], amount);
                room[replica[i]] = 0;
                need -= amount;
            } else {
                out.add(stream, replica[i], need);
                room[replica[i]] = left;
                residuals.insert(replica[i], left);
                need = 0;
            }
        }
    }

    private static void take(Residuals residuals, int[] replica, double[] value, int from, int to) {
        for (int i = from; i < to; i++) {
            replica[i] = residuals.id();
            value[i] = residuals.value();
            residuals.remove();
        }
    }
}
