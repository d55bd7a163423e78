package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardChange;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thousand hosts with four answers each in one zone, over eight shards. */
class ScaleTest {

    private static final CoreDnsLayout LAYOUT =
            new CoreDnsLayout("dns", "apportion-coredns", new Shards(8), "/etc/apportion");
    private static final int HOSTS = 1000;

    /** Some 100 ms on an idle machine. */
    private static final int MOST_MILLIS = 1000;

    @TempDir
    Path folder;

    @Test
    void rendersInTimeAndFitsIntoItsShards() {
        for (Answers answers : Answers.values()) {
            long best = Long.MAX_VALUE;
            int largest = 0;
            for (int run = 0; run < 12; run++) {
                ZoneRecords zone = zone(answers, run);
                long before = System.nanoTime();
                largest = 0;
                for (int shard = 0; shard < LAYOUT.shards().count(); shard++) {
                    ShardChange change = ShardChange.decide(null, zone, LAYOUT, shard, 0);
                    assertThat(change).isInstanceOf(ShardChange.Create.class);
                    largest = Math.max(largest, bytes((ShardChange.Create) change));
                }
                best = Math.min(best, System.nanoTime() - before);
            }
            System.out.printf(
                    "%s: rendered and read back in %d ms, largest shard %d KiB%n",
                    answers, best / 1_000_000, largest / 1024);
            assertThat(best).isLessThan(Duration.ofMillis(MOST_MILLIS).toNanos());
            assertThat(largest).isLessThan(900 * 1024);
        }
    }

    private static int bytes(ShardChange.Create create) {
        return Objects.requireNonNull(create.configMap().getData()).entrySet().stream()
                .mapToInt(entry -> entry.getKey().length() + entry.getValue().length())
                .sum();
    }

    private static ZoneRecords zone(Answers answers, int seed) {
        Random random = new Random(seed);
        return Corpus.zone(
                answers,
                IntStream.range(0, HOSTS)
                        .mapToObj(i -> {
                            int first = 1 + random.nextInt(100);
                            int second = 1 + random.nextInt(100);
                            int third = 1 + random.nextInt(50);
                            String net = "10.%d.%d.".formatted(i / 256, i % 256);
                            return Corpus.host(
                                    "host-%04d.example.org".formatted(i),
                                    Corpus.stream(
                                            "web-host-%04d".formatted(i),
                                            new int[] {first, second, third, 256 - first - second - third},
                                            net + 1,
                                            net + 2,
                                            net + 3,
                                            net + 4));
                        })
                        .toArray(Host[]::new));
    }
}
