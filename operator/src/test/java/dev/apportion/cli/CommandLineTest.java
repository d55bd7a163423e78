package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {

    private static final String QUICKSTART = "../examples/quickstart";

    private final Locale usual = Locale.getDefault();

    @TempDir
    private Path folder;

    @AfterEach
    void usualLocale() {
        Locale.setDefault(usual);
    }

    @Test
    void zeroWhenEverythingIsAccepted() {
        Run run = Run.of("plan", "-f", QUICKSTART);

        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("ReplicaPool web/shop: KSplittable, 3 of 3 replicas ready")
                .containsPattern("(?m)^shop\\.example\\.org +shop-eu +120\\.0 +192\\.0\\.2\\.10 +fra-1 +171 +66\\.80%$")
                .doesNotContain("Problems");
    }

    @Test
    void thePlanSaysWhatThePolicySawInEachReplica() {
        Run run = Run.of("plan", "-f", "../examples/rating");

        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern("(?m)^a +1\\.000 +[0-9.]+ +rating 1090: 5 users, 3 distinct, load average 2\\.5$")
                .containsPattern(
                        "(?m)^c +1\\.000 +[0-9.]+ +rating 10000: silent, users and load average not measured$");
        assertThat(Run.of("plan", "-f", QUICKSTART).out()).doesNotContain("BECAUSE");
    }

    @Test
    void oneWhenSomethingIsRejectedAndItIsSaid() throws IOException {
        Path file = Files.writeString(folder.resolve("a.yaml"), """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: shop, namespace: web}
            spec: {zoneRef: {name: nowhere}, hostname: shop.example.org, poolRef: {name: p}}
            """);

        Run run = Run.of("plan", "-f", file.toString());

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out())
                .contains("Problems:")
                .contains("TrafficService web/shop: ResolvedRefs, ZoneNotFound: there is no DNSZone web/nowhere");
    }

    @Test
    void twoWhenTheInputCannotBeRead() throws IOException {
        Path broken = Files.writeString(folder.resolve("a.yaml"), "a: [1\n");

        Run run = Run.of("plan", "-o", "json", "-f", broken.toString());

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("a.yaml:");
        assertThat(Run.of("plan", "-f", folder.resolve("missing").toString()).code())
                .isEqualTo(2);
        assertThat(Run.of("local", folder.toString()).code()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "plan",
                "plan -o xml -f x",
                "plan --wrong -f x",
                "plan -n web -f x",
                "plan --live -o endpoints",
                "explain -A -f x",
                "verify --context c -f x",
                "ask www.example.org --server 192.0.2.53 --server 192.0.2.54",
                "fly",
                "local",
                "local x --dns here",
                "sync",
                "ask",
                "ask two..dots",
                "ask www.example.org --type X1",
                "ask www.example.org --expect MAYBE",
                "ask www.example.org --count 0",
                "ask www.example.org --count 100001",
                "ask www.example.org --server 192.0.2.53:0",
                "ask www.example.org --server a:b",
                "ask www.example.org --server ::1",
                "operator --verify-grace soon"
            })
    void twoWhenTheOptionsAreBad(String arguments) {
        Run run = Run.of(arguments.isEmpty() ? new String[0] : arguments.split(" "));

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("Usage: apportion");
    }

    /** A cluster that is not there, or a kubeconfig that is none, is said in one line. */
    @ParameterizedTest
    @ValueSource(strings = {"explain", "verify", "plan --live", "simulate --from-pool web/shop"})
    void twoWhenNoClusterCanBeRead(String command) throws IOException {
        Path nowhere = Files.writeString(folder.resolve("config"), """
            apiVersion: v1
            kind: Config
            current-context: here
            contexts: [{name: here, context: {cluster: c, user: u, namespace: web}}]
            clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
            users: [{name: u, user: {token: t}}]
            """);

        assertThat(Run.of((command + " --kubeconfig " + nowhere).split(" "))).satisfies(run -> {
            assertThat(run.code()).isEqualTo(2);
            assertThat(run.err())
                    .startsWith("no cluster can be reached at http://127.0.0.1:1/: ")
                    .endsWith("Maybe set KUBECONFIG, --kubeconfig or --context" + System.lineSeparator())
                    .hasLineCount(1);
        });
        assertThat(Run.of((command + " --kubeconfig " + nowhere + " --context there").split(" "))
                        .err())
                .isEqualTo("--context there: the kubeconfig has no such context; it has here" + System.lineSeparator());
        assertThat(Run.of((command + " --kubeconfig " + folder.resolve("none")).split(" "))
                        .err())
                .startsWith("--kubeconfig " + folder.resolve("none") + ": there is no such file");
    }

    @Test
    void helpAndVersionAreNoErrors() {
        assertThat(Run.of("--help")).satisfies(run -> {
            assertThat(run.code()).isZero();
            assertThat(run.out()).contains("operator", "sync", "local", "plan", "ask");
        });
        assertThat(Run.of("--version").out()).startsWith("apportion ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"operator", "sync", "local", "plan", "ask"})
    void everyCommandHasHelp(String command) {
        Run run = Run.of(command, "--help");

        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("Usage: apportion " + command, "Exit codes:");
    }

    /** Only the command that is asked for is set up; a name that nobody knows shows all of them. */
    @Test
    void everyCommandIsFoundByItsName() {
        Set<String> all = Main.commandLine().getSubcommands().keySet();
        assertThat(all).hasSize(9);
        assertThat(all)
                .allSatisfy(name -> assertThat(Main.commandLine(name, "--help").getSubcommands())
                        .containsOnlyKeys(name));
        assertThat(Run.of("oprator").err()).contains("Did you mean: apportion operator");
    }

    @Test
    void theFormOfTheOutputMayBeWrittenInAnyCase() {
        assertThat(Run.of("plan", "-o", "JSON", "-f", QUICKSTART).out()).startsWith("{");
    }

    @Test
    void severalPathsAreOneWorld() throws IOException {
        String[] documents =
                Files.readString(Path.of(QUICKSTART, "quickstart.yaml")).split("---\n", 2);
        Path first = Files.writeString(folder.resolve("a.yaml"), documents[0]);
        Path second = Files.writeString(folder.resolve("b.yaml"), documents[1]);

        assertThat(Run.of("plan", "-o", "json", "-f", second.toString(), first.toString()))
                .isEqualTo(Run.of("plan", "-o", "json", "-f", QUICKSTART));
    }

    @Test
    void twelveHundredEndpointsOverManySlicesAllCount() throws IOException {
        StringBuilder text = new StringBuilder("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: z, namespace: web}
            spec: {domain: example.org, coreDNS: {}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: p, namespace: web}
            spec: {sites: [{name: main, service: {name: shop}, capacity: 10}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: shop, namespace: web}
            spec: {zoneRef: {name: z}, hostname: shop.example.org, poolRef: {name: p}}
            """);
        for (int slice = 0; slice < 13; slice++) {
            text.append("""
                ---
                apiVersion: discovery.k8s.io/v1
                kind: EndpointSlice
                metadata: {name: shop-%d, namespace: web, labels: {kubernetes.io/service-name: shop}}
                addressType: IPv4
                endpoints:
                """.formatted(slice));
            // Neighbouring slices overlap by four endpoints, as they do while endpoints move from one to another.
            for (int i = slice * 96; i < Math.min(1200, slice * 96 + 100); i++) {
                text.append("- {addresses: [10.0.%d.%d], targetRef: {kind: Pod, name: p%04d}}\n"
                        .formatted(i / 200, i % 200, i));
            }
        }
        Path file = Files.writeString(folder.resolve("a.yaml"), text);

        Run run = Run.of("plan", "-o", "json", "-f", file.toString());

        JsonNode pool = new ObjectMapper().readTree(run.out()).path("pools").path(0);
        assertThat(pool.path("replicas")).hasSize(1200);
        assertThat(pool.path("streams").path(0).path("answers")).hasSize(1200);
        int sum = 0;
        for (JsonNode answer : pool.path("streams").path(0).path("answers")) {
            assertThat(answer.path("weight").asInt()).isBetween(54, 55);
            sum += answer.path("weight").asInt();
        }
        assertThat(sum).isEqualTo(65536);
    }

    @Test
    void zonesThatDoNotFitIntoTheirConfigMapsAreSaid() throws IOException {
        Path pool = Files.writeString(folder.resolve("pool.yaml"), """
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: p, namespace: web}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}]}
            """);
        Path first = Files.writeString(folder.resolve("first.yaml"), zone("first", 800));
        Path second = Files.writeString(folder.resolve("second.yaml"), zone("second", 800));

        assertThat(Run.of("plan", "-o", "json", "-f", pool.toString(), first.toString())
                        .code())
                .isZero();
        Run both = Run.of("plan", "-o", "json", "-f", pool.toString(), first.toString(), second.toString());

        assertThat(both.code()).isEqualTo(1);
        JsonNode problems = new ObjectMapper().readTree(both.out()).path("problems");
        assertThat(problems).hasSize(1);
        assertThat(problems.path(0).path("name").asText()).isEqualTo("second");
        assertThat(problems.path(0).path("condition").asText()).isEqualTo("Programmed");
        assertThat(problems.path(0).path("reason").asText()).isEqualTo("ShardFull");
        assertThat(problems.path(0).path("message").asText()).contains("at most 921600 fit", "more shards");
    }

    @Test
    void dnsEndpointsAreShownAsManifestsAndWhatIsRefusedBesides() throws IOException {
        Run run = Run.of("plan", "-o", "endpoints", "-f", "src/test/resources/plan/external-dns/in.yaml");

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("TrafficStream web/shop-aws-eu: Accepted, ClientsNotTold");
        List<JsonNode> endpoints;
        try (MappingIterator<JsonNode> documents =
                new YAMLMapper().readerFor(JsonNode.class).readValues(run.out())) {
            endpoints = documents.readAll();
        }
        assertThat(endpoints).hasSize(3).allSatisfy(endpoint -> {
            assertThat(endpoint.path("apiVersion").asText()).isEqualTo("externaldns.k8s.io/v1alpha1");
            assertThat(endpoint.path("kind").asText()).isEqualTo("DNSEndpoint");
            assertThat(endpoint.at("/metadata/namespace").asText()).isEqualTo("web");
        });
        assertThat(endpoints)
                .flatExtracting(endpoint -> endpoint.at("/spec/endpoints").findValuesAsText("recordType"))
                .contains("A", "AAAA", "LUA");
    }

    @Test
    void aServiceThatDoesNotFitIntoItsDnsEndpointIsSaid() throws IOException {
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            keys.append("{name: tenant-%d, rate: 1},".formatted(i));
        }
        Path file = Files.writeString(folder.resolve("a.yaml"), """
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: z, namespace: web}
            spec: {domain: example.org, externalDNS: {dialect: PowerDNS}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: p, namespace: web}
            spec: {sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}, {name: b, address: 192.0.2.2}]}]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: shop, namespace: web}
            spec: {zoneRef: {name: z}, hostname: shop.example.org, poolRef: {name: p}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: tenants, namespace: web}
            spec: {serviceRef: {name: shop}, keys: {list: [%s]}}
            """.formatted(keys));

        Run run = Run.of("plan", "-o", "json", "-f", file.toString());

        assertThat(run.code()).isEqualTo(1);
        JsonNode problems = new ObjectMapper().readTree(run.out()).path("problems");
        assertThat(problems).hasSize(1);
        assertThat(problems.path(0).path("kind").asText()).isEqualTo("TrafficService");
        assertThat(problems.path(0).path("reason").asText()).isEqualTo("EndpointFull");
    }

    private static String zone(String name, int hosts) {
        StringBuilder text = new StringBuilder("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: NAME, namespace: web}
            spec: {domain: NAME.example, coreDNS: {configMap: {shards: 1}}}
            """.replace("NAME", name));
        for (int i = 0; i < hosts; i++) {
            text.append("""
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficService
                metadata: {name: %s-%d, namespace: web}
                spec: {zoneRef: {name: %s}, hostname: h%d.%s.example, poolRef: {name: p}}
                """.formatted(name, i, name, i, name));
        }
        return text.toString();
    }
}
