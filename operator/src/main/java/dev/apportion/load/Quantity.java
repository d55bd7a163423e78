package dev.apportion.load;

import dev.apportion.allocation.Sample;
import java.util.Map;
import java.util.OptionalDouble;

/** What can be measured of a replica. */
public enum Quantity {
    REQUESTS("requests"),
    IN_FLIGHT("inFlight"),
    CONNECTIONS("connections"),
    USERS("users"),
    UNIQUE_USERS("uniqueUsers"),
    LOAD_AVERAGE("loadAverage"),

    /** The use of a resource over what is requested of it. */
    UTILISATION("utilisation");

    private final String field;

    Quantity(String field) {
        this.field = field;
    }

    /** Its name as users write it. */
    public String field() {
        return field;
    }

    static Sample sample(Map<Quantity, Double> values) {
        return new Sample(
                value(values, REQUESTS),
                value(values, IN_FLIGHT),
                value(values, CONNECTIONS),
                value(values, USERS),
                value(values, UNIQUE_USERS),
                value(values, LOAD_AVERAGE),
                value(values, UTILISATION));
    }

    private static OptionalDouble value(Map<Quantity, Double> values, Quantity quantity) {
        Double value = values.get(quantity);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }
}
