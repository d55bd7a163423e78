package dev.apportion.reconcile;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a cluster would publish beside what it publishes.
 *
 * @param next the plan
 * @param shifts the streams whose answers would change
 * @param rate the requests/s of all streams that are planned
 * @param courses why each pool changes, or not, in words
 * @param blind why nothing is said of pools of which too little is known
 * @param problems what hinders resources by the new plan, and does not now
 */
public record Outlook(
        Plan next,
        List<Shift> shifts,
        double rate,
        SortedMap<Ref, String> courses,
        SortedMap<Ref, String> blind,
        List<Plan.Problem> problems) {

    /**
     * Compares. Pure.
     *
     * @param manifests what replaces resources of the cluster, or comes to them
     */
    public static Outlook of(StatusQuo now, Optional<World> manifests) {
        Plan next = now.next(manifests);
        Map<String, Double> rates = new HashMap<>();
        now.pools().values().forEach(pool -> rates(pool, rates));
        next.pools().values().forEach(pool -> rates(pool, rates));
        SortedMap<Ref, String> blind = now.unforeseeable();
        Set<String> unseen = Stream.of(now.admission(), next.admission())
                .flatMap(admission -> admission.services().values().stream())
                .flatMap(judged -> judged.value().stream())
                .filter(service -> blind.containsKey(service.pool()))
                .map(service -> service.ref().toString())
                .collect(Collectors.toSet());
        SortedMap<Ref, String> courses = new TreeMap<>();
        next.pools().forEach((ref, pool) -> {
            if (!pool.course().what().isEmpty() && !blind.containsKey(ref)) {
                courses.put(ref, pool.course().what());
            }
        });
        Set<Plan.Problem> known = manifests.isPresent()
                ? new HashSet<>(now.next(Optional.empty()).problems())
                : Set.copyOf(next.problems());
        return new Outlook(
                next,
                Shift.between(
                                now.published().values(),
                                next.records(now.published()).values(),
                                rates)
                        .stream()
                        .filter(shift -> !unseen.contains(shift.service()))
                        .toList(),
                next.pools().values().stream()
                        .flatMap(pool -> pool.streams().stream())
                        .mapToDouble(stream -> stream.demand().rate())
                        .sum(),
                courses,
                blind,
                next.problems().stream()
                        .filter(problem -> !known.contains(problem))
                        .toList());
    }

    private static void rates(PoolPlan pool, Map<String, Double> rates) {
        pool.streams()
                .forEach(stream ->
                        rates.put(stream.demand().key(), stream.demand().rate()));
    }

    /** The requests/s that would go to another address than now. */
    public double moved() {
        return shifts.stream().mapToDouble(Shift::movedRate).sum();
    }

    public boolean isChange() {
        return !shifts.isEmpty() || !problems.isEmpty();
    }
}
