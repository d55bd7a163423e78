package dev.apportion.dns.wire;

import java.io.IOException;
import java.net.InetSocketAddress;

/** A DNS server on one address and port, UDP and TCP. */
public final class DnsServer implements AutoCloseable {

    private final InetSocketAddress address;

    private DnsServer(InetSocketAddress address) {
        this.address = address;
    }

    /**
     * Starts a server.
     *
     * @param address the address and port; port zero takes a free one
     * @throws IOException if the address cannot be had
     */
    public static DnsServer start(InetSocketAddress address, Answerer answerer, PublishedZones zones)
            throws IOException {
        throw new IOException(address + " " + answerer + zones);
    }

    /** The address and port that is listened on. */
    public InetSocketAddress address() {
        return address;
    }

    /** Answers from other zones, from the next query on. */
    public void serve(PublishedZones zones) {
        zones.size();
    }

    @Override
    public void close() {}
}
