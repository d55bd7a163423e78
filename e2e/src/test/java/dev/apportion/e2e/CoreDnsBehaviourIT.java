package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.Tally;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/** What CoreDNS does that the configuration written for it rests on; another version of CoreDNS has to pass this first. */
class CoreDnsBehaviourIT {

    @TempDir
    Path folder;

    private CoreDns start(String corefile) throws IOException {
        Files.writeString(folder.resolve("Corefile"), corefile);
        return CoreDns.start(folder);
    }

    private void zone(String origin, String records) throws IOException {
        String head = """
            $ORIGIN %s
            @ 5 IN SOA ns.example.org. hostmaster.example.org. 1 7200 1800 86400 5
            @ 5 IN NS ns.example.org.
            """.formatted(origin);
        Files.writeString(folder.resolve("zone.db"), head + records);
    }

    /** "10.0.0.1", or "NODATA", or the response code. */
    private static String outcome(DnsServer server, String name, int type) {
        return server.tally(Question.of(name, type), IntStream.of(1)).counts().firstKey();
    }

    @Test
    void answersWildcardsAtAnyDepthFromTheClosestOne() throws IOException {
        zone("_s.example.org.", """
            *.a 5 IN A 10.0.0.1
            *.b 5 IN A 10.0.0.2
            *.3.b 5 IN A 10.0.0.3
            """);
        try (CoreDns coreDns = start("_s.example.org {\n  bind 127.0.0.1\n  file zone.db\n}\n")) {
            DnsServer server = coreDns.server();

            assertThat(outcome(server, "7.9.5.a._s.example.org", Type.A)).isEqualTo("10.0.0.1");
            assertThat(outcome(server, "7.9.3.b._s.example.org", Type.A)).isEqualTo("10.0.0.3");
            assertThat(outcome(server, "7.9.4.b._s.example.org", Type.A)).isEqualTo("10.0.0.2");
            assertThat(outcome(server, "7.9.c._s.example.org", Type.A)).isEqualTo("NXDOMAIN");
        }
    }

    @Test
    void hidesTheOuterWildcardWhollyByACloserOneOrAName() throws IOException {
        zone("_s.example.org.", """
            *.c 5 IN A 10.0.0.4
            *.5.c 5 IN AAAA 2001:db8::5
            *.e 5 IN A 10.0.0.8
            0.e 5 IN A 10.0.0.7
            """);
        try (CoreDns coreDns = start("_s.example.org {\n  bind 127.0.0.1\n  file zone.db\n}\n")) {
            DnsServer server = coreDns.server();

            assertThat(outcome(server, "7.5.c._s.example.org", Type.A)).isEqualTo("NODATA");
            assertThat(outcome(server, "7.4.c._s.example.org", Type.AAAA)).isEqualTo("NODATA");
            assertThat(outcome(server, "1.e._s.example.org", Type.A)).isEqualTo("10.0.0.8");
            assertThat(outcome(server, "0.e._s.example.org", Type.A)).isEqualTo("10.0.0.7");
            assertThat(outcome(server, "7.0.e._s.example.org", Type.A)).isEqualTo("NXDOMAIN");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "_s.example.org,      A, NODATA",
        "_s.example.org,     DS, NODATA",
        "b.shop.example.org,  A, NODATA",
        "shop.example.org,   DS, NODATA",
        "x._s.example.org,    A, NXDOMAIN"
    })
    void hasNoDataForANameThatOnlyHasNamesBelow(String name, String type, String outcome) throws IOException {
        zone("example.org.", "_._s 5 IN TXT x\n*.3.b.shop 5 IN A 10.0.0.1\n");
        try (CoreDns coreDns = start("example.org {\n  bind 127.0.0.1\n  file zone.db\n}\n")) {
            assertThat(outcome(coreDns.server(), name, Type.value(type))).isEqualTo(outcome);
        }
    }

    @Test
    void drawsTheApexAddressByAComparisonOfDigitsOfTheId() throws IOException {
        zone("example.org.", "@ 5 IN MX 10 mail\nmail 5 IN A 10.0.0.9\n");
        try (CoreDns coreDns = start("""
            example.org {
              bind 127.0.0.1
              template IN A {
                match ^example[.]org[.]$
                answer "{{ $h := printf `%04x` .Message.Id }}{{ $s := printf `%s%s%s%s` (slice $h 3 4) (slice $h 1 2) (slice $h 2 3) (slice $h 0 1) }}{{ .Name }} 5 IN A {{ if lt $s `b3` }}10.0.0.1{{ else }}10.0.0.2{{ end }}"
                fallthrough
              }
              file zone.db
            }
            """)) {
            DnsServer server = coreDns.server();
            Question apex = Question.of("example.org", Type.A);

            assertThat(server.slots(apex).counts()).isEqualTo(Map.of("10.0.0.1", 179L, "10.0.0.2", 77L));
            // digit 3 and then digit 1 of the id decide; b3 is the first slot of the second address
            assertThat(server.tally(apex, IntStream.of(0x020b)).counts()).containsOnlyKeys("10.0.0.1");
            assertThat(server.tally(apex, IntStream.of(0x030b)).counts()).containsOnlyKeys("10.0.0.2");
            assertThat(server.ask(Question.of("example.org", Type.MX)).records())
                    .hasSize(1);
            assertThat(server.ask(Question.of("example.org", Type.SOA)).records())
                    .hasSize(1);
            assertThat(outcome(server, "example.org", Type.AAAA)).isEqualTo("NODATA");
            assertThat(outcome(server, "mail.example.org", Type.A)).isEqualTo("10.0.0.9");
            assertThat(outcome(server, "none.example.org", Type.A)).isEqualTo("NXDOMAIN");
        }
    }

    @Test
    void drawsTheFirstAddressByWeightBehindATemplatesCname() throws IOException {
        zone("_s.example.org.", "shop 5 IN A 10.0.0.1\nshop 5 IN A 10.0.0.2\nshop 5 IN A 10.0.0.3\n");
        Files.writeString(folder.resolve("weights"), "shop._s.example.org\n10.0.0.1 6\n10.0.0.2 3\n10.0.0.3 1\n");
        try (CoreDns coreDns = start("""
            shop.example.org {
              bind 127.0.0.1
              template IN ANY {
                answer "{{ .Name }} 5 IN CNAME shop._s.example.org."
                upstream
              }
            }
            _s.example.org {
              bind 127.0.0.1
              loadbalance weighted weights
              file zone.db
            }
            """)) {
            Question host = Question.of("shop.example.org", Type.A);

            Tally firsts = coreDns.server().random(host, 2000, new Random(1));
            Answer answer = coreDns.server().ask(host);

            assertThat(firsts.pValue(Map.of("10.0.0.1", 6, "10.0.0.2", 3, "10.0.0.3", 1)))
                    .isGreaterThan(1e-6);
            assertThat(answer.addresses(Type.A)).containsExactlyInAnyOrder("10.0.0.1", "10.0.0.2", "10.0.0.3");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"AAAA", "CAA", "HTTPS", "TXT", "MX", "ANY", "SOA"})
    void givesTheCnameOfATemplateToEveryTypeButDs(String type) throws IOException {
        zone("example.org.", "_.shop 5 IN TXT x\n*.shop._s 5 IN A 10.0.0.1\n");
        try (CoreDns coreDns = start("""
            shop.example.org {
              bind 127.0.0.1
              template IN ANY {
                match ^shop[.]example[.]org[.]$
                answer "{{ .Name }} 5 IN CNAME 1.shop._s.example.org."
                upstream
                fallthrough
              }
              template IN ANY {
                rcode NXDOMAIN
                authority "example.org. 5 IN SOA ns.example.org. hostmaster.example.org. 1 7200 1800 86400 5"
              }
            }
            example.org {
              bind 127.0.0.1
              file zone.db
            }
            """)) {
            DnsServer server = coreDns.server();

            Answer answer = server.ask(Question.of("shop.example.org", Type.value(type)));
            Answer ds = server.ask(Question.of("shop.example.org", Type.DS));

            assertThat(answer.rcode()).isEqualTo("NOERROR");
            assertThat(answer.records())
                    .singleElement()
                    .satisfies(record -> assertThat(record.getType()).isEqualTo(Type.CNAME));
            // A DS record stands in the parent's zone (RFC 4035), and that is asked.
            assertThat(ds.rcode()).isEqualTo("NOERROR");
            assertThat(ds.records()).isEmpty();
            assertThat(ds.message().getSection(Section.AUTHORITY))
                    .singleElement()
                    .satisfies(record -> assertThat(record.getType()).isEqualTo(Type.SOA));
            assertThat(outcome(server, "below.shop.example.org", Type.value(type)))
                    .isEqualTo("NXDOMAIN");
        }
    }

    @Test
    void choosesAViewByTheNameInLowerCaseOrElseByTheClient() throws IOException {
        try (CoreDns coreDns = start("""
            shop.example.org {
              bind 127.0.0.1
              view near {
                expr name() matches '^[a-z0-9]+[.]_p[.]' ? name() startsWith 'near.' : incidr(client_ip(), '127.0.0.2/32')
              }
              template IN A {
                answer "{{ .Name }} 5 IN A 10.0.0.1"
              }
            }
            shop.example.org {
              bind 127.0.0.1
              template IN A {
                answer "{{ .Name }} 5 IN A 10.0.0.2"
              }
            }
            """)) {
            DnsServer server = coreDns.server();
            Question host = Question.of("SHOP.Example.org", Type.A);
            Question probe = Question.of("NEAR._p.Shop.example.org", Type.A);
            Question otherProbe = Question.of("far._p.shop.example.org", Type.A);

            assertThat(server.ask(host).addresses(Type.A)).containsExactly("10.0.0.2");
            assertThat(server.ask(host.from("127.0.0.2")).addresses(Type.A)).containsExactly("10.0.0.1");
            assertThat(server.ask(probe).addresses(Type.A)).containsExactly("10.0.0.1");
            assertThat(server.ask(otherProbe.from("127.0.0.2")).addresses(Type.A))
                    .containsExactly("10.0.0.2");
            assertThat(server.ask(probe).chain()).hasToString("[NEAR._p.Shop.example.org.]");
        }
    }

    @Test
    void refusesABackslashThatIsNotDoubledInAView() throws IOException {
        Files.writeString(folder.resolve("Corefile"), """
            shop.example.org {
              bind 127.0.0.1
              view near {
                expr name() matches '^near\\.'
              }
              whoami
            }
            """);

        assertThat(CoreDns.refusal(folder)).contains("invalid char escape");
    }

    @ParameterizedTest
    @ValueSource(strings = {"reload 2s 0s", "reload 2s 1s"})
    void servesAnImportedFileThatIsNewOrChanged(String reload) throws IOException {
        Path imported = Files.createDirectories(folder.resolve("conf"));
        write(imported.resolve("a.conf"), "a.example.org", "10.0.0.1");
        try (CoreDns coreDns = start("""
            import conf/*.conf
            other.example.org {
              bind 127.0.0.1
              %s
              whoami
            }
            """.formatted(reload))) {
            assertThat(outcome(coreDns.server(), "a.example.org", Type.A)).isEqualTo("10.0.0.1");

            write(imported.resolve("a.conf"), "a.example.org", "10.0.0.2");
            write(imported.resolve("b.conf"), "b.example.org", "10.0.0.3");

            await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
                assertThat(outcome(coreDns.server(), "a.example.org", Type.A)).isEqualTo("10.0.0.2");
                assertThat(outcome(coreDns.server(), "b.example.org", Type.A)).isEqualTo("10.0.0.3");
            });
        }
    }

    @Test
    void refusesAReloadFasterThanTwoSeconds() throws IOException {
        Files.writeString(folder.resolve("Corefile"), "example.org {\n  bind 127.0.0.1\n  reload 1s 0s\n  whoami\n}\n");

        assertThat(CoreDns.refusal(folder)).contains("greater or equal to 2s");
    }

    private static void write(Path file, String name, String address) throws IOException {
        List<String> block = List.of(
                name + " {",
                "  bind 127.0.0.1",
                "  template IN A {",
                "    answer \"{{ .Name }} 5 IN A " + address + "\"",
                "  }",
                "}");
        Path written = Files.write(file.resolveSibling("." + file.getFileName() + ".new"), block);
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void loadsAConfigurationAgainWhenItsLinesMoveAndNotWhenTheWordsOfAComment()
            throws IOException, InterruptedException {
        Path imported = folder.resolve("imported.conf");
        String block = "a.example.org {\n  bind 127.0.0.1\n  whoami\n}\n";
        Files.writeString(imported, "# one\n" + block);
        try (CoreDns coreDns = start(". {\n  bind 127.0.0.1\n  reload 2s 0s\n}\nimport " + imported + "\n")) {
            Files.writeString(imported, "# two\n" + block);
            Thread.sleep(Duration.ofSeconds(5));
            assertThat(coreDns.log()).doesNotContain("Reloading");

            Files.writeString(imported, "# two\n#\n" + block);
            await().atMost(Duration.ofSeconds(10))
                    .untilAsserted(() -> assertThat(coreDns.log()).contains("Reloading complete"));
        }
    }
}
