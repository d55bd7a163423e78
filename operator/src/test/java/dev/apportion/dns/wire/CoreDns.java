package dev.apportion.dns.wire;

import dev.apportion.dns.coredns.BaseCorefile;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.xbill.DNS.Name;
import org.xbill.DNS.Type;

/** A real CoreDNS that serves a folder. */
final class CoreDns implements AutoCloseable {

    private final Process process;
    private final InetSocketAddress address;
    private final Duration started;

    private CoreDns(Process process, InetSocketAddress address, Duration started) {
        this.process = process;
        this.address = address;
        this.started = started;
    }

    /** The program, if the tests were told where programs are. */
    static Optional<Path> binary() {
        return Optional.ofNullable(System.getenv("APPORTION_TEST_BINARIES"))
                .map(folder -> Path.of(folder, "coredns"))
                .filter(Files::isExecutable);
    }

    /** Starts on a folder, and waits until the name is answered. */
    static CoreDns start(Path binary, Path folder, String name) throws IOException, InterruptedException {
        int port;
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Path corefile = Files.writeString(
                folder.resolve("Corefile"),
                new BaseCorefile(folder.toString(), OptionalInt.empty(), OptionalInt.empty()).text());
        Path log = folder.resolve("coredns.log");
        long before = System.nanoTime();
        Process process = new ProcessBuilder(
                        binary.toString(), "-conf", corefile.toString(), "-dns.port", Integer.toString(port))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Asker asker = new Asker(Duration.ofMillis(100));
        Question question = new Question(Name.fromString(name + "."), Type.SOA, 1);
        while (!(asker.ask(address, question) instanceof Reply.Answered)) {
            if (!process.isAlive() || System.nanoTime() - before > 20_000_000_000L) {
                process.destroyForcibly();
                throw new AssertionError("CoreDNS does not start:\n" + Files.readString(log));
            }
            Thread.sleep(5);
        }
        return new CoreDns(process, address, Duration.ofNanos(System.nanoTime() - before));
    }

    InetSocketAddress address() {
        return address;
    }

    /** How long it took until it answered. */
    Duration started() {
        return started;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
