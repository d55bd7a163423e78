package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneSpec;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.externaldns.Dialect;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answers;
import dev.apportion.records.DomainNames;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.FixedRecords;
import dev.apportion.records.NameServer;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Judges DNSZones by themselves; conflicts between them are another matter. Pure. */
final class ZoneAdmission {

    /** RFC 1035, section 2.3.4, in presentation format without the last dot. */
    private static final int MOST_NAME_CHARACTERS = 253;

    /** The four digits of a slot and their dots. */
    private static final int SLOT_CHARACTERS = 8;

    private ZoneAdmission() {}

    static Judged<AdmittedZone> judge(DNSZone zone) {
        DNSZoneSpec spec = zone.getSpec();
        if (spec == null) {
            return Judged.rejected("Unreadable", Admission.unreadable(zone));
        }
        return switch (DomainNames.parse(spec.domain())) {
            case Parsed.Invalid<String>(String problem) -> Judged.rejected("InvalidSpec", "spec.domain: " + problem);
            case Parsed.Value<String>(String domain) -> judge(Ref.of(zone), spec, domain);
        };
    }

    private static Judged<AdmittedZone> judge(Ref ref, DNSZoneSpec spec, String domain) {
        List<String> problems = new ArrayList<>();
        List<NameServer> nameServers = nameServers(spec, domain, problems);
        Optional<AdmittedZone.BackEnd> backEnd = backEnd(spec);
        if (backEnd.isEmpty()) {
            problems.add("exactly one of coreDNS and externalDNS is required");
        } else if (backEnd.get() instanceof AdmittedZone.CoreDns coreDns) {
            slotsTooLong(domain, coreDns.shards()).ifPresent(problems::add);
        }
        if (!problems.isEmpty()) {
            return Judged.rejected("InvalidSpec", String.join("; ", problems));
        }
        List<String> refused = new ArrayList<>();
        List<FixedRecord> fixedRecords = spec.externalDNS() == null
                ? withoutConflicts(fixedRecords(spec, domain, refused), nameServers, refused)
                : List.of();
        if (spec.externalDNS() != null && !spec.records().isEmpty()) {
            refused.add("spec.records: with externalDNS the zone's other records are kept at its provider");
        }
        AdmittedZone admitted = new AdmittedZone(
                ref,
                domain,
                spec.ttlSeconds(),
                spec.negativeTTLSeconds(),
                nameServers,
                fixedRecords,
                allows(ref, spec),
                backEnd.orElseThrow(),
                verifyAt(spec),
                spec.resolvers() == null
                        ? List.of()
                        : spec.resolvers().addresses().stream()
                                .map(ZoneAdmission::server)
                                .toList());
        return refused.isEmpty()
                ? Judged.admitted(admitted)
                : Judged.admittedInPart(
                        admitted,
                        "InvalidRecords",
                        String.join("; ", refused) + "; these records are left out, all else goes on");
    }

    private static Optional<AdmittedZone.BackEnd> backEnd(DNSZoneSpec spec) {
        DNSZoneSpec.CoreDNS coreDns = spec.coreDNS();
        DNSZoneSpec.ExternalDNS externalDns = spec.externalDNS();
        if ((coreDns == null) == (externalDns == null)) {
            return Optional.empty();
        }
        if (externalDns != null) {
            return Optional.of(new AdmittedZone.ExternalDns(
                    switch (externalDns.dialect()) {
                        case Route53 -> Dialect.Route53;
                        case PowerDNS -> Dialect.PowerDNS;
                    }));
        }
        return Optional.ofNullable(coreDns)
                .map(given -> new AdmittedZone.CoreDns(
                        switch (given.answers()) {
                            case Single -> Answers.Single;
                            case List -> Answers.List;
                        },
                        given.configMap().name(),
                        given.configMap().shards(),
                        given.directory(),
                        given.refresh() == DNSZoneSpec.Refresh.Annotate));
    }

    /** Every service's slots stand below the domain, and their names must not be too long, whatever the service. */
    private static Optional<String> slotsTooLong(String domain, int shards) {
        int longest = MOST_NAME_CHARACTERS
                - ServedNames.slotsOf("x".repeat(HostLabel.MAX_LENGTH), "", shards - 1)
                        .length()
                - SLOT_CHARACTERS;
        return domain.length() <= longest
                ? Optional.empty()
                : Optional.of(
                        "spec.domain: %s has %d characters, %d are possible: names of weighted answers stand below it"
                                .formatted(domain, domain.length(), longest));
    }

    private static List<NameServer> nameServers(DNSZoneSpec spec, String domain, List<String> problems) {
        if (spec.nameServers().isEmpty()) {
            return List.of(new NameServer("ns." + domain, List.of()));
        }
        // One server may stand there in two spellings.
        Map<String, Set<IPAddress>> servers = new LinkedHashMap<>();
        for (DNSZoneSpec.NameServer server : spec.nameServers()) {
            List<IPAddress> addresses = new ArrayList<>();
            for (String text : server.addresses()) {
                switch (Addresses.parse(text)) {
                    case Parsed.Value<IPAddress>(IPAddress address) -> addresses.add(address);
                    case Parsed.Invalid<IPAddress>(String problem) ->
                        problems.add("spec.nameServers[%s]: %s".formatted(server.name(), problem));
                }
            }
            switch (DomainNames.parse(server.name())) {
                case Parsed.Value<String>(String name) ->
                    servers.computeIfAbsent(name, key -> new TreeSet<>()).addAll(addresses);
                case Parsed.Invalid<String>(String problem) -> problems.add("spec.nameServers: " + problem);
            }
        }
        return servers.entrySet().stream()
                .map(server -> new NameServer(server.getKey(), List.copyOf(server.getValue())))
                .toList();
    }

    private static List<FixedRecord> fixedRecords(DNSZoneSpec spec, String domain, List<String> problems) {
        List<FixedRecord> records = new ArrayList<>();
        for (DNSZoneSpec.FixedRecord declared : spec.records()) {
            int ttl = declared.ttlSeconds() == null ? spec.ttlSeconds() : declared.ttlSeconds();
            for (String value : declared.values()) {
                switch (FixedRecords.parse(domain, declared.name(), declared.type(), ttl, value)) {
                    case Parsed.Value<FixedRecord>(FixedRecord read) -> records.add(read);
                    case Parsed.Invalid<FixedRecord>(String problem) ->
                        problems.add("spec.records[%s %s]: %s".formatted(declared.name(), declared.type(), problem));
                }
            }
        }
        return records;
    }

    /** A CNAME is the only record of its name, and no name server's (RFC 1034, section 3.6.2; RFC 2181, section 10.3). */
    private static List<FixedRecord> withoutConflicts(
            List<FixedRecord> records, List<NameServer> nameServers, List<String> refused) {
        Map<String, Long> perName =
                records.stream().collect(Collectors.groupingBy(FixedRecord::name, Collectors.counting()));
        Set<String> servers = nameServers.stream().map(NameServer::name).collect(Collectors.toSet());
        Set<String> delegated = records.stream()
                .filter(found -> found.type().equals("NS"))
                .map(FixedRecord::name)
                .collect(Collectors.toSet());
        List<FixedRecord> kept = new ArrayList<>();
        for (FixedRecord found : records) {
            boolean alias = found.type().equals("CNAME");
            if (alias && servers.contains(found.name())) {
                refused.add("spec.records[%s CNAME]: a name server cannot be a CNAME".formatted(found.name()));
            } else if (alias && perName.getOrDefault(found.name(), 0L) > 1) {
                refused.add(
                        "spec.records[%s CNAME]: a CNAME must be the only record of its name".formatted(found.name()));
            } else if (isHidden(found, delegated)) {
                refused.add("spec.records[%s %s]: the name belongs to a zone that NS records of this one delegate"
                        .formatted(found.name(), found.type()));
            } else {
                kept.add(found);
            }
        }
        return kept;
    }

    /** At a delegated name and below, a zone serves the NS records and addresses of the servers alone (RFC 1034, section 4.2.1). */
    private static boolean isHidden(FixedRecord found, Set<String> delegated) {
        boolean address = found.type().equals("A") || found.type().equals("AAAA");
        boolean cut = found.type().equals("NS");
        return !address
                && delegated.stream()
                        .anyMatch(name -> cut
                                ? DomainNames.isBelow(found.name(), name)
                                : DomainNames.isWithin(found.name(), name));
    }

    private static Predicate<AdmittedZone.Namespace> allows(Ref ref, DNSZoneSpec spec) {
        DNSZoneSpec.AllowedNamespaces allowed = spec.allowedNamespaces();
        return switch (allowed.from()) {
            case All -> namespace -> true;
            case Same -> namespace -> namespace.name().equals(ref.namespace());
            case Selector -> namespace -> Selectors.matches(allowed.selector(), namespace.labels());
        };
    }

    private static AdmittedZone.VerifyAt verifyAt(DNSZoneSpec spec) {
        DNSZoneSpec.VerifyAt verifyAt = spec.verifyAt();
        if (verifyAt == null) {
            return new AdmittedZone.VerifyAt.Nobody();
        }
        DNSZoneSpec.DnsServiceReference service = verifyAt.service();
        if (service != null) {
            return new AdmittedZone.VerifyAt.Service(service.name(), service.port());
        }
        return new AdmittedZone.VerifyAt.Servers(
                Objects.requireNonNullElse(verifyAt.addresses(), List.<String>of()).stream()
                        .map(ZoneAdmission::server)
                        .toList());
    }

    private static InetSocketAddress server(String text) {
        int colon = text.lastIndexOf(':');
        String host = text.substring(0, colon).replace("[", "").replace("]", "");
        return new InetSocketAddress(InetAddress.ofLiteral(host), Integer.parseInt(text.substring(colon + 1)));
    }
}
