package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import dev.apportion.dns.ServedNames;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Zone files and weight files, as text. */
final class ZoneText {

    /** Refresh, retry and expire, in seconds: for secondaries, of which there are none (RFC 1035, section 3.3.13). */
    private static final String TIMERS = "7200 1800 86400";

    /** What a name says that exists for the sake of others: a type that nobody asks for (RFC 8482 uses it likewise). */
    private static final String PLACEHOLDER = "HINFO \"apportion\" \"-\"";

    private final ZoneRecords zone;
    private final StringBuilder text = new StringBuilder(1 << 14);

    private ZoneText(ZoneRecords zone, String origin, Serial serial) {
        this.zone = zone;
        String primary = zone.nameServers().getFirst().name();
        // A resolver may take either the SOA's own time to live or its last field for an answer that something does not
        // exist (RFC 2308, section 5), so the first is never longer than the second.
        int ttl = Math.min(zone.ttlSeconds(), zone.negativeTtlSeconds());
        text.append("; ").append(ServerBlocks.NOTICE).append('\n');
        text.append("$ORIGIN ").append(origin).append(".\n");
        text.append("@ %d IN SOA %s. hostmaster.%s. %s %s %d%n"
                .formatted(ttl, primary, zone.domain(), serial, TIMERS, zone.negativeTtlSeconds())
                .replace("\r", ""));
        for (NameServer server : zone.nameServers()) {
            add("@", zone.ttlSeconds(), "NS " + server.name() + ".");
        }
    }

    /** The zone that holds the slots of hosts. */
    static String slots(ZoneRecords zone, int shard, List<Host> hosts, Serial serial) {
        ZoneText file = new ZoneText(zone, ServedNames.slotZone(zone.domain(), shard), serial);
        for (Host host : hosts) {
            for (HostStream stream : host.streams()) {
                file.slots(host, stream);
            }
        }
        return file.text.toString();
    }

    /**
     * The zone of the domain.
     *
     * @param addresses the answers at the domain itself, empty if they are not in the file
     */
    static String domain(ZoneRecords zone, List<Answer> addresses, Serial serial) {
        ZoneText file = new ZoneText(zone, zone.domain(), serial);
        int apexTtl = zone.hosts().stream()
                .filter(host -> host.name().equals(zone.domain()))
                .mapToInt(Host::ttlSeconds)
                .findFirst()
                .orElse(zone.ttlSeconds());
        for (String owner : List.of("@", "*._p")) {
            addresses.forEach(answer -> file.add(owner, apexTtl, data(answer)));
        }
        file.fixed();
        file.add("*._s", zone.ttlSeconds(), PLACEHOLDER);
        for (Host host : zone.hosts()) {
            if (ServedNames.hasPlaceholder(host)
                    && (addresses.isEmpty() || !host.name().equals(zone.domain()))) {
                // Below the host, not at it: a CNAME that leads to the host must not end at what stands in this file.
                file.add(file.relative(ServedNames.probes(host.name()), "*."), zone.ttlSeconds(), PLACEHOLDER);
            }
        }
        return file.text.toString();
    }

    /** The weights of the streams of hosts, by the names that own the addresses. */
    static String weights(ZoneRecords zone, int shard, List<Host> hosts) {
        StringBuilder text = new StringBuilder("# " + ServerBlocks.NOTICE + "\n");
        for (Host host : hosts) {
            for (HostStream stream : host.streams()) {
                weights(text, ServedNames.slotsOf(host, stream, zone.domain(), shard), stream);
            }
        }
        return text.toString();
    }

    /** The weights of one stream of the domain itself. */
    static String apexWeights(ZoneRecords zone, HostStream stream) {
        StringBuilder text = new StringBuilder("# " + ServerBlocks.NOTICE + "\n");
        weights(text, zone.domain(), stream);
        return text.toString();
    }

    static String address(IPAddress address) {
        return address.withoutPrefixLength().toCanonicalString();
    }

    private static void weights(StringBuilder text, String owner, HostStream stream) {
        if (stream.answers().isEmpty()) {
            return;
        }
        text.append(owner).append('\n');
        for (Answer answer : stream.answers()) {
            text.append(address(answer.address()))
                    .append(' ')
                    .append(answer.weight())
                    .append('\n');
        }
    }

    private void slots(Host host, HostStream stream) {
        String name = ServedNames.slotsIn(host, stream);
        if (stream.answers().isEmpty()) {
            // The names must exist, or a resolver would hear that the host does not.
            add((zone.answers() == Answers.Single ? "*." : "") + name, host.ttlSeconds(), PLACEHOLDER);
            return;
        }
        switch (zone.answers()) {
            case Single -> {
                for (SlotRecords.Entry entry : SlotRecords.of(stream)) {
                    for (Answer answer : entry.answers()) {
                        add(entry.name() + "." + name, host.ttlSeconds(), data(answer));
                    }
                }
            }
            case List -> stream.answers().forEach(answer -> add(name, host.ttlSeconds(), data(answer)));
            case Drawn -> throw ShardRendering.drawn(zone);
        }
    }

    private void fixed() {
        Map<String, Integer> ttls = new HashMap<>();
        Map<String, Set<String>> data = new HashMap<>();
        List<String> order = new ArrayList<>();
        for (NameServer server : zone.nameServers()) {
            if (ServedNames.isWithin(server.name(), zone.domain())) {
                for (IPAddress address : server.addresses()) {
                    collect(
                            server.name(),
                            zone.ttlSeconds(),
                            address.isIPv6() ? "AAAA" : "A",
                            address(address),
                            ttls,
                            data,
                            order);
                }
            }
        }
        for (FixedRecord fixed : zone.fixedRecords()) {
            collect(fixed.name(), fixed.ttlSeconds(), fixed.type(), fixed.value(), ttls, data, order);
        }
        for (String set : order) {
            int space = set.indexOf(' ');
            for (String value : data.getOrDefault(set, Set.of())) {
                add(
                        relative(set.substring(0, space), ""),
                        ttls.getOrDefault(set, 0),
                        set.substring(space + 1) + " " + value);
            }
        }
    }

    /** All records of one name and type have one time to live, the shortest (RFC 2181, section 5.2). */
    private static void collect(
            String name,
            int ttl,
            String type,
            String value,
            Map<String, Integer> ttls,
            Map<String, Set<String>> data,
            List<String> order) {
        String set = name + " " + type;
        if (ttls.merge(set, ttl, Math::min) == ttl && !data.containsKey(set)) {
            order.add(set);
        }
        data.computeIfAbsent(set, key -> new LinkedHashSet<>()).add(value);
    }

    private String relative(String name, String prefix) {
        return name.equals(zone.domain())
                ? prefix.isEmpty() ? "@" : prefix.substring(0, prefix.length() - 1)
                : prefix + name.substring(0, name.length() - zone.domain().length() - 1);
    }

    private static String data(Answer answer) {
        return (answer.address().isIPv6() ? "AAAA " : "A ") + address(answer.address());
    }

    private void add(String owner, int ttl, String data) {
        text.append(owner).append(' ').append(ttl).append(" IN ").append(data).append('\n');
    }
}
