package dev.apportion.cli;

import dev.apportion.allocation.Tolerance;
import dev.apportion.api.ApportionResource;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.api.ResourceStatus;
import dev.apportion.reconcile.AdmittedPool;
import dev.apportion.reconcile.Finding;
import dev.apportion.reconcile.PoolPlan;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the statuses of a cluster say of a plan besides: how old they are, where load comes from, how change happens. */
final class StatusNotes implements Explanation.Notes {

    private static final double PERCENT = 100;
    private static final int LONG_SECONDS = 120;
    private static final int LONG_MINUTES = 120;
    private static final int LONG_HOURS = 48;

    private final Instant now;
    private final StatusQuo quo;
    private final Map<Ref, ReplicaPool> pools = new HashMap<>();
    private final Map<Ref, ApportionResource<?, ? extends ResourceStatus>> services = new HashMap<>();
    private final Map<Ref, ApportionResource<?, ? extends ResourceStatus>> streams = new HashMap<>();

    /** Streams that would be answered otherwise if they were planned now. */
    private final Set<String> due;

    StatusNotes(StatusQuo quo, Set<String> due) {
        this.quo = quo;
        this.due = Set.copyOf(due);
        now = quo.state().read();
        quo.state().pools().forEach(pool -> pools.put(Ref.of(pool), pool));
        quo.state().services().forEach(service -> services.put(Ref.of(service), service));
        quo.state().streams().forEach(stream -> streams.put(Ref.of(stream), stream));
    }

    /** How a stream is named in what is due. */
    static String key(String service, String stream) {
        return service + "/" + stream;
    }

    @Override
    public List<String> of(PoolPlan plan) {
        List<String> notes = new ArrayList<>();
        ReplicaPool pool = pools.get(plan.pool());
        ReplicaPoolStatus status = pool == null ? null : pool.getStatus();
        if (pool == null || status == null) {
            return notes;
        }
        notes.add("the status was written %s, of the generation %s; it is written again when what it says differs"
                .formatted(age(written(pool)), status.observedGeneration()));
        if (StatusQuo.showsSome(status)) {
            notes.add("it shows %s replicas".formatted(StatusQuo.shown(status)));
        }
        notes.add(load(plan.basis(), status));
        notes.add(behavior(plan.basis().behavior()));
        ReplicaPoolStatus.LastChange change = status.lastChange();
        notes.add(
                change == null
                        ? "no change was seen since the operator began"
                        : "last change %s: %s, moved %s%% of the traffic"
                                .formatted(age(time(change.time())), change.reason(), change.movedPercent()));
        if (plan.basis().observe()) {
            notes.add("mode Observe: what was published stays, whatever is planned");
        }
        return notes;
    }

    private static String load(AdmittedPool pool, ReplicaPoolStatus status) {
        String known = status.condition(Finding.LOAD_AVAILABLE)
                .map(condition -> "%s: %s".formatted(condition.getReason(), condition.getMessage()))
                .orElse("not said");
        return pool.load()
                .map(load -> "load is measured every %s, and a sample counts for %s; %s"
                        .formatted(text(load.interval()), text(load.staleAfter()), known))
                .orElse("load is not measured; " + known);
    }

    private static String behavior(AdmittedPool.Behavior behavior) {
        Tolerance tolerance = behavior.tolerance();
        return "rates move traffic when a load is more than %.0f%% above its level, to within %.0f%%, at most %.0f%% of a stream at a time"
                        .formatted(
                                PERCENT * tolerance.actAbove(),
                                PERCENT * tolerance.repairTo(),
                                PERCENT * tolerance.mostShifted())
                + behavior.slowStart()
                        .map(ramp -> "; new replicas begin at %.0f%% and have their share after %s"
                                .formatted(PERCENT * ramp.least(), text(ramp.window())))
                        .orElse("");
    }

    @Override
    public List<String> of(PoolPlan.Stream stream) {
        List<String> notes = new ArrayList<>();
        Ref service = stream.demand().service();
        String name = stream.demand().stream();
        quo.admission().stream(new Ref(service.namespace(), name))
                .flatMap(declared -> declared.rateFrom())
                .ifPresent(query -> notes.add("its rate comes from its query (rateFrom)"));
        Optional.ofNullable(name.isEmpty() ? services.get(service) : streams.get(new Ref(service.namespace(), name)))
                .ifPresent(resource -> notes.addAll(conditions(resource)));
        Optional.ofNullable(services.get(service))
                .flatMap(found -> Optional.ofNullable(found.getStatus()))
                .flatMap(status -> status.condition(Finding.WEIGHTS_HONORED))
                .ifPresent(condition -> notes.add(text(condition)));
        if (quo.admission().service(service).filter(found -> found.paused()).isPresent()) {
            notes.add("the service is paused: what was published stays");
        }
        if (due.contains(key(service.toString(), name))) {
            notes.add("planned now it would be answered otherwise: apportion plan --live says how");
        }
        return notes;
    }

    /** What is published, and whether it was seen. */
    private static List<String> conditions(ApportionResource<?, ? extends ResourceStatus> resource) {
        ResourceStatus status = resource.getStatus();
        return status == null
                ? List.of("it has no status yet")
                : Stream.of(
                                Finding.ACCEPTED,
                                Finding.LOAD_AVAILABLE,
                                Finding.PROGRAMMED,
                                Finding.VERIFIED,
                                Finding.WEIGHTS_HONORED)
                        .flatMap(type -> status.condition(type).stream())
                        .filter(condition -> !(condition.getType().equals(Finding.ACCEPTED)
                                && condition.getStatus().equals("True")))
                        .map(StatusNotes::text)
                        .toList();
    }

    static String text(Condition condition) {
        return "%s %s, %s: %s"
                .formatted(condition.getType(), condition.getStatus(), condition.getReason(), condition.getMessage());
    }

    /** When the status was written last, as the API server keeps it. */
    private static Optional<Instant> written(HasMetadata resource) {
        return Objects.requireNonNullElse(resource.getMetadata().getManagedFields(), List.<ManagedFieldsEntry>of())
                .stream()
                .filter(entry -> "status".equals(entry.getSubresource()))
                .flatMap(entry -> time(entry.getTime()).stream())
                .max(Instant::compareTo);
    }

    private static Optional<Instant> time(@Nullable String text) {
        try {
            return text == null ? Optional.empty() : Optional.of(Instant.parse(text));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private String age(Optional<Instant> then) {
        return then.map(time -> text(Duration.between(time, now)) + " ago").orElse("at an unknown time");
    }

    /** A duration as people say it. */
    static String text(Duration duration) {
        long seconds = Math.max(0, duration.toSeconds());
        if (seconds < LONG_SECONDS) {
            return seconds + " s";
        }
        if (duration.toMinutes() < LONG_MINUTES) {
            return duration.toMinutes() + " min";
        }
        return duration.toHours() < LONG_HOURS ? duration.toHours() + " h" : duration.toDays() + " d";
    }
}
