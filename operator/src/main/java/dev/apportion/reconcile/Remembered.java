package dev.apportion.reconcile;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.function.Function;

/**
 * What was found of single resources, each by itself, for as long as the very object stays: of thousands that are looked at
 * together, one changes at a time. Not for several threads at once.
 *
 * @param <R> the resource, which nobody changes
 * @param <V> what is found of it
 */
final class Remembered<R, V> {

    private final Function<R, V> look;
    private IdentityHashMap<R, V> known = new IdentityHashMap<>();

    Remembered(Function<R, V> look) {
        this.look = look;
    }

    /** What is found of each of these, by identity; the others are forgotten. */
    IdentityHashMap<R, V> of(Collection<R> resources) {
        IdentityHashMap<R, V> found = new IdentityHashMap<>(resources.size());
        for (R resource : resources) {
            V before = known.get(resource);
            found.put(resource, before != null ? before : look.apply(resource));
        }
        known = found;
        return found;
    }
}
