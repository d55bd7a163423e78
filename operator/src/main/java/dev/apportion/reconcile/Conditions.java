package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Writes findings down as conditions of Kubernetes. */
final class Conditions {

    /** What has to hold for a resource to be ready; a type that a resource does not have is left out. */
    private static final Set<String> NEEDED =
            Set.of(Finding.ACCEPTED, Finding.RESOLVED_REFS, Finding.ALLOCATED, Finding.PROGRAMMED);

    /** The longest message that the schema of conditions takes. */
    private static final int MAX_MESSAGE = 32768;

    private final Clock clock;

    Conditions(Clock clock) {
        this.clock = clock;
    }

    /**
     * The conditions of a resource, with the summary {@code Ready} last. The time of a transition stays unless the status
     * flips.
     *
     * @param findings what was found, at most one of each type
     * @param elsewhere a finding on another resource that the summary counts too
     * @param before the conditions that the resource has
     * @param generation the generation of the specification that was judged
     */
    List<Condition> of(List<Finding> findings, Optional<Finding> elsewhere, List<Condition> before, long generation) {
        List<Finding> counted = new ArrayList<>(findings);
        elsewhere.ifPresent(counted::add);
        List<Finding> all = new ArrayList<>(findings);
        all.add(ready(counted));
        return all.stream()
                .map(finding -> condition(finding, before, generation))
                .toList();
    }

    /** The summary: what is needed is true, and {@code Verified} is not false. What is false counts before what is unknown. */
    static Finding ready(List<Finding> findings) {
        List<Finding> hindrances = findings.stream()
                .filter(finding -> NEEDED.contains(finding.type()) ? !finding.isTrue() : isRefuted(finding))
                .toList();
        Optional<Finding> hindrance = hindrances.stream()
                .filter(Finding::isFalse)
                .findFirst()
                .or(() -> hindrances.stream().findFirst());
        return hindrance
                .map(finding -> finding.isFalse()
                        ? Finding.no(Finding.READY, finding.reason(), finding.message())
                        : Finding.unknown(Finding.READY, finding.reason(), finding.message()))
                .orElseGet(() -> Finding.yes(Finding.READY, "Ready", "everything needed holds"));
    }

    private static boolean isRefuted(Finding finding) {
        return finding.type().equals(Finding.VERIFIED) && finding.isFalse();
    }

    private Condition condition(Finding finding, List<Condition> before, long generation) {
        String status = finding.status().name();
        String since = before.stream()
                .filter(condition -> finding.type().equals(condition.getType())
                        && status.equals(condition.getStatus())
                        && condition.getLastTransitionTime() != null)
                .map(Condition::getLastTransitionTime)
                .findFirst()
                .orElseGet(this::now);
        return new ConditionBuilder()
                .withType(finding.type())
                .withStatus(status)
                .withReason(finding.reason())
                .withMessage(shortened(finding.message()))
                .withLastTransitionTime(since)
                .withObservedGeneration(generation)
                .build();
    }

    /** The time, as an RFC 3339 date and time of whole seconds. */
    String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String shortened(String message) {
        return message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE - 1) + "…";
    }
}
