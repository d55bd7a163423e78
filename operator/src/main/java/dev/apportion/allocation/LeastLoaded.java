package dev.apportion.allocation;

/**
 * The replicas in the order of their load, then of a second load, then of their names: one binary heap per group of
 * replicas, so that taking the k least loaded ones of a class and putting them back costs O(k (log m + groups)).
 */
final class LeastLoaded {

    private final Instance in;
    private final double[] load;
    private final double[] second;
    private final int[][] heaps;
    private final int[] sizes;

    /**
     * @param load the load of each canonical replica; may change for those that are taken
     * @param second decides between equal loads
     */
    LeastLoaded(Instance in, double[] load, double[] second) {
        this.in = in;
        this.load = load;
        this.second = second;
        heaps = new int[in.replicasOfGroup.length][];
        sizes = new int[heaps.length];
        for (int g = 0; g < heaps.length; g++) {
            heaps[g] = in.replicasOfGroup[g].clone();
            sizes[g] = heaps[g].length;
            for (int i = sizes[g] / 2 - 1; i >= 0; i--) {
                down(g, i);
            }
        }
    }

    /** Takes out the least loaded replicas that a class may use, the least loaded one first. */
    int[] take(int streamClass, int count) {
        int[] groups = in.eligibility.groups(streamClass);
        int[] taken = new int[count];
        for (int t = 0; t < count; t++) {
            int from = -1;
            for (int g : groups) {
                if (sizes[g] > 0 && (from < 0 || before(heaps[g][0], heaps[from][0]))) {
                    from = g;
                }
            }
            taken[t] = heaps[from][0];
            heaps[from][0] = heaps[from][--sizes[from]];
            down(from, 0);
        }
        return taken;
    }

    /** Puts replicas back that were taken out, at the loads that they have now. */
    void putBack(int[] replicas) {
        for (int replica : replicas) {
            int g = in.group[replica];
            heaps[g][sizes[g]] = replica;
            up(g, sizes[g]++);
        }
    }

    private boolean before(int a, int b) {
        if (load[a] != load[b]) {
            return load[a] < load[b];
        }
        if (second[a] != second[b]) {
            return second[a] < second[b];
        }
        return in.nameRank(a) < in.nameRank(b);
    }

    private void up(int g, int start) {
        int[] heap = heaps[g];
        int at = start;
        int moving = heap[at];
        while (at > 0 && before(moving, heap[(at - 1) / 2])) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = moving;
    }

    private void down(int g, int start) {
        int[] heap = heaps[g];
        int size = sizes[g];
        if (start >= size) {
            return;
        }
        int at = start;
        int moving = heap[at];
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && before(heap[child + 1], heap[child])) {
                child++;
            }
            if (!before(heap[child], moving)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moving;
    }
}
