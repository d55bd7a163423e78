package dev.apportion.records;

import java.util.Comparator;
import java.util.List;

/**
 * A host name and what each population of its clients is answered.
 *
 * @param name the host name: lower case, A-labels, no trailing dot
 * @param owner the TrafficService that declares it, as {@code namespace/name}
 * @param ttlSeconds the time to live of its answers, in seconds
 * @param streams its streams, sorted by label; at most one of them names no clients and takes everyone else
 */
public record Host(String name, String owner, int ttlSeconds, List<HostStream> streams) {

    public Host {
        streams =
                streams.stream().sorted(Comparator.comparing(HostStream::label)).toList();
    }
}
