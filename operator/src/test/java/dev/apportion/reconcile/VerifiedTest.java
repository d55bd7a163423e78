package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class VerifiedTest {

    private static final Verdict WELL = new Verdict.Verified(10);

    private static ZoneRecords zone(int first, String... hosts) {
        return Corpus.zone(
                Answers.Single,
                Arrays.stream(hosts)
                        .map(name -> Corpus.host(
                                name + ".example.org",
                                Corpus.stream(
                                        name,
                                        name.equals("a") ? new int[] {first, 256 - first} : new int[] {128, 128},
                                        "10.0.0.1",
                                        "10.0.0.2")))
                        .toArray(Host[]::new));
    }

    private static Verified verified(ZoneRecords zone, Verdict one, Verdict two) {
        return new Verified(zone, new TreeMap<>(Map.of("one", one, "two", two)));
    }

    private static Verdict lags(String host) {
        return new Verdict.Lags(List.of(new Verdict.Difference(host, "", "?", "this", "that", false)));
    }

    @Test
    void howManyQuestionsWereAskedIsNoNews() {
        Verified before = verified(zone(10, "a", "b"), WELL, WELL);
        Verified after = verified(zone(10, "a", "b"), new Verdict.Verified(400), WELL);
        assertThat(after.isNewsAfter(before)).isFalse();
        assertThat(after.hostsWithNewsAfter(before)).contains(Set.of());
    }

    @Test
    void aChangedHostConcernsItAlone() {
        Verified before = verified(zone(10, "a", "b", "c"), WELL, WELL);
        Verified after = verified(zone(20, "a", "b", "d"), WELL, WELL);
        assertThat(after.isNewsAfter(before)).isTrue();
        assertThat(after.hostsWithNewsAfter(before))
                .contains(Set.of("a.example.org", "c.example.org", "d.example.org"));
    }

    @Test
    void aServerThatLagsConcernsTheHostsThatItLagsWith() {
        Verified before = verified(zone(10, "a", "b"), WELL, lags("a.example.org"));
        Verified after = verified(zone(10, "a", "b"), WELL, lags("b.example.org"));
        assertThat(after.isNewsAfter(before)).isTrue();
        assertThat(after.hostsWithNewsAfter(before)).contains(Set.of("a.example.org", "b.example.org"));
    }

    @Test
    void aServerThatFallsSilentConcernsAll() {
        Verified before = verified(zone(10, "a", "b"), WELL, WELL);
        Verified after = verified(zone(10, "a", "b"), WELL, new Verdict.Silent("no response"));
        assertThat(after.isNewsAfter(before)).isTrue();
        assertThat(after.hostsWithNewsAfter(before)).isEmpty();
        assertThat(before.hostsWithNewsAfter(after)).isEmpty();
    }
}
