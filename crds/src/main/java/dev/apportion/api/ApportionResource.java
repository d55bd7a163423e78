package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A resource of this API, which can always be read: a spec or a status that does not fit its type becomes null instead of
 * an exception, because an exception while an object is read ends the informer of its kind, and with it the service to
 * all others. A spec that could not be read is written again as it was, so that no copy of the object loses it.
 *
 * @param <S> the spec
 * @param <T> the status
 */
public abstract class ApportionResource<S, T> extends CustomResource<S, T> implements Namespaced {

    @JsonIgnore
    private transient @Nullable Unreadable unreadable;

    /** Why a spec does not fit its type, and the spec as it was, if it is known. */
    private record Unreadable(String reason, @Nullable JsonNode spec) {}

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
        if (spec != null) {
            unreadable = null;
        }
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
        return unreadable == null ? null : unreadable.reason();
    }

    /** Takes the spec for unreadable, for a reason that its type does not know; the spec is dropped. */
    public void refuse(String reason) {
        super.setSpec(null);
        unreadable = new Unreadable(reason, null);
    }

    void unreadable(String reason, JsonNode spec) {
        unreadable = new Unreadable(reason, spec);
    }

    @JsonAnyGetter
    Map<String, JsonNode> unreadableParts() {
        return unreadable == null || unreadable.spec() == null ? Map.of() : Map.of("spec", unreadable.spec());
    }
}
