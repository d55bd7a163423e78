package dev.apportion.load;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a query has given: the last rate that counts, and what has been wrong since. Pure.
 *
 * @param last in requests/s; empty before there was one
 * @param takenNanos when it was given, in nanoseconds of the monotonic clock
 * @param problem what was wrong with the last answer; empty if nothing was
 */
public record Rate(OptionalDouble last, long takenNanos, String problem) {

    /** Nothing was asked yet. */
    public static final Rate NEW = new Rate(OptionalDouble.empty(), 0, "not asked yet");

    /** What can be said of a rate at a moment. */
    public sealed interface Standing {

        record Known(double rate) implements Standing {}

        /** The last rate counts on, although a later answer had none. */
        record Held(double rate, String reason) implements Standing {}

        record Missing(String reason) implements Standing {}
    }

    /** After an answer. */
    Rate next(OptionalDouble answer, long nowNanos) {
        if (answer.isEmpty()) {
            return failed("the query gives nothing");
        }
        return gap(answer).isEmpty()
                ? new Rate(answer, nowNanos, "")
                : failed("the query gives %s, which is no rate".formatted(answer.getAsDouble()));
    }

    /** Why an answer gives no rate; empty if it does. */
    static Optional<Gap> gap(OptionalDouble answer) {
        return answer.isEmpty() ? Optional.of(Gap.Absent) : Track.absurdity(answer.getAsDouble());
    }

    Rate failed(String reason) {
        return new Rate(last, takenNanos, reason);
    }

    /**
     * What counts.
     *
     * @param nowNanos the time of the monotonic clock
     * @param staleAfter the age from which a rate no longer counts
     */
    public Standing at(long nowNanos, Duration staleAfter) {
        if (last.isEmpty()) {
            return new Standing.Missing(problem);
        }
        if (nowNanos - takenNanos > staleAfter.toNanos()) {
            return new Standing.Missing("the last rate is older than %d s%s"
                    .formatted(staleAfter.toSeconds(), problem.isEmpty() ? "" : ": " + problem));
        }
        return problem.isEmpty()
                ? new Standing.Known(last.getAsDouble())
                : new Standing.Held(last.getAsDouble(), problem);
    }
}
