package dev.apportion.dns.coredns;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.xbill.DNS.Master;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.Type;

class SlotRecordsTest {

    private static final Shards ONE = new Shards(1);

    /** An independent reading of the text: RFC 4592 finds the intended address in every slot. */
    @Property(tries = 60)
    void everySlotHasItsAddress(
            @ForAll @IntRange(min = 0, max = 8) int ipv4,
            @ForAll @IntRange(min = 0, max = 8) int ipv6,
            @ForAll @IntRange(min = 1, max = 3) int digits,
            @ForAll long seed)
            throws IOException {
        Random random = new Random(seed);
        int sum = 1 << (4 * digits);
        HostStream stream =
                stream(weights(ipv4, sum, random), weights(ipv6, 1 << (4 * (1 + random.nextInt(3))), random));
        Zone zone = zone(stream);

        for (boolean family : new boolean[] {false, true}) {
            List<Slots.Run> runs = Slots.runs(stream, family);
            int step = digits == 3 || ipv6 > 0 ? 7 : 251;
            for (int slot = 0; slot < Slots.COUNT; slot += step) {
                assertThat(zone.addresses(slot, family)).as("%04x", slot).isEqualTo(expected(runs, slot));
            }
            for (Slots.Run run : runs) {
                assertThat(zone.addresses(run.from(), family)).isEqualTo(expected(runs, run.from()));
                assertThat(zone.addresses(run.to() - 1, family)).isEqualTo(expected(runs, run.to() - 1));
            }
        }
    }

    @Property(tries = 20)
    void fourAnswersTakeAboutThirtyRecords(@ForAll long seed) {
        Random random = new Random(seed);
        List<SlotRecords.Entry> entries = SlotRecords.of(stream(weights(4, 256, random), new int[0]));

        assertThat(entries.size()).isLessThanOrEqualTo(16 + 3 * 9);
    }

    @Property(tries = 50)
    void noNameIsWrittenTwice(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int answers) {
        HostStream stream = stream(weights(answers, 65_536, new Random(seed)), weights(3, 256, new Random(seed)));
        List<String> names =
                SlotRecords.of(stream).stream().map(SlotRecords.Entry::name).toList();
        Set<String> distinct = new HashSet<>(names);

        assertThat(distinct).hasSameSizeAs(names);
    }

    private static HostStream stream(int[] ipv4, int[] ipv6) {
        List<Answer> answers = new ArrayList<>();
        IntStream.range(0, ipv4.length)
                .forEach(i -> answers.add(new Answer(Corpus.address("10.0.0." + (i + 1)), "r" + i, ipv4[i])));
        IntStream.range(0, ipv6.length)
                .forEach(i -> answers.add(new Answer(Corpus.address("2001:db8::" + (i + 1)), "r" + i, ipv6[i])));
        return new HostStream("shop", "", List.of(), answers);
    }

    /** Random weights of a sum, each at least one. */
    private static int[] weights(int count, int sum, Random random) {
        if (count == 0) {
            return new int[0];
        }
        int[] cuts = IntStream.concat(
                        IntStream.of(0, sum), random.ints(1, sum).distinct().limit(Math.min(count, sum) - 1))
                .sorted()
                .toArray();
        return IntStream.range(1, cuts.length).map(i -> cuts[i] - cuts[i - 1]).toArray();
    }

    /** A zone read by the rules of RFC 4592: the wildcard below the closest name that exists, and no other, counts. */
    private record Zone(Map<Name, List<Record>> records, Set<Name> existing, Name origin) {

        List<String> addresses(int slot, boolean ipv6) throws IOException {
            String digits = "%04x".formatted(slot);
            Name name = Name.fromString(
                    "%s.%s.%s.%s.shop"
                            .formatted(digits.charAt(3), digits.charAt(2), digits.charAt(1), digits.charAt(0)),
                    origin);
            Name source = name;
            if (!existing.contains(name)) {
                Name encloser = name;
                while (!existing.contains(encloser)) {
                    encloser = new Name(encloser, 1);
                }
                source = Name.fromString("*", encloser);
            }
            return records.getOrDefault(source, List.of()).stream()
                    .filter(next -> next.getType() == (ipv6 ? Type.AAAA : Type.A))
                    .map(Record::rdataToString)
                    .toList();
        }
    }

    private static Zone zone(HostStream stream) throws IOException {
        ZoneRecords zone = Corpus.zone(Answers.Single, Corpus.host("shop.example.org", stream));
        String text = switch (ShardFiles.render(zone, ONE, "/etc/apportion", 0, Serial.FIRST)) {
            case ShardFiles.Rendered(var files) -> files.getOrDefault("example.org.s0.zone", "");
            case ShardFiles.NotRenderable(var subject, var message) -> throw new AssertionError(message);
        };
        Name origin = Name.fromString("s0._s.example.org.");
        Zone read = new Zone(new HashMap<>(), new HashSet<>(Set.of(origin)), origin);
        try (Master master = new Master(new ByteArrayInputStream(text.getBytes(UTF_8)))) {
            for (Record next = master.nextRecord(); next != null; next = master.nextRecord()) {
                read.records()
                        .computeIfAbsent(next.getName(), name -> new ArrayList<>())
                        .add(next);
                for (Name name = next.getName(); !name.equals(origin); name = new Name(name, 1)) {
                    read.existing().add(name);
                }
            }
        }
        return read;
    }

    private static List<String> expected(List<Slots.Run> runs, int slot) {
        return runs.stream()
                .filter(run -> run.from() <= slot && slot < run.to())
                .map(run -> run.answer().address().toInetAddress().getHostAddress())
                .toList();
    }
}
