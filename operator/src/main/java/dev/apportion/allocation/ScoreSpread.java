package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * The spread by scores, of which low ones are good: every stream on the k replicas with the lowest scores, in proportion to
 * weights that follow from the scores.
 *
 * <p>A stream that may use all its replicas storms none of them. The others choose by descending rate, and each adds a
 * penalty to the scores of its replicas, in proportion to its shares. Between equal scores the replica wins that was given
 * less by the streams before. Streams without a rate come last; they count among themselves as if each had the same rate.
 */
final class ScoreSpread {

    private final Instance in;
    private final double[] score;
    private final DoubleUnaryOperator weight;
    private final double penalty;
    private final int most;

    /**
     * @param score the score of each canonical replica; finite and not negative
     * @param weight what a score is worth; finite, greater than zero, and not rising
     * @param penalty what the answer of one stream adds to scores; not negative
     * @param most the most replicas of a stream, whatever its k
     */
    ScoreSpread(Instance in, double[] score, DoubleUnaryOperator weight, double penalty, int most) {
        this.in = in;
        this.score = score.clone();
        this.weight = weight;
        this.penalty = penalty;
        this.most = most;
    }

    /** The pieces of every canonical stream. */
    List<List<Piece>> pieces() {
        List<List<Piece>> pieces = new ArrayList<>(Collections.nCopies(in.n, List.of()));
        List<List<Piece>> allOfClass = new ArrayList<>();
        for (int c = 0; c < in.eligibility.classCount(); c++) {
            allOfClass.add(pieces(in.eligibleReplicas(c)));
        }
        place(0, in.rated, pieces, allOfClass);
        place(in.rated, in.n, pieces, allOfClass);
        return pieces;
    }

    private void place(int from, int to, List<List<Piece>> pieces, List<List<Piece>> allOfClass) {
        double[] given = new double[in.m];
        LeastLoaded order = new LeastLoaded(in, score, given);
        for (int j = from; j < to; j++) {
            int c = in.streamClass[j];
            int k = Math.min(in.limit[j], most);
            if (k == 0) {
                continue;
            }
            if (k == in.eligibility.eligible(c)) {
                pieces.set(j, allOfClass.get(c));
                continue;
            }
            int[] replicas = order.take(c, k);
            double[] weights = weights(replicas);
            pieces.set(j, in.pieces(replicas, weights, 0, k));
            double sum = Arrays.stream(weights).sum();
            for (int p = 0; p < k; p++) {
                score[replicas[p]] += penalty * (weights[p] / sum);
                given[replicas[p]] += (in.rate[j] > 0 ? in.rate[j] : 1) * (weights[p] / sum);
            }
            order.putBack(replicas);
        }
    }

    private List<Piece> pieces(int[] replicas) {
        return in.pieces(replicas, weights(replicas), 0, replicas.length);
    }

    private double[] weights(int[] replicas) {
        return Arrays.stream(replicas)
                .mapToDouble(replica -> weight.applyAsDouble(score[replica]))
                .toArray();
    }
}
