package dev.apportion.reconcile;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.records.ZoneRecords;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Worlds of one zone and its services in which texts are odd in places: each by its seed. */
public final class OddWorlds {

    static final String TXT = "TXT";

    private static final ObjectMapper JSON = new ObjectMapper();

    /** What has a meaning to some reader on the way: zone files, configurations, templates, expressions, JSON, shells. */
    private static final List<String> SNIPPETS = List.of(
            "\"",
            "\\",
            "\\\\",
            ";",
            "\n",
            "\r\n",
            "\t",
            "\u0000",
            "\u007f",
            "\u0085",
            "\u2028",
            "$INCLUDE /etc/passwd",
            "\n$ORIGIN evil.example.\n",
            "$GENERATE 1-9 a$ A 192.0.2.$",
            "{{ .Name }}",
            "{{",
            "}}",
            "{",
            "}",
            "`",
            "'",
            "(",
            ")",
            "#",
            "@",
            "*",
            "..",
            ".",
            " ",
            "  ",
            "\\010",
            "\\300",
            "\\.",
            "\\\"",
            "|",
            "||",
            "&&",
            "%",
            "%s",
            "%{x}",
            "$(id)",
            "${HOME}",
            "<",
            "&",
            "import /etc/passwd",
            "0x",
            "-",
            "_s",
            "_p",
            "é",
            "ß",
            "ü",
            "\u3002",
            "\u0308",
            "\u202e",
            "\ufeff",
            "\ud83d\ude00",
            "\ud800",
            "xn--",
            "xn--a",
            "\u0130",
            "\u212a",
            "null",
            "true",
            "1e9",
            "'.'",
            "name() == 'x.'",
            "\" }\n. {\n  erratic\n}\n\"");

    private static final List<String> HOSTS = List.of(
            "www",
            "a.b.c",
            "WWW",
            "x",
            "_sip._tcp",
            "bücher",
            "xn--bcher-kva",
            "1",
            "a--b",
            "long-" + "x".repeat(58),
            "s0",
            "conf",
            "s1._s",
            "a_b",
            "日本語",
            "ns",
            "*.x",
            "");

    private static final List<String> ADDRESSES = List.of(
            "192.0.2.1",
            "0.0.0.0",
            "255.255.255.255",
            "2001:DB8::1",
            "::1",
            "2001:db8:0:0:1:0:0:1",
            "010.0.0.1",
            "10.0.0.300",
            "::ffff:10.0.0.1",
            "fe80::1%eth0",
            "1",
            "::");

    private static final List<String> BLOCKS = List.of(
            "10.0.0.0/8",
            "0.0.0.0/0",
            "::/0",
            "2001:DB8::/32",
            "127.0.0.1/32",
            "10.1.2.3/8",
            "::ffff:10.0.0.0/104",
            "2001:db8::1/128",
            "10.0.0.0/08",
            "10.0.0.0");

    /** Data that each type takes, and data that it does not quite. */
    private static final Map<String, List<String>> DATA = Map.ofEntries(
            Map.entry("A", List.of("192.0.2.7", "010.1.1.1", "192.0.2.7 x")),
            Map.entry("AAAA", List.of("2001:DB8::7", "::ffff:192.0.2.1", "::")),
            Map.entry("CAA", List.of("0 issue \"ca.example.net\"", "0 issue \";\"", "128 iodef \"mailto:a@b\"")),
            Map.entry("CNAME", List.of("lb.example.net.", "LB", "@", "bücher", "a\\.b.example.", "x y")),
            Map.entry("HTTPS", List.of("1 . alpn=\"h2,h3\"", "0 Svc.example.net.", "1 . ipv4hint=192.0.2.1")),
            Map.entry("MX", List.of("10 mail", "10 MAIL.bücher.example.", "0 .", "70000 mail")),
            Map.entry(
                    "NAPTR", List.of("100 10 \"S\" \"SIP+D2U\" \"!^.*$!sip:a@b!\" _sip._udp", "1 1 \"\" \"\" \"\" .")),
            Map.entry("NS", List.of("ns.example.net.", "ns")),
            Map.entry("PTR", List.of("host.example.net.", "*.x")),
            Map.entry("SMIMEA", List.of("3 0 0 aabb", "3 1 1 " + "ab".repeat(32))),
            Map.entry("SRV", List.of("0 5 5060 sip", "0 0 0 .")),
            Map.entry("SSHFP", List.of("1 1 " + "ab".repeat(20), "4 2 00")),
            Map.entry("SVCB", List.of("1 svc.example.net. port=53 alpn=dot", "0 x")),
            Map.entry("TLSA", List.of("3 1 1 " + "cd".repeat(32), "3 1 1 xyz")),
            Map.entry(
                    TXT,
                    List.of("v=spf1 -all", "\"a\" \"b\"", "\"quo\\\"ted\"", "x".repeat(600), "", "\"open", "\" \"")),
            Map.entry("URI", List.of("10 1 \"https://example.net/{{x}}\"", "1 1 \"\"")));

    private final Random random;

    private OddWorlds(long seed) {
        random = new Random(seed);
    }

    /** The world of a seed. */
    static Setting world(long seed) {
        return Setting.of(new OddWorlds(seed).documents("w" + Long.toUnsignedString(seed, 36)));
    }

    /** The host name in the world of a seed, as it is declared. */
    static String hostname(long seed) {
        return new OddWorlds(seed)
                .documents("w" + Long.toUnsignedString(seed, 36))[2]
                .at("/spec/hostname")
                .asText();
    }

    /** What DNS says of the world of a seed, if its zone is admitted. */
    public static Optional<ZoneRecords> zone(long seed) {
        return world(seed).plan().zones().values().stream()
                .map(ZoneComposer.Composed::records)
                .findFirst();
    }

    /** A text that is odd, made of what others stumble over. */
    private String odd() {
        StringBuilder text = new StringBuilder(random.nextBoolean() ? "x" : "");
        for (int i = 0; i <= random.nextInt(4); i++) {
            switch (random.nextInt(5)) {
                case 0 -> text.appendCodePoint(random.nextInt(Character.MAX_CODE_POINT + 1));
                case 1 -> text.append((char) random.nextInt(256));
                case 2 -> text.append("abc", 0, 1 + random.nextInt(3));
                default -> text.append(SNIPPETS.get(random.nextInt(SNIPPETS.size())));
            }
        }
        return text.toString();
    }

    private String one(List<String> usual, int oneIn) {
        String text = usual.get(random.nextInt(usual.size()));
        if (random.nextInt(oneIn) > 0) {
            return text;
        }
        String odd = odd();
        return switch (random.nextInt(3)) {
            case 0 -> odd;
            case 1 -> text + odd;
            default -> {
                int at = random.nextInt(text.length() + 1);
                yield text.substring(0, at) + odd + text.substring(at);
            }
        };
    }

    private static ObjectNode resource(String kind, String name) {
        ObjectNode resource = JSON.createObjectNode()
                .put("apiVersion", "apportion.dev/v1alpha1")
                .put("kind", kind);
        resource.putObject("metadata").put("name", name);
        return resource;
    }

    private ObjectNode[] documents(String unique) {
        String domain = one(List.of("example", "Example.ORG", "bücher.example", "_tcp.example", "a-b.c"), 12);
        domain = (random.nextInt(8) == 0 ? "" : unique + ".") + domain;
        ObjectNode zone = resource("DNSZone", "zone");
        ObjectNode spec = zone.putObject("spec").put("domain", domain);
        spec.putObject("allowedNamespaces").put("from", "All");
        ObjectNode coreDns = spec.putObject("coreDNS").put("answers", random.nextBoolean() ? "Single" : "List");
        if (random.nextInt(4) == 0) {
            coreDns.put("directory", one(List.of("/etc/apportion", "/etc/a.b/_c-d"), 4));
        }
        if (random.nextInt(3) == 0) {
            ObjectNode server = spec.putArray("nameServers").addObject();
            server.put("name", one(List.of("ns1." + domain, "NS.example.net.", "ns." + domain), 8));
            server.putArray("addresses").add(one(ADDRESSES.subList(0, 6), 12));
        }
        ArrayNode records = spec.putArray("records");
        List<String> types = DATA.keySet().stream().sorted().toList();
        for (int i = random.nextInt(6); i > 0; i--) {
            String type = random.nextInt(3) == 0 ? TXT : types.get(random.nextInt(types.size()));
            ObjectNode record = records.addObject();
            record.put("name", one(List.of("@", "r" + i, "R" + i + ".sub", "*.w" + i, "_dmarc", "t.x"), 12));
            record.put("type", type);
            record.putArray("values").add(one(DATA.getOrDefault(type, List.of()), 3));
        }
        ObjectNode pool = resource("ReplicaPool", "pool");
        ObjectNode site = pool.putObject("spec").putArray("sites").addObject().put("name", "main");
        ArrayNode endpoints = site.putArray("endpoints");
        for (int i = 0; i < 1 + random.nextInt(3); i++) {
            endpoints
                    .addObject()
                    .put("name", one(List.of("r" + i, "a.b-" + i), 20))
                    .put("address", one(ADDRESSES.subList(0, 6), 20));
        }
        ObjectNode service = resource("TrafficService", "service");
        String host = one(HOSTS, 6);
        service.putObject("spec")
                .put("hostname", host.isEmpty() ? domain : host + "." + domain)
                .putObject("zoneRef")
                .put("name", "zone");
        ((ObjectNode) service.path("spec")).putObject("poolRef").put("name", "pool");
        ObjectNode stream = resource("TrafficStream", one(List.of("eu", "a.b", "x".repeat(250)), 12));
        ObjectNode streamSpec = stream.putObject("spec");
        streamSpec.putObject("serviceRef").put("name", "service");
        streamSpec.putObject("clients").putArray("cidrs").add(one(BLOCKS, 10)).add("203.0.113.0/24");
        return new ObjectNode[] {zone, pool, service, stream};
    }
}
