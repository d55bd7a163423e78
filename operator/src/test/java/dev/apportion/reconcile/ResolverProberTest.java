package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Answerer;
import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.DnsServer;
import dev.apportion.dns.wire.Pace;
import dev.apportion.dns.wire.PublishedZones;
import dev.apportion.dns.wire.ShareJudgement;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.WeightProbe;
import dev.apportion.reconcile.ResolverProber.Answered;
import dev.apportion.reconcile.ResolverReport.Heard;
import dev.apportion.reconcile.ResolverReport.Through;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Real servers on the loopback interface take the part of resolvers. */
class ResolverProberTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Shards SHARDS = new Shards(8);
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Duration NEVER = Duration.ofHours(1);
    private static final int FAST = 10_000;

    private final Queue<List<Host>> told = new ConcurrentLinkedQueue<>();

    private ResolverProber prober(Duration interval, Duration grace, Duration forgetting) {
        return new ResolverProber(
                new WeightProbe(Asker.ofResolvers(Duration.ofMillis(300)), new Pace(FAST), new Random(7)),
                new ResolverProber.Timing(interval, grace, Duration.ZERO, forgetting),
                (zone, hosts) -> told.add(hosts));
    }

    private static ZoneRecords zone(int capacity, String... hosts) {
        List<String> documents = new ArrayList<>(
                List.of(Setting.ZONE.replace("coreDNS", "ttlSeconds: 1, coreDNS"), Setting.pool("shop", """
                    {name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: %d},
                    {name: b, address: 192.0.2.2, capacity: 100}]}\
                    """.formatted(
                                capacity))));
        for (String host : hosts) {
            documents.add(Setting.service(host, host + ".example.org"));
        }
        return Objects.requireNonNull(Setting.of(documents.toArray(String[]::new))
                .plan()
                .records(Map.of())
                .get(ZONE));
    }

    private static DnsServer server(ZoneRecords zone) throws IOException {
        return DnsServer.start(ANYWHERE, new Answerer(new Random(1)), zones(zone));
    }

    private static PublishedZones zones(ZoneRecords zone) {
        return PublishedZones.of(List.of(zone), SHARDS);
    }

    private static Through through(ResolverProber prober, DnsServer server) {
        return through(prober, server.address());
    }

    private static Through through(ResolverProber prober, InetSocketAddress resolver) {
        return Objects.requireNonNull(prober.report(ZONE).resolvers().get("127.0.0.1:" + resolver.getPort()));
    }

    private static boolean isFit(ResolverProber prober, DnsServer server, String host) {
        return isFit(prober, server.address(), host);
    }

    private static boolean isFit(ResolverProber prober, InetSocketAddress resolver, String host) {
        return through(prober, resolver).hosts().get(host + ".example.org")
                        instanceof Heard.Judged(var set, var verdict)
                && verdict instanceof ShareVerdict.Fit;
    }

    @Test
    void everyHostIsJudgedOnceAndToldOnce() throws IOException {
        ZoneRecords target = zone(400, "a", "b", "c");
        try (DnsServer server = server(target);
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);

            Patience.until(() -> told.size() == 3);
            for (String host : List.of("a", "b", "c")) {
                assertThat(isFit(prober, server, host)).isTrue();
            }
            assertThat(told).allSatisfy(hosts -> assertThat(hosts).hasSize(1));
        }
    }

    /** A resolver that only forwards, and counts. */
    private static final class Forwarder implements AutoCloseable {

        private final DatagramSocket socket;
        private final InetSocketAddress upstream;
        private final AtomicInteger questions = new AtomicInteger();

        Forwarder(InetSocketAddress upstream) throws IOException {
            this.socket = new DatagramSocket(ANYWHERE);
            this.upstream = upstream;
            Thread.ofVirtual().start(this::run);
        }

        InetSocketAddress address() {
            return new InetSocketAddress(socket.getLocalAddress(), socket.getLocalPort());
        }

        private void run() {
            try (DatagramSocket out = new DatagramSocket()) {
                while (true) {
                    DatagramPacket packet = new DatagramPacket(new byte[1500], 1500);
                    socket.receive(packet);
                    questions.incrementAndGet();
                    SocketAddress client = packet.getSocketAddress();
                    packet.setSocketAddress(upstream);
                    out.send(packet);
                    packet.setLength(1500);
                    out.receive(packet);
                    packet.setSocketAddress(client);
                    socket.send(packet);
                }
            } catch (IOException closed) {
                // the test is over
            }
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    @Test
    void noMoreIsAskedAboutAChangeThanAVerdictTakes() throws IOException {
        ZoneRecords target = zone(400, "a");
        try (DnsServer server = server(target);
                Forwarder resolver = new Forwarder(server.address());
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(resolver.address()), Answered.Everywhere);
            Patience.until(() -> told.size() == 1);
            int first = resolver.questions.get();
            assertThat(first % ShareJudgement.MOST_QUESTIONS).isZero();
            assertThat(first).isBetween(200, 1000);

            ZoneRecords next = zone(900, "a");
            server.serve(zones(next));
            prober.probe(ZONE, next, List.of(resolver.address()), Answered.Everywhere);
            Patience.until(() -> resolver.questions.get() >= first + 200);

            Patience.always(Duration.ofMillis(1500), () -> resolver.questions.get() <= first + 1000);
        }
    }

    /** Nearly all answers are alike, so that one round of them does not tell it from a cache. */
    @Test
    void whatOneRoundDoesNotTellIsAskedAgainAtOnceFiveTimesInAllAndToldOnce() throws IOException {
        ZoneRecords target = zone(25_500, "a");
        try (DnsServer server = server(target);
                Forwarder resolver = new Forwarder(server.address());
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(resolver.address()), Answered.Everywhere);
            Patience.until(() -> told.size() == 1);
            int asked = resolver.questions.get();
            assertThat(isFit(prober, resolver.address(), "a")).isTrue();
            assertThat(asked).isBetween(400, 1000);
            Patience.always(Duration.ofMillis(500), () -> resolver.questions.get() == asked && told.size() == 1);
        }
    }

    @Test
    void nothingIsAskedBeforeTheServersAnswerAsPublishedAndTheCachesHaveForgotten() throws IOException {
        ZoneRecords target = zone(400, "a");
        try (DnsServer server = server(target);
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO);
                ResolverProber patient = prober(NEVER, NEVER, NEVER)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.NotYet);
            patient.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);
            Patience.always(
                    Duration.ofMillis(500),
                    () -> through(prober, server).hosts().isEmpty()
                            && through(patient, server).hosts().isEmpty());

            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);

            Patience.until(() -> isFit(prober, server, "a"));
            assertThat(through(patient, server).hosts()).isEmpty();
        }
    }

    @Test
    void aChangeOfWeightsAloneIsNoNews() throws IOException {
        ZoneRecords target = zone(400, "a");
        ZoneRecords next = zone(900, "a");
        try (DnsServer server = server(target);
                ResolverProber prober = prober(Duration.ofMillis(100), NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);
            Patience.until(() -> isFit(prober, server, "a"));

            prober.probe(ZONE, next, List.of(server.address()), Answered.NotYet);
            Patience.always(Duration.ofMillis(200), () -> isFit(prober, server, "a"));
            server.serve(zones(next));
            prober.probe(ZONE, next, List.of(server.address()), Answered.Everywhere);

            Patience.always(Duration.ofMillis(500), () -> isFit(prober, server, "a"));
            assertThat(told).hasSize(1);
        }
    }

    @Test
    void otherSharesThanPublishedAreSaid() throws IOException {
        ZoneRecords target = zone(900, "a");
        try (DnsServer server = server(zone(100, "a"));
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);

            Patience.until(() ->
                    through(prober, server).hosts().get("a.example.org") instanceof Heard.Judged(var set, var verdict)
                            && verdict instanceof ShareVerdict.Even);
        }
    }

    @Test
    void aResolverThatDoesNotKnowTheZoneIsSaid() throws IOException {
        ZoneRecords target = zone(900, "a");
        try (DnsServer server = server(target.withHosts(List.of()));
                ResolverProber prober = prober(Duration.ofMillis(50), NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);
            Patience.until(() -> through(prober, server).hosts().get("a.example.org")
                            instanceof Heard.Unresolved(String question, String answer)
                    && answer.equals("NXDOMAIN"));

            server.serve(zones(target));

            Patience.until(() -> isFit(prober, server, "a"));
        }
    }

    @Test
    void aResolverThatStopsAnsweringIsSaidAfterTheGraceAndForgivenWhenItIsBack() throws IOException {
        ZoneRecords target = zone(900, "a");
        InetSocketAddress address;
        try (ResolverProber prober = prober(Duration.ofMillis(50), Duration.ofMillis(200), Duration.ZERO)) {
            try (DnsServer server = server(target)) {
                address = server.address();
                prober.probe(ZONE, target, List.of(address), Answered.Everywhere);
                Patience.until(() -> isFit(prober, server, "a"));
            }
            Patience.until(() -> prober.report(ZONE).resolvers().values().stream()
                    .allMatch(through -> through.silence().isPresent()));
            try (DnsServer server = DnsServer.start(address, new Answerer(new Random(1)), zones(target))) {
                Patience.until(() -> through(prober, server).silence().isEmpty() && isFit(prober, server, "a"));
            }
        }
    }

    @Test
    void hostsAndResolversThatAreGoneAreForgotten() throws IOException {
        ZoneRecords target = zone(400, "a", "b");
        try (DnsServer server = server(target);
                ResolverProber prober = prober(NEVER, NEVER, Duration.ZERO)) {
            prober.probe(ZONE, target, List.of(server.address()), Answered.Everywhere);
            Patience.until(() -> told.size() == 2);

            prober.probe(ZONE, zone(400, "b"), List.of(server.address()), Answered.Everywhere);
            Patience.until(() -> through(prober, server).hosts().keySet().equals(Set.of("b.example.org")));

            prober.probe(ZONE, zone(400, "b"), List.of(), Answered.Everywhere);
            assertThat(prober.report(ZONE)).isEqualTo(ResolverReport.NONE);
        }
    }
}
