package dev.apportion.records;

import inet.ipaddr.IPAddress;
import java.util.List;

/**
 * A name server of a zone.
 *
 * @param name its host name, canonical
 * @param addresses its addresses: the glue, written when the name lies within the zone
 */
public record NameServer(String name, List<IPAddress> addresses) {

    public NameServer {
        addresses = addresses.stream().sorted().toList();
    }
}
