package dev.apportion.e2e.bed;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of 127.0.0.1 that were free, for UDP and TCP, at the moment of asking. They lie below the range from which Linux serves
 * outgoing connections, so that only another server can take one before it is used.
 */
public final class LoopbackPorts {

    private static final int FIRST = 20_000;
    private static final int BOUND = 32_000;
    private static final int TRIES = 200;

    private LoopbackPorts() {}

    /** A free port. */
    public static int free() throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, BOUND);
            InetSocketAddress address = new InetSocketAddress(loopback, port);
            try (ServerSocket tcp = new ServerSocket(port, 1, loopback);
                    DatagramSocket _ = new DatagramSocket(address)) {
                return tcp.getLocalPort();
            } catch (IOException taken) {
                // the next one
            }
        }
        throw new IOException(
                "No free port of 127.0.0.1 between " + FIRST + " and " + BOUND + " in " + TRIES + " tries");
    }
}
