package dev.apportion.dns.wire;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.xbill.DNS.MXRecord;
import org.xbill.DNS.NSRecord;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.SRVRecord;
import org.xbill.DNS.SVCBBase;
import org.xbill.DNS.Type;

/** The records of one zone by name and type, with the names that exist only because others lie below them. */
final class ZoneData {

    private final Name origin;
    private final Map<Name, Map<Integer, List<Record>>> records = new HashMap<>();
    private final Set<Name> existing = new HashSet<>();

    ZoneData(Name origin, List<Record> all) {
        this.origin = origin;
        existing.add(origin);
        for (Record next : all) {
            records.computeIfAbsent(next.getName(), name -> new TreeMap<>())
                    .computeIfAbsent(next.getType(), type -> new ArrayList<>())
                    .add(next);
            for (Name name = next.getName(); !name.equals(origin); name = new Name(name, 1)) {
                existing.add(name);
            }
        }
    }

    Name origin() {
        return origin;
    }

    /** Whether records stand at the name itself. */
    boolean hasRecords(Name name) {
        return records.containsKey(name);
    }

    /** Whether the name has records, or something below it. */
    boolean exists(Name name) {
        return existing.contains(name);
    }

    List<Record> get(Name name, int type) {
        return records.getOrDefault(name, Map.of()).getOrDefault(type, List.of());
    }

    List<Record> soa() {
        return get(origin, Type.SOA);
    }

    List<Record> ns() {
        return get(origin, Type.NS);
    }

    /** The name servers of the first cut between the origin and a name; none if there is no cut. */
    List<Record> delegation(Name name, int type) {
        for (int labels = origin.labels() + 1; labels <= name.labels(); labels++) {
            Name above = new Name(name, name.labels() - labels);
            List<Record> servers = get(above, Type.NS);
            if (!servers.isEmpty() && !(type == Type.DS && above.equals(name))) {
                return servers;
            }
        }
        return List.of();
    }

    /** The addresses of name servers that lie at or below the name that is delegated to them. */
    List<Record> glue(List<Record> servers) {
        List<Record> glue = new ArrayList<>();
        for (Record server : servers) {
            if (server instanceof NSRecord ns && ns.getTarget().subdomain(ns.getName())) {
                glue.addAll(addresses(lower(ns.getTarget())));
            }
        }
        return glue;
    }

    /** The addresses within the zone of what answers point to. */
    List<Record> additional(List<Record> answers) {
        List<Record> additional = new ArrayList<>();
        Set<Name> seen = new HashSet<>();
        for (Record answer : answers) {
            Name target = switch (answer) {
                case MXRecord mx -> mx.getTarget();
                case SRVRecord srv -> srv.getTarget();
                case SVCBBase svcb -> svcb.getTargetName();
                default -> Name.root;
            };
            if (target.subdomain(origin) && seen.add(lower(target))) {
                additional.addAll(addresses(lower(target)));
            }
        }
        return additional;
    }

    static Name lower(Name name) {
        return name.canonicalize();
    }

    static String text(Name name) {
        return name.toString(true).toLowerCase(Locale.ROOT);
    }

    private List<Record> addresses(Name name) {
        List<Record> addresses = new ArrayList<>(get(name, Type.A));
        addresses.addAll(get(name, Type.AAAA));
        return addresses;
    }
}
