package dev.apportion.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * A hosted zone that is kept and changed as by Route 53's HTTP interface, as far as ExternalDNS uses it, and that refuses what Route 53
 * refuses: a change is whole or none, the members of a weighted set have one time to live, weights from 0 to 255 and no simple record
 * beside them, there are at most a hundred, no label is longer than 63 octets, and what is deleted is named as it is. Whatever was changed
 * or refused is kept.
 */
final class HostedZone implements AutoCloseable {

    private static final String PATH = "/2013-04-01/hostedzone";
    private static final String ID = "Z0123456789";
    private static final String NAMESPACE = "https://route53.amazonaws.com/doc/2013-04-01/";
    private static final int MOST_MEMBERS = 100;
    private static final int MOST_WEIGHT = 255;
    private static final int MOST_LABEL = 63;

    /** Which record: a member of a set is told from the others by its identifier, a simple one has none. */
    record Key(String name, String type, String setIdentifier) implements Comparable<Key> {

        boolean isOwnership() {
            return type.equals("TXT");
        }

        @Override
        public int compareTo(Key other) {
            return toString().compareTo(other.toString());
        }
    }

    /** A record set, or a member of a weighted one. */
    record RecordSet(Key key, OptionalInt weight, int ttlSeconds, List<String> values) {

        RecordSet withoutWeight() {
            return new RecordSet(key, OptionalInt.empty(), ttlSeconds, values);
        }
    }

    /** An update: what was before and what is after. */
    record Update(RecordSet before, RecordSet after) {}

    /** What one request changed. */
    record Change(List<Key> created, List<Key> deleted, List<Update> updated) {}

    private final String domain;
    private final HttpServer server;
    private SortedMap<Key, RecordSet> records = new TreeMap<>();
    private final List<Change> changes = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private final AtomicInteger looks = new AtomicInteger();

    private HostedZone(String domain, HttpServer server) {
        this.domain = domain;
        this.server = server;
    }

    static HostedZone start(String domain) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        HostedZone zone = new HostedZone(domain, server);
        server.createContext("/", zone::answer);
        server.start();
        return zone;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Puts a simple record there that is nobody's. */
    synchronized void put(String name, String type, String value) {
        Key key = new Key(name, type, "");
        records.put(key, new RecordSet(key, OptionalInt.empty(), 300, List.of(value)));
    }

    synchronized Map<Key, RecordSet> records() {
        return new TreeMap<>(records);
    }

    /** The weight of each address of a name and type, -1 where it has none. */
    synchronized Map<String, Integer> weights(String name, String type) {
        Map<String, Integer> weights = new TreeMap<>();
        records.forEach((key, record) -> {
            if (key.name().equals(name) && key.type().equals(type)) {
                record.values()
                        .forEach(value -> weights.put(value, record.weight().orElse(-1)));
            }
        });
        return weights;
    }

    synchronized List<Change> changes() {
        return List.copyOf(changes);
    }

    synchronized List<String> refusals() {
        return List.copyOf(refusals);
    }

    /** How often everything was read. */
    int looks() {
        return looks.get();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath().replaceFirst("/$", "");
        byte[] body = exchange.getRequestBody().readAllBytes();
        switch (exchange.getRequestMethod() + " " + path) {
            case "GET " + PATH ->
                send(
                        exchange,
                        200,
                        "ListHostedZonesResponse",
                        "<HostedZones><HostedZone><Id>/hostedzone/%s</Id><Name>%s.</Name><CallerReference>x</CallerReference><Config><PrivateZone>false</PrivateZone></Config></HostedZone></HostedZones><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems>"
                                .formatted(ID, domain));
            case "GET " + PATH + "/" + ID + "/rrset" -> {
                looks.incrementAndGet();
                send(
                        exchange,
                        200,
                        "ListResourceRecordSetsResponse",
                        "<ResourceRecordSets>%s</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>300</MaxItems>"
                                .formatted(all()));
            }
            case "POST " + PATH + "/" + ID + "/rrset" -> {
                List<String> problems = apply(body);
                if (problems.isEmpty()) {
                    send(
                            exchange,
                            200,
                            "ChangeResourceRecordSetsResponse",
                            "<ChangeInfo><Id>/change/C1</Id><Status>INSYNC</Status><SubmittedAt>2024-01-01T00:00:00Z</SubmittedAt></ChangeInfo>");
                } else {
                    send(
                            exchange,
                            400,
                            "ErrorResponse",
                            "<Error><Type>Sender</Type><Code>InvalidChangeBatch</Code><Message>%s</Message></Error>"
                                    .formatted(escaped(String.join("; ", problems))));
                }
            }
            default ->
                send(exchange, 404, "ErrorResponse", "<Error><Code>NotFound</Code><Message>no</Message></Error>");
        }
    }

    private static void send(HttpExchange exchange, int code, String element, String content) throws IOException {
        byte[] bytes = "<?xml version=\"1.0\"?><%1$s xmlns=\"%2$s\">%3$s</%1$s>"
                .formatted(element, NAMESPACE, content)
                .getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/xml");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private synchronized String all() {
        return records.values().stream()
                .map(record ->
                        "<ResourceRecordSet><Name>%s.</Name><Type>%s</Type>%s%s<TTL>%d</TTL><ResourceRecords>%s</ResourceRecords></ResourceRecordSet>"
                                .formatted(
                                        record.key().name(),
                                        record.key().type(),
                                        record.key().setIdentifier().isEmpty()
                                                ? ""
                                                : "<SetIdentifier>%s</SetIdentifier>"
                                                        .formatted(escaped(
                                                                record.key().setIdentifier())),
                                        record.weight().isPresent()
                                                ? "<Weight>%d</Weight>"
                                                        .formatted(
                                                                record.weight().getAsInt())
                                                : "",
                                        record.ttlSeconds(),
                                        record.values().stream()
                                                .map(value -> "<ResourceRecord><Value>%s</Value></ResourceRecord>"
                                                        .formatted(escaped(value)))
                                                .collect(Collectors.joining())))
                .collect(Collectors.joining());
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    private synchronized List<String> apply(byte[] batch) throws IOException {
        SortedMap<Key, RecordSet> next = new TreeMap<>(records);
        Change change = new Change(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        List<String> problems = new ArrayList<>();
        for (Element element : elements(document(batch), "Change")) {
            RecordSet record = record(element);
            Key key = record.key();
            String action = text(element, "Action");
            switch (action) {
                case "DELETE" -> {
                    change.deleted().add(key);
                    if (!record.equals(next.remove(key))) {
                        problems.add(key + " is to be deleted, but is not there so");
                    }
                }
                case "CREATE" -> {
                    change.created().add(key);
                    if (next.putIfAbsent(key, record) != null) {
                        problems.add(key + " is to be created, but there already");
                    }
                }
                case "UPSERT" -> {
                    RecordSet before = next.put(key, record);
                    if (before == null) {
                        change.created().add(key);
                    } else if (!before.equals(record)) {
                        change.updated().add(new Update(before, record));
                    }
                }
                default -> problems.add("there is no " + action);
            }
        }
        next.values().stream()
                .collect(Collectors.groupingBy(
                        record -> record.key().name() + " " + record.key().type()))
                .forEach((set, members) -> check(set, members, problems));
        if (problems.isEmpty()) {
            records = next;
            changes.add(change);
        } else {
            refusals.addAll(problems);
        }
        return problems;
    }

    private static Element document(byte[] text) throws IOException {
        try {
            return DocumentBuilderFactory.newDefaultInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(text))
                    .getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(e);
        }
    }

    private static RecordSet record(Element change) {
        String weight = text(change, "Weight");
        return new RecordSet(
                new Key(
                        text(change, "Name").toLowerCase(Locale.ROOT).replaceFirst("\\.$", ""),
                        text(change, "Type"),
                        text(change, "SetIdentifier")),
                weight.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(weight)),
                Integer.parseInt(text(change, "TTL")),
                elements(change, "Value").stream().map(Node::getTextContent).toList());
    }

    private static List<Element> elements(Element in, String name) {
        List<Element> elements = new ArrayList<>();
        NodeList found = in.getElementsByTagName(name);
        for (int i = 0; i < found.getLength(); i++) {
            if (found.item(i) instanceof Element element) {
                elements.add(element);
            }
        }
        return elements;
    }

    private static String text(Element in, String name) {
        return elements(in, name).stream().map(Node::getTextContent).findFirst().orElse("");
    }

    private static void check(String set, List<RecordSet> members, List<String> problems) {
        for (String label : set.substring(0, set.indexOf(' ')).split("\\.", -1)) {
            if (label.length() > MOST_LABEL) {
                problems.add(set + " has a label of %d octets".formatted(label.length()));
            }
        }
        boolean simple =
                members.stream().anyMatch(member -> member.key().setIdentifier().isEmpty());
        if (simple) {
            if (members.size() > 1) {
                problems.add(set + " has a simple record beside weighted ones");
            }
            return;
        }
        if (members.size() > MOST_MEMBERS) {
            problems.add(set + " has %d members".formatted(members.size()));
        }
        if (members.stream().map(RecordSet::ttlSeconds).distinct().count() > 1) {
            problems.add(set + " has members of different times to live");
        }
        for (RecordSet member : members) {
            int weight = member.weight().orElse(-1);
            if (weight < 0 || weight > MOST_WEIGHT) {
                problems.add(set + " has the weight " + weight);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
