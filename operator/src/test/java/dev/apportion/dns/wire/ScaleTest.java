package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.Claim;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardChange;
import dev.apportion.records.Answers;
import dev.apportion.records.ZoneRecords;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A thousand hosts with four answers each in one zone, over eight shards. */
class ScaleTest {

    private static final CoreDnsLayout LAYOUT =
            new CoreDnsLayout("dns", "apportion-coredns", new Shards(8), "/etc/apportion");

    /** Some 100 ms on an idle machine. */
    private static final int MOST_MILLIS = 1000;

    @Test
    void rendersInTimeAndFitsIntoItsShards() {
        for (Answers answers : Corpus.COREDNS) {
            long best = Long.MAX_VALUE;
            int largest = 0;
            for (int run = 0; run < 12; run++) {
                ZoneRecords zone = Corpus.large(answers, run);
                long before = System.nanoTime();
                largest = 0;
                for (int shard = 0; shard < LAYOUT.shards().count(); shard++) {
                    ShardChange change = ShardChange.decide(null, zone, LAYOUT, shard, Claim.NONE);
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
}
