package dev.apportion.dns.wire;

import inet.ipaddr.IPAddress;
import java.util.Optional;
import org.xbill.DNS.Name;

/**
 * A question with a chosen id.
 *
 * @param name the absolute name
 * @param type the type's number
 * @param id the id of the query, 0..65535
 * @param client on whose behalf it is asked (EDNS Client Subnet, RFC 7871); empty for oneself
 */
public record Question(Name name, int type, int id, Optional<IPAddress> client) {

    public Question(Name name, int type, int id) {
        this(name, type, id, Optional.empty());
    }
}
