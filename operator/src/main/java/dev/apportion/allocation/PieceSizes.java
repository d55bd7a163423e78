package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps running pieces, and takes from the replicas that have too much no more than that: the worst one first, along a record
 * that the stream has already, then along a new record, then by a whole piece, and at last by way of a third replica.
 */
final class PieceSizes implements Mover {

    /** A new record with a smaller share than this would be lost among integer weights. */
    private static final double LEAST_SHARE = 1.0 / 256;

    private static final double ROUNDING = 1e-9;

    /** A piece that makes way for a smaller amount is no larger than this many times the amount. */
    private static final double MOST_ASIDE = 4;

    /** Streams and replicas that are tried for an exchange. */
    private static final int MOST_TRIED = 8;

    /** Looks at a piece after which nothing more is tried. */
    private static final long MOST_WORK = 200_000_000;

    private final Instance in;
    private final double[] goal;

    /** @param goal the load of each canonical replica that is not too much */
    PieceSizes(Instance in, double[] goal) {
        this.in = in;
        this.goal = goal;
    }

    @Override
    public void place(Shares shares) {
        List<Integer> incomplete = new ArrayList<>();
        for (int j = 0; j < in.rated; j++) {
            if (in.limit[j] > 0) {
                if (shares.at(j).length > in.limit[j]) {
                    trim(shares, j);
                }
                if (shares.sum(j) < LeastChange.WHOLE) {
                    incomplete.add(j);
                }
            }
        }
        if (incomplete.isEmpty()) {
            return;
        }
        double[] missing = new double[in.n];
        incomplete.forEach(j -> missing[j] = in.rate[j] * (1 - shares.sum(j)));
        incomplete.sort(Comparator.comparingDouble((Integer j) -> -missing[j])
                .thenComparing(j -> in.stream(j).name()));
        State state = new State(shares, 0);
        incomplete.forEach(j -> state.pour(j, missing[j]));
        state.write(shares);
    }

    /** Leaves a stream its largest pieces. */
    private void trim(Shares shares, int stream) {
        int[] at = shares.at(stream);
        double[] part = shares.share(stream);
        int[] largest = Arrays.stream(Draft.range(at.length))
                .boxed()
                .sorted(Comparator.comparingDouble((Integer p) -> -part[p]).thenComparingInt(p -> in.nameRank(at[p])))
                .limit(in.limit[stream])
                .mapToInt(Integer::intValue)
                .toArray();
        shares.set(
                stream,
                Arrays.stream(largest).map(p -> at[p]).toArray(),
                Arrays.stream(largest).mapToDouble(p -> part[p]).toArray());
    }

    @Override
    public boolean settled(Shares shares, double tolerance) {
        double[] load = shares.loads(in, in.rate, 0, in.rated);
        for (int i = 0; i < in.m; i++) {
            if (load[i] > goal[i] * (1 + tolerance) * (1 + ROUNDING)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean repair(Shares shares, double tolerance) {
        State state = new State(shares, tolerance);
        boolean done = state.relieve();
        state.write(shares);
        return done;
    }

    /** Amounts on replicas while they are moved. */
    private final class State {

        private final int[][] at = new int[in.rated][];
        private final double[][] amount = new double[in.rated][];
        private final boolean[] touched = new boolean[in.rated];
        private final List<Set<Integer>> on = new ArrayList<>();
        private final double[] room = new double[in.m];
        private final double[] most = new double[in.m];
        private final List<PriorityQueue<Room>> idlest = new ArrayList<>();
        private long work;

        /** The stream that must stay where it is; −1 for none. */
        private int frozen = -1;

        /** Streams as they were before an exchange was tried; null while none is. */
        private @Nullable Map<Integer, Before> before;

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

        /** The room of a replica when it was looked at last; it can only have become less. */
        private record Room(int replica, double room, int nameRank) {}

        State(Shares shares, double tolerance) {
            for (int i = 0; i < in.m; i++) {
                on.add(new TreeSet<>());
                most[i] = goal[i] * (1 + tolerance) * in.capacity[i];
                room[i] = most[i];
            }
            for (int j = 0; j < in.rated; j++) {
                at[j] = shares.at(j);
                amount[j] = new double[at[j].length];
                for (int p = 0; p < at[j].length; p++) {
                    amount[j][p] = shares.share(j)[p] * in.rate[j];
                    room[at[j][p]] -= amount[j][p];
                    on.get(at[j][p]).add(j);
                }
            }
            for (int[] group : in.replicasOfGroup) {
                PriorityQueue<Room> queue = new PriorityQueue<>(
                        Comparator.comparingDouble(Room::room).reversed().thenComparingInt(Room::nameRank));
                for (int i : group) {
                    queue.add(new Room(i, room[i], in.nameRank(i)));
                }
                idlest.add(queue);
            }
        }

        void write(Shares shares) {
            for (int j = 0; j < in.rated; j++) {
                if (!touched[j]) {
                    continue;
                }
                double sum = 0;
                for (double part : amount[j]) {
                    sum += part;
                }
                double[] parts = new double[amount[j].length];
                for (int p = 0; p < parts.length; p++) {
                    parts[p] = amount[j][p] / sum;
                }
                shares.set(j, at[j], parts);
            }
        }

        /** Gives replicas to an amount of a stream that has none: its own ones first, as far as they have room. */
        void pour(int stream, double missing) {
            boolean free = in.free(stream);
            double left = missing;
            int[] own = free ? in.eligibleReplicas(in.streamClass[stream]) : at[stream].clone();
            double sum = 0;
            for (int replica : own) {
                sum += Math.max(0, room[replica]);
            }
            if (sum > 0) {
                double part = Math.min(1, left / sum);
                for (int replica : own) {
                    double more = part * Math.max(0, room[replica]);
                    if (more > 0) {
                        put(stream, replica, more);
                        left -= more;
                    }
                }
            }
            while (left > missing * ROUNDING && at[stream].length < in.limit[stream]) {
                int replica = idlest(stream);
                if (replica < 0 || (!(room[replica] > 0) && at[stream].length > 0)) {
                    break;
                }
                boolean last = at[stream].length + 1 == in.limit[stream];
                double more = last || !(room[replica] > 0) ? left : Math.min(left, room[replica]);
                put(stream, replica, more);
                left -= more;
            }
            if (left > 0) {
                overfill(stream, left);
            }
        }

        /** Where no room is left: in proportion to capacity. */
        private void overfill(int stream, double left) {
            int[] own = at[stream].clone();
            double capacity = 0;
            for (int replica : own) {
                capacity += in.capacity[replica];
            }
            for (int replica : own) {
                put(stream, replica, left * (in.capacity[replica] / capacity));
            }
        }

        /** Takes from each replica what it has above the most that it may have; the worst one first. */
        boolean relieve() {
            int[] over = Arrays.stream(Draft.range(in.m))
                    .filter(this::isAbove)
                    .boxed()
                    .sorted(Comparator.comparingDouble((Integer i) -> room[i] / most[i])
                            .thenComparingInt(in::nameRank))
                    .mapToInt(Integer::intValue)
                    .toArray();
            for (int replica : over) {
                relieve(replica);
            }
            boolean done = true;
            for (int replica : over) {
                if (isOver(replica)) {
                    exchange(replica);
                }
                if (isOver(replica)) {
                    alongNewRecords(replica, 0);
                }
                done &= !isAbove(replica);
            }
            return done;
        }

        private void relieve(int replica) {
            if (isOver(replica)) {
                shiftAlongRecords(replica);
            }
            if (isOver(replica)) {
                alongNewRecords(replica, LEAST_SHARE);
            }
            if (isOver(replica)) {
                wholePieces(replica);
            }
            if (isOver(replica)) {
                byWayOfAnother(replica);
            }
        }

        private boolean isOver(int replica) {
            return work <= MOST_WORK && isAbove(replica);
        }

        private boolean isAbove(int replica) {
            return room[replica] < -most[replica] * ROUNDING && room[replica] < 0;
        }

        private List<Integer> streamsOn(int replica) {
            List<Integer> streams = new ArrayList<>(on.get(replica));
            streams.removeIf(stream -> stream == frozen);
            work += streams.size();
            streams.sort(Comparator.comparingDouble((Integer j) -> -amountOn(j, replica))
                    .thenComparing(j -> in.stream(j).name()));
            return streams;
        }

        private void shiftAlongRecords(int replica) {
            for (int stream : streamsOn(replica)) {
                while (isOver(replica)) {
                    int to = -1;
                    for (int other : at[stream]) {
                        work++;
                        if (other != replica && room[other] > 0 && (to < 0 || isRoomier(other, to))) {
                            to = other;
                        }
                    }
                    double shift = to < 0 ? 0 : Math.min(-room[replica], Math.min(amountOn(stream, replica), room[to]));
                    if (!(shift > 0)) {
                        break;
                    }
                    move(stream, replica, to, withoutCrumbs(stream, replica, to, shift));
                }
            }
        }

        private void alongNewRecords(int replica, double leastShare) {
            boolean moved = true;
            while (moved && isOver(replica)) {
                moved = false;
                for (int stream : byFit(replica)) {
                    int to = at[stream].length >= in.limit[stream] ? -1 : idlest(stream);
                    double least = in.rate[stream] * leastShare;
                    double most = to < 0 ? 0 : Math.min(amountOn(stream, replica), room[to]);
                    if (most > 0 && most >= least) {
                        double shift = Math.min(most, Math.max(-room[replica], least));
                        move(stream, replica, to, withoutCrumbs(stream, replica, to, shift));
                        moved = true;
                        break;
                    }
                }
            }
        }

        private void wholePieces(int replica) {
            boolean moved = true;
            while (moved && isOver(replica)) {
                moved = false;
                for (int stream : byFit(replica)) {
                    int to = idlest(stream);
                    double piece = amountOn(stream, replica);
                    if (to >= 0 && piece > 0 && piece <= room[to]) {
                        move(stream, replica, to, piece);
                        moved = true;
                        break;
                    }
                }
            }
        }

        /** Makes room on a replica that a stream uses already, by moving another stream from there to where room is. */
        private void byWayOfAnother(int replica) {
            for (int stream : streamsOn(replica)) {
                for (int between : at[stream].clone()) {
                    if (between == replica) {
                        continue;
                    }
                    for (int other : streamsOn(between)) {
                        if (!isOver(replica)) {
                            return;
                        }
                        makeRoom(replica, stream, between, other);
                    }
                }
            }
        }

        private void makeRoom(int replica, int stream, int between, int other) {
            if (other == stream || other == frozen) {
                return;
            }
            int to = -1;
            for (int own : at[other]) {
                work++;
                if (own != between && own != replica && room[own] > 0 && (to < 0 || isRoomier(own, to))) {
                    to = own;
                }
            }
            if (to < 0 && at[other].length < in.limit[other]) {
                to = idlest(other);
            }
            double wanted = Math.min(-room[replica], amountOn(stream, replica));
            double piece = amountOn(other, between);
            if (to >= 0 && to != replica) {
                double shift = Math.min(wanted, Math.min(piece, room[to]));
                if (shift > 0 && shift >= in.rate[other] * LEAST_SHARE) {
                    move(other, between, to, shift);
                    move(stream, replica, between, shift);
                    return;
                }
            }
            to = idlest(other);
            if (to >= 0 && to != replica && piece > 0 && piece <= room[to] && piece <= MOST_ASIDE * wanted) {
                move(other, between, to, piece);
                move(stream, replica, between, Math.min(wanted, piece));
            }
        }

        /**
         * Gives one of a stream's replicas up for a better one, from which others have to go: the last resort for a stream
         * that fills all of its replicas alone.
         */
        private void exchange(int replica) {
            for (int stream : streamsOn(replica).stream().limit(MOST_TRIED).toList()) {
                int given = -1;
                double excess = 0;
                for (int own : at[stream]) {
                    excess += Math.min(amountOn(stream, own), Math.max(0, -room[own]));
                    given = given < 0 || amountOn(stream, own) < amountOn(stream, given) ? own : given;
                }
                double piece = amountOn(stream, given);
                double more = Math.max(0, excess - Math.min(piece, Math.max(0, -room[given])));
                for (int to : roomiest(stream, piece + more)) {
                    if (exchange(stream, given, to, piece, more)) {
                        break;
                    }
                }
                if (!isOver(replica)) {
                    return;
                }
            }
        }

        private List<Integer> roomiest(int stream, double size) {
            List<Integer> fitting = new ArrayList<>();
            for (int group : in.eligibility.groups(in.streamClass[stream])) {
                for (int i : in.replicasOfGroup[group]) {
                    work++;
                    if (most[i] >= size && Arrays.stream(at[stream]).noneMatch(own -> own == i)) {
                        fitting.add(i);
                    }
                }
            }
            fitting.sort(Comparator.comparingDouble((Integer i) -> -room[i]).thenComparingInt(in::nameRank));
            return fitting.stream().limit(MOST_TRIED).toList();
        }

        private boolean exchange(int stream, int given, int to, double piece, double more) {
            before = new TreeMap<>();
            frozen = stream;
            most[to] -= more;
            room[to] -= more;
            move(stream, given, to, piece);
            relieve(to);
            boolean done = !isAbove(to);
            most[to] += more;
            room[to] += more;
            offer(to);
            frozen = -1;
            if (done) {
                for (int own : at[stream].clone()) {
                    double shift = Math.min(Math.min(-room[own], amountOn(stream, own)), room[to]);
                    if (isOver(own) && own != to && shift > 0) {
                        move(stream, own, to, shift);
                    }
                }
            } else {
                restore(before);
            }
            before = null;
            return done;
        }

        private void restore(Map<Integer, Before> streams) {
            streams.forEach((stream, old) -> {
                for (int p = 0; p < at[stream].length; p++) {
                    room[at[stream][p]] += amount[stream][p];
                    on.get(at[stream][p]).remove(stream);
                    offer(at[stream][p]);
                }
                at[stream] = old.at;
                amount[stream] = old.amount;
                touched[stream] = old.touched;
                for (int p = 0; p < at[stream].length; p++) {
                    room[at[stream][p]] -= amount[stream][p];
                    on.get(at[stream][p]).add(stream);
                }
            });
        }

        /** A replica may have more room than when it was looked at last. */
        private void offer(int replica) {
            if (in.group[replica] != Eligibility.NONE && room[replica] > 0) {
                idlest.get(in.group[replica]).add(new Room(replica, room[replica], in.nameRank(replica)));
            }
        }

        private void remember(int stream) {
            if (before != null && !before.containsKey(stream)) {
                before.put(stream, new Before(at[stream], amount[stream].clone(), touched[stream]));
            }
        }

        /** The streams on a replica: the least piece that is all that is too much first, then the largest ones. */
        private List<Integer> byFit(int replica) {
            List<Integer> streams = streamsOn(replica);
            double enough = -room[replica] * (1 - ROUNDING);
            int smaller = 0;
            while (smaller < streams.size() && amountOn(streams.get(smaller), replica) >= enough) {
                smaller++;
            }
            List<Integer> order = new ArrayList<>(streams.subList(0, smaller).reversed());
            order.addAll(streams.subList(smaller, streams.size()));
            return order;
        }

        /** Takes a piece as a whole where what is left of it would be lost among integer weights. */
        private double withoutCrumbs(int stream, int replica, int to, double shift) {
            double piece = amountOn(stream, replica);
            return piece - shift < in.rate[stream] * LEAST_SHARE && room[to] >= piece ? piece : shift;
        }

        private boolean isRoomier(int a, int b) {
            return room[a] != room[b] ? room[a] > room[b] : in.nameRank(a) < in.nameRank(b);
        }

        /** The replica with most room that a stream may use and does not; −1 if there is none. */
        private int idlest(int stream) {
            int best = -1;
            Set<Integer> own = new HashSet<>();
            for (int replica : at[stream]) {
                own.add(replica);
            }
            for (int group : in.eligibility.groups(in.streamClass[stream])) {
                int top = idlest(idlest.get(group), own);
                best = top >= 0 && (best < 0 || isRoomier(top, best)) ? top : best;
            }
            return best;
        }

        private int idlest(PriorityQueue<Room> queue, Set<Integer> without) {
            List<Room> aside = new ArrayList<>();
            int found = -1;
            while (found < 0 && !queue.isEmpty()) {
                work++;
                Room top = queue.poll();
                Room now = new Room(top.replica(), room[top.replica()], top.nameRank());
                if (now.room() != top.room()) {
                    queue.add(now);
                    continue;
                }
                aside.add(now);
                if (!without.contains(now.replica())) {
                    found = now.replica();
                }
            }
            queue.addAll(aside);
            return found;
        }

        private double amountOn(int stream, int replica) {
            for (int p = 0; p < at[stream].length; p++) {
                if (at[stream][p] == replica) {
                    return amount[stream][p];
                }
            }
            return 0;
        }

        private void move(int stream, int replica, int to, double shift) {
            remember(stream);
            put(stream, to, shift);
            for (int p = 0; p < at[stream].length; p++) {
                if (at[stream][p] == replica) {
                    amount[stream][p] -= shift;
                    room[replica] += shift;
                    if (amount[stream][p] <= in.rate[stream] * ROUNDING) {
                        remove(stream, p);
                    }
                    offer(replica);
                    break;
                }
            }
        }

        private void put(int stream, int replica, double more) {
            remember(stream);
            touched[stream] = true;
            room[replica] -= more;
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
    }
}
