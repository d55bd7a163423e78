package dev.apportion.dns.coredns;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import dev.apportion.records.Parsed;
import dev.apportion.records.ZoneRecords;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.xbill.DNS.Master;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.SOARecord;

/** One rendering of a zone's files in one shard. */
final class ShardRendering {

    /** The most that CoreDNS takes as a weight. */
    private static final int MOST_WEIGHT = 255;

    /** The four digits of a slot and their dots. */
    private static final int SLOT_CHARACTERS = 8;

    private static final int MOST_NAME_CHARACTERS = 253;

    private static final Pattern LABEL = Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?");
    private static final Pattern DIRECTORY = Pattern.compile("[A-Za-z0-9/._@+-]+");

    private final ZoneRecords zone;
    private final Shards shards;
    private final String directory;
    private final int shard;
    private final Serial serial;
    private final Edition edition;
    private final ShardKeys keys;
    private final List<Host> hosts;

    ShardRendering(ZoneRecords zone, Shards shards, String directory, int shard, Serial serial, Edition edition) {
        this.zone = zone;
        this.shards = shards;
        this.directory = directory;
        this.shard = shard;
        this.serial = serial;
        this.edition = edition;
        this.keys = new ShardKeys(zone.domain(), shard);
        this.hosts = zone.hosts().stream()
                .filter(host -> shards.of(host.name()) == shard)
                .toList();
    }

    ShardFiles render() {
        Optional<ShardFiles.NotRenderable> problem = zoneProblem();
        if (problem.isPresent()) {
            return problem.get();
        }
        SortedMap<String, String> files = new TreeMap<>();
        List<Host> below = hosts.stream()
                .filter(host -> !host.name().equals(zone.domain()))
                .toList();
        if (!below.isEmpty()) {
            files.put(
                    keys.conf(),
                    new ServerBlocks(zone, directory, keys).hosts(below).toString());
            ServerBlocks apex = new ServerBlocks(zone, directory, keys);
            if (below.stream().anyMatch(apex::isKeyOfDomain)) {
                files.put(keys.apexConf(), apex.keysOfDomain(below).toString());
            }
            files.put(keys.zone(), ZoneText.slots(zone, shard, below, serial));
            if (zone.answers() == Answers.List) {
                files.put(keys.weights(), ZoneText.weights(zone, shard, below));
            }
        }
        boolean home = shards.of(zone.domain()) == shard;
        if (home) {
            putDomain(files);
        }
        ZoneRecords part = new ZoneRecords(
                zone.domain(),
                zone.owner(),
                zone.answers(),
                zone.ttlSeconds(),
                zone.negativeTtlSeconds(),
                zone.nameServers(),
                home ? zone.fixedRecords() : List.of(),
                hosts);
        StateText state = new StateText(part, shards.count(), directory);
        files.put(keys.state(), state.write());
        files.put(keys.serial(), serial.toString());
        return check(files, state);
    }

    private void putDomain(SortedMap<String, String> files) {
        Optional<Host> apex =
                hosts.stream().filter(host -> host.name().equals(zone.domain())).findFirst();
        files.put(
                keys.domainConf(),
                new ServerBlocks(zone, directory, keys).domain(apex, edition).toString());
        files.put(keys.domainZone(), ZoneText.domain(zone, List.of(), serial));
        if (apex.isPresent() && zone.answers() == Answers.List) {
            for (HostStream stream : ClientStreams.inOrder(apex.get())) {
                files.put(keys.apexZone(stream.label()), ZoneText.domain(zone, stream.answers(), serial));
                files.put(keys.apexWeights(stream.label()), ZoneText.apexWeights(zone, stream));
            }
        }
    }

    /** What stands in the way of rendering. The whole zone is looked at: its hosts share names, whatever their shard. */
    private Optional<ShardFiles.NotRenderable> zoneProblem() {
        if (!isName(zone.domain()) || ShardKeys.isAmbiguous(zone.domain())) {
            return problem(zone.domain(), "%s cannot be the domain of a zone here".formatted(zone.domain()));
        }
        if (!DIRECTORY.matcher(directory).matches()) {
            return problem(
                    directory,
                    "the folder %s holds other characters than a configuration can name".formatted(directory));
        }
        if (zone.nameServers().isEmpty()) {
            return problem(zone.domain(), "%s has no name server".formatted(zone.domain()));
        }
        for (NameServer server : zone.nameServers()) {
            if (!isName(server.name())) {
                return problem(server.name(), "%s is not the name of a name server".formatted(server.name()));
            }
        }
        Set<String> names = new HashSet<>();
        Map<String, String> labels = new HashMap<>();
        for (Host host : zone.hosts()) {
            Optional<ShardFiles.NotRenderable> found = hostProblem(host, names, labels);
            if (found.isPresent()) {
                return found;
            }
        }
        for (FixedRecords.Conflict conflict : FixedRecords.conflicts(zone)) {
            return problem(conflict.value().name(), conflict.problem());
        }
        for (FixedRecord fixed : zone.fixedRecords()) {
            Optional<ShardFiles.NotRenderable> found = fixedProblem(fixed, names);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private Optional<ShardFiles.NotRenderable> hostProblem(Host host, Set<String> names, Map<String, String> labels) {
        if (!isName(host.name())
                || !ServedNames.isWithin(host.name(), zone.domain())
                || ServedNames.isWithin(host.name(), ServedNames.slots(zone.domain()))) {
            return problem(host.name(), "%s is not a host name within %s".formatted(host.name(), zone.domain()));
        }
        if (!names.add(host.name())) {
            return problem(host.name(), "%s is there twice".formatted(host.name()));
        }
        if (host.isKey()
                && (!ServedNames.isWithin(host.under().orElseThrow(), zone.domain())
                        || !host.name().endsWith("." + host.under().orElseThrow())
                        || host.streams().size() != 1
                        || !host.streams().getFirst().isEveryoneElse())) {
            return problem(
                    host.name(),
                    "%s is not a key of %s".formatted(host.name(), host.under().orElseThrow()));
        }
        for (HostStream stream : host.streams()) {
            if (!LABEL.matcher(stream.label()).matches()) {
                return problem(host.name(), "%s is not a label".formatted(stream.label()));
            }
            String user = host.under().map(under -> "keys of " + under).orElse(host.name());
            String other = labels.put(stream.label(), user);
            if (other != null && !(host.isKey() && other.equals(user))) {
                return problem(host.name(), "the label %s is used by %s and %s".formatted(stream.label(), other, user));
            }
            int longest = SLOT_CHARACTERS
                    + ServedNames.slotsOf(host, stream, zone.domain(), shards.count() - 1)
                            .length();
            if (longest > MOST_NAME_CHARACTERS) {
                return problem(
                        host.name(),
                        "the slots of %s under %s have names of %d characters, more than %d; maybe the label can be shorter"
                                .formatted(stream.label(), zone.domain(), longest, MOST_NAME_CHARACTERS));
            }
            checkWeights(host, stream);
        }
        return Optional.empty();
    }

    private void checkWeights(Host host, HostStream stream) {
        switch (zone.answers()) {
            case Single -> {
                Slots.runs(stream, false);
                Slots.runs(stream, true);
            }
            case List -> {
                for (Answer answer : stream.answers()) {
                    if (answer.weight() < 1 || answer.weight() > MOST_WEIGHT) {
                        throw new IllegalArgumentException("the weight %d of %s for %s is not within 1 and %d"
                                .formatted(answer.weight(), answer.address(), host.name(), MOST_WEIGHT));
                    }
                }
            }
            case Drawn -> throw drawn(zone);
        }
    }

    /** What must not get here: a zone that is not CoreDNS' to answer. */
    static IllegalArgumentException drawn(ZoneRecords zone) {
        return new IllegalArgumentException(zone.domain() + " is drawn by its server, not by CoreDNS");
    }

    private Optional<ShardFiles.NotRenderable> fixedProblem(FixedRecord fixed, Set<String> hostNames) {
        String text = fixed.name() + " " + fixed.type() + " " + fixed.value();
        return switch (FixedRecords.parse(
                zone.domain(), fixed.name() + ".", fixed.type(), fixed.ttlSeconds(), fixed.value())) {
            case Parsed.Invalid<FixedRecord>(var message) -> problem(text, message);
            case Parsed.Value<FixedRecord>(var value) -> {
                if (!value.equals(fixed)) {
                    yield problem(text, "%s is not canonical: %s".formatted(text, value));
                }
                for (int probes = fixed.name().indexOf("_p.");
                        probes >= 0;
                        probes = fixed.name().indexOf("_p.", probes + 1)) {
                    boolean label = probes == 0 || fixed.name().charAt(probes - 1) == '.';
                    if (label && hostNames.contains(fixed.name().substring(probes + 3))) {
                        yield problem(text, "names below _p of a host are its probe names: %s".formatted(fixed.name()));
                    }
                }
                yield Optional.empty();
            }
        };
    }

    private ShardFiles check(SortedMap<String, String> files, StateText state) {
        if (!StateText.read(files.getOrDefault(keys.state(), "")).equals(state)) {
            return new ShardFiles.NotRenderable(zone.domain(), "the state of %s does not read back".formatted(keys));
        }
        for (Map.Entry<String, String> file : files.entrySet()) {
            if (file.getKey().endsWith(".zone")) {
                Optional<String> problem = zoneFileProblem(file.getKey(), file.getValue());
                if (problem.isPresent()) {
                    return new ShardFiles.NotRenderable(file.getKey(), problem.get());
                }
            }
        }
        return new ShardFiles.Rendered(files);
    }

    private Optional<String> zoneFileProblem(String key, String text) {
        String origin = key.equals(keys.zone()) ? ServedNames.slotZone(zone.domain(), shard) : zone.domain();
        int expected = (int) text.lines().count() - 2;
        int read = 0;
        try (Master master = new Master(new ByteArrayInputStream(text.getBytes(UTF_8)))) {
            Name name = Name.fromString(origin + ".");
            for (Record next = master.nextRecord(); next != null; next = master.nextRecord()) {
                if (!next.getName().subdomain(name)) {
                    return Optional.of("%s lies outside of %s".formatted(next.getName(), name));
                }
                if (read == 0 && !(next instanceof SOARecord soa && soa.getSerial() == serial.value())) {
                    return Optional.of(
                            "the first record is not the SOA with the serial %s: %s".formatted(serial, next));
                }
                read++;
            }
        } catch (IOException e) {
            return Optional.of("it cannot be read back: " + e.getMessage());
        }
        return read == expected
                ? Optional.empty()
                : Optional.of("%d records were written and %d read back".formatted(expected, read));
    }

    private static boolean isName(String name) {
        if (name.length() > MOST_NAME_CHARACTERS) {
            return false;
        }
        for (String label : name.split("\\.", -1)) {
            if (!LABEL.matcher(label).matches()) {
                return false;
            }
        }
        return true;
    }

    private static Optional<ShardFiles.NotRenderable> problem(String subject, String message) {
        return Optional.of(new ShardFiles.NotRenderable(subject, message));
    }
}
