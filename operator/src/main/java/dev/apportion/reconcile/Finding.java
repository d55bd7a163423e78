package dev.apportion.reconcile;

/**
 * The state of one condition of a resource, before it is written down.
 *
 * @param type the condition's type
 * @param status whether it holds
 * @param reason one CamelCase word, part of the API
 * @param message what a person needs to know, with the values concerned, and advice
 */
public record Finding(String type, Status status, String reason, String message) {

    /** Whether a condition holds. */
    public enum Status {
        True,
        False,
        Unknown
    }

    public static final String ACCEPTED = "Accepted";
    public static final String RESOLVED_REFS = "ResolvedRefs";
    public static final String LOAD_AVAILABLE = "LoadAvailable";
    public static final String ALLOCATED = "Allocated";
    public static final String PROGRAMMED = "Programmed";
    public static final String VERIFIED = "Verified";
    public static final String WEIGHTS_HONORED = "WeightsHonored";
    public static final String READY = "Ready";

    static Finding yes(String type, String reason, String message) {
        return new Finding(type, Status.True, reason, message);
    }

    static Finding no(String type, String reason, String message) {
        return new Finding(type, Status.False, reason, message);
    }

    static Finding unknown(String type, String reason, String message) {
        return new Finding(type, Status.Unknown, reason, message);
    }

    public boolean isFalse() {
        return status == Status.False;
    }

    public boolean isTrue() {
        return status == Status.True;
    }
}
