package dev.apportion.dns.externaldns;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.dns.HostText;
import dev.apportion.records.Host;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What one DNSEndpoint says, as it is kept in an annotation of it: LUA programs and weighted sets need not be read back.
 *
 * @param zone the DNSZone, as {@code namespace/name}
 * @param domain its domain
 * @param service the TrafficService, as {@code namespace/name}
 * @param dialect the dialect of the endpoints
 * @param hosts the service's host and its keys, sorted by name
 */
public record EndpointState(String zone, String domain, String service, Dialect dialect, List<Host> hosts) {

    private static final int FORMAT = 1;

    /** A namespace and a name. */
    private static final Pattern PLACE = Pattern.compile("[a-z0-9.-]+/[a-z0-9.-]+");

    private static final ObjectMapper JSON = new ObjectMapper();

    public EndpointState {
        hosts = hosts.stream().sorted(Comparator.comparing(Host::name)).toList();
    }

    String write() {
        ObjectNode node = JSON.createObjectNode()
                .put("format", FORMAT)
                .put("zone", zone)
                .put("domain", domain)
                .put("service", service)
                .put("dialect", dialect.name());
        ArrayNode array = node.putArray("hosts");
        hosts.forEach(host -> array.add(HostText.write(host)));
        return node.toString();
    }

    /** @throws IllegalArgumentException if the text is not a state; the message says why */
    static EndpointState read(String text) {
        try {
            JsonNode node = JSON.readTree(text);
            int format = HostText.integer(node, "format");
            if (format != FORMAT) {
                throw new IllegalArgumentException("its format is %d, not %d".formatted(format, FORMAT));
            }
            List<Host> hosts = new ArrayList<>();
            for (JsonNode host : HostText.array(node, "hosts")) {
                hosts.add(HostText.read(host));
            }
            return new EndpointState(
                    place(node, "zone"),
                    HostText.string(node, "domain"),
                    place(node, "service"),
                    Dialect.valueOf(HostText.string(node, "dialect")),
                    hosts);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static String place(JsonNode node, String field) {
        String place = HostText.string(node, field);
        if (!PLACE.matcher(place).matches()) {
            throw new IllegalArgumentException("its %s is no place: %s".formatted(field, place));
        }
        return place;
    }

    /** @throws IllegalArgumentException if a host cannot be said in the dialect; the message is for people */
    List<Endpoint> endpoints() {
        return hosts.stream().flatMap(host -> dialect.endpoints(host).stream()).toList();
    }
}
