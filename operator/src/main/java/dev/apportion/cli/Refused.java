package dev.apportion.cli;

/** Why what is written is no setting of a simulation, and where. */
final class Refused extends Exception {

    private final String path;
    private final String reason;

    Refused(String path, String reason) {
        super(path + ": " + reason);
        this.path = path;
        this.reason = reason;
    }

    /** Where, as in {@code populations[0].rate}. */
    String path() {
        return path;
    }

    String reason() {
        return reason;
    }
}
