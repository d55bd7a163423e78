package dev.apportion.reconcile;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneSpec;
import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.Configuration;
import dev.apportion.dns.coredns.ShardFiles;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.FixedRecords;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.Parsed;
import dev.apportion.records.ZoneRecords;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.xbill.DNS.Master;
import org.xbill.DNS.Record;
import org.xbill.DNS.TXTRecord;

/** Whatever text is let in comes out as the same value, and whatever is not is named. */
class EscapingTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Shards SHARDS = new Shards(4);

    @Property(tries = 4000)
    void whatIsAdmittedReadsBackAndWhatIsNotIsNamed(@ForAll @LongRange(min = 0, max = 1L << 40) long seed)
            throws IOException {
        Setting setting = OddWorlds.world(seed);
        Plan plan = setting.plan();

        refusalsNameTheValue(setting.zones().getFirst(), plan);
        refusalsNameTheHost(seed, setting, plan);
        for (ZoneComposer.Composed composed : plan.zones().values()) {
            AdmittedZone zone =
                    plan.admission().zones().values().iterator().next().value().orElseThrow();
            readsBack(composed.records(), ZonePublisher.layout(zone).directory());
        }
    }

    /** A record is admitted, or a finding has its text; the values of an unreadable zone are named by the first of them. */
    private static void refusalsNameTheValue(DNSZone zone, Plan plan) {
        Judged<AdmittedZone> judged =
                plan.admission().zones().values().iterator().next();
        String said = judged.findings().stream().map(Finding::message).collect(Collectors.joining(" "));
        DNSZoneSpec spec = zone.getSpec();
        if (judged.value().isEmpty()) {
            assertThat(judged.findings().getFirst().isFalse()).isTrue();
            assertThat(said).matches("(?s).*(spec\\.|/|\").*");
        }
        if (judged.value().isEmpty() || spec == null) {
            return;
        }
        List<FixedRecord> admitted = judged.value().get().fixedRecords();
        int declared = 0;
        for (DNSZoneSpec.FixedRecord record : spec.records()) {
            declared += record.values().size();
            for (String value : record.values()) {
                if (FixedRecords.parse(judged.value().get().domain(), record.name(), record.type(), 1, value)
                        instanceof Parsed.Invalid<FixedRecord>) {
                    assertThat(said).contains("spec.records[%s %s]".formatted(record.name(), record.type()));
                    assertThat(said)
                            .satisfiesAnyOf(
                                    message -> assertThat(message).contains(value),
                                    message -> assertThat(message).contains("\"" + record.name()),
                                    message -> assertThat(message).contains(record.name() + "."),
                                    message -> assertThat(message).contains("cannot be a CNAME", "of itself"),
                                    message -> assertThat(message).contains("are not declared as records"));
                }
            }
        }
        if (admitted.size() < declared) {
            assertThat(judged.findings().getFirst().reason()).isEqualTo("InvalidRecords");
        }
    }

    /** Of what is wrong with the host name itself, it says which name. */
    private static void refusalsNameTheHost(long seed, Setting setting, Plan plan) {
        Judged<AdmittedService> judged =
                plan.admission().services().values().iterator().next();
        Finding accepted = judged.findings().getFirst();
        if (accepted.reason().equals("InvalidSpec") || accepted.reason().equals("Unreadable")) {
            String host = OddWorlds.hostname(seed);
            assertThat(accepted.message())
                    .satisfiesAnyOf(
                            message -> assertThat(message).contains(host),
                            message -> assertThat(message)
                                    .contains(JSON.valueToTree(host).toString()),
                            message -> assertThat(message).contains("the labels _s and _p"));
        }
        assertThat(setting.services()).hasSize(1);
    }

    private static void readsBack(ZoneRecords zone, String directory) throws IOException {
        Set<String> labels = zone.hosts().stream()
                .flatMap(host -> host.streams().stream())
                .map(HostStream::label)
                .collect(Collectors.toSet());
        Configuration configuration = new Configuration(zone.domain(), labels, directory);
        SortedMap<String, String> all = new TreeMap<>();
        for (int shard = 0; shard < SHARDS.count(); shard++) {
            ShardFiles rendered = ShardFiles.render(zone, SHARDS, directory, shard, Serial.FIRST);
            assertThat(rendered).isInstanceOf(ShardFiles.Rendered.class);
            if (rendered instanceof ShardFiles.Rendered(var files)) {
                all.putAll(files);
            }
        }
        for (Map.Entry<String, String> file : all.entrySet()) {
            assertThat(file.getKey()).matches("[-._a-zA-Z0-9]{1,253}");
            assertThat(file.getValue().getBytes(UTF_8))
                    .isEqualTo(new String(file.getValue().getBytes(UTF_8), UTF_8).getBytes(UTF_8));
            if (file.getKey().endsWith(".conf")) {
                assertThatCode(() -> configuration.read(file.getValue())).doesNotThrowAnyException();
            }
        }
        stateReadsBack(zone, all);
        recordsReadBack(zone, all);
    }

    /** As the API server hands it out: in UTF-8. */
    private static void stateReadsBack(ZoneRecords zone, SortedMap<String, String> files) {
        Map<String, String> stored = new HashMap<>();
        files.forEach((name, text) -> stored.put(name, new String(text.getBytes(UTF_8), UTF_8)));
        List<Host> hosts = new ArrayList<>();
        for (ShardState state : ShardState.read(stored)) {
            assertThat(state).isInstanceOf(ShardState.Published.class);
            if (state instanceof ShardState.Published published) {
                hosts.addAll(published.part().hosts());
            }
        }
        assertThat(hosts).isEqualTo(zone.hosts());
    }

    private static void recordsReadBack(ZoneRecords zone, SortedMap<String, String> files) throws IOException {
        Set<String> found = new HashSet<>();
        String text = files.getOrDefault(zone.domain() + ".zone", "");
        try (Master master = new Master(new ByteArrayInputStream(text.getBytes(UTF_8)))) {
            for (Record record = master.nextRecord(); record != null; record = master.nextRecord()) {
                assertThat(record.getName().toString(true))
                        .satisfiesAnyOf(
                                name -> assertThat(name).isEqualTo(zone.domain()),
                                name -> assertThat(name).endsWith("." + zone.domain()));
                found.add(bytes(record));
            }
        }
        for (FixedRecord fixed : zone.fixedRecords()) {
            assertThat(found).as(fixed.toString()).contains(bytes(FixedRecords.toRecord(fixed)));
        }
    }

    private static String bytes(Record record) {
        return "%s %d %s"
                .formatted(
                        record.getName(),
                        record.getType(),
                        java.util.HexFormat.of().formatHex(record.rdataToWireCanonical()));
    }

    /** A text without quotes in front is what is served, byte for byte. */
    @Property(tries = 2000)
    void aTextIsServedByteForByte(@ForAll String text) throws IOException {
        if (text.stripLeading().startsWith("\"") || !UTF_8.newEncoder().canEncode(text)) {
            return;
        }
        if (FixedRecords.parse("example.org", "t", "TXT", 1, text)
                instanceof Parsed.Value<FixedRecord>(FixedRecord fixed)) {
            ByteArrayOutputStream served = new ByteArrayOutputStream();
            for (byte[] part : ((TXTRecord) FixedRecords.toRecord(fixed)).getStringsAsByteArrays()) {
                served.write(part);
            }
            assertThat(served.toString(UTF_8)).isEqualTo(text);
        } else {
            assertThat(text).isEmpty();
        }
    }
}
