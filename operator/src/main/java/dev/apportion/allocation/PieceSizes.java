package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Keeps running pieces, and takes from the replicas that have too much no more than that; see {@link Repair}. */
final class PieceSizes implements Mover {

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
        Placement placement = new Placement(in, shares, goal, 0);
        incomplete.forEach(j -> pour(placement, j, missing[j]));
        placement.write(shares);
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
            if (load[i] > goal[i] * (1 + tolerance) * (1 + Placement.ROUNDING)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean repair(Shares shares, double tolerance) {
        Placement placement = new Placement(in, shares, goal, tolerance);
        boolean done = Repair.of(placement);
        placement.write(shares);
        return done;
    }

    /** Gives replicas to an amount of a stream that has none: its own ones first, as far as they have room. */
    private void pour(Placement placement, int stream, double missing) {
        boolean free = in.free(stream);
        double left = missing;
        int[] own = free ? in.eligibleReplicas(in.streamClass[stream]) : placement.at(stream);
        double sum = 0;
        for (int replica : own) {
            sum += Math.max(0, placement.room[replica]);
        }
        if (sum > 0) {
            double part = Math.min(1, left / sum);
            for (int replica : own) {
                double more = part * Math.max(0, placement.room[replica]);
                if (more > 0) {
                    placement.put(stream, replica, more);
                    left -= more;
                }
            }
        }
        while (left > missing * Placement.ROUNDING && placement.mayHaveMore(stream)) {
            int replica = placement.idlest(stream);
            if (replica < 0 || (!(placement.room[replica] > 0) && placement.at(stream).length > 0)) {
                break;
            }
            boolean last = placement.at(stream).length + 1 == in.limit[stream];
            double more = last || !(placement.room[replica] > 0) ? left : Math.min(left, placement.room[replica]);
            placement.put(stream, replica, more);
            left -= more;
        }
        if (left > 0) {
            overfill(placement, stream, left);
        }
    }

    /** Where no room is left: in proportion to capacity. */
    private void overfill(Placement placement, int stream, double left) {
        int[] own = placement.at(stream);
        double capacity = 0;
        for (int replica : own) {
            capacity += in.capacity[replica];
        }
        for (int replica : own) {
            placement.put(stream, replica, left * (in.capacity[replica] / capacity));
        }
    }
}
