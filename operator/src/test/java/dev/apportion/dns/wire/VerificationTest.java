package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Serial;
import dev.apportion.dns.ServedNames;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Name;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/** Servers are asked over the wire and judged. */
class VerificationTest {

    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Asker ASKER = new Asker(Duration.ofSeconds(2));

    static Stream<String> cases() {
        return Corpus.zones().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void aServerThatAnswersTheZoneIsVerified(String name) throws IOException {
        ZoneRecords zone = Objects.requireNonNull(Corpus.zones().get(name));
        try (DnsServer server = server(zone)) {
            Verification verification = Verification.of(zone, Map.of(), hosts(zone), 0, 0);

            assertThat(verification.ask(ASKER, server.address()))
                    .isEqualTo(new Verdict.Verified(verification.questions().size()));
        }
    }

    /** One slot of 256 more or less is seen: no share may be wrong by the least step. */
    @ParameterizedTest
    @ValueSource(ints = {1, 17, 128, 177, 178, 180, 254})
    void anyOtherShareIsSeen(int weight) throws IOException {
        ZoneRecords desired = two(179);
        try (DnsServer server = server(two(weight))) {
            assertThat(Verification.of(desired, Map.of(), hosts(desired), 0, 0).ask(ASKER, server.address()))
                    .isInstanceOfSatisfying(
                            Verdict.Lags.class,
                            lags -> assertThat(lags.differences()).first().satisfies(difference -> {
                                assertThat(difference.host()).isEqualTo("shop.example.org");
                                assertThat(difference.stream()).isEqualTo("shop");
                                assertThat(List.of(difference.expected(), difference.observed()))
                                        .containsExactlyInAnyOrder("10.0.0.1", "10.0.0.2");
                            }));
            server.serve(PublishedZones.of(List.of(desired), Corpus.SHARDS));
            assertThat(Verification.of(desired, Map.of(), hosts(desired), 0, 0).ask(ASKER, server.address()))
                    .isInstanceOf(Verdict.Verified.class);
        }
    }

    @Test
    void everyStreamOfAHostIsJudged() throws IOException {
        ZoneRecords desired = Objects.requireNonNull(Corpus.zones().get("list-views"));
        Host host = desired.hosts().getFirst();
        for (HostStream wrong : host.streams()) {
            List<HostStream> streams = new ArrayList<>(host.streams());
            streams.remove(wrong);
            streams.add(new HostStream(wrong.label(), wrong.stream(), wrong.clients(), List.of()));
            ZoneRecords served = desired.withHosts(List.of(new Host(host.name(), host.owner(), 15, streams)));
            try (DnsServer server = server(served)) {
                assertThat(Verification.of(desired, Map.of(), hosts(desired), 0, 0)
                                .ask(ASKER, server.address()))
                        .isInstanceOfSatisfying(
                                Verdict.Lags.class,
                                lags -> assertThat(lags.differences())
                                        .allSatisfy(difference -> {
                                            assertThat(difference.stream()).isEqualTo(wrong.label());
                                            assertThat(difference.observed()).isEqualTo("no address");
                                        })
                                        .isNotEmpty());
            }
        }
    }

    @Test
    void aHostThatIsGoneMustHaveNoAddress() throws IOException {
        ZoneRecords before = two(179);
        ZoneRecords desired = before.withHosts(List.of());
        try (DnsServer server = server(before)) {
            Verification verification = Verification.of(desired, Map.of(), Set.of("shop.example.org"), 0, 0);

            assertThat(verification.ask(ASKER, server.address())).isInstanceOf(Verdict.Lags.class);
            server.serve(PublishedZones.of(List.of(desired), Corpus.SHARDS));
            assertThat(verification.ask(ASKER, server.address())).isInstanceOf(Verdict.Verified.class);
        }
    }

    @Test
    void aServerWithAnOlderFileOfOneShardLagsWhicheverHostsAreAsked() throws IOException {
        ZoneRecords zone = two(179);
        String slots = ServedNames.slotZone(zone.domain(), Corpus.SHARDS.of("shop.example.org"));
        Map<String, Serial> serials = Map.of(zone.domain(), new Serial(7), slots, new Serial(9));
        try (DnsServer server = server(zone)) {
            server.serve(PublishedZones.of(
                    List.of(zone),
                    Corpus.SHARDS,
                    Map.of(
                            "example.org/" + Corpus.SHARDS.of("example.org"), new Serial(7),
                            "example.org/" + Corpus.SHARDS.of("shop.example.org"), new Serial(8))));
            assertThat(Verification.of(zone, serials, Set.of(), 0, 0).ask(ASKER, server.address()))
                    .isInstanceOfSatisfying(
                            Verdict.Lags.class,
                            lags -> assertThat(lags.differences())
                                    .containsExactly(new Verdict.Difference(
                                            "example.org",
                                            "",
                                            slots + " SOA id 0",
                                            "the serial 9",
                                            "the serial 8",
                                            true))
                                    .satisfies(differences ->
                                            assertThat(lags.hasEveryFile()).isFalse()));

            server.serve(PublishedZones.of(
                    List.of(zone),
                    Corpus.SHARDS,
                    Map.of(
                            "example.org/" + Corpus.SHARDS.of("example.org"), new Serial(7),
                            "example.org/" + Corpus.SHARDS.of("shop.example.org"), new Serial(9))));
            assertThat(Verification.of(zone, serials, Set.of(), 0, 0).ask(ASKER, server.address()))
                    .isEqualTo(new Verdict.Verified(2));
        }
    }

    @Test
    void aServerThatRefusesLags() throws IOException {
        try (DnsServer server =
                DnsServer.start(ANYWHERE, new Answerer(new Random(1)), PublishedZones.of(List.of(), Corpus.SHARDS))) {
            assertThat(Verification.of(two(179), Map.of(), Set.of(), 0, 0).ask(ASKER, server.address()))
                    .isInstanceOfSatisfying(Verdict.Lags.class, lags -> {
                        assertThat(lags.hasEveryFile()).isTrue();
                        assertThat(lags.differences())
                                .singleElement()
                                .satisfies(difference ->
                                        assertThat(difference.observed()).isEqualTo("REFUSED"));
                    });
        }
    }

    @Test
    void aServerThatDoesNotAnswerIsSilent() throws IOException {
        try (DatagramSocket deaf = new DatagramSocket(ANYWHERE)) {
            Asker hasty = new Asker(Duration.ofMillis(50));
            InetSocketAddress address = new InetSocketAddress(deaf.getLocalAddress(), deaf.getLocalPort());

            assertThat(Verification.of(two(179), Map.of(), Set.of(), 5, 0).ask(hasty, address))
                    .isInstanceOfSatisfying(
                            Verdict.Silent.class,
                            silent -> assertThat(silent.reason()).contains("example.org SOA", "50 ms"));
        }
    }

    @Test
    void roundsGoThroughAllHosts() {
        ZoneRecords zone = Objects.requireNonNull(Corpus.zones().get("single-many"));
        Set<Name> asked = new HashSet<>();
        for (int round = 0; round < 5; round++) {
            List<Question> questions =
                    Verification.of(zone, Map.of(), Set.of(), 2, round).questions();
            asked.addAll(questions.stream().map(Question::name).toList());
            assertThat(questions).hasSizeLessThanOrEqualTo(1 + 2 * 5);
        }

        assertThat(asked).hasSize(1 + zone.hosts().size());
    }

    @Test
    void questionsAreBounded() {
        HostStream many = new HostStream(
                "many",
                "",
                List.of(),
                IntStream.range(0, 256)
                        .mapToObj(i -> new Answer(Corpus.address("10.0.0." + i), "r" + i, 16))
                        .toList());
        ZoneRecords zone = Corpus.zone(Answers.Single, Corpus.host("shop.example.org", many));

        List<Question> questions = Verification.of(zone, Map.of(), Set.of("shop.example.org"), 0, 0)
                .questions();

        assertThat(questions.stream().filter(question -> question.type() == Type.A))
                .hasSize(Verification.MOST_QUESTIONS)
                .doesNotHaveDuplicates();
    }

    @Test
    void aLongResponseComesByTcp() throws IOException {
        HostStream many = new HostStream(
                "many",
                "",
                List.of(),
                IntStream.range(0, 200)
                        .mapToObj(i -> new Answer(Corpus.address("10.0.0." + i), "r" + i, 1))
                        .toList());
        ZoneRecords zone = Corpus.zone(Answers.List, Corpus.host("shop.example.org", many));
        try (DnsServer server = server(zone)) {
            Reply reply = ASKER.ask(server.address(), new Question(Name.fromString("shop.example.org."), Type.A, 3));

            assertThat(reply)
                    .isInstanceOfSatisfying(
                            Reply.Answered.class,
                            answered -> assertThat(answered.message().getSection(Section.ANSWER))
                                    .hasSize(201));
            assertThat(Verification.of(zone, Map.of(), hosts(zone), 0, 0).ask(ASKER, server.address()))
                    .isInstanceOf(Verdict.Verified.class);
        }
    }

    @Test
    void manyAskAtOnce() throws IOException, InterruptedException {
        ZoneRecords zone = two(179);
        try (DnsServer server = server(zone)) {
            List<Verdict> verdicts = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                threads.add(Thread.ofVirtual()
                        .start(() -> verdicts.add(Verification.of(zone, Map.of(), hosts(zone), 0, 0)
                                .ask(ASKER, server.address()))));
            }
            for (Thread thread : threads) {
                thread.join();
            }

            assertThat(verdicts).hasSize(50).allMatch(verdict -> verdict instanceof Verdict.Verified);
        }
    }

    private static ZoneRecords two(int weight) {
        return Corpus.zone(
                Answers.Single,
                Corpus.host(
                        "shop.example.org",
                        Corpus.stream("shop", new int[] {weight, 256 - weight}, "10.0.0.1", "10.0.0.2")));
    }

    private static Set<String> hosts(ZoneRecords zone) {
        return zone.hosts().stream().map(Host::name).collect(Collectors.toSet());
    }

    private static DnsServer server(ZoneRecords zone) throws IOException {
        return DnsServer.start(ANYWHERE, new Answerer(new Random(1)), PublishedZones.of(List.of(zone), Corpus.SHARDS));
    }
}
