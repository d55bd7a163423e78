package dev.apportion.records;

import java.util.Comparator;
import java.util.List;

/**
 * Everything that DNS says under one domain.
 *
 * @param domain the domain: lower case, A-labels, no trailing dot
 * @param owner the DNSZone that declares it, as {@code namespace/name}
 * @param answers how many addresses one response holds
 * @param ttlSeconds the time to live of the zone's own records, in seconds
 * @param negativeTtlSeconds how long resolvers may remember that something does not exist, in seconds (RFC 2308)
 * @param nameServers the name servers, at least one
 * @param fixedRecords records that are served as declared, in {@link FixedRecord#ORDER}
 * @param hosts the hosts of the zone, sorted by name; names are unique
 */
public record ZoneRecords(
        String domain,
        String owner,
        Answers answers,
        int ttlSeconds,
        int negativeTtlSeconds,
        List<NameServer> nameServers,
        List<FixedRecord> fixedRecords,
        List<Host> hosts) {

    public ZoneRecords {
        nameServers = nameServers.stream()
                .sorted(Comparator.comparing(NameServer::name))
                .toList();
        fixedRecords = fixedRecords.stream().sorted(FixedRecord.ORDER).toList();
        hosts = hosts.stream().sorted(Comparator.comparing(Host::name)).toList();
    }

    public ZoneRecords withHosts(List<Host> other) {
        return new ZoneRecords(
                domain, owner, answers, ttlSeconds, negativeTtlSeconds, nameServers, fixedRecords, other);
    }
}
