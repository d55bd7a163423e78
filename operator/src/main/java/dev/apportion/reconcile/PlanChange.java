package dev.apportion.reconcile;

import inet.ipaddr.IPAddress;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What one plan of a pool changed against the one before.
 *
 * @param time when
 * @param movedPercent the part of the pool's traffic, by rate, that goes to another address than before, in percent
 * @param reason what made the difference, one CamelCase word
 */
record PlanChange(Instant time, double movedPercent, String reason) {

    private static final double PERCENT = 100;

    static PlanChange between(PoolPlan before, PoolPlan after, Instant time) {
        return new PlanChange(time, moved(before, after) * PERCENT, reason(before, after));
    }

    /** Streams that are new or gone moved nothing: they had no answers before, or have none after. */
    private static double moved(PoolPlan before, PoolPlan after) {
        Map<String, PoolPlan.Stream> earlier = before.streams().stream()
                .collect(Collectors.toMap(stream -> stream.demand().key(), Function.identity()));
        double moved = 0;
        double rate = 0;
        for (PoolPlan.Stream stream : after.streams()) {
            double weight = stream.demand().rate();
            PoolPlan.Stream old = earlier.get(stream.demand().key());
            rate += weight;
            if (old != null) {
                moved += weight * moved(old.answers(), stream.answers());
            }
        }
        return rate > 0 ? moved / rate : 0;
    }

    /** The part of a stream's clients that goes to another address, of the family of which that is more; 0 where there was no answer before. */
    static double moved(List<PoolPlan.Row> before, List<PoolPlan.Row> after) {
        double largest = 0;
        for (boolean ipv6 : new boolean[] {false, true}) {
            Map<IPAddress, Double> shares = new HashMap<>();
            before.stream()
                    .filter(row -> row.address().isIPv6() == ipv6)
                    .forEach(row -> shares.merge(row.address(), row.share(), Double::sum));
            double arrived = 0;
            for (PoolPlan.Row row : after) {
                if (row.address().isIPv6() == ipv6) {
                    arrived += Math.max(0, row.share() - shares.getOrDefault(row.address(), 0.0));
                }
            }
            largest = Math.max(largest, shares.isEmpty() ? 0 : arrived);
        }
        return largest;
    }

    private static String reason(PoolPlan before, PoolPlan after) {
        if (!ready(before, Member::addresses).equals(ready(after, Member::addresses))) {
            return "ReplicasChanged";
        }
        if (!ready(before, Member::declared).equals(ready(after, Member::declared))) {
            return "CapacityChanged";
        }
        if (!ready(before, Member::warmth).equals(ready(after, Member::warmth))) {
            return "WarmingUp";
        }
        if (!ready(before, Member::measured).equals(ready(after, Member::measured))
                || !ready(before, Member::capacity).equals(ready(after, Member::capacity))
                || !ready(before, Member::load).equals(ready(after, Member::load))) {
            return "LoadChanged";
        }
        if (!PoolPlanner.isSame(demands(before), demands(after))) {
            return "StreamsChanged";
        }
        if (before.basis().equals(after.basis())) {
            return demands(before).equals(demands(after)) ? "Continued" : "RatesChanged";
        }
        return before.policy().equals(after.policy()) ? "SitesChanged" : "PolicyChanged";
    }

    private static <T> Map<String, T> ready(PoolPlan plan, Function<Member, T> what) {
        return plan.replicas().stream()
                .map(PoolPlan.Replica::member)
                .filter(Member::isReady)
                .collect(Collectors.toMap(Member::name, what));
    }

    private static List<Demand> demands(PoolPlan plan) {
        return plan.streams().stream().map(PoolPlan.Stream::demand).toList();
    }
}
