package dev.apportion.reconcile;

import dev.apportion.dns.Serial;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.records.Changes;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Where a zone stands: what DNS shall say, and what came of writing it. Immutable. */
final class ZoneStanding {

    private static final String ENDPOINTS = "DNSEndpoints";

    private final ZoneComposer.Composed composed;
    private final String objects;
    private final SortedMap<String, Write> writes;
    private final SortedMap<String, Serial> serials;
    private final Map<Ref, Part> parts;

    /** What came of writing one object: a shard, or the DNSEndpoint of a service. */
    sealed interface Write {

        /** It stands there; the serial is 0 where nothing has one. */
        record Done(long serial) implements Write {}

        /** What stands there stays for now, because it was changed just before. */
        record Deferred(boolean anything, String message) implements Write {}

        /** Another writer was faster; it is tried again. */
        record Fenced(String message) implements Write {}

        /** It must not be written until the input changes. */
        record Refused(String reason, String message) implements Write {}

        /** It could not be written; it is tried again. */
        record Failed(String message) implements Write {}
    }

    /**
     * What concerns one service.
     *
     * @param outcome what became of its host name
     * @param host its host, where there is one
     * @param failure how the writing of its object, or of one with keys of it, failed or was put off, where it was
     */
    record Part(ZoneComposer.Outcome outcome, Optional<Host> host, Optional<Write> failure) {}

    /** The servers to ask, and whether there should be any. */
    record Servers(boolean configured, List<InetSocketAddress> addresses) {

        static final Servers NONE = new Servers(false, List.of());
    }

    /**
     * What the servers of a zone say.
     *
     * @param target what they were asked about
     * @param servers the verdict on each of them, by address
     */
    record Verified(ZoneRecords target, SortedMap<String, Verdict> servers) {

        /** Whether every server answers as these records say. */
        boolean isOf(ZoneRecords records) {
            return target.equals(records) && everywhere();
        }

        boolean everywhere() {
            return servers.values().stream().allMatch(Verdict.Verified.class::isInstance);
        }

        /** Whether something else is known than before; how many questions were asked is no news. */
        boolean isNewsAfter(Verified before) {
            return !target.equals(before.target) || !findings().equals(before.findings());
        }

        /** The hosts of which something else is known than before; empty if it concerns all of them. */
        Optional<Set<String>> hostsWithNewsAfter(Verified before) {
            if (!silence().equals(before.silence())) {
                return Optional.empty();
            }
            Changes changes = Changes.between(before.target, target);
            return Optional.of(Stream.of(
                            changes.added().stream(),
                            changes.changed().stream(),
                            changes.removed().stream(),
                            differences().map(Verdict.Difference::host),
                            before.differences().map(Verdict.Difference::host))
                    .flatMap(Function.identity())
                    .collect(Collectors.toSet()));
        }

        private Map<String, Object> findings() {
            return servers.entrySet().stream()
                    .collect(Collectors.toMap(
                            Map.Entry::getKey,
                            entry -> entry.getValue() instanceof Verdict.Verified ? "verified" : entry.getValue()));
        }

        /** Why servers are silent; nothing where they are not. */
        private Map<String, String> silence() {
            return servers.entrySet().stream()
                    .collect(Collectors.toMap(
                            Map.Entry::getKey,
                            entry -> entry.getValue() instanceof Verdict.Silent(String reason) ? reason : ""));
        }

        private Stream<Verdict.Difference> differences() {
            return servers.values().stream().flatMap(verdict -> switch (verdict) {
                case Verdict.Lags(List<Verdict.Difference> differences) -> differences.stream();
                case Verdict.IgnoresWeights(List<Verdict.Difference> differences) -> differences.stream();
                case Verdict.Verified verified -> Stream.empty();
                case Verdict.Silent silent -> Stream.empty();
            });
        }
    }

    /**
     * A standing in ConfigMaps.
     *
     * @param composed what DNS shall say, and what became of each host
     * @param shards how the hosts are spread over shards
     * @param writes what came of writing each shard, by number
     */
    ZoneStanding(ZoneComposer.Composed composed, Shards shards, SortedMap<Integer, Write> writes) {
        this(
                composed,
                "ConfigMaps",
                host -> shardName(shards.of(host.name())),
                byName(writes),
                serials(composed.records(), shards, writes));
    }

    /**
     * A standing in DNSEndpoints.
     *
     * @param composed what DNS shall say, and what became of each host
     * @param writes what came of writing the DNSEndpoint of each service
     */
    static ZoneStanding inEndpoints(ZoneComposer.Composed composed, SortedMap<Ref, Write> writes) {
        SortedMap<String, Write> byName = new TreeMap<>();
        writes.forEach((service, write) -> byName.put(endpointName(service.toString()), write));
        return new ZoneStanding(composed, ENDPOINTS, host -> endpointName(host.owner()), byName, new TreeMap<>());
    }

    /**
     * A standing in no DNSEndpoints, because none can be.
     *
     * @param why what came of it, the same for each service
     */
    static ZoneStanding withoutEndpoints(ZoneComposer.Composed composed, Write why) {
        SortedMap<String, Write> writes = new TreeMap<>();
        writes.put(ENDPOINTS, why);
        return new ZoneStanding(composed, ENDPOINTS, host -> ENDPOINTS, writes, new TreeMap<>());
    }

    private ZoneStanding(
            ZoneComposer.Composed composed,
            String objects,
            Function<Host, String> object,
            SortedMap<String, Write> writes,
            SortedMap<String, Serial> serials) {
        this.composed = composed;
        this.objects = objects;
        this.writes = writes;
        this.serials = serials;
        Map<String, List<Host>> byOwner =
                composed.records().hosts().stream().collect(Collectors.groupingBy(Host::owner));
        this.parts = composed.hosts().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> part(
                                entry.getValue(),
                                byOwner.getOrDefault(entry.getKey().toString(), List.of()),
                                object)));
    }

    private static String shardName(int shard) {
        return "shard %d".formatted(shard);
    }

    private static String endpointName(String service) {
        return "DNSEndpoint of " + service;
    }

    private static SortedMap<String, Write> byName(SortedMap<Integer, Write> writes) {
        SortedMap<String, Write> byName = new TreeMap<>();
        writes.forEach((shard, write) -> byName.put(shardName(shard), write));
        return byName;
    }

    private Part part(ZoneComposer.Outcome outcome, List<Host> hosts, Function<Host, String> object) {
        return new Part(
                outcome,
                hosts.stream().filter(host -> !host.isKey()).findFirst(),
                hosts.stream()
                        .map(object)
                        .distinct()
                        .sorted()
                        .flatMap(name -> Stream.ofNullable(writes.get(name)))
                        .filter(write -> !(write instanceof Write.Done))
                        .findFirst());
    }

    ZoneRecords records() {
        return composed.records();
    }

    /** What holds the zone, for people. */
    String objects() {
        return objects;
    }

    /** What came of writing each object, by the name that people give it. */
    SortedMap<String, Write> writes() {
        return writes;
    }

    Optional<Part> part(Ref service) {
        return Optional.ofNullable(parts.get(service));
    }

    /** The serial of each zone file that was written, by the name of the file's zone. */
    Map<String, Serial> serials() {
        return serials;
    }

    private static SortedMap<String, Serial> serials(
            ZoneRecords records, Shards shards, SortedMap<Integer, Write> writes) {
        SortedMap<String, Serial> serials = new TreeMap<>();
        String domain = records.domain();
        serial(writes, shards.of(domain)).ifPresent(serial -> serials.put(domain, serial));
        for (Host host : records.hosts()) {
            if (!host.name().equals(domain)) {
                int shard = shards.of(host.name());
                serial(writes, shard).ifPresent(serial -> serials.put(ServedNames.slotZone(domain, shard), serial));
            }
        }
        return serials;
    }

    private static Optional<Serial> serial(SortedMap<Integer, Write> writes, int shard) {
        return writes.get(shard) instanceof Write.Done(long serial) && serial > 0
                ? Optional.of(new Serial(serial))
                : Optional.empty();
    }

    /** The largest serial of the zone's shards. */
    long serial() {
        return writes.values().stream()
                .mapToLong(write -> write instanceof Write.Done(long serial) ? serial : 0)
                .max()
                .orElse(0);
    }

    boolean isWritten() {
        return writes.values().stream().allMatch(Write.Done.class::isInstance);
    }

    /** Whether it is written, or was changed just before and waits for its time. */
    boolean isProgrammed() {
        return writes.values().stream().allMatch(write -> switch (write) {
            case Write.Done done -> true;
            case Write.Deferred deferred -> deferred.anything();
            case Write.Fenced fenced -> false;
            case Write.Refused refused -> false;
            case Write.Failed failed -> false;
        });
    }

    /** Whether something waits for its time, though it could be written. */
    boolean isPutOff() {
        return writes.values().stream().anyMatch(Write.Deferred.class::isInstance);
    }

    /** The services for which something is not as it was. */
    Set<Ref> servicesThatDiffer(ZoneStanding before) {
        return Stream.concat(parts.keySet().stream(), before.parts.keySet().stream())
                .filter(service -> !Objects.equals(parts.get(service), before.parts.get(service)))
                .collect(Collectors.toSet());
    }
}
