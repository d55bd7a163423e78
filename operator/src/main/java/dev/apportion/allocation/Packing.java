package dev.apportion.allocation;

import java.util.Arrays;

/** Pieces of streams on replicas, as growing arrays; the pieces of one stream stand together. */
final class Packing {

    private final int[] starts;
    private final int[] counts;
    private int[] replicas;
    private double[] amounts;
    private int size;

    Packing(int streams, int expectedPieces) {
        starts = new int[streams];
        counts = new int[streams];
        replicas = new int[Math.max(16, expectedPieces)];
        amounts = new double[replicas.length];
    }

    /** From here on pieces are those of this stream, which had none or loses them. */
    void begin(int stream) {
        starts[stream] = size;
        counts[stream] = 0;
    }

    void add(int stream, int replica, double amount) {
        if (size == replicas.length) {
            replicas = Arrays.copyOf(replicas, size + size / 2);
            amounts = Arrays.copyOf(amounts, size + size / 2);
        }
        replicas[size] = replica;
        amounts[size++] = amount;
        counts[stream]++;
    }

    /** The end of all pieces, to go back to. */
    int mark() {
        return size;
    }

    /** Forgets what was added since the mark; the streams concerned have to be begun again. */
    void reset(int mark) {
        size = mark;
    }

    int start(int stream) {
        return starts[stream];
    }

    int end(int stream) {
        return starts[stream] + counts[stream];
    }

    /** The replica of each piece. */
    int[] replicas() {
        return replicas;
    }

    /** The amount of each piece, in the unit of the rates. */
    double[] amounts() {
        return amounts;
    }
}
