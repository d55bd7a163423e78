package dev.apportion.dns.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answers;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

class AnswererTest {

    private static final InetAddress LOCAL = InetAddress.getLoopbackAddress();

    private final Answerer answerer = new Answerer(new Random(1));

    @Test
    void chosenIdsShowTheSharesExactly() throws IOException {
        PublishedZones zones = zones("single");
        List<String> addresses = new ArrayList<>();
        for (int slot = 0; slot < 256; slot++) {
            addresses.add(address(ask("shop.example.org", Type.A, Slots.idOf(slot << 8), LOCAL, zones)));
        }

        assertThat(Collections.frequency(addresses, "10.0.0.1")).isEqualTo(179);
        assertThat(Collections.frequency(addresses, "10.0.0.2")).isEqualTo(77);
    }

    @Test
    void theFirstOfSeveralAddressesIsDrawnByWeight() throws IOException {
        PublishedZones zones = zones("list");
        List<String> first = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            Message response = ask("shop.example.org", Type.A, i, LOCAL, zones);
            assertThat(response.getSection(Section.ANSWER)).hasSize(3);
            first.add(response.getSection(Section.ANSWER).get(1).rdataToString());
        }

        assertThat(Collections.frequency(first, "10.0.0.1") / 4000.0).isBetween(179 / 256.0 - 0.03, 179 / 256.0 + 0.03);
    }

    @ParameterizedTest
    @CsvSource({
        "shop.example.org, 127.0.0.1, 192.0.2.1",
        "shop.example.org, 127.0.3.1, 10.0.0.1",
        "shop.example.org, 127.0.2.1, 10.0.0.3",
        "shop.example.org, 127.0.2.200, 10.0.0.3",
        "r1.shop-eu._p.shop.example.org, 127.0.0.1, 10.0.0.1",
        "r1.shop-inner._p.shop.example.org, 127.0.3.1, 10.0.0.3",
        "r1.both._p.shop.example.org, 127.0.3.1, 192.0.2.1",
        "r1.nobody._p.shop.example.org, 127.0.3.1, 192.0.2.1"
    })
    void clientsAndProbeNamesHaveTheirStreams(String name, String client, String address) throws IOException {
        Message response = ask(name, Type.A, 0, Corpus.address(client).toInetAddress(), zones("single-views"));

        assertThat(address(response)).isEqualTo(address);
    }

    @ParameterizedTest
    @CsvSource({
        "shop.example.org, NOERROR",
        "_s.example.org, NOERROR",
        "example.org, NOERROR",
        "nope.example.org, NXDOMAIN",
        "sub.shop.example.org, NXDOMAIN",
        "example.net, REFUSED",
        "org, REFUSED"
    })
    void saysWhatExists(String name, String rcode) throws IOException {
        Message response = ask(name, Type.DS, 0, LOCAL, zones("single"));

        assertThat(Rcode.string(response.getRcode())).isEqualTo(rcode);
        assertThat(response.getHeader().getFlag(Flags.AA)).isEqualTo(!rcode.equals("REFUSED"));
        if (!rcode.equals("REFUSED")) {
            assertThat(response.getSection(Section.AUTHORITY)).singleElement().satisfies(soa -> {
                assertThat(soa.getType()).isEqualTo(Type.SOA);
                assertThat(soa.getTTL()).isEqualTo(5);
            });
        }
    }

    @Test
    void everythingElseIsRefusedAsItShould() throws IOException {
        PublishedZones zones = zones("single");
        Message update = query("shop.example.org", Type.A, 1);
        update.getHeader().setOpcode(Opcode.UPDATE);
        Message empty = new Message(7);
        Message other = query("shop.example.org", Type.A, 1);
        other.addRecord(new OPTRecord(1232, 0, 1), Section.ADDITIONAL);
        Message chaos = new Message(9);
        chaos.addRecord(Record.newRecord(Name.fromString("version.bind."), Type.TXT, DClass.CH), Section.QUESTION);

        assertThat(answerer.answer(update, LOCAL, zones).getRcode()).isEqualTo(Rcode.NOTIMP);
        assertThat(answerer.answer(empty, LOCAL, zones).getRcode()).isEqualTo(Rcode.FORMERR);
        assertThat(answerer.answer(other, LOCAL, zones).getRcode()).isEqualTo(Rcode.BADVERS);
        assertThat(answerer.answer(chaos, LOCAL, zones).getRcode()).isEqualTo(Rcode.REFUSED);
        assertThat(ask("shop.example.org", Type.AXFR, 1, LOCAL, zones).getRcode())
                .isEqualTo(Rcode.REFUSED);
    }

    @Test
    void aliasesThatTurnInACircleEnd() throws IOException {
        ZoneRecords zone = Corpus.zone(Answers.Single);
        zone = new ZoneRecords(
                zone.domain(),
                zone.owner(),
                zone.answers(),
                15,
                5,
                zone.nameServers(),
                List.of(
                        Corpus.fixed("a", "CNAME", "b"),
                        Corpus.fixed("b", "CNAME", "a"),
                        Corpus.fixed("*.w", "CNAME", "x.w")),
                List.of());
        PublishedZones zones = PublishedZones.of(List.of(zone), Corpus.SHARDS);

        assertThat(ask("a.example.org", Type.A, 0, LOCAL, zones).getSection(Section.ANSWER))
                .hasSizeLessThan(20);
        assertThat(ask("y.w.example.org", Type.A, 0, LOCAL, zones).getSection(Section.ANSWER))
                .hasSizeLessThan(20);
    }

    @Test
    void noAnswersAreNoData() throws IOException {
        HostStream none = new HostStream("none", "", List.of(), List.of());
        for (Answers answers : Corpus.COREDNS) {
            PublishedZones zones = PublishedZones.of(
                    List.of(Corpus.zone(answers, Corpus.host("shop.example.org", none))), Corpus.SHARDS);
            Message response = ask("shop.example.org", Type.A, 0, LOCAL, zones);
            Record alias = response.getSection(Section.ANSWER).getFirst();
            Message target = ask(alias.rdataToString().replaceFirst("\\.$", ""), Type.A, 0, LOCAL, zones);

            assertThat(response.getRcode()).isEqualTo(Rcode.NOERROR);
            assertThat(target.getRcode()).isEqualTo(Rcode.NOERROR);
            assertThat(target.getSection(Section.AUTHORITY)).hasSize(1);
        }
    }

    private Message ask(String name, int type, int id, InetAddress client, PublishedZones zones) throws IOException {
        return answerer.answer(query(name, type, id), client, zones);
    }

    private static Message query(String name, int type, int id) throws IOException {
        Message query = new Message(id);
        query.addRecord(Record.newRecord(Name.fromString(name + "."), type, DClass.IN), Section.QUESTION);
        return query;
    }

    private static String address(Message response) {
        return response.getSection(Section.ANSWER).getLast().rdataToString();
    }

    private static PublishedZones zones(String name) {
        return PublishedZones.of(List.of(Objects.requireNonNull(Corpus.zones().get(name))), Corpus.SHARDS);
    }
}
