package dev.apportion.reconcile;

import java.util.List;
import java.util.Optional;

/**
 * What became of a resource on admission.
 *
 * @param value the admitted value; empty when it is rejected
 * @param findings its {@code Accepted} and {@code ResolvedRefs}
 */
public record Judged<T>(Optional<T> value, List<Finding> findings) {

    public Judged {
        findings = List.copyOf(findings);
    }

    static <T> Judged<T> rejected(String reason, String message) {
        return new Judged<>(
                Optional.empty(),
                List.of(
                        Finding.no(Finding.ACCEPTED, reason, message),
                        Finding.unknown(Finding.RESOLVED_REFS, "NotAccepted", "judged once the resource is accepted")));
    }

    static <T> Judged<T> admitted(T value) {
        return new Judged<>(Optional.of(value), List.of(accepted(), resolved()));
    }

    /** A part of the resource is refused, the rest of it goes on. */
    static <T> Judged<T> admittedInPart(T value, String reason, String message) {
        return new Judged<>(Optional.of(value), List.of(Finding.no(Finding.ACCEPTED, reason, message), resolved()));
    }

    static <T> Judged<T> admittedUnresolved(T value, String reason, String message) {
        return new Judged<>(
                Optional.of(value), List.of(accepted(), Finding.no(Finding.RESOLVED_REFS, reason, message)));
    }

    static <T> Judged<T> unresolved(String reason, String message) {
        return new Judged<>(Optional.empty(), List.of(accepted(), Finding.no(Finding.RESOLVED_REFS, reason, message)));
    }

    private static Finding accepted() {
        return Finding.yes(Finding.ACCEPTED, "Accepted", "the specification is valid");
    }

    private static Finding resolved() {
        return Finding.yes(Finding.RESOLVED_REFS, "ResolvedRefs", "everything that it refers to was found");
    }
}
