package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The spread of a rotated address list: every stream on k replicas, in fixed proportions that do not depend on its rate.
 *
 * <p>Streams with k or fewer eligible replicas use all of them. The others follow by descending rate, each on the k least
 * loaded of its replicas. Streams without a rate come last; they count among themselves, as if each had the same rate.
 */
final class RotatingSpread {

    /** In what proportions a stream uses its replicas. */
    enum Proportions {
        EQUAL,
        BY_CAPACITY
    }

    private final Instance in;
    private final Proportions proportions;
    private final double[] load;

    RotatingSpread(Instance in, Proportions proportions) {
        this.in = in;
        this.proportions = proportions;
        load = new double[in.m];
    }

    /** The pieces of every canonical stream. */
    List<List<Piece>> pieces() {
        List<List<Piece>> pieces = new ArrayList<>(Collections.nCopies(in.n, List.of()));
        pourFree(pieces);
        place(0, in.rated, pieces, new LeastLoaded(in, load, new double[in.m]), load);
        double[] nominal = new double[in.m];
        place(in.rated, in.n, pieces, new LeastLoaded(in, nominal, load), nominal);
        return pieces;
    }

    /**
     * The pieces of the streams without rate, in proportion to capacity, beside an allocation of the others; those of the
     * others are empty.
     *
     * @param load the load of each canonical replica
     */
    static List<List<Piece>> unrated(Instance in, double[] load) {
        List<List<Piece>> pieces = new ArrayList<>(Collections.nCopies(in.n, List.of()));
        double[] nominal = new double[in.m];
        new RotatingSpread(in, Proportions.BY_CAPACITY)
                .place(in.rated, in.n, pieces, new LeastLoaded(in, nominal, load), nominal);
        return pieces;
    }

    private void pourFree(List<List<Piece>> pieces) {
        double[] rates = new double[in.eligibility.classCount()];
        for (int j = 0; j < in.rated; j++) {
            if (in.free(j)) {
                rates[in.streamClass[j]] += in.rate[j];
            }
        }
        List<List<Piece>> ofClass = new ArrayList<>(Collections.nCopies(rates.length, List.of()));
        for (int c = 0; c < rates.length; c++) {
            if (rates[c] > 0) {
                int[] replicas = in.eligibleReplicas(c);
                double[] amounts = amounts(replicas, rates[c]);
                addTo(load, replicas, amounts);
                ofClass.set(c, in.pieces(replicas, amounts, 0, replicas.length));
            }
        }
        for (int j = 0; j < in.rated; j++) {
            if (in.free(j)) {
                pieces.set(j, ofClass.get(in.streamClass[j]));
            }
        }
    }

    private void place(int from, int to, List<List<Piece>> pieces, LeastLoaded order, double[] counted) {
        List<List<Piece>> allOfClass = new ArrayList<>(Collections.nCopies(in.eligibility.classCount(), List.of()));
        for (int j = from; j < to; j++) {
            int c = in.streamClass[j];
            if (in.limit[j] == 0 || !pieces.get(j).isEmpty()) {
                continue;
            }
            if (in.free(j)) {
                if (allOfClass.get(c).isEmpty()) {
                    int[] replicas = in.eligibleReplicas(c);
                    allOfClass.set(c, in.pieces(replicas, amounts(replicas, 1), 0, replicas.length));
                }
                pieces.set(j, allOfClass.get(c));
                continue;
            }
            int[] replicas = order.take(c, in.limit[j]);
            double[] amounts = amounts(replicas, in.rate[j] > 0 ? in.rate[j] : 1);
            addTo(counted, replicas, amounts);
            order.putBack(replicas);
            pieces.set(j, in.pieces(replicas, amounts, 0, replicas.length));
        }
    }

    private void addTo(double[] loads, int[] replicas, double[] amounts) {
        for (int p = 0; p < replicas.length; p++) {
            loads[replicas[p]] += amounts[p] / in.capacity[replicas[p]];
        }
    }

    private double[] amounts(int[] replicas, double rate) {
        double[] amounts = new double[replicas.length];
        switch (proportions) {
            case EQUAL -> Arrays.fill(amounts, rate / replicas.length);
            case BY_CAPACITY -> {
                double sum = 0;
                for (int replica : replicas) {
                    sum += in.capacity[replica];
                }
                for (int p = 0; p < amounts.length; p++) {
                    amounts[p] = rate * (in.capacity[replicas[p]] / sum);
                }
            }
        }
        return amounts;
    }
}
