package dev.apportion.e2e.bed;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;
import org.xbill.DNS.ClientSubnetOption;
import org.xbill.DNS.DClass;
import org.xbill.DNS.EDNSOption;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.SimpleResolver;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/**
 * A DNS question with everything that an answer may depend on.
 *
 * @param name the name asked for, in the case in which it goes out
 * @param type a record type of {@link Type}
 * @param id the id of the message; empty: a random one
 * @param source the address that the question comes from; empty: the system's choice
 * @param tcp whether it goes by TCP; by UDP a truncated answer is returned as it is
 * @param edns whether it has an OPT record (payload 1232)
 * @param client on whose behalf it is asked (EDNS Client Subnet); empty: nobody's
 * @param timeout how long to wait for the answer
 */
public record Question(
        String name,
        int type,
        OptionalInt id,
        Optional<String> source,
        boolean tcp,
        boolean edns,
        Optional<String> client,
        Duration timeout) {

    private static final Duration USUAL = Duration.ofSeconds(5);
    // The payload size that avoids fragments; DNS flag day 2020.
    private static final int PAYLOAD = 1232;

    public static Question of(String name, int type) {
        return new Question(name, type, OptionalInt.empty(), Optional.empty(), false, false, Optional.empty(), USUAL);
    }

    /** With the id of the message, 0 to 65535. */
    public Question withId(int chosen) {
        return new Question(name, type, OptionalInt.of(chosen), source, tcp, edns, client, timeout);
    }

    /** From a local address, such as 127.0.0.2. */
    public Question from(String address) {
        return new Question(name, type, id, Optional.of(address), tcp, edns, client, timeout);
    }

    public Question overTcp() {
        return new Question(name, type, id, source, true, edns, client, timeout);
    }

    public Question withEdns() {
        return new Question(name, type, id, source, tcp, true, client, timeout);
    }

    /** On behalf of a client with this address (EDNS Client Subnet, RFC 7871). */
    public Question onBehalfOf(String address) {
        return new Question(name, type, id, source, tcp, true, Optional.of(address), timeout);
    }

    public Question within(Duration limit) {
        return new Question(name, type, id, source, tcp, edns, client, limit);
    }

    /** With each letter of the name in a case of its own, as resolvers do that guard against forgery ("0x20"). */
    public Question withMixedCase(RandomGenerator random) {
        StringBuilder mixed = new StringBuilder(name.length());
        for (char c : name.toLowerCase(Locale.ROOT).toCharArray()) {
            mixed.append(random.nextBoolean() ? Character.toUpperCase(c) : c);
        }
        return new Question(mixed.toString(), type, id, source, tcp, edns, client, timeout);
    }

    /**
     * Asks a server.
     *
     * @throws IOException if no answer comes in time, or none that belongs to the question
     */
    Answer ask(InetSocketAddress server) throws IOException {
        SimpleResolver resolver = new SimpleResolver(server);
        resolver.setTimeout(timeout);
        resolver.setTCP(tcp);
        resolver.setIgnoreTruncation(true);
        resolver.setEDNS(-1); // the query has what it needs
        if (source.isPresent()) {
            resolver.setLocalAddress(new InetSocketAddress(InetAddress.ofLiteral(source.get()), 0));
        }
        return new Answer(resolver.send(query()));
    }

    /** The DNS message that asks. */
    public Message query() {
        try {
            Name absolute = Name.fromString(name, Name.root);
            Message query = Message.newQuery(Record.newRecord(absolute, type, DClass.IN));
            query.getHeader().setFlag(Flags.RD);
            id.ifPresent(query.getHeader()::setID);
            if (edns) {
                query.addRecord(new OPTRecord(PAYLOAD, 0, 0, 0, options()), Section.ADDITIONAL);
            }
            return query;
        } catch (TextParseException e) {
            throw new IllegalArgumentException("No domain name: " + name, e);
        }
    }

    private List<EDNSOption> options() {
        return client.map(InetAddress::ofLiteral)
                .map(address ->
                        List.<EDNSOption>of(new ClientSubnetOption(address.getAddress().length * Byte.SIZE, address)))
                .orElse(List.of());
    }

    @Override
    public String toString() {
        return name + " " + Type.string(type) + (id.isPresent() ? " id " + id.getAsInt() : "")
                + source.map(address -> " from " + address).orElse("") + (tcp ? " by TCP" : "")
                + (edns ? " with EDNS" : "")
                + client.map(address -> " on behalf of " + address).orElse("");
    }
}
