package dev.apportion.simulation;

import java.util.Arrays;

/** Times with something that belongs to each; the earliest is at the head. A binary heap without objects. */
final class MinHeap {

    private static final int SPACE = 16;

    private double[] keys = new double[SPACE];
    private double[] values = new double[SPACE];
    private int size;

    int size() {
        return size;
    }

    double key() {
        return keys[0];
    }

    double value() {
        return values[0];
    }

    void clear() {
        size = 0;
    }

    void add(double key, double value) {
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, 2 * size);
            values = Arrays.copyOf(values, 2 * size);
        }
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) >> 1;
            if (keys[parent] <= key) {
                break;
            }
            keys[at] = keys[parent];
            values[at] = values[parent];
            at = parent;
        }
        keys[at] = key;
        values[at] = value;
    }

    void remove() {
        size--;
        if (size > 0) {
            sink(keys[size], values[size]);
        }
    }

    /** Puts another in the place of the head. */
    void replace(double key, double value) {
        sink(key, value);
    }

    private void sink(double key, double value) {
        int at = 0;
        int child = 1;
        while (child < size) {
            if (child + 1 < size && keys[child + 1] < keys[child]) {
                child++;
            }
            if (key <= keys[child]) {
                break;
            }
            keys[at] = keys[child];
            values[at] = values[child];
            at = child;
            child = 2 * at + 1;
        }
        keys[at] = key;
        values[at] = value;
    }
}
