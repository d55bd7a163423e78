package dev.apportion.e2e.bed;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.xbill.DNS.Type;

/** A DNS server that reads one configuration file, on a free port of 127.0.0.1, in a temporary folder of its own. */
final class LoopbackServer implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration PROBE = Duration.ofMillis(500);
    private static final int STARTS = 5;
    private static final String TAKEN = "ddress already in use";

    private final Path folder;
    private final ServerProcess process;
    private final int port;

    private LoopbackServer(Path folder, ServerProcess process, int port) {
        this.folder = folder;
        this.process = process;
        this.port = port;
    }

    /** What a server is started with: a function of its folder and its port. */
    interface Configuration {
        String text(Path folder, int port);
    }

    /**
     * Starts a server and waits until it responds.
     *
     * @param command the program and its arguments; the configuration's file is added as the last one
     * @throws AssertionError with the log, if it ends instead
     */
    static LoopbackServer start(String name, List<String> command, Configuration configuration) throws IOException {
        for (int i = 1; ; i++) {
            Path folder = Files.createTempDirectory("apportion-" + name + "-");
            int port = LoopbackPorts.free();
            Path file = folder.resolve("server.conf");
            Files.writeString(file, configuration.text(folder, port));
            List<String> line = new ArrayList<>(command);
            line.add(file.toString());
            LoopbackServer server = new LoopbackServer(
                    folder, ServerProcess.start(name, line, folder, Map.of(), folder.resolve("log")), port);
            try {
                server.awaitAnswer();
                return server;
            } catch (AssertionError e) {
                boolean taken = server.process.log().contains(TAKEN);
                server.close();
                if (!taken || i == STARTS) {
                    throw e;
                }
            }
        }
    }

    private void awaitAnswer() {
        // Every resolver answers this by itself (RFC 6303).
        Question probe = Question.of("1.0.0.127.in-addr.arpa", Type.PTR).within(PROBE);
        process.await("answer", START, () -> server().answers(probe));
    }

    DnsServer server() {
        return new DnsServer(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
    }

    int port() {
        return port;
    }

    String log() {
        return process.log();
    }

    @Override
    public void close() throws IOException {
        process.close();
        Folders.delete(folder);
    }
}
