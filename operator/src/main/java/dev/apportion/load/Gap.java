package dev.apportion.load;

import java.io.IOException;

/** Why a sample is missing, in so few kinds that they can be counted; what exactly was wrong is said in words elsewhere. */
public enum Gap {
    /** Nobody may be asked, or it is not known where: an administrator, or the author of the pool, has to act. */
    NotAsked,

    /** There was no connection, or no whole answer in time. */
    Unreachable,

    /** There was an answer, which is an error: rights may be missing. */
    Refused,

    /** There was more to read than may be. */
    TooLarge,

    /** What was read is not what it should be. */
    Malformed,

    /** Whoever answers has no such sample. */
    Absent,

    /** Nothing is requested of a resource, so that its use is a part of nothing. */
    NoRequest,

    /** It is older than its pod, or than the last one. */
    Outdated,

    /** It is from the future. */
    Future,

    /** It is no number, or infinite. */
    NotFinite,

    /** It is below zero. */
    Negative,

    /** It is greater than anything that can be. */
    Absurd;

    /** A failure to get an answer, of a known kind. */
    static final class UnansweredException extends IOException {

        private static final long serialVersionUID = 1;

        private final Gap gap;

        UnansweredException(Gap gap, String message) {
            super(message);
            this.gap = gap;
        }
    }

    static Gap of(IOException failure) {
        return switch (failure) {
            case UnansweredException known -> known.gap;
            case Bounded.TooLargeException large -> TooLarge;
            case Exposition.MalformedException malformed -> Malformed;
            default -> Unreachable;
        };
    }
}
