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

    @Override
    public int compareTo(Ref other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
