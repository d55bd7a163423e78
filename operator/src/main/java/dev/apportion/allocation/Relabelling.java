package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An exchange of replicas that are alike, with the same capacity and open to the same streams, after which an allocation has
 * as much as possible in common with the one that is running.
 *
 * <p>An assignment problem for each set of replicas that are alike: solved exactly by shortest augmenting paths (Jonker and
 * Volgenant, Computing 38, 1987) up to {@value #MOST_EXACT} of them; beyond, the pairs with most in common are matched first,
 * which finds at least half of the best.
 */
final class Relabelling {

    private static final int MOST_EXACT = 128;

    /** Streams on more pairs of replicas than these say little of how to match them. */
    private static final long MOST_PAIRS = 4096;

    private Relabelling() {}

    /**
     * The replica that takes the place of each canonical replica.
     *
     * @param fresh the allocation whose replicas are exchanged
     * @param running what it is to resemble
     * @param weight the weight of each canonical stream
     */
    static int[] of(Instance in, Shares fresh, Shares running, double[] weight) {
        int[] kind = new int[in.m];
        List<int[]> kinds = kinds(in, kind);
        int[] image = Draft.range(in.m);
        Map<Long, Double> common = common(in, fresh, running, weight, kind);
        if (common.isEmpty()) {
            return image;
        }
        List<Map<Long, Double>> ofKind = new ArrayList<>();
        kinds.forEach(alike -> ofKind.add(new LinkedHashMap<>()));
        common.forEach((pair, value) -> ofKind.get(kind[(int) (pair / in.m)]).put(pair, value));
        for (int c = 0; c < kinds.size(); c++) {
            int[] alike = kinds.get(c);
            if (alike.length > 1) {
                if (alike.length <= MOST_EXACT) {
                    exactly(in, alike, ofKind.get(c), image);
                } else {
                    greedily(in, alike, ofKind.get(c), image);
                }
            }
        }
        return image;
    }

    /** The shares after an exchange. */
    static Shares apply(Shares shares, int[] image, int streams) {
        Shares exchanged = new Shares(streams);
        for (int j = 0; j < streams; j++) {
            int[] at = shares.at(j);
            int[] moved = new int[at.length];
            for (int p = 0; p < at.length; p++) {
                moved[p] = image[at[p]];
            }
            exchanged.set(j, moved, shares.share(j));
        }
        return exchanged;
    }

    /** The sets of replicas that are alike, each in the order of names. */
    private static List<int[]> kinds(Instance in, int[] kind) {
        record Likeness(int group, double capacity) {}
        Map<Likeness, List<Integer>> members = new LinkedHashMap<>();
        for (int i = 0; i < in.m; i++) {
            members.computeIfAbsent(new Likeness(in.group[i], in.capacity[i]), absent -> new ArrayList<>())
                    .add(i);
        }
        List<int[]> kinds = new ArrayList<>();
        for (List<Integer> alike : members.values()) {
            alike.sort(Comparator.comparingInt(in::nameRank));
            alike.forEach(replica -> kind[replica] = kinds.size());
            kinds.add(alike.stream().mapToInt(Integer::intValue).toArray());
        }
        return kinds;
    }

    /** What each pair of a fresh and a running replica of one kind has in common; a pair (a, b) is a · m + b. */
    private static Map<Long, Double> common(Instance in, Shares fresh, Shares running, double[] weight, int[] kind) {
        Map<Long, Double> common = new HashMap<>();
        for (int j = 0; j < in.n; j++) {
            int[] to = fresh.at(j);
            int[] from = running.at(j);
            if ((long) to.length * from.length > MOST_PAIRS) {
                continue;
            }
            for (int p = 0; p < to.length; p++) {
                for (int q = 0; q < from.length; q++) {
                    if (kind[to[p]] == kind[from[q]]) {
                        double value = weight[j] * Math.min(fresh.share(j)[p], running.share(j)[q]);
                        common.merge((long) to[p] * in.m + from[q], value, Double::sum);
                    }
                }
            }
        }
        return common;
    }

    private static void greedily(Instance in, int[] alike, Map<Long, Double> common, int[] image) {
        record Pair(int fresh, int running, double value) {}
        List<Pair> pairs = new ArrayList<>(common.size());
        common.forEach((pair, value) -> pairs.add(new Pair((int) (pair / in.m), (int) (pair % in.m), value)));
        pairs.sort(Comparator.comparingDouble(Pair::value)
                .reversed()
                .thenComparingInt(pair -> in.nameRank(pair.fresh()))
                .thenComparingInt(pair -> in.nameRank(pair.running())));
        boolean[] matched = new boolean[in.m];
        boolean[] taken = new boolean[in.m];
        for (Pair pair : pairs) {
            if (!matched[pair.fresh()] && !taken[pair.running()]) {
                matched[pair.fresh()] = true;
                taken[pair.running()] = true;
                image[pair.fresh()] = pair.running();
            }
        }
        for (int replica : alike) {
            if (!matched[replica] && !taken[replica]) {
                matched[replica] = true;
                taken[replica] = true;
            }
        }
        int[] free = Arrays.stream(alike).filter(replica -> !taken[replica]).toArray();
        int next = 0;
        for (int replica : alike) {
            if (!matched[replica]) {
                image[replica] = free[next++];
            }
        }
    }

    private static void exactly(Instance in, int[] alike, Map<Long, Double> common, int[] image) {
        int size = alike.length;
        int[] place = new int[in.m];
        for (int a = 0; a < size; a++) {
            place[alike[a]] = a;
        }
        double[][] cost = new double[size][size];
        common.forEach((pair, value) -> cost[place[(int) (pair / in.m)]][place[(int) (pair % in.m)]] = -value);
        int[] columnOf = assignment(cost);
        for (int a = 0; a < size; a++) {
            image[alike[a]] = alike[columnOf[a]];
        }
    }

    /** The column of each row in the assignment of least cost. */
    private static int[] assignment(double[][] cost) {
        int size = cost.length;
        double[] rowPrice = new double[size + 1];
        double[] columnPrice = new double[size + 1];
        int[] rowOf = new int[size + 1];
        int[] way = new int[size + 1];
        for (int row = 1; row <= size; row++) {
            rowOf[0] = row;
            int column = 0;
            double[] least = new double[size + 1];
            Arrays.fill(least, Double.POSITIVE_INFINITY);
            boolean[] used = new boolean[size + 1];
            do {
                used[column] = true;
                int at = rowOf[column];
                double step = Double.POSITIVE_INFINITY;
                int next = 0;
                for (int c = 1; c <= size; c++) {
                    if (!used[c]) {
                        double reduced = cost[at - 1][c - 1] - rowPrice[at] - columnPrice[c];
                        if (reduced < least[c]) {
                            least[c] = reduced;
                            way[c] = column;
                        }
                        if (least[c] < step) {
                            step = least[c];
                            next = c;
                        }
                    }
                }
                for (int c = 0; c <= size; c++) {
                    if (used[c]) {
                        rowPrice[rowOf[c]] += step;
                        columnPrice[c] -= step;
                    } else {
                        least[c] -= step;
                    }
                }
                column = next;
            } while (rowOf[column] != 0);
            do {
                int before = way[column];
                rowOf[column] = rowOf[before];
                column = before;
            } while (column != 0);
        }
        int[] columnOf = new int[size];
        for (int c = 1; c <= size; c++) {
            columnOf[rowOf[c] - 1] = c - 1;
        }
        return columnOf;
    }
}
