package dev.apportion.dns.wire;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.xbill.DNS.ClientSubnetOption;
import org.xbill.DNS.DClass;
import org.xbill.DNS.EDNSOption;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;

/**
 * Asks one server one question: by UDP, and by TCP when the response is truncated. Blocks its (virtual) thread, at most
 * twice the timeout.
 */
public final class Asker {

    private static final int MOST_BYTES = 65_535;

    /** The size of responses that no path splits (DNS flag day 2020). */
    private static final int UDP_BYTES = 1232;

    private final Duration timeout;
    private final boolean recursive;

    /**
     * Asks authoritative servers.
     *
     * @param timeout how long to wait for each response
     */
    public Asker(Duration timeout) {
        this(timeout, false);
    }

    private Asker(Duration timeout, boolean recursive) {
        this.timeout = timeout;
        this.recursive = recursive;
    }

    /**
     * Asks resolvers: recursion is desired (RFC 1035, section 4.1.1).
     *
     * @param timeout how long to wait for each response
     */
    public static Asker ofResolvers(Duration timeout) {
        return new Asker(timeout, true);
    }

    /** Asks. */
    public Reply ask(InetSocketAddress server, Question question) {
        Message query = new Message(question.id());
        if (recursive) {
            query.getHeader().setFlag(Flags.RD);
        }
        query.addRecord(Record.newRecord(question.name(), question.type(), DClass.IN), Section.QUESTION);
        query.addRecord(
                new OPTRecord(
                        UDP_BYTES,
                        0,
                        0,
                        0,
                        question.client().stream()
                                .map(client -> new ClientSubnetOption(client.getBitCount(), client.toInetAddress()))
                                .toArray(EDNSOption[]::new)),
                Section.ADDITIONAL);
        byte[] wire = query.toWire();
        try {
            Optional<Message> response = byUdp(server, wire, query);
            if (response.isPresent() && response.get().getHeader().getFlag(Flags.TC)) {
                response = byTcp(server, wire, query);
            }
            return response.<Reply>map(Reply.Answered::new)
                    .orElseGet(() -> new Reply.Silent("no response within " + timeout.toMillis() + " ms"));
        } catch (SocketTimeoutException e) {
            return new Reply.Silent("no response within " + timeout.toMillis() + " ms");
        } catch (IOException e) {
            return new Reply.Silent(e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage());
        }
    }

    private Optional<Message> byUdp(InetSocketAddress server, byte[] wire, Message query) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(server);
            socket.send(new DatagramPacket(wire, wire.length));
            DatagramPacket packet = new DatagramPacket(new byte[MOST_BYTES], MOST_BYTES);
            for (long left = timeout.toMillis(); left > 0; left = (deadline - System.nanoTime()) / 1_000_000) {
                socket.setSoTimeout((int) left);
                packet.setLength(MOST_BYTES);
                socket.receive(packet);
                Optional<Message> response = response(Arrays.copyOf(packet.getData(), packet.getLength()), query);
                if (response.isPresent()) {
                    return response;
                }
            }
            return Optional.empty();
        }
    }

    private Optional<Message> byTcp(InetSocketAddress server, byte[] wire, Message query) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(server, (int) timeout.toMillis());
            socket.setSoTimeout((int) timeout.toMillis());
            byte[] framed = new byte[wire.length + 2];
            framed[0] = (byte) (wire.length >> 8);
            framed[1] = (byte) wire.length;
            System.arraycopy(wire, 0, framed, 2, wire.length);
            socket.getOutputStream().write(framed);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] response = new byte[in.readUnsignedShort()];
            in.readFully(response);
            return response(response, query);
        }
    }

    /** The response, if it belongs to the query: another one, or a late or forged one, is passed over. */
    private static Optional<Message> response(byte[] wire, Message query) {
        try {
            Message response = new Message(wire);
            Record asked = response.getQuestion();
            boolean belongs = response.getHeader().getFlag(Flags.QR)
                    && response.getHeader().getID() == query.getHeader().getID()
                    && (asked == null || asked.equals(query.getQuestion()));
            return belongs ? Optional.of(response) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
