package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

class CoreDnsIT {

    private static final String FIRST = "10.0.0.1";
    private static final String SECOND = "10.0.0.2";
    private static final Question HOST = Question.of("shop.example.org", Type.A);

    // The id's lowest digit of each byte is the slot; the clients of 127.0.0.2 have slots of their own.
    private static final String COREFILE = """
        shop.example.org {
          bind 127.0.0.1
          view near {
            expr incidr(client_ip(), '127.0.0.2/32')
          }
          template IN ANY {
            match ^shop[.]example[.]org[.]$
            answer "{{ $h := printf `%04x` .Message.Id }}{{ .Name }} 5 IN CNAME {{ slice $h 1 2 }}.{{ slice $h 3 4 }}.near._s.example.org."
            upstream
          }
        }
        shop.example.org {
          bind 127.0.0.1
          template IN ANY {
            match ^shop[.]example[.]org[.]$
            answer "{{ $h := printf `%04x` .Message.Id }}{{ .Name }} 5 IN CNAME {{ slice $h 1 2 }}.{{ slice $h 3 4 }}.all._s.example.org."
            upstream
          }
        }
        _s.example.org {
          bind 127.0.0.1
          file slots.db {
            reload 100ms
          }
        }
        """;

    /** A slot zone: of the 256 slots of the stream "all", the first so many have the first address; "near" has the second one only. */
    private static String slots(int serial, int first) {
        StringBuilder zone = new StringBuilder("""
            $ORIGIN _s.example.org.
            @ 5 IN SOA ns.example.org. hostmaster.example.org. %d 7200 1800 86400 5
            @ 5 IN NS ns.example.org.
            *.near 5 IN A 10.0.0.2
            """.formatted(serial));
        for (int slot = 0; slot < 256; slot++) {
            zone.append("%x.%x.all 5 IN A %s%n".formatted(slot >> 4, slot & 15, slot < first ? FIRST : SECOND));
        }
        return zone.toString();
    }

    private static void write(Path folder, String slots) throws IOException {
        Path written = Files.writeString(folder.resolve("slots.db.new"), slots);
        Files.move(written, folder.resolve("slots.db"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static CoreDns start(Path folder) throws IOException {
        Files.writeString(folder.resolve("Corefile"), COREFILE);
        write(folder, slots(1, 179));
        return CoreDns.start(folder);
    }

    @Test
    void showsEachSlotOnceToChosenIds(@TempDir Path folder) throws IOException {
        try (CoreDns coreDns = start(folder)) {
            Tally everyone = coreDns.server().slots(HOST);
            Tally near = coreDns.server().slots(HOST.from("127.0.0.2"));

            assertThat(everyone.counts()).isEqualTo(Map.of(FIRST, 179L, SECOND, 77L));
            assertThat(near.counts()).isEqualTo(Map.of(SECOND, 256L));
        }
    }

    @Test
    void drawsByRandomIds(@TempDir Path folder) throws IOException {
        Random random = new Random(1);
        try (CoreDns coreDns = start(folder)) {
            Tally drawn = coreDns.server().random(HOST, 2000, random, question -> question.withMixedCase(random));

            assertThat(drawn.total()).isEqualTo(2000);
            assertThat(drawn.pValue(Map.of(FIRST, 179, SECOND, 77))).isGreaterThan(0.001);
            assertThat(drawn.pValue(Map.of(FIRST, 60, SECOND, 40))).isLessThan(0.001);
        }
    }

    @Test
    void answersByUdpAndTcpWithAndWithoutEdns(@TempDir Path folder) throws IOException {
        Question fixed = HOST.withId(0xabcd);
        try (CoreDns coreDns = start(folder)) {
            Answer plain = coreDns.server().ask(fixed);
            Answer tcp = coreDns.server().ask(fixed.overTcp());
            Answer edns = coreDns.server().ask(fixed.withEdns());

            assertThat(plain.message().getHeader().getID()).isEqualTo(0xabcd);
            assertThat(plain.chain()).hasToString("[shop.example.org., b.d.all._s.example.org.]");
            assertThat(plain.addresses(Type.A)).containsExactly(SECOND);
            assertThat(tcp.addresses(Type.A)).containsExactly(SECOND);
            assertThat(edns.addresses(Type.A)).containsExactly(SECOND);
            assertThat(plain.message().getOPT()).isNull();
            assertThat(edns.message().getOPT()).isNotNull();
            assertThat(coreDns.server()
                            .ask(Question.of("shop.example.org", Type.AAAA))
                            .isNoData(Type.AAAA))
                    .isTrue();
        }
    }

    @Test
    void servesANewZoneFileWithoutARestart(@TempDir Path folder) throws IOException {
        try (CoreDns coreDns = start(folder)) {
            write(folder, slots(2, 0));

            await().atMost(Duration.ofSeconds(10))
                    .untilAsserted(() ->
                            assertThat(coreDns.server().slots(HOST).counts()).isEqualTo(Map.of(SECOND, 256L)));
        }
    }

    @Test
    void keepsItsPortOverARestart(@TempDir Path folder) throws IOException {
        try (CoreDns coreDns = start(folder)) {
            int port = coreDns.port();
            coreDns.stop();
            assertThat(coreDns.isAlive()).isFalse();
            assertThat(coreDns.server().answers(HOST.within(Duration.ofMillis(300))))
                    .isFalse();

            write(folder, slots(2, 256));
            coreDns.restart();

            assertThat(coreDns.port()).isEqualTo(port);
            assertThat(coreDns.server().slots(HOST).counts()).isEqualTo(Map.of(FIRST, 256L));
            assertThat(coreDns.residentKibibytes()).isBetween(5_000L, 500_000L);
            assertThat(coreDns.log()).contains("CoreDNS-");
        }
    }

    @Test
    void refusesTwoBlocksOfOneName(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("Corefile"), """
            a.example.org {
              bind 127.0.0.1
              whoami
            }
            a.example.org {
              bind 127.0.0.1
              whoami
            }
            """);

        assertThat(CoreDns.refusal(folder)).contains("already defined");
    }

    @Test
    void isNamedWithItsLogWhenItDoesNotStart(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("Corefile"), "example.org {\n  no-such-plugin\n}\n");

        assertThatThrownBy(() -> CoreDns.start(folder))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("CoreDNS ended with 1")
                .hasMessageContaining("no-such-plugin");
    }

    @Test
    void bearsDnsperf(@TempDir Path folder) throws IOException {
        DnsPerf dnsPerf = DnsPerf.orSkip();
        try (CoreDns coreDns = start(folder)) {
            DnsPerf.Result result = dnsPerf.run(
                    coreDns.port(), List.of("shop.example.org A", "shop.example.org AAAA"), Duration.ofSeconds(1));

            assertThat(result.completed()).isPositive().isLessThanOrEqualTo(result.sent());
            assertThat(result.queriesPerSecond()).isGreaterThan(100);
            assertThat(result.averageLatencySeconds()).isPositive().isLessThan(1);
        }
    }
}
