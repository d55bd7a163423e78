package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Slots;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/** A real CoreDNS and the embedded answerer, response by response, over the whole corpus. */
class ComparisonIT {

    private static final List<Integer> TYPES = List.of(
            Type.A,
            Type.AAAA,
            Type.CAA,
            Type.HTTPS,
            Type.SVCB,
            Type.DS,
            Type.TXT,
            Type.MX,
            Type.NS,
            Type.SOA,
            Type.SRV,
            Type.CNAME,
            Type.ANY,
            Type.PTR,
            Type.TLSA,
            Type.SSHFP,
            Type.NAPTR,
            Type.URI);

    /** Clients of each stream that the corpus names, and one of nobody's. */
    private static final List<InetAddress> CLIENTS = Stream.of("127.0.0.1", "127.0.2.1", "127.0.2.200", "127.0.3.1")
            .map(client -> Corpus.address(client).toInetAddress())
            .toList();

    private static final Pattern SHARD = Pattern.compile("^example\\.org\\.s(\\d+)\\.");

    @TempDir
    Path folder;

    @Test
    void everyShapeIsAnsweredAsCoreDnsDoes() throws IOException, InterruptedException {
        int total = 0;
        for (Map.Entry<String, ZoneRecords> zone : Corpus.zones().entrySet()) {
            int compared = compare(zone.getKey(), zone.getValue());
            System.out.println("compared " + zone.getKey() + ": " + compared);
            total += compared;
        }
        System.out.println("compared in all: " + total);
        assertThat(total).isPositive();
    }

    /** Weights and addresses change in the slot zone alone, which CoreDNS reads anew within its 200 ms. */
    @Test
    void aReweightIsServedWithoutAReload() throws IOException, InterruptedException {
        DirectoryPublisher publisher = new DirectoryPublisher(folder);
        publisher.publish(List.of(two(179, "10.0.0.2")), Corpus.SHARDS);
        try (CoreDns server = ColdStart.of(folder)) {
            long longest = 0;
            for (int weight = 1; weight < 256; weight += 13) {
                ZoneRecords zone = two(weight, "10.0.0." + (2 + weight % 7));
                long before = System.nanoTime();
                DirectoryPublisher.Outcome outcome = publisher.publish(List.of(zone), Corpus.SHARDS);
                assertThat(outcome)
                        .isInstanceOfSatisfying(
                                DirectoryPublisher.Outcome.Written.class,
                                written -> assertThat(written.written()).noneMatch(name -> name.endsWith(".conf")));
                Verification verification = Verification.of(zone, Map.of(), Set.of("shop.example.org"), 0, 0);
                Asker asker = new Asker(Duration.ofSeconds(2));
                while (!(verification.ask(asker, server.server().address()) instanceof Verdict.Verified)) {
                    assertThat(System.nanoTime() - before)
                            .isLessThan(Duration.ofSeconds(5).toNanos());
                    Thread.sleep(5);
                }
                longest = Math.max(longest, System.nanoTime() - before);
            }
            System.out.println("a re-weight is served within " + longest / 1_000_000 + " ms");
        }
    }

    /** Whatever the controllers let through: two blocks of one name must never keep all zones from being served. */
    @Test
    void aDomainThatIsAnothersHostDoesNotKeepCoreDnsFromStarting() throws IOException, InterruptedException {
        for (String domain : List.of("a.example.org", "z.example.org")) {
            ZoneRecords parent = Corpus.zone(
                    Answers.Single,
                    Corpus.host(domain, Corpus.stream("host", new int[] {16}, "10.0.0.1")),
                    Corpus.host("shop.example.org", Corpus.stream("shop", new int[] {16}, "10.0.0.2")));
            ZoneRecords child = new ZoneRecords(
                    domain,
                    "dns/child",
                    Answers.Single,
                    15,
                    5,
                    parent.nameServers().subList(0, 1),
                    List.of(),
                    List.of(Corpus.host("shop." + domain, Corpus.stream("shop", new int[] {16}, "10.0.0.3"))));
            Path files = folder.resolve(domain);
            new DirectoryPublisher(files).publish(List.of(parent, child), Corpus.SHARDS);
            try (CoreDns server = ColdStart.of(files)) {
                for (ZoneRecords zone : List.of(
                        parent.withHosts(parent.hosts().stream()
                                .filter(host -> host.name().startsWith("shop"))
                                .toList()),
                        child)) {
                    assertThat(Verification.of(zone, Map.of(), Set.of("shop." + zone.domain()), 0, 0)
                                    .ask(
                                            new Asker(Duration.ofSeconds(2)),
                                            server.server().address()))
                            .isInstanceOf(Verdict.Verified.class);
                }
            }
        }
    }

    private static ZoneRecords two(int weight, String second) {
        return Corpus.zone(
                Answers.Single,
                Corpus.host(
                        "shop.example.org",
                        Corpus.stream("shop", new int[] {weight, 256 - weight}, "10.0.0.1", second)));
    }

    private int compare(String name, ZoneRecords zone) throws IOException, InterruptedException {
        Path files = folder.resolve(name);
        assertThat(new DirectoryPublisher(files).mirror(golden(name), 0))
                .isInstanceOfSatisfying(
                        DirectoryPublisher.Outcome.Written.class,
                        written -> assertThat(written.refused()).isEmpty());
        PublishedZones published = PublishedZones.of(List.of(zone), Corpus.SHARDS);
        Answerer answerer = new Answerer(new Random(1));
        int compared = 0;
        List<String> differences = new ArrayList<>();
        try (CoreDns server = ColdStart.of(files)) {
            boolean views = zone.hosts().stream()
                    .flatMap(host -> host.streams().stream())
                    .anyMatch(stream -> !stream.isEveryoneElse());
            for (InetAddress client : views ? CLIENTS : CLIENTS.subList(0, 1)) {
                try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(client, 0))) {
                    socket.connect(server.server().address());
                    socket.setSoTimeout(2000);
                    for (Question question : questions(zone)) {
                        Message query = query(question);
                        String real = text(ask(socket, query));
                        String ours = text(answerer.answer(query, client, published));
                        compared++;
                        if (!real.equals(ours)) {
                            differences.add(
                                    "%s from %s:%nCoreDNS %s%nours    %s".formatted(question, client, real, ours));
                        }
                    }
                }
            }
        }
        assertThat(differences).as(name).isEmpty();
        return compared;
    }

    /** The files that are kept, as the data of ConfigMaps. */
    private static Map<Integer, Map<String, String>> golden(String name) throws IOException {
        Map<Integer, Map<String, String>> configMaps = new HashMap<>();
        try (Stream<Path> paths = Files.list(SourceTree.root()
                .resolve("operator/src/test/resources/dns/golden")
                .resolve(name))) {
            for (Path path : paths.toList()) {
                String key = path.getFileName().toString();
                Matcher shard = SHARD.matcher(key);
                configMaps
                        .computeIfAbsent(
                                shard.find() ? Integer.parseInt(shard.group(1)) : Corpus.SHARDS.of("example.org"),
                                number -> new HashMap<>())
                        .put(key, Files.readString(path));
            }
        }
        return configMaps;
    }

    private static List<Question> questions(ZoneRecords zone) throws IOException {
        Set<String> names = new LinkedHashSet<>(List.of(
                "example.org",
                "EXAMPLE.org",
                "nope.example.org",
                "_s.example.org",
                "example.net",
                "org",
                "x.s0._s.example.org",
                "s0._s.example.org",
                "s1._s.example.org",
                "s2._s.example.org",
                "s3._s.example.org",
                "ns.example.org"));
        zone.fixedRecords().forEach(fixed -> names.add(fixed.name().replace("*", "any")));
        zone.fixedRecords().forEach(fixed -> names.add("x.y." + fixed.name().replace("*", "any")));
        Set<String> asked = new LinkedHashSet<>();
        for (Host host : zone.hosts()) {
            names.addAll(List.of(
                    host.name(),
                    host.name().toUpperCase(Locale.ROOT),
                    "sub." + host.name(),
                    "b." + host.name(),
                    "y.sub." + host.name(),
                    "_p." + host.name(),
                    "x._p." + host.name()));
            asked.add(host.name());
            for (HostStream stream : host.streams()) {
                int shard = Corpus.SHARDS.of(host.name());
                String probe = "r1." + stream.label() + "._p." + host.name();
                asked.add(probe);
                names.addAll(List.of(
                        probe,
                        stream.label() + "._p." + host.name(),
                        stream.label() + ".s" + shard + "._s.example.org",
                        "0.0.0.0." + stream.label() + ".s" + shard + "._s.example.org",
                        "f.f.f.f." + stream.label() + ".s" + shard + "._s.example.org"));
            }
        }
        List<Question> questions = new ArrayList<>();
        for (String name : names) {
            for (int type : TYPES) {
                questions.add(new Question(Name.fromString(name + "."), type, 0x1234));
            }
        }
        Random random = new Random(7);
        for (String name : asked) {
            for (int type : new int[] {Type.A, Type.AAAA}) {
                for (int slot = 0; slot < 256; slot++) {
                    questions.add(new Question(Name.fromString(name + "."), type, Slots.idOf(slot << 8)));
                    questions.add(new Question(Name.fromString(name + "."), type, random.nextInt(65_536)));
                }
            }
        }
        return questions;
    }

    private static Message query(Question question) {
        Message query = new Message(question.id());
        query.addRecord(Record.newRecord(question.name(), question.type(), DClass.IN), Section.QUESTION);
        query.addRecord(new OPTRecord(4096, 0, 0), Section.ADDITIONAL);
        return query;
    }

    private static Message ask(DatagramSocket socket, Message query) throws IOException {
        byte[] wire = query.toWire();
        socket.send(new DatagramPacket(wire, wire.length));
        DatagramPacket packet = new DatagramPacket(new byte[65_535], 65_535);
        socket.receive(packet);
        return new Message(Arrays.copyOf(packet.getData(), packet.getLength()));
    }

    /** What is compared: order counts for aliases only, since sets have none. */
    private static String text(Message message) {
        List<String> answer = new ArrayList<>();
        Set<String> rest = new TreeSet<>();
        for (Record next : message.getSection(Section.ANSWER)) {
            if (next.getType() == Type.CNAME) {
                answer.add(line(next));
            } else {
                rest.add(line(next));
            }
        }
        answer.addAll(rest);
        return "%s aa=%s %s | %s | %s"
                .formatted(
                        Rcode.string(message.getRcode()),
                        message.getHeader().getFlag(Flags.AA),
                        answer,
                        lines(message, Section.AUTHORITY),
                        lines(message, Section.ADDITIONAL));
    }

    private static Set<String> lines(Message message, int section) {
        Set<String> lines = new TreeSet<>();
        for (Record next : message.getSection(section)) {
            if (next.getType() != Type.OPT) {
                lines.add(line(next));
            }
        }
        return lines;
    }

    private static String line(Record next) {
        return next.toString().replace('\t', ' ').toLowerCase(Locale.ROOT);
    }
}
