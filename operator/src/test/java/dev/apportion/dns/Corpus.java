package dev.apportion.dns;

import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.FixedRecords;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.Parsed;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Zones of every shape that is rendered. */
public final class Corpus {

    public static final Shards SHARDS = new Shards(4);

    /** The kinds of answers that CoreDNS gives. */
    public static final List<Answers> COREDNS = List.of(Answers.Single, Answers.List);

    private static final int LARGE = 1000;

    private Corpus() {}

    /** The zones by the name of the case. */
    public static SortedMap<String, ZoneRecords> zones() {
        SortedMap<String, ZoneRecords> zones = new TreeMap<>();
        for (Answers answers : COREDNS) {
            boolean single = answers == Answers.Single;
            String kind = single ? "single" : "list";
            HostStream shop = stream("shop", weights(single, 179, 77), "10.0.0.1", "10.0.0.2");
            HostStream blog = stream("blog", weights(single, 250, 6), "10.0.1.1", "10.0.1.2");
            HostStream both = single
                    ? dual(new int[] {50, 120, 86}, new int[] {33, 223})
                    : dual(new int[] {5, 12, 8}, new int[] {3, 22});
            HostStream none = new HostStream("none", "", List.of(), List.of());
            zones.put(kind, zone(answers, host("shop.example.org", shop), host("blog.example.org", blog)));
            zones.put(kind + "-views", zone(answers, host("shop.example.org", views(single, both))));
            zones.put(kind + "-dual-stack", zone(answers, host("shop.example.org", both)));
            zones.put(kind + "-apex", zone(answers, host("example.org", both), host("shop.example.org", shop)));
            zones.put(kind + "-apex-views", zone(answers, host("example.org", views(single, both))));
            zones.put(
                    kind + "-host-below-host",
                    zone(answers, host("shop.example.org", shop), host("a.b.shop.example.org", blog)));
            zones.put(
                    kind + "-empty",
                    zone(
                            answers,
                            host("shop.example.org", none),
                            host(
                                    "half.example.org",
                                    clients(blog, "127.0.2.0/24"),
                                    new HostStream("half", "", List.of(), List.of()))));
            zones.put(
                    kind + "-many",
                    zone(
                            answers,
                            IntStream.range(0, 10)
                                    .mapToObj(i -> host(
                                            "h%02d.example.org".formatted(i),
                                            stream(
                                                    "h" + i,
                                                    weights(single, i + 1, 255 - i),
                                                    "10.1.1." + i,
                                                    "10.1.2." + i)))
                                    .toArray(Host[]::new)));
            zones.put(kind + "-no-everyone", zone(answers, host("shop.example.org", clients(shop, "127.0.2.0/24"))));
        }
        zones.put(
                "records",
                withRecords(zone(
                        Answers.Single,
                        host("shop.example.org", stream("shop", new int[] {8, 8}, "10.0.0.1", "10.0.0.2")))));
        zones.put("records-only", withRecords(zone(Answers.Single)));
        zones.put(
                "single-fine",
                zone(
                        Answers.Single,
                        host("shop.example.org", dual(new int[] {1, 1500, 2595}, new int[] {4095, 1})),
                        host(
                                "fine.example.org",
                                stream("fine", new int[] {1, 32_767, 32_768}, "10.0.4.1", "10.0.4.2", "10.0.4.3")),
                        host("coarse.example.org", stream("coarse", new int[] {5, 11}, "10.0.5.1", "10.0.5.2"))));
        return zones;
    }

    public static ZoneRecords zone(Answers answers, Host... hosts) {
        return new ZoneRecords(
                "example.org",
                "dns/example-org",
                answers,
                15,
                5,
                List.of(
                        new NameServer("ns.example.org", List.of(address("127.0.0.1"), address("2001:db8::53"))),
                        new NameServer("ns.example.net", List.of())),
                List.of(),
                List.of(hosts));
    }

    public static Host host(String name, HostStream... streams) {
        return new Host(name, "web/" + name, 20, List.of(streams));
    }

    public static HostStream stream(String label, int[] weights, String... addresses) {
        return new HostStream(
                label,
                "",
                List.of(),
                IntStream.range(0, weights.length)
                        .mapToObj(i -> new Answer(address(addresses[i]), label + "-" + i, weights[i]))
                        .toList());
    }

    public static HostStream clients(HostStream stream, String... clients) {
        return new HostStream(
                stream.label(),
                stream.label(),
                Stream.of(clients).map(Corpus::address).toList(),
                stream.answers());
    }

    public static IPAddress address(String address) {
        return new IPAddressString(address).getAddress();
    }

    /** A thousand hosts with four answers each; the seed gives the weights. */
    public static ZoneRecords large(Answers answers, int seed) {
        Random random = new Random(seed);
        return zone(
                answers,
                IntStream.range(0, LARGE)
                        .mapToObj(i -> {
                            int first = 1 + random.nextInt(100);
                            int second = 1 + random.nextInt(100);
                            int third = 1 + random.nextInt(50);
                            String net = "10.%d.%d.".formatted(i / 256, i % 256);
                            return host(
                                    "host-%04d.example.org".formatted(i),
                                    stream(
                                            "web-host-%04d".formatted(i),
                                            new int[] {first, second, third, 256 - first - second - third},
                                            net + 1,
                                            net + 2,
                                            net + 3,
                                            net + 4));
                        })
                        .toArray(Host[]::new));
    }

    public static FixedRecord fixed(String name, String type, String value) {
        return switch (FixedRecords.parse("example.org", name, type, 300, value)) {
            case Parsed.Value<FixedRecord>(var read) -> read;
            case Parsed.Invalid<FixedRecord>(var problem) -> throw new AssertionError(problem);
        };
    }

    private static int[] weights(boolean single, int first, int second) {
        return single ? new int[] {first, second} : new int[] {Math.min(255, first), Math.min(255, second)};
    }

    private static HostStream[] views(boolean single, HostStream everyone) {
        return new HostStream[] {
            clients(
                    stream("shop-eu", weights(single, 100, 156), "10.0.0.1", "10.0.0.2"),
                    "127.0.2.0/23",
                    "2001:db8::/32",
                    "10.1.0.0/16"),
            clients(stream("shop-inner", weights(single, 16, 240), "10.0.0.3", "10.0.0.4"), "127.0.2.0/24", "10.1.2.3"),
            clients(stream("shop-innermost", weights(single, 255, 1), "10.0.0.3", "10.0.0.5"), "127.0.2.128/25"),
            everyone
        };
    }

    private static HostStream dual(int[] ipv4, int[] ipv6) {
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < ipv4.length; i++) {
            answers.add(new Answer(address("192.0.2." + (i + 1)), "fra-" + i, ipv4[i]));
        }
        for (int i = 0; i < ipv6.length; i++) {
            answers.add(new Answer(address("2001:db8::" + (i + 1)), "fra-" + i, ipv6[i]));
        }
        return new HostStream("both", "", List.of(), answers);
    }

    private static ZoneRecords withRecords(ZoneRecords zone) {
        return new ZoneRecords(
                zone.domain(),
                zone.owner(),
                zone.answers(),
                zone.ttlSeconds(),
                zone.negativeTtlSeconds(),
                zone.nameServers(),
                List.of(
                        fixed("@", "MX", "10 mail"),
                        fixed("@", "MX", "20 mail.example.net."),
                        fixed("@", "TXT", "v=spf1 mx -all; \"quoted\" \\ and ünïcode"),
                        fixed("@", "CAA", "0 issue \"ca.example.net; account=1\""),
                        fixed("mail", "A", "192.0.2.25"),
                        fixed("mail", "AAAA", "2001:DB8:0::25"),
                        fixed("www", "CNAME", "shop"),
                        fixed("out", "CNAME", "lb.example.net."),
                        fixed("chain", "CNAME", "www"),
                        fixed("gone", "CNAME", "nowhere"),
                        fixed("same", "CNAME", "mail"),
                        fixed("*.wild", "A", "192.0.2.80"),
                        fixed("*.wild", "TXT", "\"two\" \"strings\""),
                        fixed("deep.in.wild", "A", "192.0.2.81"),
                        fixed("sub", "NS", "ns.sub"),
                        fixed("sub", "NS", "ns.example.net."),
                        fixed("ns.sub", "A", "192.0.2.54"),
                        fixed("below.shop", "A", "192.0.2.82"),
                        fixed("_sip._tcp", "SRV", "0 5 5060 mail"),
                        fixed("svc", "HTTPS", "1 . alpn=h2,h3 ipv4hint=192.0.2.83"),
                        fixed("svc", "SVCB", "1 mail alpn=\"h2\" port=8443"),
                        fixed("ptr", "PTR", "mail.example.org."),
                        fixed(
                                "_443._tcp.mail",
                                "TLSA",
                                "3 1 1 0c72ac70b745ac19998811b131d662c9ac69dbdbe7cb23e5b514b56664c5d3d6"),
                        fixed("mail", "SSHFP", "4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789"),
                        fixed("naptr", "NAPTR", "100 10 \"u\" \"E2U+sip\" \"!^.*$!sip:info@example.org!\" ."),
                        fixed("uri", "URI", "10 1 \"https://www.example.org/path?x=1;y\"")),
                zone.hosts());
    }
}
