package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Answerer;
import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.DnsServer;
import dev.apportion.dns.wire.PublishedZones;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Real servers on the loopback interface are asked. */
class VerifierTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Shards SHARDS = new Shards(8);
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Duration SOON = Duration.ofMillis(200);
    private static final Duration NEVER = Duration.ofHours(1);

    private final Queue<Ref> told = new ConcurrentLinkedQueue<>();

    private Verifier verifier(Duration interval, Duration grace) {
        return new Verifier(
                new Asker(Duration.ofMillis(500)),
                new Verifier.Timing(interval, grace, Duration.ZERO),
                (zone, hosts) -> told.add(zone),
                new Meters());
    }

    private static ZoneRecords zone(int capacity) {
        return Objects.requireNonNull(
                Setting.of(Setting.ZONE, pool(capacity), Setting.service("shop", "shop.example.org"))
                        .plan()
                        .records(Map.of())
                        .get(ZONE));
    }

    private static String pool(int capacity) {
        return Setting.pool("shop", """
            {name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: %d},
            {name: b, address: 192.0.2.2, capacity: 100}]}\
            """.formatted(capacity));
    }

    private static DnsServer server(InetSocketAddress address, ZoneRecords zone) throws IOException {
        return DnsServer.start(address, new Answerer(new Random(1)), PublishedZones.of(List.of(zone), SHARDS));
    }

    private static boolean isVerified(Verifier verifier) {
        return verifier.result(ZONE).filter(ZoneStanding.Verified::everywhere).isPresent();
    }

    @Test
    void aServerThatAnswersAsPublishedIsVerifiedAndItIsToldOnce() throws IOException {
        ZoneRecords target = zone(100);
        try (DnsServer server = server(ANYWHERE, target);
                Verifier verifier = verifier(SOON, NEVER)) {
            verifier.verify(ZONE, target, Map.of(), List.of(server.address()));

            Patience.until(() -> isVerified(verifier));
            assertThat(verifier.result(ZONE).orElseThrow().target()).isEqualTo(target);
            assertThat(verifier.result(ZONE).orElseThrow().servers())
                    .containsOnlyKeys("127.0.0.1:" + server.address().getPort());
            Patience.until(() -> !told.isEmpty());
            Patience.always(Duration.ofMillis(300), () -> told.size() == 1);
        }
    }

    @Test
    void aServerThatLagsIsAskedAgainUntilItAnswersAndNothingIsSaidMeanwhile() throws IOException {
        ZoneRecords target = zone(300);
        try (DnsServer server = server(ANYWHERE, zone(100));
                Verifier verifier = verifier(NEVER, NEVER)) {
            verifier.verify(ZONE, target, Map.of(), List.of(server.address()));
            Patience.always(Duration.ofMillis(300), () -> verifier.result(ZONE).isEmpty());

            server.serve(PublishedZones.of(List.of(target), SHARDS));

            Patience.until(() -> isVerified(verifier));
            assertThat(told).containsExactly(ZONE);
        }
    }

    @Test
    void aServerThatLagsLongerThanIsGrantedIsSaid() throws IOException {
        try (DnsServer server = server(ANYWHERE, zone(100));
                Verifier verifier = verifier(NEVER, Duration.ofMillis(100))) {
            verifier.verify(ZONE, zone(300), Map.of(), List.of(server.address()));

            Patience.until(() -> verifier.result(ZONE).isPresent());
            assertThat(verifier.result(ZONE).orElseThrow().servers().values())
                    .singleElement()
                    .isInstanceOf(Verdict.Lags.class);
        }
    }

    @Test
    void oneSilentServerOfTwoIsNamed() throws IOException {
        ZoneRecords target = zone(100);
        InetSocketAddress gone;
        try (DnsServer closed = server(ANYWHERE, target)) {
            gone = closed.address();
        }
        try (DnsServer server = server(ANYWHERE, target);
                Verifier verifier = verifier(NEVER, Duration.ZERO)) {
            verifier.verify(ZONE, target, Map.of(), List.of(server.address(), gone));

            Patience.until(() -> verifier.result(ZONE).isPresent());
            Map<String, Verdict> servers = verifier.result(ZONE).orElseThrow().servers();
            assertThat(servers).hasSize(2);
            assertThat(servers.get("127.0.0.1:" + gone.getPort())).isInstanceOf(Verdict.Silent.class);
            assertThat(servers.get("127.0.0.1:" + server.address().getPort())).isInstanceOf(Verdict.Verified.class);
        }
    }

    @Test
    void aServerThatIsAwayForLessThanIsGrantedWasNeverWrong() throws IOException {
        ZoneRecords target = zone(100);
        try (Verifier verifier = verifier(Duration.ofMillis(20), NEVER)) {
            InetSocketAddress address;
            try (DnsServer first = server(ANYWHERE, target)) {
                address = first.address();
                verifier.verify(ZONE, target, Map.of(), List.of(address));
                Patience.until(() -> isVerified(verifier));
            }
            Patience.always(Duration.ofMillis(300), () -> isVerified(verifier));
            assertThat(told).hasSize(1);
        }
    }

    @Test
    void aServerThatBreaksLaterIsSaidAfterTheGrace() throws IOException {
        ZoneRecords target = zone(100);
        try (DnsServer server = server(ANYWHERE, target);
                Verifier verifier = verifier(Duration.ofMillis(20), Duration.ofMillis(200))) {
            verifier.verify(ZONE, target, Map.of(), List.of(server.address()));
            Patience.until(() -> isVerified(verifier));

            server.serve(PublishedZones.of(List.of(zone(300)), SHARDS));

            Patience.until(() -> told.size() == 2);
            assertThat(isVerified(verifier)).isFalse();
        }
    }

    @Test
    void aChangeIsVerifiedAtOnceHoweverLongTheInterval() throws IOException {
        try (DnsServer server = server(ANYWHERE, zone(100));
                Verifier verifier = verifier(NEVER, NEVER)) {
            verifier.verify(ZONE, zone(100), Map.of(), List.of(server.address()));
            Patience.until(() -> isVerified(verifier));

            server.serve(PublishedZones.of(List.of(zone(300)), SHARDS));
            verifier.verify(ZONE, zone(300), Map.of(), List.of(server.address()));

            Patience.until(() -> verifier.result(ZONE).orElseThrow().target().equals(zone(300)));
            assertThat(isVerified(verifier)).isTrue();
        }
    }

    /** Forty hosts are more than one round's sample, and the one that is wrong is not in that of the second round. */
    @Test
    void aServerThatComesLaterIsAskedAboutEverything() throws IOException {
        ZoneRecords right = many(40, 300);
        List<Host> hosts = new ArrayList<>(right.hosts());
        hosts.set(28, many(40, 100).hosts().get(28));
        ZoneRecords wrong = right.withHosts(hosts);
        try (DnsServer first = server(ANYWHERE, right);
                DnsServer second = server(ANYWHERE, wrong);
                Verifier verifier = verifier(NEVER, Duration.ZERO)) {
            verifier.verify(ZONE, right, Map.of(), List.of(first.address()));
            Patience.until(() -> isVerified(verifier));

            verifier.verify(ZONE, right, Map.of(), List.of(first.address(), second.address()));

            Patience.until(() -> verifier.result(ZONE).orElseThrow().servers().size() == 2);
            Map<String, Verdict> servers = verifier.result(ZONE).orElseThrow().servers();
            assertThat(servers.get("127.0.0.1:" + second.address().getPort())).isInstanceOf(Verdict.Lags.class);
            assertThat(servers.get("127.0.0.1:" + first.address().getPort())).isInstanceOf(Verdict.Verified.class);
        }
    }

    private static ZoneRecords many(int hosts, int capacity) {
        List<String> documents = new ArrayList<>(List.of(Setting.ZONE, pool(capacity)));
        for (int i = 0; i < hosts; i++) {
            documents.add(Setting.service("h" + (10 + i), "h%d.example.org".formatted(10 + i)));
        }
        return Objects.requireNonNull(Setting.of(documents.toArray(String[]::new))
                .plan()
                .records(Map.of())
                .get(ZONE));
    }

    @Test
    void aZoneThatIsForgottenOrHasNoServersHasNoResult() throws IOException {
        ZoneRecords target = zone(100);
        try (DnsServer server = server(ANYWHERE, target);
                Verifier verifier = verifier(SOON, NEVER)) {
            verifier.verify(ZONE, target, Map.of(), List.of(server.address()));
            Patience.until(() -> isVerified(verifier));

            verifier.verify(ZONE, target, Map.of(), List.of());

            assertThat(verifier.result(ZONE)).isEmpty();
        }
    }
}
