package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.BaseCorefile;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.e2e.bed.Bind;
import dev.apportion.e2e.bed.ClusterDns;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.Tally;
import dev.apportion.e2e.bed.Unbound;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddressString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/**
 * What common resolvers make of weighted answers, which the judgement of weights rests on: of many new names, of each of these asked
 * again, and of one name for as long as it is cached.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResolverBehaviourIT {

    private static final int NAMES = 300;
    private static final Map<String, Integer> WEIGHTS = Map.of("192.0.2.1", 205, "192.0.2.2", 51);
    private static final Map<String, Integer> EQUAL = Map.of("192.0.2.1", 1, "192.0.2.2", 1);

    /** The probability below which counts do not belong to weights. */
    private static final double UNLIKELY = 1e-6;

    private final SplittableRandom random = new SplittableRandom(1);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private CoreDns authoritative;

    @BeforeAll
    void start(@TempDir Path temporary) throws IOException {
        folder = temporary;
        Path files = newFolder("authoritative");
        new DirectoryPublisher(files)
                .publish(
                        List.of(zone(Answers.Single, "single.example"), zone(Answers.List, "list.example")),
                        new Shards(2));
        Files.writeString(
                files.resolve("Corefile"),
                new BaseCorefile(files.toString(), OptionalInt.empty(), OptionalInt.empty()).text());
        authoritative = CoreDns.start(files);
    }

    @AfterAll
    void stop() throws IOException {
        authoritative.close();
    }

    private Path newFolder(String name) throws IOException {
        return Files.createDirectory(folder.resolve(name));
    }

    private static ZoneRecords zone(Answers answers, String domain) {
        List<Answer> rows = List.of(
                new Answer(new IPAddressString("192.0.2.1").getAddress(), "a", 205),
                new Answer(new IPAddressString("192.0.2.2").getAddress(), "b", 51));
        return new ZoneRecords(
                domain,
                "dns/" + domain,
                answers,
                15,
                5,
                List.of(new NameServer("ns." + domain, List.of())),
                List.of(),
                List.of(new Host("www." + domain, "web/www", 15, List.of(new HostStream("www", "", List.of(), rows)))));
    }

    /** How often each address came first. */
    private record Seen(Tally news, Tally again, int agreed, Tally oneName) {

        /** Clients get the weights, whatever they ask and how often. */
        void isDrawnAnew() {
            assertThat(news.pValue(WEIGHTS)).as("new names: %s", news.counts()).isGreaterThan(UNLIKELY);
            assertThat(again.pValue(WEIGHTS)).as("again: %s", again.counts()).isGreaterThan(UNLIKELY);
            assertThat(oneName.pValue(WEIGHTS))
                    .as("one name: %s", oneName.counts())
                    .isGreaterThan(UNLIKELY);
            assertThat(agreed).as("of %d", NAMES).isBetween(NAMES / 2, NAMES * 4 / 5);
        }

        /** Every name is drawn by weight, and then stays as it is. */
        void isPinned() {
            assertThat(news.pValue(WEIGHTS)).as("new names: %s", news.counts()).isGreaterThan(UNLIKELY);
            assertThat(agreed).isEqualTo(NAMES);
            assertThat(oneName.counts()).hasSize(1);
        }

        /** Weights are lost. */
        void isShuffled() {
            for (Tally tally : List.of(news, again, oneName)) {
                assertThat(tally.pValue(EQUAL)).as("%s", tally.counts()).isGreaterThan(UNLIKELY);
                assertThat(tally.pValue(WEIGHTS)).as("%s", tally.counts()).isLessThan(UNLIKELY);
            }
        }
    }

    private Seen ask(DnsServer resolver, String domain) {
        List<Outcome> outcomes = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            Question question = Question.of("x%08x.www._p.www.%s".formatted(random.nextInt(), domain), Type.A);
            outcomes.add(new Outcome(resolver.ask(question), resolver.ask(question)));
        }
        return new Seen(
                Tally.of(outcomes.stream().map(Outcome::first), Type.A),
                Tally.of(outcomes.stream().map(Outcome::second), Type.A),
                (int) outcomes.stream().filter(Outcome::isAgreed).count(),
                resolver.random(Question.of("www." + domain, Type.A), NAMES, random));
    }

    private record Outcome(dev.apportion.e2e.bed.Answer first, dev.apportion.e2e.bed.Answer second) {

        boolean isAgreed() {
            return first.addresses(Type.A)
                    .getFirst()
                    .equals(second.addresses(Type.A).getFirst());
        }
    }

    @Test
    void theServerItselfDrawsEachAnswer() {
        ask(authoritative.server(), "single.example").isDrawnAnew();
        ask(authoritative.server(), "list.example").isDrawnAnew();
    }

    @Test
    void theClustersCacheAsKubeadmSetsItUpPinsSingleAndShufflesList() throws IOException {
        try (CoreDns resolver = ClusterDns.caching(newFolder("caching"), authoritative.port())) {
            ask(resolver.server(), "single.example").isPinned();
            ask(resolver.server(), "list.example").isShuffled();
        }
    }

    @Test
    void theClustersServerHonoursBothWhereItForwardsTheDomainWithoutACache() throws IOException {
        try (CoreDns resolver = ClusterDns.forwarding(newFolder("forwarding"), "example", authoritative.port())) {
            ask(resolver.server(), "single.example").isDrawnAnew();
            ask(resolver.server(), "list.example").isDrawnAnew();
        }
    }

    @Test
    void aCacheOnTheNodePinsBoth() throws IOException {
        try (CoreDns resolver = ClusterDns.onTheNode(newFolder("node"), authoritative.port())) {
            ask(resolver.server(), "single.example").isPinned();
            ask(resolver.server(), "list.example").isPinned();
        }
    }

    @Test
    void unboundPinsSingleAndShufflesList() throws IOException {
        try (Unbound resolver = Unbound.forwarding("single.example", authoritative.port())) {
            ask(resolver.server(), "single.example").isPinned();
        }
        try (Unbound resolver = Unbound.forwarding("list.example", authoritative.port())) {
            ask(resolver.server(), "list.example").isShuffled();
        }
    }

    @Test
    void unboundWithoutACacheForTheDomainHonoursSingleAndShufflesList() throws IOException {
        try (Unbound resolver = Unbound.forwardingUncached("single.example", authoritative.port())) {
            ask(resolver.server(), "single.example").isDrawnAnew();
        }
        try (Unbound resolver = Unbound.forwardingUncached("list.example", authoritative.port())) {
            ask(resolver.server(), "list.example").isShuffled();
        }
    }

    @Test
    void bindPinsSingleAndShufflesList() throws IOException {
        try (Bind resolver = Bind.forwarding("single.example", authoritative.port())) {
            ask(resolver.server(), "single.example").isPinned();
        }
        try (Bind resolver = Bind.forwarding("list.example", authoritative.port())) {
            ask(resolver.server(), "list.example").isShuffled();
        }
    }
}
