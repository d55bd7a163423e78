package dev.apportion.dns.wire;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Header;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Rcode;

/** A DNS server on one address and port, UDP and TCP. */
public final class DnsServer implements AutoCloseable {

    private static final int HEADER_BYTES = 12;
    private static final int MOST_BYTES = 65_535;

    /** What a response by UDP may hold if the query does not say (RFC 1035, section 4.2.1). */
    private static final int UDP_BYTES = 512;

    /** How long a connection may be idle, in milliseconds (RFC 7766, section 6.2.3, says "a few seconds"). */
    private static final int IDLE_MILLIS = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(DnsServer.class);

    private final DatagramSocket udp;
    private final ServerSocket tcp;
    private final Answerer answerer;
    private final AtomicReference<PublishedZones> zones;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    private DnsServer(DatagramSocket udp, ServerSocket tcp, Answerer answerer, PublishedZones zones) {
        this.udp = udp;
        this.tcp = tcp;
        this.answerer = answerer;
        this.zones = new AtomicReference<>(zones);
    }

    /**
     * Starts a server.
     *
     * @param address the address and port; port zero takes a free one
     * @throws IOException if the address cannot be had
     */
    public static DnsServer start(InetSocketAddress address, Answerer answerer, PublishedZones zones)
            throws IOException {
        ServerSocket tcp = new ServerSocket();
        try {
            tcp.setReuseAddress(true);
            tcp.bind(address);
            DatagramSocket udp = new DatagramSocket(new InetSocketAddress(address.getAddress(), tcp.getLocalPort()));
            DnsServer server = new DnsServer(udp, tcp, answerer, zones);
            Thread.ofPlatform().daemon().name("dns-udp").start(server::receive);
            Thread.ofPlatform().daemon().name("dns-tcp").start(server::accept);
            return server;
        } catch (IOException e) {
            tcp.close();
            throw e;
        }
    }

    /** The address and port that is listened on. */
    public InetSocketAddress address() {
        return new InetSocketAddress(udp.getLocalAddress(), udp.getLocalPort());
    }

    /** Answers from other zones, from the next query on. */
    public void serve(PublishedZones other) {
        zones.set(other);
    }

    @Override
    public void close() {
        udp.close();
        try {
            tcp.close();
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("Closing the DNS server");
        }
    }

    private void receive() {
        while (!udp.isClosed()) {
            DatagramPacket packet = new DatagramPacket(new byte[MOST_BYTES], MOST_BYTES);
            try {
                udp.receive(packet);
            } catch (IOException e) {
                if (!udp.isClosed()) {
                    LOG.atDebug().setCause(e).log("Receiving a query");
                }
                continue;
            }
            byte[] query = Arrays.copyOf(packet.getData(), packet.getLength());
            InetSocketAddress client = new InetSocketAddress(packet.getAddress(), packet.getPort());
            Thread.ofVirtual().start(() -> {
                byte[] response = respond(query, client.getAddress(), false);
                try {
                    if (response.length > 0) {
                        udp.send(new DatagramPacket(response, response.length, client));
                    }
                } catch (IOException e) {
                    LOG.atDebug().setCause(e).addKeyValue("client", client).log("Sending a response");
                }
            });
        }
    }

    private void accept() {
        while (!tcp.isClosed()) {
            try {
                Socket connection = tcp.accept();
                connections.add(connection);
                Thread.ofVirtual().start(() -> converse(connection));
            } catch (IOException e) {
                if (!tcp.isClosed()) {
                    LOG.atDebug().setCause(e).log("Accepting a connection");
                }
            }
        }
    }

    private void converse(Socket connection) {
        try (connection) {
            connection.setSoTimeout(IDLE_MILLIS);
            DataInputStream in = new DataInputStream(connection.getInputStream());
            while (true) {
                byte[] query = in.readNBytes(in.readUnsignedShort());
                byte[] response = respond(query, connection.getInetAddress(), true);
                if (response.length == 0) {
                    return;
                }
                byte[] framed = new byte[response.length + 2];
                framed[0] = (byte) (response.length >> 8);
                framed[1] = (byte) response.length;
                System.arraycopy(response, 0, framed, 2, response.length);
                connection.getOutputStream().write(framed);
            }
        } catch (EOFException | SocketTimeoutException e) {
            LOG.atTrace().setCause(e).log("The client is done");
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("Conversing by TCP");
        } finally {
            connections.remove(connection);
        }
    }

    /** The response in wire format; empty if there is to be none. */
    private byte[] respond(byte[] wire, InetAddress client, boolean byTcp) {
        if (wire.length < HEADER_BYTES || (wire[2] & 0x80) != 0) {
            return new byte[0];
        }
        try {
            Message query = new Message(wire);
            Message response = answerer.answer(query, client, zones.get());
            OPTRecord opt = query.getOPT();
            int most = byTcp ? MOST_BYTES : opt == null ? UDP_BYTES : Math.max(UDP_BYTES, opt.getPayloadSize());
            return response.toWire(most);
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("A query cannot be read");
            return refusal(wire, Rcode.FORMERR);
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("A query cannot be answered");
            return refusal(wire, Rcode.SERVFAIL);
        }
    }

    private static byte[] refusal(byte[] wire, int rcode) {
        Header header = new Header((wire[0] & 0xff) << 8 | (wire[1] & 0xff));
        header.setFlag(Flags.QR);
        header.setRcode(rcode);
        Message message = new Message();
        message.setHeader(header);
        return message.toWire();
    }
}
