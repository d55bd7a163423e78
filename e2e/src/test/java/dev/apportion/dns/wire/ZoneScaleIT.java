package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thousand hosts in one zone, over eight shards: a cold CoreDNS is asked for each of them. */
class ZoneScaleIT {

    /** Some 250 ms on an idle machine. */
    private static final Duration LONGEST_START = Duration.ofSeconds(4);

    private static final Shards SHARDS = new Shards(8);

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(names = {"Single", "List"})
    void everyHostIsVerifiedOnAColdStart(Answers answers) throws IOException, InterruptedException {
        ZoneRecords zone = Corpus.large(answers, 1);
        Set<String> hosts = zone.hosts().stream().map(Host::name).collect(Collectors.toSet());
        new DirectoryPublisher(folder).publish(List.of(zone), SHARDS);
        long before = System.nanoTime();
        try (CoreDns server = ColdStart.of(folder)) {
            Duration started = since(before);
            before = System.nanoTime();
            Verdict verdict = Verification.of(zone, Map.of(), hosts, 0, 0)
                    .ask(new Asker(Duration.ofSeconds(2)), server.server().address());
            System.out.printf(
                    "%s: started in %d ms, %s in %d ms%n",
                    answers, started.toMillis(), verdict, since(before).toMillis());
            assertThat(verdict)
                    .isInstanceOfSatisfying(
                            Verdict.Verified.class,
                            verified -> assertThat(verified.questions()).isGreaterThanOrEqualTo(hosts.size()));
            assertThat(started).isLessThan(LONGEST_START);
        }
    }

    private static Duration since(long before) {
        return Duration.ofNanos(System.nanoTime() - before);
    }
}
