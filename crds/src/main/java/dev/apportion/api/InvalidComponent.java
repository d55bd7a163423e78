package dev.apportion.api;

import org.jspecify.annotations.Nullable;

/** A component of a record that breaks a rule; the message begins with the component's name. */
final class InvalidComponent extends IllegalArgumentException {

    InvalidComponent(String component, @Nullable Object value, String rule) {
        super(component + ": \"" + value + "\" " + rule);
    }

    InvalidComponent(String component, String rule) {
        super(component + ": " + rule);
    }
}
