package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.ResourceEventAware;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells what happens to the primary resources of a controller to whom it concerns beside that controller: with the state
 * before and after, so that a reference that moved is known at both of its ends. Writes of the status alone are not told.
 */
final class PrimaryChanges<P extends HasMetadata> extends AbstractEventSource<Void, P>
        implements ResourceEventAware<P> {

    /** Told of a change; absent before creation, absent after deletion. */
    @FunctionalInterface
    interface Listener<P> {
        void changed(@Nullable P before, @Nullable P after);
    }

    private final Listener<P> listener;
    private final StatusWriter statuses;

    PrimaryChanges(String name, Listener<P> listener, StatusWriter statuses) {
        super(Void.class, name);
        this.listener = listener;
        this.statuses = statuses;
    }

    @Override
    public void onResourceCreated(P resource) {
        listener.changed(null, resource);
    }

    @Override
    public void onResourceUpdated(P newResource, P oldResource) {
        boolean specChanged = !Objects.equals(
                newResource.getMetadata().getGeneration(),
                oldResource.getMetadata().getGeneration());
        boolean deletionBegan = newResource.isMarkedForDeletion() != oldResource.isMarkedForDeletion();
        if (specChanged || deletionBegan) {
            listener.changed(oldResource, newResource);
        }
    }

    @Override
    public void onResourceDeleted(P resource) {
        listener.changed(resource, null);
        statuses.forget(resource);
    }

    @Override
    public Set<Void> getSecondaryResources(P primary) {
        return Set.of();
    }
}
