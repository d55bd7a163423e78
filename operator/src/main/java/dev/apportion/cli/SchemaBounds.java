package dev.apportion.cli;

import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The bounds and patterns of the schemas, applied to what was read from a file: no API server has seen it. They stand beside
 * the components of the specifications, where the schemas are made from.
 */
final class SchemaBounds {

    private SchemaBounds() {}

    /**
     * The first value that the schema would refuse, as {@code spec.ttlSeconds: 0 must be 1 at least}.
     *
     * @param path what the specification is called in the message
     */
    static Optional<String> violation(Record spec, String path) {
        for (RecordComponent component : spec.getClass().getRecordComponents()) {
            Object value = value(spec, component);
            Optional<String> found = value == null
                    ? Optional.empty()
                    : violation(
                            value,
                            path + "." + component.getName(),
                            component.getAccessor(),
                            component.getAnnotatedType());
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> violation(Object value, String path, AnnotatedElement rules, AnnotatedType type) {
        Optional<String> own = switch (value) {
            case Number number -> number(number.doubleValue(), rules).map(rule -> path + ": " + value + " " + rule);
            case String text -> text(text, rules).map(rule -> path + ": \"" + text + "\" " + rule);
            case Collection<?> items -> size(items.size(), "items", rules).map(rule -> path + ": " + rule);
            case Map<?, ?> entries -> size(entries.size(), "entries", rules).map(rule -> path + ": " + rule);
            case Record part -> violation(part, path);
            default -> Optional.empty();
        };
        return own.or(() -> value instanceof List<?> items ? items(items, path, type) : Optional.empty());
    }

    private static Optional<String> items(List<?> items, String path, AnnotatedType type) {
        if (!(type instanceof AnnotatedParameterizedType list)) {
            return Optional.empty();
        }
        AnnotatedType item = list.getAnnotatedActualTypeArguments()[0];
        for (int i = 0; i < items.size(); i++) {
            Optional<String> found = violation(items.get(i), path + "[" + i + "]", item, item);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> number(double value, AnnotatedElement rules) {
        Min min = rules.getAnnotation(Min.class);
        Max max = rules.getAnnotation(Max.class);
        if (min != null && value < min.value()) {
            return Optional.of("must be %.0f at least".formatted(min.value()));
        }
        return max != null && value > max.value()
                ? Optional.of("must be %.0f at most".formatted(max.value()))
                : Optional.empty();
    }

    private static Optional<String> text(String value, AnnotatedElement rules) {
        Pattern pattern = rules.getAnnotation(Pattern.class);
        return size(value.codePointCount(0, value.length()), "characters", rules)
                .or(() -> pattern == null || value.matches(pattern.value())
                        ? Optional.empty()
                        : Optional.of("must match " + pattern.value()));
    }

    private static Optional<String> size(int count, String what, AnnotatedElement rules) {
        Size size = rules.getAnnotation(Size.class);
        if (size != null && count < size.min()) {
            return Optional.of("must have %d %s at least, it has %d".formatted(size.min(), what, count));
        }
        return size != null && count > size.max()
                ? Optional.of("must have %d %s at most, it has %d".formatted(size.max(), what, count))
                : Optional.empty();
    }

    private static @Nullable Object value(Record spec, RecordComponent component) {
        try {
            return component.getAccessor().invoke(spec);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the components of a public record can be read", e);
        }
    }
}
