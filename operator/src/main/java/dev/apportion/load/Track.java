package dev.apportion.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The history of one target, as short as it can be: the counters that rates are made from, the last good reading, and what has
 * been wrong since. Pure.
 *
 * @param counters the last counters; null before there were any
 * @param good the last good reading; null before there was one
 * @param problem what was wrong with the last readout; empty if nothing was
 * @param latest the stamp of the last sample, in milliseconds
 * @param flaws what was wrong with the last sample; empty if nothing was
 * @param older the stamp of the last sample that was older than that; {@link #NEVER} if none was since
 * @param partly whether the last good reading is that of the last sample, whatever else that lacks
 * @param gaps of what kinds the samples are that were missing at the last readout
 */
public record Track(
        Readout.@Nullable Values counters,
        @Nullable Reading good,
        String problem,
        long latest,
        String flaws,
        long older,
        boolean partly,
        List<Gap> gaps) {

    private static final long NEVER = Long.MIN_VALUE;

    public Track {
        gaps = List.copyOf(gaps);
    }

    /** Nothing was heard of the target yet. */
    public static final Track NEW = new Track(null, null, "not measured yet", NEVER, "", NEVER, false, List.of());

    /** No replica serves, or holds, as much as this; the same number as the greatest that can be declared. */
    static final double MOST = 1e12;

    private static final double MILLIS_PER_SECOND = 1000;

    /** Times of HTTP have whole seconds, and samples wait to be read; a clock that is off by more was set. */
    private static final Duration CLOCK_SET = Duration.ofSeconds(3);

    /** What can be said of a target's load at a moment. */
    public sealed interface Load {

        record Measured(Reading reading) implements Load {}

        /**
         * The last good reading counts on, although a later one failed.
         *
         * @param partly whether it is the last one all the same, and only lacks something
         */
        record Held(Reading reading, String reason, boolean partly) implements Load {}

        /** There is no reading that counts. */
        record Missing(String reason) implements Load {}
    }

    /** The history after one more readout. */
    public Track next(Readout readout, Series series) {
        return switch (readout) {
            case Readout.Failed(Gap gap, String reason) -> with(reason, false, List.of(gap));
            // Time goes on, from earlier on: the clock of the source was set back.
            case Readout.Values values
            when values.stampMillis() < latest && older != NEVER && values.stampMillis() > older ->
                new Track(null, good, problem, NEVER, "", NEVER, false, List.of()).next(values, series);
            case Readout.Values values
            when values.stampMillis() < latest ->
                new Track(
                        counters,
                        good,
                        "older than what was read before",
                        latest,
                        flaws,
                        Math.max(older, values.stampMillis()),
                        false,
                        List.of(Gap.Outdated));
            // The source has no newer sample.
            case Readout.Values values when values.stampMillis() == latest -> with(flaws, partly, List.of());
            case Readout.Values values -> next(values, series);
        };
    }

    private Track with(String reason, boolean holds, List<Gap> missing) {
        return new Track(counters, good, reason, latest, flaws, older, holds, missing);
    }

    private Track next(Readout.Values values, Series series) {
        Map<Quantity, Double> quantities = new EnumMap<>(Quantity.class);
        Map<Quantity, Double> totals = new EnumMap<>(Quantity.class);
        List<String> found = new ArrayList<>();
        List<Gap> missing = new ArrayList<>();
        for (Quantity quantity : Quantity.values()) {
            Double value = values.values().get(quantity);
            if (value == null) {
                if (series.names().containsKey(quantity)) {
                    found.add("no sample of " + series.names().get(quantity));
                    missing.add(Gap.Absent);
                }
                continue;
            }
            Optional<Gap> absurd = absurdity(value);
            if (absurd.isPresent()) {
                found.add(words(absurd.get(), quantity, value));
                missing.add(absurd.get());
            } else if (series.isCounter(quantity)) {
                totals.put(quantity, value);
                OptionalDouble rate = rate(quantity, value, values);
                rate.ifPresentOrElse(
                        perSecond -> quantities.put(quantity, perSecond),
                        () -> found.add("the rate of %s comes with its next sample"
                                .formatted(series.names().get(quantity))));
            } else {
                quantities.put(quantity, value);
            }
        }
        String wrong = String.join("; ", found);
        return new Track(
                totals.isEmpty() ? counters : new Readout.Values(totals, values.takenNanos(), values.stampMillis()),
                quantities.isEmpty() ? good : new Reading(Quantity.sample(quantities), values.takenNanos()),
                wrong,
                values.stampMillis(),
                wrong,
                NEVER,
                !quantities.isEmpty(),
                missing);
    }

    /** Why a value cannot be; empty if it can. */
    static Optional<Gap> absurdity(double value) {
        if (!Double.isFinite(value)) {
            return Optional.of(Gap.NotFinite);
        }
        if (value < 0) {
            return Optional.of(Gap.Negative);
        }
        return value > MOST ? Optional.of(Gap.Absurd) : Optional.empty();
    }

    private static String words(Gap gap, Quantity quantity, double value) {
        return gap == Gap.NotFinite
                ? "%s is %s".formatted(quantity.field(), value)
                : "%s is %s: %s".formatted(quantity.field(), gap == Gap.Negative ? "negative" : "absurd", value);
    }

    /** A counter that fell began anew at zero, so all that it has now is increase. Over a clock that was set there is no rate. */
    private OptionalDouble rate(Quantity quantity, double total, Readout.Values now) {
        Double before = counters == null ? null : counters.values().get(quantity);
        if (counters == null || before == null) {
            return OptionalDouble.empty();
        }
        long millis = now.stampMillis() - counters.stampMillis();
        long elapsed = TimeUnit.NANOSECONDS.toMillis(now.takenNanos() - counters.takenNanos());
        if (Math.abs(millis - elapsed) > CLOCK_SET.toMillis() && Math.abs(millis - elapsed) > elapsed / 2) {
            return OptionalDouble.empty();
        }
        double seconds = millis / MILLIS_PER_SECOND;
        return OptionalDouble.of((total < before ? total : total - before) / seconds);
    }

    /**
     * What counts of the target's load.
     *
     * @param nowNanos the time of the monotonic clock
     * @param staleAfter the age from which a reading no longer counts
     */
    public Load at(long nowNanos, Duration staleAfter) {
        if (good == null) {
            return new Load.Missing(problem);
        }
        long age = nowNanos - good.takenNanos();
        if (age > staleAfter.toNanos()) {
            return new Load.Missing("the last measurement is older than %d s%s"
                    .formatted(staleAfter.toSeconds(), problem.isEmpty() ? "" : ": " + problem));
        }
        return problem.isEmpty() ? new Load.Measured(good) : new Load.Held(good, problem, partly);
    }
}
