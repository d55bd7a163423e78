package dev.apportion.dns.externaldns;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReference;
import java.util.Optional;

/** What has to be sent to the API server so that the DNSEndpoint of a service says what is desired. Pure. */
public sealed interface EndpointChange {

    /** The most bytes of annotations that an API server takes are 256 KiB, for all of an object's together. */
    int MOST_BYTES = 200 * 1024;

    /** So many leaderships in a row did nobody miss: an epoch that is further ahead was written by somebody else. */
    long MOST_AHEAD = 1000;

    /** Nothing. */
    record Unchanged() implements EndpointChange {}

    /** The object, where there was none. */
    record Create(GenericKubernetesResource endpoint) implements EndpointChange {}

    /** The object, with the uid and version of the one that the change was decided on. */
    record Apply(GenericKubernetesResource endpoint) implements EndpointChange {}

    /** The removal of an object, as it was seen. */
    record Delete(GenericKubernetesResource endpoint) implements EndpointChange {}

    /** It must not be written: one CamelCase word, and a sentence. */
    record Refused(String reason, String message) implements EndpointChange {}

    /** A leader of a higher epoch has written: this one has been replaced, and nothing may be written. */
    record Outranked(long epoch) implements EndpointChange {}

    /**
     * Decides.
     *
     * @param current the object that is there, whoever made it
     * @param owner the service, which takes the object along when it goes
     * @param epoch the number of the leadership that writes
     */
    static EndpointChange decide(
            Optional<GenericKubernetesResource> current, EndpointState desired, OwnerReference owner, long epoch) {
        GenericKubernetesResource wanted;
        try {
            wanted = DnsEndpoint.of(desired, Optional.of(owner), epoch);
        } catch (IllegalArgumentException e) {
            return notRenderable(e);
        }
        Optional<Refused> full = full(desired, wanted);
        if (full.isPresent()) {
            return full.get();
        }
        if (current.isEmpty()) {
            return desired.endpoints().isEmpty() ? new Unchanged() : new Create(wanted);
        }
        GenericKubernetesResource known = current.get();
        if (!DnsEndpoint.isOurs(known)) {
            return new Refused(
                    "ForeignEndpoint",
                    "the DNSEndpoint %s/%s is somebody else's: it lacks the label %s; maybe delete it"
                            .formatted(
                                    known.getMetadata().getNamespace(),
                                    known.getMetadata().getName(),
                                    DnsEndpoint.LABELS));
        }
        if (DnsEndpoint.isSame(known, wanted)) {
            return new Unchanged();
        }
        if (isOutranked(known, epoch)) {
            return new Outranked(epoch(known));
        }
        wanted.getMetadata().setUid(known.getMetadata().getUid());
        wanted.getMetadata().setResourceVersion(known.getMetadata().getResourceVersion());
        return new Apply(wanted);
    }

    /** Why there can be no DNSEndpoint that says this, whatever there is now; empty if there can. */
    static Optional<Refused> refusal(EndpointState desired) {
        try {
            return full(desired, DnsEndpoint.of(desired, Optional.empty(), 0));
        } catch (IllegalArgumentException e) {
            return Optional.of(notRenderable(e));
        }
    }

    private static Refused notRenderable(IllegalArgumentException e) {
        return new Refused("NotRenderable", String.valueOf(e.getMessage()));
    }

    private static Optional<Refused> full(EndpointState desired, GenericKubernetesResource wanted) {
        int bytes = DnsEndpoint.annotation(wanted, DnsEndpoint.STATE).getBytes(UTF_8).length;
        return bytes <= MOST_BYTES
                ? Optional.empty()
                : Optional.of(new Refused(
                        "EndpointFull",
                        "what the DNSEndpoint of %s says takes %d bytes, %d are possible; maybe split its keys over several services"
                                .formatted(desired.service(), bytes, MOST_BYTES)));
    }

    /** Decides what removes an object that is ours. */
    static EndpointChange remove(GenericKubernetesResource known, long epoch) {
        if (!DnsEndpoint.isOurs(known)) {
            return new Unchanged();
        }
        return isOutranked(known, epoch) ? new Outranked(epoch(known)) : new Delete(known);
    }

    private static boolean isOutranked(GenericKubernetesResource known, long epoch) {
        return epoch(known) > epoch && epoch(known) - epoch <= MOST_AHEAD;
    }

    private static long epoch(GenericKubernetesResource endpoint) {
        String text = DnsEndpoint.annotation(endpoint, DnsEndpoint.EPOCH);
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : 0;
    }
}
