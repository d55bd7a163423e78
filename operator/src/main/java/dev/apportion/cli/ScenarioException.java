package dev.apportion.cli;

/** A scenario that cannot be run; the message says in one line where, what, and what to do. */
final class ScenarioException extends Exception {

    ScenarioException(String message) {
        super(message);
    }
}
