package dev.apportion.dns.externaldns;

import dev.apportion.records.Host;
import java.util.List;

/** The kind of weighted record that the provider behind ExternalDNS understands. Pure. */
public enum Dialect {
    /** A weighted set: one record for each address. All clients of a name are alike. */
    Route53,
    /** One LUA record for each family, which tells clients apart. */
    PowerDNS;

    /** The most members of one weighted set (Route 53, quotas on records). */
    public static final int MOST_MEMBERS = 100;

    /** The octets of a label (RFC 1035, section 2.3.4). */
    private static final int MOST_LABEL = 63;

    /** Whether streams may name clients. */
    public boolean tellsClientsApart() {
        return switch (this) {
            case Route53 -> false;
            case PowerDNS -> true;
        };
    }

    /** The characters of a name without its last dot (RFC 1035, section 2.3.4). */
    private static final int MOST_NAME = 253;

    /** What stands in front of the name of an ownership record that has a label of its own. */
    private static final String OWNERSHIP = "aaaa-owner.";

    /**
     * The longest first label of a host name. For weighted sets ExternalDNS keeps who owns a record in a TXT record, whose name
     * has the type in front, and one name that is too long has Route 53 refuse everybody's changes.
     */
    public int longestFirstLabel() {
        return switch (this) {
            case Route53 -> MOST_LABEL - "aaaa-".length();
            case PowerDNS -> MOST_LABEL;
        };
    }

    /** The longest host name, for the same reason; the label of an ownership record may be one of its own. */
    public int longestName() {
        return switch (this) {
            case Route53 -> MOST_NAME - OWNERSHIP.length();
            case PowerDNS -> MOST_NAME;
        };
    }

    /**
     * The endpoints of a host.
     *
     * @throws IllegalArgumentException if it cannot be said in this dialect; the message is for people
     */
    List<Endpoint> endpoints(Host host) {
        return switch (this) {
            case Route53 -> WeightedSet.of(host);
            case PowerDNS -> LuaRecord.of(host).stream().toList();
        };
    }
}
