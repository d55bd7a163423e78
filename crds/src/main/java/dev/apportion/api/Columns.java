package dev.apportion.api;

/** Where {@code kubectl get} finds the columns that every kind has. */
final class Columns {

    static final String READY = ".status.conditions[?(@.type==\"Ready\")].status";
    static final String REASON = ".status.conditions[?(@.type==\"Ready\")].reason";
    static final String AGE = ".metadata.creationTimestamp";

    private Columns() {}
}
