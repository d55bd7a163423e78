package dev.apportion.dns.coredns;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.AddressStringException;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IncompatibleAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The part of a zone that stands in one shard, as JSON with one host in each line.
 *
 * @param part the zone with the hosts of the shard; the fixed records are there in the domain's own shard only
 * @param shards over how many shards the zone is spread
 * @param directory the folder that the configuration names
 */
record StateText(ZoneRecords part, int shards, String directory) {

    private static final int FORMAT = 1;
    private static final ObjectMapper JSON = new ObjectMapper();

    String write() {
        ObjectNode zone = JSON.createObjectNode()
                .put("format", FORMAT)
                .put("domain", part.domain())
                .put("owner", part.owner())
                .put("answers", part.answers().name())
                .put("ttl", part.ttlSeconds())
                .put("negativeTTL", part.negativeTtlSeconds())
                .put("shards", shards)
                .put("directory", directory);
        ArrayNode servers = zone.putArray("nameServers");
        for (NameServer server : part.nameServers()) {
            ArrayNode addresses = servers.addObject().put("name", server.name()).putArray("addresses");
            server.addresses().forEach(address -> addresses.add(address.toCanonicalString()));
        }
        ArrayNode records = zone.putArray("records");
        for (FixedRecord fixed : part.fixedRecords()) {
            records.addObject()
                    .put("name", fixed.name())
                    .put("type", fixed.type())
                    .put("ttl", fixed.ttlSeconds())
                    .put("value", fixed.value());
        }
        String settings = zone.toString();
        return settings.substring(0, settings.length() - 1)
                + part.hosts().stream()
                        .map(host -> host(host).toString())
                        .collect(Collectors.joining(",\n", ",\"hosts\":[\n", "]}\n"));
    }

    /** Whether a text looks like one of these. */
    static boolean isState(String text) {
        return text.startsWith("{\"format\":");
    }

    private static ObjectNode host(Host host) {
        ObjectNode node = JSON.createObjectNode()
                .put("name", host.name())
                .put("owner", host.owner())
                .put("ttl", host.ttlSeconds());
        host.under().ifPresent(under -> node.put("under", under));
        ArrayNode streams = node.putArray("streams");
        for (HostStream stream : host.streams()) {
            ObjectNode entry = streams.addObject().put("label", stream.label()).put("stream", stream.stream());
            ArrayNode clients = entry.putArray("clients");
            stream.clients().forEach(block -> clients.add(block.toCanonicalString()));
            ArrayNode answers = entry.putArray("answers");
            for (Answer answer : stream.answers()) {
                answers.addArray()
                        .add(answer.address().toCanonicalString())
                        .add(answer.replica())
                        .add(answer.weight());
            }
        }
        return node;
    }

    /** @throws IllegalArgumentException if the text is not a state; the message says why */
    static StateText read(String text) {
        try {
            JsonNode zone = JSON.readTree(text);
            int format = integer(zone, "format");
            if (format != FORMAT) {
                throw new IllegalArgumentException("its format is %d, not %d".formatted(format, FORMAT));
            }
            List<NameServer> servers = new ArrayList<>();
            for (JsonNode server : array(zone, "nameServers")) {
                servers.add(new NameServer(string(server, "name"), addresses(array(server, "addresses"))));
            }
            List<FixedRecord> records = new ArrayList<>();
            for (JsonNode fixed : array(zone, "records")) {
                records.add(new FixedRecord(
                        string(fixed, "name"), string(fixed, "type"), integer(fixed, "ttl"), string(fixed, "value")));
            }
            List<Host> hosts = new ArrayList<>();
            for (JsonNode host : array(zone, "hosts")) {
                List<HostStream> streams = new ArrayList<>();
                for (JsonNode stream : array(host, "streams")) {
                    streams.add(stream(stream));
                }
                hosts.add(new Host(
                        string(host, "name"),
                        string(host, "owner"),
                        integer(host, "ttl"),
                        host.has("under") ? Optional.of(string(host, "under")) : Optional.empty(),
                        streams));
            }
            ZoneRecords part = new ZoneRecords(
                    string(zone, "domain"),
                    string(zone, "owner"),
                    Answers.valueOf(string(zone, "answers")),
                    integer(zone, "ttl"),
                    integer(zone, "negativeTTL"),
                    servers,
                    records,
                    hosts);
            return new StateText(part, integer(zone, "shards"), string(zone, "directory"));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static HostStream stream(JsonNode stream) {
        List<Answer> answers = new ArrayList<>();
        for (JsonNode answer : array(stream, "answers")) {
            if (!answer.isArray()
                    || answer.size() != 3
                    || !answer.path(1).isTextual()
                    || !answer.path(2).canConvertToInt()) {
                throw new IllegalArgumentException("an answer is " + answer);
            }
            answers.add(new Answer(
                    address(answer.path(0).asText()),
                    answer.path(1).asText(),
                    answer.path(2).asInt()));
        }
        return new HostStream(
                string(stream, "label"), string(stream, "stream"), addresses(array(stream, "clients")), answers);
    }

    private static List<IPAddress> addresses(JsonNode texts) {
        List<IPAddress> addresses = new ArrayList<>();
        for (JsonNode text : texts) {
            addresses.add(address(text.asText()));
        }
        return addresses;
    }

    private static IPAddress address(String text) {
        try {
            IPAddress address = text.isEmpty() ? null : new IPAddressString(text).toAddress();
            if (address == null) {
                throw new IllegalArgumentException("an address is empty");
            }
            return address;
        } catch (AddressStringException | IncompatibleAddressException e) {
            throw new IllegalArgumentException(text + " is not an address", e);
        }
    }

    private static String string(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException("its %s is not a string: %s".formatted(field, value));
        }
        return value.asText();
    }

    private static int integer(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.canConvertToInt()) {
            throw new IllegalArgumentException("its %s is not an integer: %s".formatted(field, value));
        }
        return value.asInt();
    }

    private static JsonNode array(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isArray()) {
            throw new IllegalArgumentException("its %s is not a list: %s".formatted(field, value));
        }
        return value;
    }
}
