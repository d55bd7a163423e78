package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Amounts of streams on replicas while they are moved: where they are, where they were at first, and what room is left. */
final class Placement {

    /** A part of a rate, or of what a replica may bear, below which there is nothing. */
    static final double ROUNDING = 1e-9;

    /** A new record with a smaller share than this would be lost among integer weights. */
    static final double LEAST_SHARE = 1.0 / 256;

    /** Looks at a piece after which nothing more is tried. */
    private static final long MOST_WORK = 200_000_000;

    final Instance in;

    /** What each replica may bear, in the unit of the rates, and what is left of that; negative where it has too much. */
    final double[] most;

    final double[] room;

    private final int[][] at;
    private final double[][] amount;
    private final int[][] firstAt;
    private final double[][] firstAmount;
    private final boolean[] touched;
    private final List<Set<Integer>> on = new ArrayList<>();
    private final List<List<Integer>> firstOn = new ArrayList<>();

    /** The replicas of each group, the roomiest first. */
    private final List<NavigableSet<Integer>> idlest = new ArrayList<>();

    private long work;

    /** Streams as they were before something was tried; null while nothing is. */
    private @Nullable Map<Integer, Before> tried;

    private static final class Before {

        final int[] at;
        final double[] amount;
        final boolean touched;

        Before(int[] at, double[] amount, boolean touched) {
            this.at = at;
            this.amount = amount;
            this.touched = touched;
        }
    }

    /**
     * @param goal the load of each canonical replica that is not too much
     * @param tolerance by what part of it a load may be above its goal
     */
    Placement(Instance in, Shares shares, double[] goal, double tolerance) {
        this.in = in;
        at = new int[in.rated][];
        amount = new double[in.rated][];
        firstAt = new int[in.rated][];
        firstAmount = new double[in.rated][];
        touched = new boolean[in.rated];
        most = new double[in.m];
        for (int i = 0; i < in.m; i++) {
            on.add(new TreeSet<>());
            firstOn.add(new ArrayList<>());
            most[i] = goal[i] * (1 + tolerance) * in.capacity[i];
        }
        room = most.clone();
        for (int j = 0; j < in.rated; j++) {
            at[j] = shares.at(j);
            amount[j] = new double[at[j].length];
            for (int p = 0; p < at[j].length; p++) {
                amount[j][p] = shares.share(j)[p] * in.rate[j];
                room[at[j][p]] -= amount[j][p];
                on.get(at[j][p]).add(j);
                firstOn.get(at[j][p]).add(j);
            }
            firstAt[j] = at[j];
            firstAmount[j] = amount[j].clone();
        }
        for (int[] group : in.replicasOfGroup) {
            NavigableSet<Integer> roomiest = new TreeSet<>(
                    Comparator.comparingDouble((Integer i) -> -room[i]).thenComparingInt(in::nameRank));
            for (int i : group) {
                roomiest.add(i);
            }
            idlest.add(roomiest);
        }
    }

    /** Takes over what has changed. */
    void write(Shares shares) {
        for (int j = 0; j < in.rated; j++) {
            if (touched[j]) {
                double sum = Arrays.stream(amount[j]).sum();
                shares.set(
                        j,
                        at[j],
                        Arrays.stream(amount[j]).map(part -> part / sum).toArray());
            }
        }
    }

    /** Counts looks at a piece. */
    void worked(long looks) {
        work += looks;
    }

    boolean isTired() {
        return work > MOST_WORK;
    }

    /** The replicas of a stream; not to be changed. */
    int[] at(int stream) {
        return at[stream];
    }

    double[] amounts(int stream) {
        return amount[stream];
    }

    int[] firstAt(int stream) {
        return firstAt[stream];
    }

    double[] firstAmounts(int stream) {
        return firstAmount[stream];
    }

    /** The streams on a replica, the one with the largest rate first. */
    Set<Integer> on(int replica) {
        return on.get(replica);
    }

    List<Integer> firstOn(int replica) {
        return firstOn.get(replica);
    }

    boolean isTouched(int stream) {
        return touched[stream];
    }

    boolean isAbove(int replica) {
        return room[replica] < -most[replica] * ROUNDING && room[replica] < 0;
    }

    /** Whether a stream may have one more replica. */
    boolean mayHaveMore(int stream) {
        return at[stream].length < in.limit[stream];
    }

    double amountOn(int stream, int replica) {
        return of(at[stream], amount[stream], replica);
    }

    /** What a stream had on a replica at first. */
    double first(int stream, int replica) {
        return of(firstAt[stream], firstAmount[stream], replica);
    }

    private static double of(int[] at, double[] amount, int replica) {
        for (int p = 0; p < at.length; p++) {
            if (at[p] == replica) {
                return amount[p];
            }
        }
        return 0;
    }

    /** How much of a stream is not where it was. */
    double away(int stream) {
        double away = in.rate[stream] - kept(stream, at[stream], amount[stream]);
        return away > in.rate[stream] * ROUNDING ? away : 0;
    }

    private double kept(int stream, int[] replicas, double[] amounts) {
        double kept = 0;
        for (int p = 0; p < replicas.length; p++) {
            kept += Math.min(amounts[p], first(stream, replicas[p]));
        }
        return kept;
    }

    boolean isRoomier(int a, int b) {
        return room[a] != room[b] ? room[a] > room[b] : in.nameRank(a) < in.nameRank(b);
    }

    /** The replica with most room that a stream may use and does not; −1 if there is none. */
    int idlest(int stream) {
        int best = -1;
        for (int group : in.eligibility.groups(in.streamClass[stream])) {
            for (int top : idlest.get(group)) {
                work++;
                if (!uses(stream, top)) {
                    best = best < 0 || isRoomier(top, best) ? top : best;
                    break;
                }
            }
        }
        return best;
    }

    private boolean uses(int stream, int replica) {
        for (int own : at[stream]) {
            if (own == replica) {
                return true;
            }
        }
        return false;
    }

    void move(int stream, int replica, int to, double shift) {
        put(stream, to, shift);
        for (int p = 0; p < at[stream].length; p++) {
            if (at[stream][p] == replica) {
                amount[stream][p] -= shift;
                addRoom(replica, shift);
                if (amount[stream][p] <= in.rate[stream] * ROUNDING) {
                    remove(stream, p);
                }
                break;
            }
        }
    }

    void put(int stream, int replica, double more) {
        remember(stream);
        addRoom(replica, -more);
        for (int p = 0; p < at[stream].length; p++) {
            if (at[stream][p] == replica) {
                amount[stream][p] += more;
                return;
            }
        }
        int count = at[stream].length;
        at[stream] = Arrays.copyOf(at[stream], count + 1);
        amount[stream] = Arrays.copyOf(amount[stream], count + 1);
        at[stream][count] = replica;
        amount[stream][count] = more;
        on.get(replica).add(stream);
    }

    private void remove(int stream, int piece) {
        int replica = at[stream][piece];
        int last = at[stream].length - 1;
        int[] replicas = Arrays.copyOf(at[stream], last);
        double[] amounts = Arrays.copyOf(amount[stream], last);
        if (piece < last) {
            replicas[piece] = at[stream][last];
            amounts[piece] = amount[stream][last];
        }
        at[stream] = replicas;
        amount[stream] = amounts;
        on.get(replica).remove(stream);
    }

    /** Has a stream be elsewhere, whatever room there is. */
    void replace(int stream, int[] replicas, double[] amounts) {
        remember(stream);
        exchange(stream, replicas, amounts);
    }

    private void exchange(int stream, int[] replicas, double[] amounts) {
        for (int p = 0; p < at[stream].length; p++) {
            addRoom(at[stream][p], amount[stream][p]);
            on.get(at[stream][p]).remove(stream);
        }
        at[stream] = replicas;
        amount[stream] = amounts;
        for (int p = 0; p < replicas.length; p++) {
            addRoom(replicas[p], -amounts[p]);
            on.get(replicas[p]).add(stream);
        }
    }

    /** Changes the room of a replica, and its place among the idlest. */
    private void addRoom(int replica, double more) {
        int group = in.group[replica];
        if (group == Eligibility.NONE) {
            room[replica] += more;
            return;
        }
        idlest.get(group).remove(replica);
        room[replica] += more;
        idlest.get(group).add(replica);
    }

    private void remember(int stream) {
        if (tried != null && !tried.containsKey(stream)) {
            tried.put(stream, new Before(at[stream], amount[stream].clone(), touched[stream]));
        }
        touched[stream] = true;
    }

    /** From here on everything is a trial, until it is {@linkplain #undo undone}. */
    void trial() {
        tried = new TreeMap<>();
    }

    /** Ends a trial: everything is as it was before. Returns how much more than then was away from where it was at first. */
    double undo() {
        Map<Integer, Before> streams = Objects.requireNonNull(tried, "no trial");
        tried = null;
        double moved = 0;
        for (Map.Entry<Integer, Before> entry : streams.entrySet()) {
            int stream = entry.getKey();
            Before old = entry.getValue();
            moved += kept(stream, old.at, old.amount) - kept(stream, at[stream], amount[stream]);
            exchange(stream, old.at, old.amount);
            touched[stream] = old.touched;
        }
        return moved;
    }
}
