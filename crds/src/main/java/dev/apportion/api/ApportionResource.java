package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import org.jspecify.annotations.Nullable;

/**
 * A resource of this API, which can always be read: a spec or a status that does not fit its type becomes null instead of
 * an exception, because an exception while an object is read ends the informer of its kind, and with it the service to
 * all others. Such an object must not be written back whole: its spec would be lost.
 *
 * @param <S> the spec
 * @param <T> the status
 */
public abstract class ApportionResource<S, T> extends CustomResource<S, T> implements Namespaced {

    @JsonIgnore
    private transient @Nullable String unreadable;

    /** The spec; null when it is absent or {@link #unreadable()}. */
    @Override
    @Required
    @JsonPropertyDescription("What is wanted.")
    public @Nullable S getSpec() {
        return super.getSpec();
    }

    @Override
    @JsonDeserialize(using = TolerantReader.class)
    public void setSpec(@Nullable S spec) {
        super.setSpec(spec);
    }

    /** The status; null when it is absent or does not fit its type. */
    @Override
    @JsonPropertyDescription("What was seen and done. It is written by the operator.")
    public @Nullable T getStatus() {
        return super.getStatus();
    }

    @Override
    @JsonDeserialize(using = TolerantReader.class)
    public void setStatus(@Nullable T status) {
        super.setStatus(status);
    }

    /** Why the spec could not be read, with the path and the value; null when it could. */
    public @Nullable String unreadable() {
        return unreadable;
    }

    /** Takes the spec for unreadable, for a reason that its type does not know. */
    public void refuse(String reason) {
        super.setSpec(null);
        unreadable = reason;
    }

    void unreadable(String reason) {
        unreadable = reason;
    }
}
