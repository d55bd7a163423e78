package dev.apportion.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * A provider for ExternalDNS's webhook that keeps record sets as Route 53 does, and refuses what Route 53 refuses: a change is whole or
 * none, the members of a weighted set have one time to live, weights from 0 to 255 and no simple record beside them, there are at most a
 * hundred, and no label is longer than 63 octets. Whatever was changed or refused is kept.
 */
final class WeightedSetProvider implements AutoCloseable {

    private static final String MEDIA_TYPE = "application/external.dns.webhook+json;version=1";
    private static final int MOST_MEMBERS = 100;
    private static final int MOST_WEIGHT = 255;
    private static final int MOST_LABEL = 63;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Which record: a member of a set is told from the others by its identifier, a simple one has none. */
    record Key(String name, String type, String setIdentifier) implements Comparable<Key> {

        static Key of(JsonNode endpoint) {
            return new Key(
                    endpoint.path("dnsName").asText().toLowerCase(Locale.ROOT),
                    endpoint.path("recordType").asText(),
                    endpoint.path("setIdentifier").asText(""));
        }

        boolean isOwnership() {
            return type.equals("TXT");
        }

        @Override
        public int compareTo(Key other) {
            return toString().compareTo(other.toString());
        }
    }

    /** What one request changed; an update is there with what was before and what is after. */
    record Change(List<Key> created, List<Key> deleted, SortedMap<Key, List<JsonNode>> updated) {}

    private final String domain;
    private final HttpServer server;
    private SortedMap<Key, JsonNode> records = new TreeMap<>();
    private final List<Change> changes = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private final AtomicInteger looks = new AtomicInteger();

    private WeightedSetProvider(String domain, HttpServer server) {
        this.domain = domain;
        this.server = server;
    }

    static WeightedSetProvider start(String domain) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        WeightedSetProvider provider = new WeightedSetProvider(domain, server);
        server.createContext("/", provider::answer);
        server.start();
        return provider;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Puts a record there that is nobody's. */
    synchronized void put(String name, String type, String target) {
        JsonNode record = JSON.createObjectNode()
                .put("dnsName", name)
                .put("recordType", type)
                .put("recordTTL", 300)
                .set("targets", JSON.createArrayNode().add(target));
        records.put(Key.of(record), record);
    }

    synchronized SortedMap<Key, JsonNode> records() {
        return new TreeMap<>(records);
    }

    /** The weight of each address of a name and type. */
    synchronized Map<String, Integer> weights(String name, String type) {
        Map<String, Integer> weights = new TreeMap<>();
        records.forEach((key, record) -> {
            if (key.name().equals(name) && key.type().equals(type)) {
                record.path("targets").forEach(target -> weights.put(target.asText(), weight(record)));
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
        String request =
                exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
        JsonNode body = JSON.readTree(exchange.getRequestBody().readAllBytes());
        switch (request) {
            case "GET /" -> send(exchange, 200, "{\"include\":[\"%s\"]}".formatted(domain));
            case "GET /records" -> {
                looks.incrementAndGet();
                send(exchange, 200, all());
            }
            case "POST /adjustendpoints" -> send(exchange, 200, body.toString());
            case "POST /records" -> send(exchange, apply(body) ? 204 : 500, "");
            default -> send(exchange, 404, "");
        }
    }

    private static void send(HttpExchange exchange, int code, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", MEDIA_TYPE);
        exchange.sendResponseHeaders(code, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private synchronized String all() {
        ArrayNode all = JSON.createArrayNode();
        records.values().forEach(all::add);
        return all.toString();
    }

    private synchronized boolean apply(JsonNode change) {
        SortedMap<Key, JsonNode> next = new TreeMap<>(records);
        List<Key> deleted = new ArrayList<>();
        List<Key> created = new ArrayList<>();
        SortedMap<Key, List<JsonNode>> updated = new TreeMap<>();
        List<String> problems = new ArrayList<>();
        for (JsonNode endpoint : list(change, "delete")) {
            Key key = Key.of(endpoint);
            deleted.add(key);
            if (next.remove(key) == null) {
                problems.add(key + " is to be deleted, but not there");
            }
        }
        for (JsonNode endpoint : list(change, "updateNew")) {
            Key key = Key.of(endpoint);
            JsonNode before = next.put(key, endpoint);
            if (before == null) {
                problems.add(key + " is to be updated, but not there");
            } else {
                updated.put(key, List.of(before, endpoint));
            }
        }
        for (JsonNode endpoint : list(change, "create")) {
            Key key = Key.of(endpoint);
            created.add(key);
            if (next.putIfAbsent(key, endpoint) != null) {
                problems.add(key + " is to be created, but there already");
            }
        }
        next.values().stream()
                .collect(Collectors.groupingBy(record -> Key.of(record).name() + " "
                        + Key.of(record).type()))
                .forEach((set, members) -> check(set, members, problems));
        if (!problems.isEmpty()) {
            refusals.addAll(problems);
            return false;
        }
        records = next;
        changes.add(new Change(created, deleted, updated));
        return true;
    }

    private static Collection<JsonNode> list(JsonNode change, String field) {
        // Its name is in capitals in older versions of the interface.
        JsonNode found = change.has(field)
                ? change.path(field)
                : change.path(field.substring(0, 1).toUpperCase(Locale.ROOT) + field.substring(1));
        List<JsonNode> all = new ArrayList<>();
        found.forEach(all::add);
        return all;
    }

    private static void check(String set, List<JsonNode> members, List<String> problems) {
        for (String label : set.substring(0, set.indexOf(' ')).split("\\.")) {
            if (label.length() > MOST_LABEL) {
                problems.add(set + " has a label of %d octets".formatted(label.length()));
            }
        }
        long simple = members.stream()
                .filter(member -> Key.of(member).setIdentifier().isEmpty())
                .count();
        if (simple > 0 && members.size() > 1) {
            problems.add(set + " has a simple record beside weighted ones");
        }
        if (simple > 0) {
            return;
        }
        if (members.size() > MOST_MEMBERS) {
            problems.add(set + " has %d members".formatted(members.size()));
        }
        if (members.stream()
                        .map(member -> member.path("recordTTL").asInt())
                        .distinct()
                        .count()
                > 1) {
            problems.add(set + " has members of different times to live");
        }
        for (JsonNode member : members) {
            int weight = weight(member);
            if (weight < 0 || weight > MOST_WEIGHT) {
                problems.add(set + " has the weight " + weight);
            }
            if (member.path("targets").size() != 1) {
                problems.add(set + " has a member with several targets");
            }
        }
    }

    /** The weight of a record, -1 if it has none. */
    static int weight(JsonNode record) {
        for (JsonNode property : record.path("providerSpecific")) {
            if (property.path("name").asText().equals("aws/weight")) {
                return Integer.parseInt(property.path("value").asText());
            }
        }
        return -1;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
