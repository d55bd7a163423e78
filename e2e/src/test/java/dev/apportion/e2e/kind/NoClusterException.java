package dev.apportion.e2e.kind;

/** This machine can have no cluster; the message says what is missing and what to do about it. */
final class NoClusterException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoClusterException(String message) {
        super(message);
    }
}
