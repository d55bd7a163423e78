package dev.apportion.allocation;

import java.util.Arrays;

/** Streams and replicas that have to do with each other and with no others. */
final class Component {

    /** The classes of the streams. */
    final int[] classes;

    /** Of each class, the canonical streams that k limits, by descending rate over k. */
    final int[][] limited;

    /** Of each class, the rate of the streams that can use every replica that they may use. */
    final double[] free;

    /** Of each class, the canonical replicas that it may use, ascending. */
    final int[][] eligible;

    /** The limited streams of all classes. */
    final int[] streams;

    /** The canonical replicas that some class may use, ascending. */
    final int[] replicas;

    Component(Instance in, int[] classes, int[][] limited, double[] free) {
        this(
                in,
                classes,
                limited,
                free,
                Arrays.stream(classes).mapToObj(in::eligibleReplicas).toArray(int[][]::new));
    }

    Component(Instance in, int[] classes, int[][] limited, double[] free, int[][] eligible) {
        this.classes = classes;
        this.limited = limited;
        this.free = free;
        this.eligible = eligible;
        if (classes.length == 1) {
            streams = limited[0];
            replicas = eligible[0];
        } else {
            streams = Splitting.byPieceSize(
                    in,
                    Arrays.stream(limited).flatMapToInt(Arrays::stream).sorted().toArray());
            replicas = Arrays.stream(eligible)
                    .flatMapToInt(Arrays::stream)
                    .sorted()
                    .distinct()
                    .toArray();
        }
    }

    boolean pours() {
        return Arrays.stream(free).anyMatch(rate -> rate > 0);
    }
}
