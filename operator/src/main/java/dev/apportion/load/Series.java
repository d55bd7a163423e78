package dev.apportion.load;

import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;

/**
 * The names of Prometheus series by the quantity that they tell.
 *
 * @param names one name at least
 */
public record Series(Map<Quantity, String> names) {

    public Series {
        names = Map.copyOf(names);
    }

    /** A counter, whose increase is what counts, is known by the end of its name. */
    boolean isCounter(Quantity quantity) {
        String name = names.getOrDefault(quantity, "");
        return name.endsWith("_total") || name.endsWith("_count");
    }

    Collection<String> wanted() {
        return names.values();
    }

    /** The values of series by the quantity that they tell; what has no value is left out. */
    Map<Quantity, Double> quantities(Map<String, Double> values) {
        Map<Quantity, Double> quantities = new EnumMap<>(Quantity.class);
        names.forEach((quantity, name) -> {
            Double value = values.get(name);
            if (value != null) {
                quantities.put(quantity, value);
            }
        });
        return quantities;
    }
}
