package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * A number as Kubernetes writes quantities: {@code 120}, {@code "0.5"}, {@code "1500m"}, {@code "2k"}.
 *
 * @param text the number as it was written; from 0 to 10¹², at most 24 characters
 */
public record Amount(@JsonValue String text) {

    private static final int MAX_LENGTH = 24;
    private static final BigDecimal MAX = new BigDecimal("1e12");

    /** @throws IllegalArgumentException if the text is no quantity, or out of range */
    public Amount {
        Rules.require(
                text.length() <= MAX_LENGTH
                        && Rules.isAmount(text)
                        && Quantity.parse(text).getNumericalAmount().compareTo(MAX) <= 0,
                Rules.AMOUNT_MESSAGE);
    }

    /** A whole number. */
    public static Amount of(long number) {
        return new Amount(Long.toString(number));
    }

    /** Reads an integer or a text; a fraction that is not in quotes is refused, as the API server does. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Amount read(Object json) {
        return switch (json) {
            case String text -> new Amount(text);
            case Integer number -> new Amount(number.toString());
            case Long number -> new Amount(number.toString());
            case BigInteger number -> new Amount(number.toString());
            case Double number when number <= MAX.doubleValue() -> throw new IllegalArgumentException(unquoted(number));
            default -> throw new IllegalArgumentException(Rules.AMOUNT_MESSAGE);
        };
    }

    private static String unquoted(double number) {
        return number < 0
                ? Rules.AMOUNT_MESSAGE
                : "must stand in quotes, since it is written with a fraction or an exponent: \"%s\""
                        .formatted(new BigDecimal(Double.toString(number))
                                .stripTrailingZeros()
                                .toPlainString());
    }

    /** The number. */
    public double value() {
        return Quantity.parse(text).getNumericalAmount().doubleValue();
    }

    /** Whether the number is above 0. */
    public boolean isPositive() {
        return Quantity.parse(text).getNumericalAmount().signum() > 0;
    }
}
