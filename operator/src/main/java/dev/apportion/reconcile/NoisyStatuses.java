package dev.apportion.reconcile;

import dev.apportion.api.ReplicaPoolStatus;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds back statuses of pools that differ from what stands there in nothing but numbers: of what is measured some number is always
 * another one, and whoever reads a status wants to know what happened. What happened is written at once.
 */
final class NoisyStatuses {

    /** The least time between two statuses of a pool that differ in numbers only. */
    static final Duration QUIET = Duration.ofSeconds(15);

    private final LongSupplier nanoTime;
    private final Map<String, Long> written = new ConcurrentHashMap<>();

    NoisyStatuses(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** What of a row is no number. */
    private record Line(
            String name,
            @Nullable String address,
            @Nullable String site,
            @Nullable String state) {}

    /** What of a status is no number. */
    private record News(
            @Nullable Long generation,
            List<List<String>> conditions,
            ReplicaPoolStatus.@Nullable Replicas replicas,
            ReplicaPoolStatus.@Nullable LastChange lastChange,
            List<Line> rows) {

        static News of(ReplicaPoolStatus status) {
            return new News(
                    status.observedGeneration(),
                    status.conditions().stream().map(News::of).toList(),
                    status.replicas(),
                    status.lastChange(),
                    status.rows().stream()
                            .map(row -> new Line(row.name(), row.address(), row.site(), row.state()))
                            .toList());
        }

        private static List<String> of(Condition condition) {
            return List.of(condition.getType(), condition.getStatus(), condition.getReason());
        }
    }

    /**
     * How long a status is held back yet.
     *
     * @param before what stands there; null if nothing does
     * @return empty if it is to be written now
     */
    Optional<Duration> wait(String uid, @Nullable ReplicaPoolStatus before, ReplicaPoolStatus status) {
        Long last = written.get(uid);
        if (before == null
                || last == null
                || before.equals(status)
                || !News.of(before).equals(News.of(status))) {
            return Optional.empty();
        }
        Duration left = QUIET.minusNanos(nanoTime.getAsLong() - last);
        return left.isPositive() ? Optional.of(left) : Optional.empty();
    }

    /** Called when a status is written. */
    void written(String uid) {
        written.put(uid, nanoTime.getAsLong());
    }

    void forget(String uid) {
        written.remove(uid);
    }
}
