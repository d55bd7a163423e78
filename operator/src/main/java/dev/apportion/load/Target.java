package dev.apportion.load;

import java.net.InetSocketAddress;

/**
 * A process whose load is measured.
 *
 * @param name the name of its pod, or of a fixed endpoint
 * @param uid what tells it from another one of the same name
 * @param place where its own metrics are
 */
public record Target(String name, String uid, Place place) {

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
