package dev.apportion.records;

import java.util.function.Function;

/** What came of reading a text: the value, or a sentence that says what is wrong with it and what to write instead. */
public sealed interface Parsed<T> {

    /** The text was good. */
    record Value<T>(T value) implements Parsed<T> {}

    /** The text was bad. */
    record Invalid<T>(String problem) implements Parsed<T> {}

    default <R> Parsed<R> map(Function<? super T, ? extends R> mapper) {
        return switch (this) {
            case Value<T>(T value) -> new Value<>(mapper.apply(value));
            case Invalid<T>(String problem) -> new Invalid<>(problem);
        };
    }
}
