package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.OptionalInt;

/**
 * A port by its number, from 1 to 65535, or by its name.
 *
 * @param text the number or the name
 */
public record Port(String text) {

    /** @throws IllegalArgumentException if the text is neither a number in range nor a name */
    public Port {
        Rules.require(
                isNumber(text) ? Addresses.isPort(Long.parseLong(text)) : Rules.isPortName(text), Rules.PORT_MESSAGE);
    }

    /** Reads a number or a name; a number in quotes is refused, as the API server does. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Port read(Object json) {
        return switch (json) {
            case String name when !isNumber(name) -> new Port(name);
            case Integer number -> new Port(number.toString());
            default -> throw new IllegalArgumentException(Rules.PORT_MESSAGE);
        };
    }

    /** The number, if the port is known by its number. */
    public OptionalInt number() {
        return isNumber(text) ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
    }

    @JsonValue
    Object json() {
        return isNumber(text) ? (Object) Integer.valueOf(text) : text;
    }

    private static boolean isNumber(String text) {
        return text.matches("[0-9]{1,9}");
    }
}
