package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One stream on the way from its shares to others, of which no more than a part may move at a time; what may not stays where
 * it is. No more replicas are used than the stream may use, so a replica that is left makes place for one that is new.
 */
final class Shift {

    private static final double ROUNDING = 1e-12;

    private final Instance in;
    private final int stream;
    private final Map<Integer, Double> now = new TreeMap<>();
    private final Map<Integer, Double> target = new TreeMap<>();

    Shift(Instance in, int stream, Shares from, Shares to) {
        this.in = in;
        this.stream = stream;
        for (int p = 0; p < from.at(stream).length; p++) {
            now.merge(from.at(stream)[p], from.share(stream)[p], Double::sum);
        }
        for (int p = 0; p < to.at(stream).length; p++) {
            target.merge(to.at(stream)[p], to.share(stream)[p], Double::sum);
        }
    }

    /** Moves no more than a part of the stream, and writes the shares that follow. */
    void upTo(double most, Shares into) {
        double left = most;
        for (int from : donors()) {
            double over = over(from);
            boolean leaves = target.getOrDefault(from, 0.0) == 0;
            if (leaves && over <= left + ROUNDING) {
                // whole, so that its place is free
                now.remove(from);
                double rest = give(over);
                if (rest > ROUNDING) {
                    now.put(from, rest);
                }
                left = Math.max(0, left - (over - rest));
            }
        }
        for (int from : donors()) {
            double shift = Math.min(over(from), left);
            if (shift > ROUNDING) {
                double given = shift - give(shift);
                now.merge(from, -given, Double::sum);
                left -= given;
            }
        }
        now.values().removeIf(share -> share <= ROUNDING);
        into.set(
                stream,
                now.keySet().stream().mapToInt(Integer::intValue).toArray(),
                now.values().stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** What is above its target, the least first. */
    private List<Integer> donors() {
        List<Integer> donors = new ArrayList<>(now.keySet());
        donors.removeIf(replica -> over(replica) <= ROUNDING);
        donors.sort(Comparator.comparingDouble(this::over).thenComparingInt(in::nameRank));
        return donors;
    }

    private double over(int replica) {
        return now.getOrDefault(replica, 0.0) - target.getOrDefault(replica, 0.0);
    }

    /** Gives an amount to those that are to have more, on replicas in use first; the answer is what found no place. */
    private double give(double amount) {
        double left = amount;
        List<Integer> takers = new ArrayList<>(target.keySet());
        takers.removeIf(replica -> over(replica) >= -ROUNDING);
        takers.sort(Comparator.comparing((Integer replica) -> !now.containsKey(replica))
                .thenComparingDouble(this::over)
                .thenComparingInt(in::nameRank));
        for (int to : takers) {
            if (left <= ROUNDING) {
                break;
            }
            if (now.containsKey(to) || now.size() < in.limit[stream]) {
                double part = Math.min(left, -over(to));
                now.merge(to, part, Double::sum);
                left -= part;
            }
        }
        return left;
    }
}
