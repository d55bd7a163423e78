package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Keeps the replicas of streams whose pieces have fixed proportions; where a replica has too much, whole pieces of it go
 * elsewhere.
 */
final class PiecePlaces implements Mover {

    /** Looks at a replica or a piece after which a repair is given up. */
    private static final long MOST_WORK = 50_000_000;

    private static final int MOST_CANDIDATES = 16;

    private static final double ROUNDING = 1e-9;

    private final Instance in;
    private final boolean byCapacity;
    private final double[] goal;
    private final double[] rate;
    private final int from;
    private final int to;

    /**
     * @param byCapacity whether pieces are in proportion to capacity, or equal
     * @param goal the load of each canonical replica that is not too much
     * @param rate the rate of each canonical stream
     * @param from the first canonical stream to look after
     * @param to the first one that is not to be looked after
     */
    PiecePlaces(Instance in, boolean byCapacity, double[] goal, double[] rate, int from, int to) {
        this.in = in;
        this.byCapacity = byCapacity;
        this.goal = goal;
        this.rate = rate;
        this.from = from;
        this.to = to;
    }

    @Override
    public void place(Shares shares) {
        List<Integer> incomplete = new ArrayList<>();
        for (int j = from; j < to; j++) {
            if (in.limit[j] > 0 && (shares.sum(j) < LeastChange.WHOLE || shares.at(j).length > in.limit[j])) {
                incomplete.add(j);
            }
        }
        if (!incomplete.isEmpty()) {
            double[] load = loadsWithout(shares, incomplete);
            incomplete.forEach(j -> complete(shares, j, load));
        }
    }

    @Override
    public boolean settled(Shares shares, double tolerance) {
        for (int j = from; j < to; j++) {
            int[] at = shares.at(j);
            if (at.length != in.limit[j]) {
                return false;
            }
            double[] exact = proportions(at);
            for (int p = 0; p < at.length; p++) {
                if (!PolicyShares.isRounded(shares.share(j)[p], exact[p])) {
                    return false;
                }
            }
        }
        double[] load = shares.loads(in, rate, from, to);
        for (int i = 0; i < in.m; i++) {
            if (load[i] > limit(i, tolerance)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean repair(Shares shares, double tolerance) {
        List<Integer> all = new ArrayList<>();
        for (int j = from; j < to; j++) {
            if (in.limit[j] > 0) {
                all.add(j);
            }
        }
        List<Integer> incomplete =
                all.stream().filter(j -> shares.at(j).length != in.limit[j]).toList();
        double[] load = loadsWithout(shares, incomplete);
        for (int j : all) {
            double[] exact = proportions(shares.at(j));
            if (shares.at(j).length == in.limit[j] && !PolicyShares.isSame(shares.share(j), exact)) {
                count(shares, j, load, -1);
                shares.set(j, shares.at(j), exact);
                count(shares, j, load, 1);
            }
        }
        incomplete.forEach(j -> complete(shares, j, load));
        return exchange(shares, all, shares.loads(in, rate, from, to), tolerance);
    }

    private double limit(int replica, double tolerance) {
        return goal[replica] * (1 + tolerance) * (1 + ROUNDING);
    }

    private double[] loadsWithout(Shares shares, List<Integer> streams) {
        double[] load = shares.loads(in, rate, from, to);
        streams.forEach(j -> count(shares, j, load, -1));
        return load;
    }

    private void count(Shares shares, int stream, double[] load, int sign) {
        int[] at = shares.at(stream);
        for (int p = 0; p < at.length; p++) {
            load[at[p]] += sign * rate[stream] * shares.share(stream)[p] / in.capacity[at[p]];
        }
    }

    /** Keeps the largest pieces of a stream, and adds those on the replicas that are farthest below their goals. */
    private void complete(Shares shares, int stream, double[] load) {
        int k = in.limit[stream];
        int[] old = shares.at(stream);
        double[] part = shares.share(stream);
        List<Integer> kept = new ArrayList<>(Arrays.stream(Draft.range(old.length))
                .boxed()
                .sorted(Comparator.comparingDouble((Integer p) -> -part[p]).thenComparingInt(p -> in.nameRank(old[p])))
                .limit(k)
                .map(p -> old[p])
                .toList());
        if (kept.size() < k) {
            Arrays.stream(in.eligibleReplicas(in.streamClass[stream]))
                    .boxed()
                    .filter(replica -> !kept.contains(replica))
                    .sorted(Comparator.comparingDouble((Integer replica) -> height(replica, load[replica]))
                            .thenComparingInt(in::nameRank))
                    .limit(k - kept.size())
                    .toList()
                    .forEach(kept::add);
        }
        int[] at = kept.stream().mapToInt(Integer::intValue).sorted().toArray();
        shares.set(stream, at, proportions(at));
        count(shares, stream, load, 1);
    }

    /** A load relative to its goal. */
    private double height(int replica, double load) {
        return load <= 0 ? 0 : load / goal[replica];
    }

    private double[] proportions(int[] at) {
        double[] parts = new double[at.length];
        double sum = 0;
        for (int p = 0; p < at.length; p++) {
            parts[p] = byCapacity ? in.capacity[at[p]] : 1;
            sum += parts[p];
        }
        for (int p = 0; p < at.length; p++) {
            parts[p] /= sum;
        }
        return parts;
    }

    private boolean exchange(Shares shares, List<Integer> streams, double[] load, double tolerance) {
        List<Set<Integer>> on = new ArrayList<>();
        for (int i = 0; i < in.m; i++) {
            on.add(new TreeSet<>());
        }
        for (int j : streams) {
            for (int replica : shares.at(j)) {
                on.get(replica).add(j);
            }
        }
        long work = 0;
        while (work < MOST_WORK) {
            int worst = -1;
            for (int i = 0; i < in.m; i++) {
                if (load[i] > limit(i, tolerance) && (worst < 0 || height(i, load[i]) > height(worst, load[worst]))) {
                    worst = i;
                }
            }
            if (worst < 0) {
                return true;
            }
            work += in.m;
            List<Integer> candidates = candidates(shares, on.get(worst), worst, load[worst] - goal[worst]);
            boolean moved = false;
            for (int j : candidates) {
                work += in.m;
                if (moveElsewhere(shares, j, worst, load, tolerance, on)) {
                    moved = true;
                    break;
                }
            }
            if (!moved) {
                return false;
            }
        }
        return false;
    }

    /** The streams with a piece on a replica: the least one that takes away all that is too much first. */
    private List<Integer> candidates(Shares shares, Set<Integer> streams, int replica, double excess) {
        record Candidate(int stream, double load) {}
        double enough = excess * (1 - ROUNDING);
        return streams.stream()
                .filter(j -> in.limit[j] < in.eligibility.eligible(in.streamClass[j]) && rate[j] > 0)
                .map(j -> new Candidate(j, rate[j] * shares.of(j, replica) / in.capacity[replica]))
                .sorted(Comparator.comparing((Candidate candidate) -> candidate.load() < enough)
                        .thenComparingDouble(
                                candidate -> candidate.load() < enough ? -candidate.load() : candidate.load())
                        .thenComparing(
                                candidate -> in.stream(candidate.stream()).name()))
                .limit(MOST_CANDIDATES)
                .map(Candidate::stream)
                .toList();
    }

    private boolean moveElsewhere(
            Shares shares, int stream, int replica, double[] load, double tolerance, List<Set<Integer>> on) {
        int[] old = shares.at(stream);
        int target = -1;
        for (int group : in.eligibility.groups(in.streamClass[stream])) {
            for (int i : in.replicasOfGroup[group]) {
                boolean better = target < 0
                        || height(i, load[i]) < height(target, load[target])
                        || (height(i, load[i]) == height(target, load[target]) && in.nameRank(i) < in.nameRank(target));
                if (better && Arrays.stream(old).noneMatch(used -> used == i)) {
                    target = i;
                }
            }
        }
        if (target < 0) {
            return false;
        }
        int to = target;
        int[] at = Arrays.stream(old)
                .map(used -> used == replica ? to : used)
                .sorted()
                .toArray();
        double[] parts = proportions(at);
        double[] before = new double[at.length];
        for (int p = 0; p < at.length; p++) {
            before[p] = load[at[p]] - rate[stream] * shares.of(stream, at[p]) / in.capacity[at[p]];
            double after = before[p] + rate[stream] * parts[p] / in.capacity[at[p]];
            if (after > load[at[p]] * (1 + ROUNDING) && after > limit(at[p], tolerance)) {
                return false;
            }
        }
        load[replica] -= rate[stream] * shares.of(stream, replica) / in.capacity[replica];
        for (int p = 0; p < at.length; p++) {
            load[at[p]] = before[p] + rate[stream] * parts[p] / in.capacity[at[p]];
        }
        shares.set(stream, at, parts);
        on.get(replica).remove(stream);
        on.get(to).add(stream);
        return true;
    }
}
