package dev.apportion.dns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.AddressStringException;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IncompatibleAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A host as JSON: what is kept beside published records, so that they can be read again. */
public final class HostText {

    private static final ObjectMapper JSON = new ObjectMapper();

    private HostText() {}

    /** The JSON of a host. */
    public static ObjectNode write(Host host) {
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

    /**
     * The host of a JSON.
     *
     * @throws IllegalArgumentException if it is not one; the message says why
     */
    public static Host read(JsonNode host) {
        List<HostStream> streams = new ArrayList<>();
        for (JsonNode stream : array(host, "streams")) {
            streams.add(stream(stream));
        }
        return new Host(
                string(host, "name"),
                string(host, "owner"),
                integer(host, "ttl"),
                host.has("under") ? Optional.of(string(host, "under")) : Optional.empty(),
                streams);
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

    /**
     * The addresses or blocks of a list.
     *
     * @throws IllegalArgumentException if one of the texts is none
     */
    public static List<IPAddress> addresses(JsonNode texts) {
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

    /**
     * A field that is a string.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static String string(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException("its %s is not a string: %s".formatted(field, value));
        }
        return value.asText();
    }

    /**
     * A field that is an integer.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static int integer(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.canConvertToInt()) {
            throw new IllegalArgumentException("its %s is not an integer: %s".formatted(field, value));
        }
        return value.asInt();
    }

    /**
     * A field that is a list.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static JsonNode array(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isArray()) {
            throw new IllegalArgumentException("its %s is not a list: %s".formatted(field, value));
        }
        return value;
    }
}
