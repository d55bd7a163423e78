package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.Question;
import dev.apportion.reconcile.OddWorlds;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.FixedRecords;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Record;
import org.xbill.DNS.Type;

/** A cold CoreDNS starts on whatever odd texts were admitted, and serves the same values. */
class EscapingIT {

    private static final int ZONES = 400;
    private static final Shards SHARDS = new Shards(4);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 1_000_000})
    void whatIsAdmittedIsServedAsItIs(long firstSeed) throws IOException, InterruptedException {
        Map<String, ZoneRecords> zones = new TreeMap<>();
        LongStream.range(firstSeed, firstSeed + ZONES)
                .mapToObj(OddWorlds::zone)
                .flatMap(zone -> zone.stream())
                .forEach(zone -> zones.putIfAbsent(zone.domain(), zone));
        assertThat(new DirectoryPublisher(folder).publish(List.copyOf(zones.values()), SHARDS))
                .isInstanceOfSatisfying(
                        DirectoryPublisher.Outcome.Written.class,
                        written -> assertThat(written.refused()).isEmpty());

        try (CoreDns server = ColdStart.of(folder)) {
            int records = 0;
            for (ZoneRecords zone : zones.values()) {
                verify(zone, server);
                records += ask(zone, server);
            }
            System.out.printf("%d zones, %d records%n", zones.size(), records);
            assertThat(zones).hasSizeGreaterThan(ZONES / 3);
            assertThat(records).isGreaterThan(ZONES / 3);
            assertThat(server.log()).doesNotContain("[ERROR]");
        }
    }

    private static void verify(ZoneRecords zone, CoreDns server) throws InterruptedException {
        Verdict verdict = Verification.of(
                        zone, Map.of(), zone.hosts().stream().map(Host::name).collect(Collectors.toSet()), 0, 0)
                .ask(new Asker(Duration.ofSeconds(2)), server.server().address());
        assertThat(verdict).as(zone.toString()).isInstanceOf(Verdict.Verified.class);
    }

    private static int ask(ZoneRecords zone, CoreDns server) throws IOException {
        List<String> delegated = zone.fixedRecords().stream()
                .filter(fixed -> fixed.type().equals("NS"))
                .map(FixedRecord::name)
                .toList();
        int asked = 0;
        for (FixedRecord fixed : zone.fixedRecords()) {
            // What is delegated is for others to answer.
            if (delegated.stream()
                    .anyMatch(name -> fixed.name().equals(name) || fixed.name().endsWith("." + name))) {
                continue;
            }
            Record expected = FixedRecords.toRecord(fixed);
            Answer answer = server.server()
                    .ask(Question.of(fixed.name().replace("*", "any") + ".", Type.value(fixed.type()))
                            .overTcp());
            List<String> found = new ArrayList<>();
            answer.records().forEach(record -> found.add(data(record)));
            assertThat(found).as(fixed + " of " + zone.fixedRecords()).contains(data(expected));
            asked++;
        }
        return asked;
    }

    private static String data(Record record) {
        return Type.string(record.getType()) + " " + HexFormat.of().formatHex(record.rdataToWireCanonical());
    }
}
