package dev.apportion.dns.coredns;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.dns.HostText;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.Host;
import dev.apportion.records.NameServer;
import dev.apportion.records.ZoneRecords;
import java.util.ArrayList;
import java.util.List;
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
                        .map(host -> HostText.write(host).toString())
                        .collect(Collectors.joining(",\n", ",\"hosts\":[\n", "]}\n"));
    }

    /** Whether a text looks like one of these. */
    static boolean isState(String text) {
        return text.startsWith("{\"format\":");
    }

    /** @throws IllegalArgumentException if the text is not a state; the message says why */
    static StateText read(String text) {
        try {
            JsonNode zone = JSON.readTree(text);
            int format = HostText.integer(zone, "format");
            if (format != FORMAT) {
                throw new IllegalArgumentException("its format is %d, not %d".formatted(format, FORMAT));
            }
            List<NameServer> servers = new ArrayList<>();
            for (JsonNode server : HostText.array(zone, "nameServers")) {
                servers.add(new NameServer(
                        HostText.string(server, "name"), HostText.addresses(HostText.array(server, "addresses"))));
            }
            List<FixedRecord> records = new ArrayList<>();
            for (JsonNode fixed : HostText.array(zone, "records")) {
                records.add(new FixedRecord(
                        HostText.string(fixed, "name"),
                        HostText.string(fixed, "type"),
                        HostText.integer(fixed, "ttl"),
                        HostText.string(fixed, "value")));
            }
            List<Host> hosts = new ArrayList<>();
            for (JsonNode host : HostText.array(zone, "hosts")) {
                hosts.add(HostText.read(host));
            }
            ZoneRecords part = new ZoneRecords(
                    HostText.string(zone, "domain"),
                    HostText.string(zone, "owner"),
                    Answers.valueOf(HostText.string(zone, "answers")),
                    HostText.integer(zone, "ttl"),
                    HostText.integer(zone, "negativeTTL"),
                    servers,
                    records,
                    hosts);
            return new StateText(part, HostText.integer(zone, "shards"), HostText.string(zone, "directory"));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
        }
    }
}
