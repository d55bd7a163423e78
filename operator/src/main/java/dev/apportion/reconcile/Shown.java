package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a status shows each quantity of a {@link Sample}: written for people, and read back by who has nothing but the status. */
enum Shown {
    UTILISATION("%s%% of what it requests") {
        @Override
        String number(double value) {
            return Long.toString(Math.round(PERCENT * value));
        }

        @Override
        double value(String number) {
            return Double.parseDouble(number) / PERCENT;
        }
    },
    REQUESTS("%s requests/s"),
    IN_FLIGHT("%s in flight"),
    CONNECTIONS("%s connections"),
    USERS("%s users"),
    UNIQUE_USERS("%s distinct"),
    LOAD_AVERAGE("load average %s");

    /** Matches a number as a status has it, as a group. */
    static final String NUMBER = "([0-9]+(?:\\.[0-9]+)?)";

    private static final double PERCENT = 100;

    private final String form;
    private final Pattern pattern;

    Shown(String form) {
        this.form = form;
        pattern = Pattern.compile("(?:^|, )" + form.formatted(NUMBER) + "(?=$|, |; )");
    }

    String number(double value) {
        return Statuses.decimal(value);
    }

    double value(String number) {
        return Double.parseDouble(number);
    }

    /** The quantities that were measured, each in words. */
    static List<String> texts(Sample sample) {
        return Arrays.stream(values())
                .flatMap(
                        shown -> shown.of(sample).stream().mapToObj(value -> shown.form.formatted(shown.number(value))))
                .toList();
    }

    /** The quantities that a text begins with, whatever comes after them; none where it says why there is none. */
    static Sample read(String text) {
        if (text.startsWith(Statuses.NOTHING)) {
            return Sample.NONE;
        }
        return new Sample(
                REQUESTS.in(text),
                IN_FLIGHT.in(text),
                CONNECTIONS.in(text),
                USERS.in(text),
                UNIQUE_USERS.in(text),
                LOAD_AVERAGE.in(text),
                UTILISATION.in(text));
    }

    private OptionalDouble of(Sample sample) {
        return switch (this) {
            case UTILISATION -> sample.utilisation();
            case REQUESTS -> sample.requests();
            case IN_FLIGHT -> sample.inFlight();
            case CONNECTIONS -> sample.connections();
            case USERS -> sample.users();
            case UNIQUE_USERS -> sample.uniqueUsers();
            case LOAD_AVERAGE -> sample.loadAverage();
        };
    }

    private OptionalDouble in(String text) {
        Matcher found = pattern.matcher(text);
        return found.find() ? OptionalDouble.of(value(found.group(1))) : OptionalDouble.empty();
    }
}
