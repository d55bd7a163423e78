package dev.apportion.reconcile;

import dev.apportion.api.ApportionResource;
import dev.apportion.api.ResourceStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statuses that were written and of which the caches have not heard yet. Without them, a status that changes and changes
 * back before the first change is heard of would be taken for the one that stands there.
 */
final class WrittenStatuses {

    private final Map<String, Written> byUid = new ConcurrentHashMap<>();

    private record Written(long version, ResourceStatus status) {}

    /** Notes a resource as the API server answered a write. */
    <S, T extends ResourceStatus> void written(ApportionResource<S, T> resource) {
        OptionalLong version = version(resource);
        T status = resource.getStatus();
        if (version.isPresent() && status != null) {
            byUid.merge(
                    resource.getMetadata().getUid(),
                    new Written(version.getAsLong(), status),
                    (one, two) -> one.version() > two.version() ? one : two);
        }
    }

    /** Gives a resource of a cache the status that was written since the cache heard of it. */
    <S, T extends ResourceStatus> void recall(ApportionResource<S, T> cached) {
        Written written = byUid.get(cached.getMetadata().getUid());
        if (written == null) {
            return;
        }
        OptionalLong version = version(cached);
        if (version.isPresent() && version.getAsLong() < written.version()) {
            @SuppressWarnings("unchecked") // a uid belongs to one resource, and so to one kind
            T status = (T) written.status();
            cached.setStatus(status);
        } else {
            byUid.remove(cached.getMetadata().getUid(), written);
        }
    }

    void forget(HasMetadata resource) {
        byUid.remove(resource.getMetadata().getUid());
    }

    /** Versions grow with every write; Kubernetes says so since 1.35, and etcd's always did. Others cannot be compared. */
    private static OptionalLong version(HasMetadata resource) {
        String version = resource.getMetadata().getResourceVersion();
        try {
            return version == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(version));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }
}
