package dev.apportion.load;

import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Optional;

/**
 * A process whose load is measured.
 *
 * @param name the name of its pod, or of a fixed endpoint
 * @param uid what tells it from another one of the same name
 * @param place where its own metrics are
 * @param started when it began to run, so that what was measured before is that of another one; empty if that is not known
 */
public record Target(String name, String uid, Place place, Optional<Instant> started) {

    /** One of which it is not known when it began to run. */
    public Target(String name, String uid, Place place) {
        this(name, uid, place, Optional.empty());
    }

    /** Where a target's own metrics are. */
    public sealed interface Place {

        record At(InetSocketAddress address) implements Place {}

        /** It cannot be asked, or must not be. */
        record Nowhere(String reason) implements Place {}
    }

    /** What its history is kept by. */
    public String key() {
        return uid.isEmpty() ? name : uid;
    }
}
