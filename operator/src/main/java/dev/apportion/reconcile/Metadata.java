package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;

/** The metadata of a status patch: nothing but the resource's place, so that nothing else is written. */
final class Metadata {

    private Metadata() {}

    static ObjectMeta of(HasMetadata resource) {
        return new ObjectMetaBuilder()
                .withName(resource.getMetadata().getName())
                .withNamespace(resource.getMetadata().getNamespace())
                .build();
    }
}
