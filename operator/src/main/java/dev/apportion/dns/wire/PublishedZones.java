package dev.apportion.dns.wire;

import dev.apportion.dns.ClientStreams;
import dev.apportion.dns.Serial;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.Shards;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.FixedRecords;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.DClass;
import org.xbill.DNS.HINFORecord;
import org.xbill.DNS.NSRecord;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.SOARecord;
import org.xbill.DNS.TextParseException;

/** Zones, indexed for answering. Immutable. */
public final class PublishedZones {

    private static final int REFRESH = 7200;
    private static final int RETRY = 1800;
    private static final int EXPIRE = 86_400;

    private final Map<String, ServedHost> hosts = new HashMap<>();
    private final Map<String, ServedZone> zones = new HashMap<>();
    private final Map<String, SlotZone> slotZones = new HashMap<>();

    /** A host below its domain. */
    record ServedHost(ZoneRecords zone, Host host, int shard) {}

    /**
     * A domain.
     *
     * @param apex the host that has the domain's own name
     * @param apexData the records of the domain with the addresses of each of that host's streams, by label; only where a
     *     response holds several addresses
     */
    record ServedZone(ZoneRecords zone, @Nullable Host apex, ZoneData data, Map<String, ZoneData> apexData) {}

    /** The zone that holds the slots of the hosts of one shard, by the names of their slots, relative to it. */
    record SlotZone(ZoneRecords zone, Name origin, Record soa, List<Record> ns, Map<String, SlotStream> streams) {}

    /** The slots of one stream. */
    record SlotStream(int ttlSeconds, HostStream stream, List<Slots.Run> ipv4, List<Slots.Run> ipv6) {}

    private PublishedZones() {}

    /** Zones as they are to be answered, with serial 1. */
    public static PublishedZones of(Collection<ZoneRecords> zones, Shards shards) {
        return of(zones, shards, Map.of());
    }

    /**
     * Zones as they are to be answered.
     *
     * @param serials the serials of the zones in each shard, by {@code domain/shard}; 1 where absent
     * @throws IllegalArgumentException if a zone holds what cannot be a record, or weights that cannot be slots
     */
    public static PublishedZones of(Collection<ZoneRecords> zones, Shards shards, Map<String, Serial> serials) {
        PublishedZones published = new PublishedZones();
        try {
            for (ZoneRecords zone : zones) {
                published.add(zone, shards, serials);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("a zone cannot be served: " + e.getMessage(), e);
        }
        return published;
    }

    Optional<ServedHost> host(String name) {
        return Optional.ofNullable(hosts.get(name));
    }

    Optional<ServedZone> zone(String name) {
        return Optional.ofNullable(zones.get(name));
    }

    Optional<SlotZone> slotZone(String name) {
        return Optional.ofNullable(slotZones.get(name));
    }

    static Record address(Name owner, int ttlSeconds, IPAddress address) {
        return address.isIPv6()
                ? new AAAARecord(owner, DClass.IN, ttlSeconds, address.toInetAddress())
                : new ARecord(owner, DClass.IN, ttlSeconds, address.toInetAddress());
    }

    static Name name(String name) throws TextParseException {
        return Name.fromString(name + ".");
    }

    private void add(ZoneRecords zone, Shards shards, Map<String, Serial> serials) throws IOException {
        Host apex = null;
        for (Host host : zone.hosts()) {
            if (host.name().equals(zone.domain())) {
                apex = host;
                continue;
            }
            int shard = shards.of(host.name());
            hosts.put(host.name(), new ServedHost(zone, host, shard));
            if (zone.answers() == Answers.Drawn) {
                continue;
            }
            String slotZone = ServedNames.slotZone(zone.domain(), shard);
            if (!slotZones.containsKey(slotZone)) {
                Name origin = name(slotZone);
                slotZones.put(
                        slotZone,
                        new SlotZone(
                                zone,
                                origin,
                                soa(zone, origin, serial(zone, shard, serials)),
                                ns(zone, origin),
                                new HashMap<>()));
            }
            for (HostStream stream : host.streams()) {
                boolean single = zone.answers() == Answers.Single;
                slotZones
                        .get(slotZone)
                        .streams()
                        .put(
                                ServedNames.slotsIn(host, stream),
                                new SlotStream(
                                        host.ttlSeconds(),
                                        stream,
                                        single ? Slots.runs(stream, false) : List.of(),
                                        single ? Slots.runs(stream, true) : List.of()));
            }
        }
        Serial serial = serial(zone, shards.of(zone.domain()), serials);
        Map<String, ZoneData> apexData = new HashMap<>();
        if (apex != null && zone.answers() == Answers.List) {
            for (HostStream stream : ClientStreams.inOrder(apex)) {
                apexData.put(stream.label(), data(zone, serial, apex.ttlSeconds(), stream.answers()));
            }
        }
        zones.put(zone.domain(), new ServedZone(zone, apex, data(zone, serial, 0, List.of()), apexData));
    }

    private static Serial serial(ZoneRecords zone, int shard, Map<String, Serial> serials) {
        return serials.getOrDefault(zone.domain() + "/" + shard, Serial.FIRST);
    }

    private static ZoneData data(ZoneRecords zone, Serial serial, int ttlSeconds, List<Answer> apex)
            throws IOException {
        Name origin = name(zone.domain());
        List<Record> records = new ArrayList<>();
        records.add(soa(zone, origin, serial));
        records.addAll(ns(zone, origin));
        for (Name owner : List.of(origin, Name.fromString("*._p", origin))) {
            apex.forEach(answer -> records.add(address(owner, ttlSeconds, answer.address())));
        }
        Map<String, List<Record>> fixed = new LinkedHashMap<>();
        for (NameServer server : zone.nameServers()) {
            if (ServedNames.isWithin(server.name(), zone.domain())) {
                for (IPAddress address : server.addresses()) {
                    put(fixed, address(name(server.name()), zone.ttlSeconds(), address));
                }
            }
        }
        for (FixedRecord next : zone.fixedRecords()) {
            put(fixed, FixedRecords.toRecord(next));
        }
        fixed.values().forEach(records::addAll);
        records.add(placeholder(Name.fromString("*._s", origin), zone.ttlSeconds()));
        for (Host host : zone.hosts()) {
            if (ServedNames.hasPlaceholder(host)
                    && (apex.isEmpty() || !host.name().equals(zone.domain()))) {
                records.add(placeholder(Name.fromString("*._p." + host.name() + "."), zone.ttlSeconds()));
            }
        }
        return new ZoneData(origin, records);
    }

    /** Equal records are one, and those of one name and type have the shortest of their times to live. */
    private static void put(Map<String, List<Record>> sets, Record added) {
        List<Record> set = sets.computeIfAbsent(added.getName() + " " + added.getType(), key -> new ArrayList<>());
        if (!set.contains(added)) {
            set.add(added);
        }
        long ttl = Math.min(added.getTTL(), set.getFirst().getTTL());
        set.replaceAll(record -> Record.newRecord(
                record.getName(), record.getType(), record.getDClass(), ttl, record.rdataToWireCanonical()));
    }

    private static Record placeholder(Name owner, int ttlSeconds) {
        return new HINFORecord(owner, DClass.IN, ttlSeconds, "apportion", "-");
    }

    private static Record soa(ZoneRecords zone, Name origin, Serial serial) throws TextParseException {
        return new SOARecord(
                origin,
                DClass.IN,
                Math.min(zone.ttlSeconds(), zone.negativeTtlSeconds()),
                name(zone.nameServers().getFirst().name()),
                name("hostmaster." + zone.domain()),
                serial.value(),
                REFRESH,
                RETRY,
                EXPIRE,
                zone.negativeTtlSeconds());
    }

    private static List<Record> ns(ZoneRecords zone, Name origin) throws TextParseException {
        List<Record> records = new ArrayList<>();
        for (NameServer server : zone.nameServers()) {
            records.add(new NSRecord(origin, DClass.IN, zone.ttlSeconds(), name(server.name())));
        }
        return records;
    }
}
