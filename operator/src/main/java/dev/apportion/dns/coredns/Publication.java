package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.time.Duration;
import java.util.Optional;

/** What became of a change. */
public sealed interface Publication {

    /** It was written. The serial is absent where a zone was removed. */
    record Written(Optional<Serial> serial, ConfigMap configMap) implements Publication {}

    /** There was nothing to write. */
    record Unchanged(Optional<Serial> serial) implements Publication {}

    /** Another writer was faster, or the ConfigMap went or came meanwhile: read again and decide again. */
    record Fenced(int code, String message) implements Publication {}

    /** A leader of a higher epoch has written; nothing was sent. */
    record Outranked(long epoch) implements Publication {}

    /** It must not be written, and will not be until the input changes. */
    record Refused(ShardChange.Reason reason, String message) implements Publication {}

    /**
     * It could not be written.
     *
     * @param code the HTTP status, zero if there was no answer
     * @param retryAfter how long the server asks to wait
     */
    record Failed(int code, String message, Optional<Duration> retryAfter) implements Publication {}
}
