package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.dns.wire.Verification;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys on their way from a stream to DNS. */
class KeysTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref STREAM = new Ref("web", "tenants");
    private static final String POOL = Setting.pool(
            "shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}");
    private static final String SERVICE = Setting.service("app", "app.example.org");

    private static final String LISTED = """
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: tenants}
        spec: {serviceRef: {name: app}, keys: {configMap: {name: rates, key: rates.csv}}}
        """;

    private static String keys(String keys) {
        return """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: tenants}
            spec: {serviceRef: {name: app}, keys: {list: [%s]}}
            """.formatted(keys);
    }

    private static Plan plan(Optional<ZoneRecords> published, String... more) {
        String[] documents = new String[more.length + 3];
        documents[0] = Setting.ZONE;
        documents[1] = POOL;
        documents[2] = SERVICE;
        System.arraycopy(more, 0, documents, 3, more.length);
        return Plan.of(Setting.of(documents), zone -> published);
    }

    private static ZoneRecords records(Plan plan) {
        ZoneComposer.Composed composed = plan.zones().get(ZONE);
        assertThat(composed).isNotNull();
        return composed.records();
    }

    private static Set<String> names(ZoneRecords records) {
        return records.hosts().stream().map(Host::name).collect(Collectors.toSet());
    }

    private static Finding accepted(Plan plan) {
        return finding(plan, Finding.ACCEPTED);
    }

    private static Finding finding(Plan plan, String type) {
        Judged<AdmittedStream> judged = plan.admission().streams().get(STREAM);
        assertThat(judged).isNotNull();
        return judged.findings().stream()
                .filter(finding -> finding.type().equals(type))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyKeyIsAHostBesideTheOneItIsBelow() {
        Plan plan = plan(Optional.empty(), keys("{name: alice, rate: 4}, {name: deep.er, rate: 2}"));
        assertThat(accepted(plan).message()).isEqualTo("the specification is valid; it has 2 keys");
        assertThat(names(records(plan)))
                .containsExactlyInAnyOrder("app.example.org", "alice.app.example.org", "deep.er.app.example.org");
        Host alice = records(plan).hosts().getFirst();
        assertThat(alice.under()).contains("app.example.org");
        assertThat(alice.key()).isEqualTo("alice");
        assertThat(alice.streams()).hasSize(1);
    }

    @Test
    void namesThatCannotBeAreLeftOutAndTheOthersGoOn() {
        String longest = "x".repeat(63) + "." + "y".repeat(63) + "." + "z".repeat(41);
        Plan plan = plan(
                Optional.empty(),
                keys("{name: alice, rate: 4}, {name: %s, rate: 1}, {name: a.%s, rate: 1}".formatted(longest, longest)));
        assertThat(names(records(plan)))
                .containsExactlyInAnyOrder("app.example.org", "alice.app.example.org", longest + ".app.example.org");
        assertThat(accepted(plan).reason()).isEqualTo("InvalidSpec");
        assertThat(accepted(plan).message())
                .contains("has 171 characters, 169 are possible")
                .endsWith("1 of 3 keys are left out, the others go on");
    }

    @Test
    void keysOfAStreamThatCannotBeReadStayAsTheyAre() {
        ZoneRecords before = records(plan(Optional.empty(), keys("{name: alice, rate: 4}")));
        String broken = """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: tenants}
            spec: {serviceRef: {name: app}, clients: {cidrs: [10.0.0.0/8]}, keys: {list: [{name: alice, rate: 1}]}}
            """;
        assertThat(names(records(plan(Optional.of(before), broken)))).contains("alice.app.example.org");
        assertThat(names(records(plan(Optional.of(before))))).doesNotContain("alice.app.example.org");
    }

    @Test
    void keysStayWhileTheirServiceIsPausedOrTheirReplicasAreGone() {
        String stream = keys("{name: alice, rate: 4}");
        ZoneRecords before = records(plan(Optional.empty(), stream));
        String paused = Setting.service("app", "app.example.org", ", paused: true");
        Plan kept = Plan.of(
                Setting.of(Setting.ZONE, POOL, paused, keys("{name: bob, rate: 1}")), zone -> Optional.of(before));
        assertThat(records(kept)).isEqualTo(before);
        String gone = Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1, drain: true}]}");
        Plan without = Plan.of(Setting.of(Setting.ZONE, gone, SERVICE, stream), zone -> Optional.of(before));
        assertThat(records(without)).isEqualTo(before);
    }

    @Test
    void theRateOfTheHostItselfCountsNothingBesideKeys() {
        Plan plan = plan(Optional.empty(), keys("{name: alice, rate: 4}, {name: bob, rate: 6}"));
        PoolPlan pool = plan.pools().get(new Ref("web", "shop"));
        assertThat(pool).isNotNull();
        assertThat(pool.average()).isEqualTo(5);
    }

    @Test
    void theKeysOfAShardShareOneBlockAndReadBack(@TempDir Path folder) throws IOException, InterruptedException {
        ZoneRecords records = records(plan(Optional.empty(), keys("{name: alice, rate: 4}, {name: deep.er, rate: 2}")));
        new DirectoryPublisher(folder).publish(List.of(records), new Shards(1));
        String conf = Files.readString(folder.resolve("example.org.s0.conf"));
        assertThat(conf).contains("expr name() in ['alice.app.example.org.','deep.er.app.example.org.']");
        assertThat(conf.lines().filter("app.example.org {"::equals)).hasSize(2);
        String label = HostLabel.ofKeys("app.example.org");
        assertThat(Files.readString(folder.resolve("example.org.s0.zone")))
                .contains("*._s.alice." + label + " 15 IN A 192.0.2.")
                .contains("._s.deep.er." + label + " 15 IN A 192.0.2.");
        assertThat(Files.readString(folder.resolve("example.org.zone")))
                .contains("*._p.deep.er.app 15 IN HINFO")
                .doesNotContain("alice");
        assertThat(Files.readString(folder.resolve("example.org.s0.state"))).contains("\"under\":\"app.example.org\"");
    }

    /** CoreDNS reads the files in the order of their names, and takes the first block whose view lets a question in. */
    @Test
    void keysOfTheDomainComeBeforeTheDomain(@TempDir Path folder) throws IOException, InterruptedException {
        Plan plan = Plan.of(
                Setting.of(Setting.ZONE, POOL, Setting.service("app", "example.org"), keys("{name: alice, rate: 4}")),
                zone -> Optional.empty());
        new DirectoryPublisher(folder).publish(List.of(records(plan)), new Shards(1));
        assertThat(Files.readString(folder.resolve("example.org.apex0.conf")))
                .contains("\nexample.org {\n")
                .contains("expr name() in ['alice.example.org.']");
        assertThat(Files.readString(folder.resolve("example.org.s0.conf"))).doesNotContain("alice");
        assertThat("example.org.apex0.conf").isLessThan("example.org.conf");
        new DirectoryPublisher(folder).publish(List.of(records(plan(Optional.empty()))), new Shards(1));
        assertThat(folder.resolve("example.org.apex0.conf")).doesNotExist();
    }

    @Test
    void ofManyKeysThatChangedSomeAreAskedFor() {
        String many = IntStream.range(0, 1000)
                .mapToObj("{name: t%d, rate: 1}"::formatted)
                .collect(Collectors.joining(", "));
        ZoneRecords records = records(plan(Optional.empty(), keys(many)));
        Verification first = Verification.of(records, Map.<String, Serial>of(), names(records), 0, 0);
        Verification second = Verification.of(records, Map.<String, Serial>of(), names(records), 0, 1);
        assertThat(first.questions()).hasSizeBetween(512, 1300);
        assertThat(second.questions())
                .hasSizeBetween(512, 1300)
                .doesNotContainSequence(first.questions().getLast());
    }

    private static String list(String key, String lines) {
        return """
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: rates}
            data: {%s: "%s"}
            """.formatted(key, lines.replace("\n", "\\n"));
    }

    private static Finding resolved(Plan plan) {
        return finding(plan, Finding.RESOLVED_REFS);
    }

    @Test
    void aConfigMapListsWhatAStreamCould() {
        Plan listed = plan(Optional.empty(), LISTED, list("rates.csv", "alice,4\ndeep.er,2"));
        Plan declared = plan(Optional.empty(), keys("{name: alice, rate: 4}, {name: deep.er, rate: 2}"));
        assertThat(listed.problems()).isEmpty();
        assertThat(accepted(listed)).isEqualTo(accepted(declared));
        assertThat(records(listed)).isEqualTo(records(declared));
        assertThat(listed.pools()).isEqualTo(declared.pools());
    }

    @Test
    void linesThatCannotBeAreLeftOutByTheirNumberAndTheOthersGoOn() {
        Plan plan = plan(
                Optional.empty(),
                LISTED,
                list("rates.csv", "alice,4\nbob,much\n_s,1\nALICE,5\ncarol\n-x,1\ndave,1\n-y,1"));
        assertThat(names(records(plan)))
                .containsExactlyInAnyOrder("app.example.org", "alice.app.example.org", "dave.app.example.org");
        assertThat(accepted(plan).reason()).isEqualTo("InvalidSpec");
        assertThat(accepted(plan).message())
                .startsWith("spec.keys: line 2: the rate \"much\" of \"bob\" must be a quantity")
                .contains(
                        "; line 5: \"carol\" has no rate;",
                        "; line 3: _s: the labels _s and _p are reserved;",
                        "; line 4: alice stands in line 1 already, which counts; maybe delete one of the two; and 2"
                                + " more")
                .endsWith("; 6 of 8 keys are left out, the others go on");
        PoolPlan pool = plan.pools().get(new Ref("web", "shop"));
        assertThat(pool).isNotNull();
        assertThat(pool.average()).isEqualTo(2.5);
    }

    @Test
    void keysStayWhereTheirListIsGone() {
        ZoneRecords before = records(plan(Optional.empty(), LISTED, list("rates.csv", "alice,4")));
        assertThat(names(before)).contains("alice.app.example.org");
        Plan gone = plan(Optional.of(before), LISTED);
        assertThat(records(gone)).isEqualTo(before);
        assertThat(resolved(gone).reason()).isEqualTo("ConfigMapNotFound");
        assertThat(resolved(gone).message()).contains("there is no ConfigMap web/rates", "maybe create it");
        Plan renamed = plan(Optional.of(before), LISTED, list("rates.txt", "alice,4"));
        assertThat(records(renamed)).isEqualTo(before);
        assertThat(resolved(renamed).reason()).isEqualTo("ConfigMapKeyNotFound");
        assertThat(resolved(renamed).message()).contains("no text \"rates.csv\"", "it has rates.txt");
        Plan emptied = plan(Optional.of(before), LISTED, list("rates.csv", "name,rate\n"));
        assertThat(records(emptied)).isEqualTo(before);
        assertThat(accepted(emptied).reason()).isEqualTo("InvalidSpec");
        assertThat(accepted(emptied).message()).contains("lists no name", "maybe delete the stream");
        assertThat(names(records(plan(Optional.of(before))))).doesNotContain("alice.app.example.org");
    }

    @Test
    void whatWasListedLastGoesOn() {
        Ref ref = new Ref("web", "rates");
        Optional<DeclaredKeys> last = Optional.of(DeclaredKeys.read("alice,4"));
        KeySource missing = KeySource.of(ref, "rates.csv", Optional.empty(), last);
        assertThat(missing.keys()).isEqualTo(last);
        assertThat(missing.problem()).map(Finding::reason).contains("ConfigMapNotFound");
        KeySource forbidden = KeySource.forbidden(ref, "no", last);
        assertThat(forbidden.keys()).isEqualTo(last);
        assertThat(forbidden.problem()).map(Finding::reason).contains("ConfigMapForbidden");
    }
}
