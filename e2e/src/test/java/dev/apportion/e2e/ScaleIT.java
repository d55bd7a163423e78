package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Type;

/** A thousand services of four replicas each in one zone. */
class ScaleIT {

    private static final int SERVICES = 1000;
    private static final int REPLICAS = 4;
    private static final int LARGEST_SHARD = 900 * 1024;
    private static final Pattern SHARD = Pattern.compile(".*\\.s(\\d+)\\..*");

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"Single", "List"})
    void isPlannedRenderedAndAnswered(String answers) throws IOException {
        Path manifests = Files.createDirectories(folder.resolve("manifests"));
        Files.writeString(manifests.resolve("all.yaml"), manifests(answers));

        long since = System.nanoTime();
        Command.Result plan = Apportion.packaged().run("plan", "-o", "json", "-f", manifests.toString());
        long planned = millis(since);
        assertThat(plan.exitCode()).as(plan.stderr()).isZero();
        assertThat(plan.stdout()).contains("h999.example.org");

        Path out = folder.resolve("out");
        try (ServerProcess local = Apportion.packaged().start("local", manifests.toString(), "--out", out.toString())) {
            local.awaitLine(Pattern.compile("Answering on"), Duration.ofSeconds(60));
        }
        long largest = largestShard(out);

        since = System.nanoTime();
        try (CoreDns coreDns = CoreDns.start(out)) {
            assertThat(coreDns.server()
                            .ask(Question.of("h999.example.org", Type.A))
                            .addresses(Type.A))
                    .isNotEmpty();
            long started = millis(since);
            System.out.printf(
                    "%d services × %d replicas, %s: plan %d ms, CoreDNS answers after %d ms, largest shard %d KiB,"
                            + " CoreDNS %d MiB%n",
                    SERVICES, REPLICAS, answers, planned, started, largest / 1024, coreDns.residentKibibytes() / 1024);
            assertThat(planned).isLessThan(6000);
            assertThat(started).isLessThan(2000);
            assertThat(largest).isLessThan(LARGEST_SHARD);

            DnsPerf.Result result = DnsPerf.orSkip()
                    .run(
                            coreDns.port(),
                            IntStream.range(0, SERVICES)
                                    .mapToObj("h%d.example.org A"::formatted)
                                    .toList(),
                            Duration.ofSeconds(5));
            System.out.printf(
                    "%s: %.0f queries/s by dnsperf, %d of %d answered%n",
                    answers, result.queriesPerSecond(), result.completed(), result.sent());
            assertThat(result.completed()).isGreaterThan(result.sent() * 99 / 100);
        }
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

    private static String manifests(String answers) {
        StringBuilder text = new StringBuilder("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: zone}
            spec: {domain: example.org, coreDNS: {answers: %s}}
            """.formatted(answers));
        for (int i = 0; i < SERVICES; i++) {
            text.append("""
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: TrafficService
                metadata: {name: s%1$d}
                spec: {zoneRef: {name: zone}, hostname: h%1$d.example.org, poolRef: {name: p%1$d}}
                ---
                apiVersion: apportion.dev/v1alpha1
                kind: ReplicaPool
                metadata: {name: p%1$d}
                spec:
                  sites:
                  - name: main
                    endpoints:
                """.formatted(i));
            for (int r = 0; r < REPLICAS; r++) {
                text.append("    - {name: r%d, address: 10.%d.%d.%d, capacity: %d}%n"
                        .formatted(r, i / 250, i % 250, r + 1, 100 + (i * 7 + r * 13) % 50));
            }
        }
        return text.toString();
    }
}
