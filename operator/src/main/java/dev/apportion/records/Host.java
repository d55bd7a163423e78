package dev.apportion.records;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A host name and what each population of its clients is answered.
 *
 * @param name the host name: lower case, A-labels, no trailing dot
 * @param owner the TrafficService that declares it, as {@code namespace/name}
 * @param ttlSeconds the time to live of its answers, in seconds
 * @param under the host name that it is a key of, one of many names below it that are declared together; empty if it is none
 * @param streams its streams, sorted by label; at most one of them names no clients and takes everyone else. A key has one,
 *     for everyone
 */
public record Host(String name, String owner, int ttlSeconds, Optional<String> under, List<HostStream> streams) {

    public Host {
        streams =
                streams.stream().sorted(Comparator.comparing(HostStream::label)).toList();
    }

    /** A host that is no key. */
    public Host(String name, String owner, int ttlSeconds, List<HostStream> streams) {
        this(name, owner, ttlSeconds, Optional.empty(), streams);
    }

    public boolean isKey() {
        return under.isPresent();
    }

    /** Its name without that of the host that it is a key of; the whole name if it is none. */
    public String key() {
        return under.map(host -> name.substring(0, name.length() - host.length() - 1))
                .orElse(name);
    }
}
