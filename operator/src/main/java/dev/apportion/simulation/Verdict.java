package dev.apportion.simulation;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether a claim holds.
 *
 * @param cases the points at which it was looked at
 */
public record Verdict(Claim claim, List<Case> cases) {

    public Verdict {
        cases = List.copyOf(cases);
    }

    /** What a confidence interval of 95 % tells. */
    public enum Holds {
        YES,
        /** The interval has both outcomes in it. */
        UNCLEAR,
        NO;

        /** Of a difference that is above zero if the claim holds. */
        static Holds of(Interval difference) {
            if (difference.low() > 0) {
                return YES;
            }
            return difference.high() < 0 ? NO : UNCLEAR;
        }
    }

    /**
     * A point at which a claim was looked at.
     *
     * @param labels the point
     * @param measured what was measured, for people
     */
    public record Case(Map<String, String> labels, String measured, Holds holds) {

        public Case {
            labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
        }
    }

    /** Whether it holds at every point, and there is one. */
    public boolean holds() {
        return !cases.isEmpty() && cases.stream().allMatch(each -> each.holds() == Holds.YES);
    }

    /** Whether it is refuted somewhere. */
    public boolean fails() {
        return cases.stream().anyMatch(each -> each.holds() == Holds.NO);
    }

    public long count(Holds holds) {
        return cases.stream().filter(each -> each.holds() == holds).count();
    }

    static String number(Interval interval) {
        return number(interval.mean()) + " ± " + number(interval.half());
    }

    static String number(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4g", value) : "?";
    }
}
