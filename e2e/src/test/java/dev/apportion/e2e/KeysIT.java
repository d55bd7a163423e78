package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.DnsPerf;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.Type;

/** Ten thousand names below one host name, whose rates follow Zipf's law, over twenty replicas. */
class KeysIT {

    private static final int KEYS = 10_000;
    private static final int REPLICAS = 20;
    private static final int LARGEST_SHARD = 900 * 1024;
    private static final Pattern SHARD = Pattern.compile(".*\\.s(\\d+)\\..*");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    private Path folder;

    @ParameterizedTest
    @CsvSource({"Single, app.example.org, false", "List, app.example.org, true", "Single, example.org, false"})
    void hotNormalAndColdKeysAreAnswered(String answers, String host, boolean inConfigMap) throws IOException {
        Path manifests = Files.createDirectories(folder.resolve("manifests"));
        Files.writeString(manifests.resolve("all.yaml"), manifests(answers, host, inConfigMap));

        long since = System.nanoTime();
        Command.Result plan = Apportion.packaged().run("plan", "-o", "json", "-f", manifests.toString());
        long planned = millis(since);
        assertThat(plan.exitCode()).as(plan.stderr()).isZero();
        Map<String, Set<String>> expected = expected(JSON.readTree(plan.stdout()));
        int most = answers.equals("Single") ? REPLICAS : 16;
        assertThat(expected.get("t0." + host)).hasSize(most);
        assertThat(expected.get("t100." + host)).hasSizeBetween(2, most - 1);
        assertThat(expected.get("t9999.eu." + host)).hasSize(1);
        long copies = expected.values().stream().mapToLong(Set::size).sum();
        assertThat(copies).isLessThan(KEYS * 12 / 10);

        Path out = folder.resolve("out");
        try (ServerProcess local = Apportion.packaged().start("local", manifests.toString(), "--out", out.toString())) {
            local.awaitLine(Pattern.compile("Answering on"), Duration.ofSeconds(60));
        }
        long largest = largestShard(out);

        since = System.nanoTime();
        try (CoreDns coreDns = CoreDns.start(out)) {
            long started = millis(since);
            for (int key : new int[] {0, 1, 20, 100, 500, 7000, 9999}) {
                String name = name(key) + "." + host;
                Set<String> seen = answers.equals("Single")
                        ? coreDns.server()
                                .slots(Question.of(name, Type.A))
                                .counts()
                                .keySet()
                        : Set.copyOf(
                                coreDns.server().ask(Question.of(name, Type.A)).addresses(Type.A));
                assertThat(seen).as(name).isEqualTo(expected.get(name));
                assertThat(coreDns.server().ask(Question.of(name, Type.AAAA)).rcode())
                        .isEqualTo("NOERROR");
            }
            assertThat(coreDns.server().ask(Question.of(host, Type.A)).addresses(Type.A))
                    .isNotEmpty();
            for (String absent : new String[] {"nobody.", "t1.t0.", "_p.t0.", "x.eu."}) {
                assertThat(coreDns.server()
                                .ask(Question.of(absent + host, Type.A))
                                .rcode())
                        .as(absent)
                        .isEqualTo("NXDOMAIN");
            }
            // what lies between a key and its host exists, although it has no address
            assertThat(coreDns.server().ask(Question.of("eu." + host, Type.A)).rcode())
                    .isEqualTo("NOERROR");
            System.out.printf(
                    "%d keys below %s, %s: plan %d ms, %d copies, CoreDNS starts in %d ms, largest shard %d KiB,"
                            + " CoreDNS %d MiB%n",
                    KEYS, host, answers, planned, copies, started, largest / 1024, coreDns.residentKibibytes() / 1024);
            assertThat(planned).isLessThan(15_000);
            assertThat(started).isLessThan(10_000);
            assertThat(largest).isLessThan(LARGEST_SHARD);

            DnsPerf.Result result = DnsPerf.orSkip()
                    .run(
                            coreDns.port(),
                            IntStream.range(0, KEYS)
                                    .mapToObj(key -> name(key) + "." + host + " A")
                                    .toList(),
                            Duration.ofSeconds(5));
            System.out.printf(
                    "keys below %s, %s: %.0f queries/s by dnsperf, %d of %d answered%n",
                    host, answers, result.queriesPerSecond(), result.completed(), result.sent());
            assertThat(result.completed()).isGreaterThan(result.sent() * 99 / 100);
        }
    }

    /** One key in ten has two labels. */
    private static String name(int key) {
        return "t" + key + (key % 10 == 9 ? ".eu" : "");
    }

    private static Map<String, Set<String>> expected(JsonNode plan) {
        assertThat(plan.path("problems")).isEmpty();
        Map<String, Set<String>> expected = new HashMap<>();
        for (JsonNode stream : plan.path("pools").path(0).path("streams")) {
            Set<String> addresses = new HashSet<>();
            stream.path("answers")
                    .forEach(answer -> addresses.add(answer.path("address").asText()));
            expected.put(stream.path("hostname").asText(), addresses);
        }
        assertThat(expected).hasSize(KEYS + 1);
        return expected;
    }

    private static long millis(long since) {
        return Duration.ofNanos(System.nanoTime() - since).toMillis();
    }

    private static long largestShard(Path out) throws IOException {
        Map<String, Long> sizes = new HashMap<>();
        try (Stream<Path> files = Files.list(out)) {
            for (Path file : files.toList()) {
                Matcher shard = SHARD.matcher(file.getFileName().toString());
                if (shard.matches()) {
                    sizes.merge(shard.group(1), Files.size(file), Long::sum);
                }
            }
        }
        return sizes.values().stream().mapToLong(Long::longValue).max().orElseThrow();
    }

    private static String manifests(String answers, String host, boolean inConfigMap) {
        StringBuilder text = new StringBuilder("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: zone}
            spec: {domain: example.org, coreDNS: {answers: %s}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: tenants}
            spec: {zoneRef: {name: zone}, hostname: %s, poolRef: {name: replicas}}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: replicas}
            spec:
              policy: {type: ZipfZones}
              sites:
              - name: main
                capacity: 1000
                endpoints:
            """.formatted(answers, host));
        for (int i = 0; i < REPLICAS; i++) {
            text.append("    - {name: r%02d, address: 10.0.0.%d}%n".formatted(i, i + 1));
        }
        text.append(inConfigMap ? configMap() : lists());
        return text.toString();
    }

    /** Streams of a thousand keys each, as many as one may list itself. */
    private static String lists() {
        StringBuilder text = new StringBuilder();
        for (int key = 0; key < KEYS; key++) {
            if (key % 1000 == 0) {
                text.append("""
                    ---
                    apiVersion: apportion.dev/v1alpha1
                    kind: TrafficStream
                    metadata: {name: tenants-%d}
                    spec:
                      serviceRef: {name: tenants}
                      keys:
                        list:
                    """.formatted(key / 1000));
            }
            text.append(String.format(Locale.ROOT, "    - {name: %s, rate: %s}%n", name(key), rate(key)));
        }
        return text.toString();
    }

    /** The same as the lines of one ConfigMap, as many as one may have. */
    private static String configMap() {
        StringBuilder text = new StringBuilder("""
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: tenants}
            spec: {serviceRef: {name: tenants}, keys: {configMap: {name: tenants, key: rates.csv}}}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: tenants}
            data:
              rates.csv: |
            """);
        for (int key = 0; key < KEYS; key++) {
            text.append(String.format(Locale.ROOT, "    %s,%s%n", name(key), rate(key)));
        }
        return text.toString();
    }

    private static String rate(int key) {
        return String.format(Locale.ROOT, "%dm", Math.round(1e6 / (key + 1)));
    }
}
