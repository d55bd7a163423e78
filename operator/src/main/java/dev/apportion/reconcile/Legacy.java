package dev.apportion.reconcile;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.WeightedRoundRobin;
import dev.apportion.load.Quantity;
import dev.apportion.records.Answer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the operator that was there before has learned of the speed of replicas, as far as it can be read from what it has
 * published: the state of an operator is what is published, and with equal capacities declared, unequal shares are what
 * measurements made of them. Pure.
 */
final class Legacy {

    /** Shares are rounded to integers, and measurements that differ by less change nothing. */
    private static final double EQUAL = 1 + Estimates.DEAD_BAND;

    private Legacy() {}

    /**
     * The capacities over the declared ones, by the names of replicas, which add up to what is declared. Shares tell of
     * capacities where a policy makes them so, and where every stream may use every replica.
     *
     * @param members the replicas, in any order
     * @param published what DNS says of each stream, by {@link Demand#key()}
     * @return empty if nothing can be told, or all is as it is declared
     */
    static Map<String, Double> factors(
            AdmittedPool pool, List<Member> members, List<Demand> demands, Map<String, List<Answer>> published) {
        if (!followsCapacity(pool) || !measuresSpeed(pool)) {
            return Map.of();
        }
        List<Member> ready = members.stream().filter(Member::isReady).toList();
        Standing standing =
                Standing.of(ready, demands, new Past(Optional.empty(), published, false, false, Optional.empty()));
        Map<String, Double> sums = new TreeMap<>();
        Set<String> common = null;
        for (Demand demand : demands) {
            Map<String, Double> shares = standing.shares(demand);
            if (!shares.isEmpty()) {
                if (common != null && !common.equals(shares.keySet())) {
                    return Map.of();
                }
                common = shares.keySet();
                shares.forEach((name, share) -> sums.merge(name, share, Double::sum));
            }
        }
        return factors(ready, sums);
    }

    private static Map<String, Double> factors(List<Member> ready, Map<String, Double> sums) {
        double declared = 0;
        double given = 0;
        for (Member member : ready) {
            double sum = sums.getOrDefault(member.name(), 0.0);
            declared += sum > 0 ? member.declared() : 0;
            given += sum;
        }
        Map<String, Double> factors = new HashMap<>();
        boolean learned = false;
        for (Member member : ready) {
            double sum = sums.getOrDefault(member.name(), 0.0);
            if (sum > 0) {
                double factor = sum / given * declared / member.declared();
                // Who has less than anybody is thought to be worth was new, or silent.
                if (factor >= 1 / Speeds.MOST_FACTOR && factor <= Speeds.MOST_FACTOR) {
                    factors.put(member.name(), factor);
                    learned |= factor > EQUAL || factor < 1 / EQUAL;
                }
            }
        }
        return learned ? Map.copyOf(factors) : Map.of();
    }

    private static boolean followsCapacity(AdmittedPool pool) {
        return switch (pool.policy()) {
            case KSplittable splits -> splits.split() == KSplittable.Split.OPTIMAL;
            case WeightedRoundRobin byCapacity -> true;
            default -> false;
        };
    }

    /** Where it does not, nothing could ever correct what is taken over. */
    private static boolean measuresSpeed(AdmittedPool pool) {
        return pool.load()
                .map(load -> switch (load.from()) {
                    case AdmittedPool.From.Scrape scrape ->
                        scrape.series().names().containsKey(Quantity.IN_FLIGHT);
                    case AdmittedPool.From.Prometheus asked ->
                        asked.series().names().containsKey(Quantity.IN_FLIGHT);
                    case AdmittedPool.From.PodMetrics metrics -> true;
                })
                .orElse(false);
    }
}
