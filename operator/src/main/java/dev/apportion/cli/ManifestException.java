package dev.apportion.cli;

/** A manifest that cannot be read at all; the message says where, what, and what to do. */
final class ManifestException extends Exception {

    ManifestException(String message) {
        super(message);
    }
}
