package dev.apportion.cli;

/** A cluster that cannot be asked, or does not have what is asked for; the message is one line for people, with advice. */
final class ClusterException extends Exception {

    ClusterException(String message) {
        super(message);
    }
}
