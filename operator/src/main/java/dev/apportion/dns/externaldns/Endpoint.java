package dev.apportion.dns.externaldns;

import java.util.List;
import java.util.Optional;

/**
 * One entry of a DNSEndpoint: a record set, or a member of a weighted one.
 *
 * @param dnsName the host name, without a trailing dot
 * @param recordType the type of the record set
 * @param targets what the records hold
 * @param ttlSeconds the time to live, the same for all members of a set
 * @param member which member of a weighted set it is; empty where the set is not one
 */
public record Endpoint(
        String dnsName, String recordType, List<String> targets, int ttlSeconds, Optional<Member> member) {

    public Endpoint {
        targets = List.copyOf(targets);
    }

    /**
     * A member of a weighted set.
     *
     * @param setIdentifier its name, unique within the host name and type
     * @param weight from 1 to 255
     */
    public record Member(String setIdentifier, int weight) {}
}
