package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Answerer;
import dev.apportion.dns.wire.DnsServer;
import dev.apportion.dns.wire.PublishedZones;
import dev.apportion.reconcile.Plan;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code apportion verify} over the wire, of a server that answers as manifests are planned. */
class VerifyCommandTest {

    private static final Path QUICKSTART = Path.of("..", "examples", "quickstart", "quickstart.yaml");
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    private Path folder;

    private static DnsServer server(Path manifests) throws IOException, ManifestException {
        Plan plan = Plan.of(Manifests.read(List.of(manifests)), zone -> Optional.empty());
        return DnsServer.start(
                ANYWHERE,
                new Answerer(new Random(1)),
                PublishedZones.of(plan.records(Map.of()).values(), new Shards(8)));
    }

    private static String at(DnsServer server) {
        return "127.0.0.1:" + server.address().getPort();
    }

    @Test
    void aServerAndAResolverThatAnswerAsPlanned() throws IOException, ManifestException {
        try (DnsServer server = server(QUICKSTART)) {
            Run run = Run.of("verify", "-f", QUICKSTART.toString(), "--server", at(server), "--resolver", at(server));

            assertThat(run.err()).isEmpty();
            assertThat(run.out())
                    .contains("answers example.org as planned: 1 hosts, ")
                    .containsPattern(
                            "through 127.0.0.1:\\d+ clients get the planned shares of shop.example.org, stream ")
                    .containsPattern("(?m)^  192\\.0\\.2\\.10 +66\\.80% +[0-9.]+% +\\d+$");
            assertThat(run.code()).isZero();
        }
    }

    @Test
    void otherSharesAreFoundOut() throws IOException, ManifestException {
        Path other = Files.writeString(
                folder.resolve("other.yaml"),
                Files.readString(QUICKSTART).replace("rate: 120", "rate: 10").replace("capacity: 200", "capacity: 20"));
        try (DnsServer server = server(other)) {
            Run run = Run.of("verify", "-f", QUICKSTART.toString(), "--server", at(server), "--resolver", at(server));

            assertThat(run.code()).isEqualTo(1);
            assertThat(run.out())
                    .containsPattern("does not answer example.org as planned: \\d+ answers are others")
                    .contains(": planned 192.0.2.", "Maybe other manifests are published")
                    .containsPattern("through 127.0.0.1:\\d+ the shares of shop.example.org, stream \\S+ are others");
        }
    }

    @Test
    void silenceIsSaid() throws IOException {
        int port;
        try (DatagramSocket socket = new DatagramSocket()) {
            port = socket.getLocalPort();
        }
        Run run = Run.of("verify", "-f", QUICKSTART.toString(), "--server", "127.0.0.1:" + port);

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("127.0.0.1:" + port + " does not answer");
    }

    @Test
    void twoForBadOptions() {
        assertThat(Run.of("verify", "-f", QUICKSTART.toString()).code()).isEqualTo(2);
        assertThat(Run.of("verify", "-f", "nowhere", "--server", "127.0.0.1").err())
                .isEqualTo("nowhere: there is no such file\n");
    }
}
