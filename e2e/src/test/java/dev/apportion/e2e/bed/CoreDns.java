package dev.apportion.e2e.bed;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.xbill.DNS.Type;

/**
 * A CoreDNS process on a free port of 127.0.0.1, with the Corefile of a folder that is its working folder, too. Server blocks of the
 * Corefile name no port, and say {@code bind 127.0.0.1}.
 */
public final class CoreDns implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration PROBE = Duration.ofMillis(200);
    private static final int STARTS = 5;
    private static final String TAKEN = "address already in use";

    private final Path program;
    private final Path folder;
    private final Path logFile;
    private int port;
    private @Nullable ServerProcess process;

    private CoreDns(Path program, Path folder) throws IOException {
        this.program = program;
        this.folder = folder;
        this.logFile = Files.createTempFile("apportion-coredns-", ".log");
    }

    /**
     * Starts CoreDNS with {@code FOLDER/Corefile} and waits until it answers.
     *
     * @throws AssertionError with the log, if it ends instead
     */
    public static CoreDns start(Path folder) throws IOException {
        CoreDns server = new CoreDns(ToolCache.ofThisUser().path(Tool.COREDNS), folder);
        server.startOnFreePort();
        return server;
    }

    /**
     * Starts CoreDNS with a configuration that it must refuse; returns what it wrote before it ended with an error.
     *
     * @throws AssertionError if it runs nevertheless, or ends well
     */
    public static String refusal(Path folder) throws IOException {
        for (int i = 1; ; i++) {
            try (CoreDns server = new CoreDns(ToolCache.ofThisUser().path(Tool.COREDNS), folder)) {
                server.port = LoopbackPorts.free();
                ServerProcess started = server.launch();
                int exitCode = started.awaitExit(Duration.ofSeconds(10));
                String log = started.log();
                if (log.contains(TAKEN) && i < STARTS) {
                    continue;
                }
                if (exitCode == 0 || log.contains(TAKEN)) {
                    throw new AssertionError(
                            "CoreDNS ended with " + exitCode + ", which is no refusal. Its log:\n" + log);
                }
                return log;
            }
        }
    }

    private void startOnFreePort() throws IOException {
        for (int i = 1; ; i++) {
            port = LoopbackPorts.free();
            ServerProcess started = launch();
            try {
                awaitAnswer(started);
                return;
            } catch (AssertionError e) {
                boolean portTaken = started.log().contains(TAKEN);
                close();
                if (!portTaken || i == STARTS) {
                    throw e;
                }
            }
        }
    }

    private ServerProcess launch() throws IOException {
        List<String> command = List.of(program.toString(), "-conf", "Corefile", "-dns.port", Integer.toString(port));
        ServerProcess started = ServerProcess.start("CoreDNS", command, folder, Map.of(), logFile);
        process = started;
        return started;
    }

    private void awaitAnswer(ServerProcess started) {
        // Any response will do: a server without a zone for this name refuses.
        Question probe = Question.of("probe.invalid", Type.A).within(PROBE);
        started.await("answer", START, () -> server().answers(probe));
    }

    private ServerProcess process() {
        if (process == null) {
            throw new IllegalStateException("CoreDNS is stopped");
        }
        return process;
    }

    /** The port, for UDP and TCP; it stays the same when the server is restarted. */
    public int port() {
        return port;
    }

    /** This server, to be asked. */
    public DnsServer server() {
        return new DnsServer(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
    }

    /** What the present process has written. */
    public String log() {
        return process().log();
    }

    /** The memory that the process holds, in KiB. */
    public long residentKibibytes() {
        return process().residentKibibytes();
    }

    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Ends the process; the port and the folder are kept for {@link #restart()}. */
    public void stop() {
        if (process != null) {
            process.close();
        }
    }

    /** Starts the server anew on its port, from whatever is in the folder now, and waits until it answers. */
    public void restart() throws IOException {
        stop();
        awaitAnswer(launch());
    }

    @Override
    public void close() throws IOException {
        stop();
        Files.deleteIfExists(logFile);
    }
}
