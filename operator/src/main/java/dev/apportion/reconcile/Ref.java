package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Comparator;

/** The place of a namespaced resource of a known kind. */
public record Ref(String namespace, String name) implements Comparable<Ref> {

    private static final Comparator<Ref> ORDER =
            Comparator.comparing(Ref::namespace).thenComparing(Ref::name);

    public static Ref of(HasMetadata resource) {
        return new Ref(
                resource.getMetadata().getNamespace(), resource.getMetadata().getName());
    }

    /** Reads what {@link #toString()} wrote. */
    static Ref parse(String text) {
        int slash = text.indexOf('/');
        return new Ref(text.substring(0, slash), text.substring(slash + 1));
    }

    @Override
    public int compareTo(Ref other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
