package dev.apportion.api;

import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The bounds and patterns that the components of the records are annotated with. An API server checks them by the schema;
 * here they are checked again, because a manifest may come from a file, and a stored object from an earlier schema.
 */
final class Bounds {

    private static final ClassValue<List<Part>> PARTS = new ClassValue<>() {
        @Override
        protected List<Part> computeValue(Class<?> type) {
            return Arrays.stream(type.getRecordComponents()).map(Part::of).toList();
        }
    };

    private Bounds() {}

    /** A component of a record with its bounds. */
    private record Part(String name, Method accessor, Bound bound) {

        static Part of(RecordComponent component) {
            Method accessor = component.getAccessor();
            return new Part(component.getName(), accessor, Bound.of(accessor, component.getAnnotatedType()));
        }

        @Nullable
        Object of(Object owner) {
            try {
                return accessor.invoke(owner);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("Reading " + accessor, e);
            }
        }
    }

    /** What is annotated at one place, and the same for the items of a list or the values of a map. */
    private record Bound(
            @Nullable Min min,
            @Nullable Max max,
            @Nullable Size size,
            @Nullable Pattern pattern,
            @Nullable Bound items) {

        static Bound of(AnnotatedElement place, AnnotatedType type) {
            var pattern = place.getAnnotation(io.fabric8.generator.annotation.Pattern.class);
            Bound items = null;
            if (type instanceof AnnotatedParameterizedType generic) {
                AnnotatedType[] arguments = generic.getAnnotatedActualTypeArguments();
                AnnotatedType item = arguments[arguments.length - 1];
                items = of(item, item);
            }
            return new Bound(
                    place.getAnnotation(Min.class),
                    place.getAnnotation(Max.class),
                    place.getAnnotation(Size.class),
                    pattern == null ? null : Pattern.compile(pattern.value()),
                    items);
        }

        /** What is wrong with a value itself; null if nothing is. */
        private @Nullable String broken(Object value) {
            if (value instanceof Number number) {
                if (min != null && number.doubleValue() < min.value()) {
                    return "%s must be at least %.0f".formatted(number, min.value());
                }
                if (max != null && number.doubleValue() > max.value()) {
                    return "%s must be at most %.0f".formatted(number, max.value());
                }
            } else if (value instanceof String text) {
                if (size != null && isOutside(text.codePointCount(0, text.length()))) {
                    return "must have %s characters".formatted(range());
                }
                if (pattern != null && !pattern.matcher(text).matches()) {
                    return "\"%s\" must match %s".formatted(text, pattern);
                }
            } else if (size != null && value instanceof List<?> list && isOutside(list.size())) {
                return "must have %s items, not %d".formatted(range(), list.size());
            } else if (size != null && value instanceof Map<?, ?> map && isOutside(map.size())) {
                return "must have %s entries, not %d".formatted(range(), map.size());
            }
            return null;
        }

        private boolean isOutside(int number) {
            return size != null && (number < size.min() || number > size.max());
        }

        private String range() {
            if (size == null) {
                return "any number of";
            }
            return size.min() > 0 ? size.min() + " to " + size.max() : "at most " + size.max();
        }
    }

    /**
     * The first bound that a record breaks.
     *
     * @param path where the record is
     * @return where and how it is broken, or null if no bound is
     */
    static @Nullable String broken(String path, Record record) {
        for (Part part : PARTS.get(record.getClass())) {
            Object value = part.of(record);
            String broken = value == null ? null : broken(path + "." + part.name(), value, part.bound());
            if (broken != null) {
                return broken;
            }
        }
        return null;
    }

    private static @Nullable String broken(String path, Object value, Bound bound) {
        String own = bound.broken(value);
        if (own != null) {
            return path + ": " + own;
        }
        if (value instanceof Record record) {
            return broken(path, record);
        }
        Bound items = bound.items();
        if (items != null && value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                String broken = broken(path + "[" + i + "]", list.get(i), items);
                if (broken != null) {
                    return broken;
                }
            }
        }
        if (items != null && value instanceof Map<?, ?> map) {
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                String broken = broken(path + "." + entry.getKey(), entry.getValue(), items);
                if (broken != null) {
                    return broken;
                }
            }
        }
        return null;
    }
}
