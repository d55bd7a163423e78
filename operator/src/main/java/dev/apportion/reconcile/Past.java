package dev.apportion.reconcile;

import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a new plan of a pool has to reckon with.
 *
 * @param plan the plan that is in force; empty where none is known, as after a start
 * @param published what DNS says of each stream, by {@link Demand#key()}; counts for the streams that the plan says nothing of
 * @param cooling whether the last change is too recent for another one that can wait
 * @param settling whether what was published before a start rests on measurements that have to be made anew
 * @param held why replicas that vanished are still among them; empty if none is
 */
public record Past(
        Optional<PoolPlan> plan,
        Map<String, List<Answer>> published,
        boolean cooling,
        boolean settling,
        Optional<String> held) {

    /** Nothing was planned or published before. */
    public static final Past NONE = new Past(Optional.empty(), Map.of(), false);

    public Past {
        published = Map.copyOf(published);
    }

    public Past(Optional<PoolPlan> plan, Map<String, List<Answer>> published, boolean cooling) {
        this(plan, published, cooling, false, Optional.empty());
    }

    /** The answers in records, by the service and the stream that they belong to. */
    static Map<String, List<Answer>> answers(Collection<ZoneRecords> zones) {
        Map<String, List<Answer>> answers = new HashMap<>();
        for (ZoneRecords zone : zones) {
            for (Host host : zone.hosts()) {
                for (HostStream stream : host.streams()) {
                    answers.put(Demand.key(host, stream.stream()), stream.answers());
                }
            }
        }
        return answers;
    }
}
