package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A problem in its canonical form, as primitive arrays: replicas by descending capacity, streams by descending rate, ties
 * by name. Rates and capacities are scaled by powers of two to lie near 1, so that nothing overflows and the unit of
 * measurement cannot matter.
 */
final class Instance {

    final Problem problem;
    final Eligibility eligibility;

    /** Number of replicas. */
    final int m;

    /** Capacity by canonical replica, descending. */
    final double[] capacity;

    /** Group by canonical replica, or {@link Eligibility#NONE}. */
    final int[] group;

    /** The replicas of each group, ascending. */
    final int[][] replicasOfGroup;

    /** Number of streams. */
    final int n;

    /** The streams before this one have a rate greater than zero. */
    final int rated;

    /** Rate by canonical stream, descending. */
    final double[] rate;

    /** How many replicas a canonical stream may use: k, or the number of eligible replicas if that is less. */
    final int[] limit;

    /** Class by canonical stream, or {@link Eligibility#NONE}. */
    final int[] streamClass;

    private final int[] replicaAt;
    private final int[] streamAt;
    private final int[] nameRank;
    private final List<List<Piece>> whole;
    private final int loadExponent;

    Instance(Problem problem) {
        this.problem = problem;
        List<Replica> replicas = problem.replicas();
        List<Stream> streams = problem.streams();

        // the streams lie all over the memory: each is looked at once
        n = streams.size();
        double[] rates = new double[n];
        long[] wants = new long[n];
        Eligibility.Wishes wishes = new Eligibility.Wishes();
        for (int j = 0; j < n; j++) {
            Stream stream = streams.get(j);
            rates[j] = Math.max(0, stream.rate());
            wants[j] = (long) wishes.number(stream.sites()) << Integer.SIZE | Math.max(1, stream.maxReplicas());
        }
        eligibility = Eligibility.of(replicas, wishes);

        m = replicas.size();
        double[] capacities = new double[m];
        for (int i = 0; i < m; i++) {
            capacities[i] = replicas.get(i).capacity();
        }
        int capacityExponent = largestExponent(capacities);
        int[] rankByIndex = nameRanks(replicas);
        replicaAt = DescendingOrder.of(capacities, (a, b) -> Integer.compare(rankByIndex[a], rankByIndex[b]));
        nameRank = new int[m];
        for (int i = 0; i < m; i++) {
            nameRank[i] = rankByIndex[replicaAt[i]];
        }
        capacity = scaled(capacities, replicaAt, capacityExponent);
        for (int i = 0; i < m; i++) {
            capacity[i] = Math.max(capacity[i], Double.MIN_NORMAL);
        }
        group = new int[m];
        int[] sizes = new int[eligibility.groupCount()];
        for (int i = 0; i < m; i++) {
            group[i] = eligibility.groupOf(replicaAt[i]);
            if (group[i] != Eligibility.NONE) {
                sizes[group[i]]++;
            }
        }
        replicasOfGroup = new int[sizes.length][];
        for (int g = 0; g < sizes.length; g++) {
            replicasOfGroup[g] = new int[sizes[g]];
        }
        for (int i = m - 1; i >= 0; i--) {
            if (group[i] != Eligibility.NONE) {
                replicasOfGroup[group[i]][--sizes[group[i]]] = i;
            }
        }

        int rateExponent = largestExponent(rates);
        streamAt = DescendingOrder.of(
                rates, (a, b) -> streams.get(a).name().compareTo(streams.get(b).name()));
        rate = scaled(rates, streamAt, rateExponent);
        limit = new int[n];
        streamClass = new int[n];
        for (int j = 0; j < n; j++) {
            long wanted = wants[streamAt[j]];
            streamClass[j] = eligibility.classOf((int) (wanted >> Integer.SIZE));
            limit[j] = Math.min((int) wanted, eligibility.eligible(streamClass[j]));
        }
        int positive = n;
        while (positive > 0 && !(rate[positive - 1] > 0)) {
            positive--;
        }
        rated = positive;
        whole = new ArrayList<>(Collections.nCopies(m, List.of()));
        loadExponent = rateExponent - capacityExponent;
    }

    private static int largestExponent(double[] values) {
        double largest = 0;
        for (double value : values) {
            largest = Math.max(largest, value);
        }
        return largest > 0 ? Math.clamp(Math.getExponent(largest), -1000, 1000) : 0;
    }

    private static double[] scaled(double[] values, int[] order, int exponent) {
        double factor = Math.scalb(1.0, -exponent);
        double[] scaled = new double[values.length];
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] = values[order[i]] * factor;
        }
        return scaled;
    }

    /** The position of each replica of the problem in the order of names. */
    private static int[] nameRanks(List<Replica> replicas) {
        Integer[] byName = new Integer[replicas.size()];
        Arrays.setAll(byName, i -> i);
        Arrays.sort(byName, Comparator.comparing(i -> replicas.get(i).name()));
        int[] rank = new int[byName.length];
        for (int i = 0; i < rank.length; i++) {
            rank[byName[i]] = i;
        }
        return rank;
    }

    /** A canonical replica, as the problem has it. */
    Replica replica(int replica) {
        return problem.replicas().get(replicaAt[replica]);
    }

    /** A canonical stream, as the problem has it. */
    Stream stream(int stream) {
        return problem.streams().get(streamAt[stream]);
    }

    /** What is said of each canonical replica, in the order of the problem. */
    List<String> inOrderOfProblem(IntFunction<String> saying) {
        String[] said = new String[m];
        for (int i = 0; i < m; i++) {
            said[replicaAt[i]] = saying.apply(i);
        }
        return List.of(said);
    }

    /** The index of a canonical replica in the problem. */
    int replicaIndex(int replica) {
        return replicaAt[replica];
    }

    /** The index of a canonical stream in the problem. */
    int streamIndex(int stream) {
        return streamAt[stream];
    }

    /** A canonical load, in the units of the problem. */
    double load(double canonical) {
        return inUnits(canonical);
    }

    /** A load of the problem, in canonical units. */
    double canonicalLoad(double load) {
        return Math.scalb(load, -loadExponent);
    }

    /** The position of a canonical replica in the order of names. */
    int nameRank(int replica) {
        return nameRank[replica];
    }

    /** The name of a canonical replica. */
    String replicaName(int replica) {
        return problem.replicas().get(replicaAt[replica]).name();
    }

    /** The name of a canonical stream. */
    String name(int stream) {
        return problem.streams().get(streamAt[stream]).name();
    }

    /** Whether a stream may use every replica that is eligible for it, so that it can be poured like a fluid. */
    boolean free(int stream) {
        return limit[stream] > 0 && limit[stream] == eligibility.eligible(streamClass[stream]);
    }

    /** Whether a stream may use a replica. */
    boolean mayUse(int stream, int replica) {
        return group[replica] != Eligibility.NONE
                && Arrays.binarySearch(eligibility.groups(streamClass[stream]), group[replica]) >= 0;
    }

    /** The replicas that a class may use, ascending in the canonical order. */
    int[] eligibleReplicas(int streamClass) {
        int[] groups = eligibility.groups(streamClass);
        if (groups.length == 1) {
            return replicasOfGroup[groups[0]];
        }
        int[] eligible = new int[eligibility.eligible(streamClass)];
        int count = 0;
        for (int g : groups) {
            System.arraycopy(replicasOfGroup[g], 0, eligible, count, replicasOfGroup[g].length);
            count += replicasOfGroup[g].length;
        }
        Arrays.sort(eligible);
        return eligible;
    }

    /** The pieces of one stream that has the given amounts on the given replicas, by name; the shares add up to one. */
    List<Piece> pieces(int[] replicas, double[] amounts, int from, int to) {
        if (to - from == 1) {
            return whole(replicas[from]);
        }
        double sum = 0;
        boolean equal = true;
        int count = 0;
        for (int p = from; p < to; p++) {
            sum += amounts[p];
            equal &= amounts[p] == amounts[from];
        }
        long[] byName = new long[to - from];
        for (int p = from; p < to; p++) {
            if (equal || amounts[p] / sum > 0) {
                byName[count++] = (long) nameRank[replicas[p]] << Integer.SIZE | p;
            }
        }
        Arrays.sort(byName, 0, count);
        Piece[] pieces = new Piece[count];
        for (int i = 0; i < count; i++) {
            int p = (int) byName[i];
            pieces[i] = new Piece(replicaAt[replicas[p]], equal ? 1.0 / (to - from) : amounts[p] / sum);
        }
        return List.of(pieces);
    }

    /** A stream that is on one replica as a whole; all such streams of a replica share the list. */
    private List<Piece> whole(int replica) {
        List<Piece> known = whole.get(replica);
        if (known.isEmpty()) {
            known = List.of(new Piece(replicaAt[replica], 1.0));
            whole.set(replica, known);
        }
        return known;
    }

    /**
     * Brings a solution back into the order and the units of the problem.
     *
     * @param pieces gives the pieces of each canonical stream
     * @param level the level of each canonical replica
     * @param bound the lower bound
     */
    Allocation allocation(IntFunction<List<Piece>> pieces, double[] level, double bound) {
        List<List<Piece>> streams = new ArrayList<>(Collections.nCopies(n, List.of()));
        for (int j = 0; j < n; j++) {
            streams.set(streamAt[j], pieces.apply(j));
        }
        Double[] levels = new Double[m];
        for (int i = 0; i < m; i++) {
            levels[replicaAt[i]] = inUnits(level[i]);
        }
        return new Allocation(Collections.unmodifiableList(streams), List.of(levels), inUnits(bound));
    }

    private double inUnits(double load) {
        return Math.min(Math.scalb(load, loadExponent), Double.MAX_VALUE);
    }
}
