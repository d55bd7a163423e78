package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** A configuration that CoreDNS has and does not load is written anew, as another edition, until it is served. */
@WithApiServer
class ReloadIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String REQUESTS = "apportion_reloads_requested_total";

    /** CoreDNS looks at a file that can be held while it does so. */
    @Test
    void aChangeBetweenLoadingAndLookingAgainIsServedAfterAll(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        try (Gate gate = Gate.at(folder.resolve("zz.conf"));
                Product product = Product.start(server, kubectl, folder)) {
            gate.hold();
            gate.awaitReader("looks");
            product.applyPair("first");
            awaitConfiguration(product, folder, "first");
            gate.letPass();
            gate.awaitReader("looks again");
            gate.letPass();
            gate.awaitReader("loads what it found");
            product.applyPair("second");
            awaitConfiguration(product, folder, "second");
            // It would give its own edition to CoreDNS; where the folder is a volume of the ConfigMaps, nobody does.
            product.stopSync();
            gate.open();

            product.awaitVerified("first");
            awaitRequest(product, "second");
            product.startSync();
            awaitServed(product, folder, "second", "first");
        }
    }

    /** What stood in the way is gone, but CoreDNS does not try again. */
    @Test
    void aConfigurationThatCouldNotBeLoadedIsTriedAgain(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        try (Product product = Product.start(server, kubectl, folder)) {
            product.applyPair("early");
            product.awaitVerified("early");
            product.await("its last edition", () -> Files.exists(folder.resolve("~edition.conf")));
            Path zone = folder.resolve("foreign.db");
            Files.writeString(zone, "no zone\n");
            Files.writeString(folder.resolve("foreign.conf"), "foreign.example {\n  file %s\n}\n".formatted(zone));
            product.await("the first failure", () -> failures(product) >= 1);

            product.applyPair("late");
            awaitConfiguration(product, folder, "late");
            product.stopSync();
            product.await("another failure", () -> failures(product) >= 2);
            awaitLastFailure(product);
            Files.writeString(zone, """
                $ORIGIN foreign.example.
                @ 5 IN SOA ns hostmaster 1 7200 1800 86400 5
                @ 5 IN NS ns
                """);

            awaitRequest(product, "late");
            product.startSync();
            awaitServed(product, folder, "late", "early");
            assertThat(product.dns()
                            .ask(Question.of("foreign.example", Type.SOA))
                            .rcode())
                    .isEqualTo("NOERROR");
            product.awaitVerified("early");
        }
    }

    /** The zone is refused until the operator asks for it to be loaded. */
    private static void awaitRequest(Product product, String name) {
        Probes probes = Probes.of(product.operator());
        Awaitility.await("a request to load " + name)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(100))
                .until(
                        () -> {
                            String rcode = rcode(product, name);
                            double requests = probes.metric(REQUESTS);
                            assertThat(requests > 0 || rcode.equals("REFUSED"))
                                    .as("%s without a request", rcode)
                                    .isTrue();
                            return requests;
                        },
                        requests -> requests > 0);
    }

    /** The first zone is served. A request for one zone is one for all. */
    private static void awaitServed(Product product, Path folder, String... names) {
        String name = names[0];
        product.awaitVerified(name);
        product.awaitCondition("dnszone/" + name, "Ready", "True");
        assertThat(rcode(product, name)).isEqualTo("NOERROR");
        assertThat(names)
                .as("zones of which another edition was written")
                .anyMatch(zone -> isAnotherEdition(folder.resolve(zone + ".example.conf")));
        assertThat(product.operator().log()).contains("asked to load it again");
        System.out.printf(
                "served after %.0f requests to load %s%n",
                Probes.of(product.operator()).metric(REQUESTS), name);
    }

    private static boolean isAnotherEdition(Path configuration) {
        try (Stream<String> lines = Files.lines(configuration)) {
            return lines.skip(1).findFirst().filter("#"::equals).isPresent();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String rcode(Product product, String name) {
        return product.dns()
                .ask(Question.of("www." + name + ".example", Type.A))
                .rcode();
    }

    private static long failures(Product product) {
        return product.coreDns()
                .log()
                .lines()
                .filter(line -> line.contains("reload failed"))
                .count();
    }

    /** CoreDNS looks every two seconds, and a zone comes in two steps. */
    private static void awaitLastFailure(Product product) {
        AtomicLong last = new AtomicLong();
        Awaitility.await("no more failures")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofSeconds(3))
                .until(() -> last.getAndSet(failures(product)) == failures(product));
    }

    /** A zone may come before its hosts; the configuration of these is the last of it. */
    private static void awaitConfiguration(Product product, Path folder, String name) {
        product.await("configuration of " + name, () -> Files.exists(folder.resolve(name + ".example.s0.conf")));
    }

    /**
     * A configuration without words that is read only when the test lets it: a named pipe, which has a writer only then. Each reader
     * has a pipe of its own.
     */
    private static final class Gate implements AutoCloseable {

        private final Path path;
        private final Semaphore arrived = new Semaphore(0);
        private final Semaphore leave = new Semaphore(0);
        private final Thread thread;
        private volatile boolean held;
        private volatile boolean closing;

        private Gate(Path path) {
            this.path = path;
            renew();
            this.thread = Thread.ofPlatform().daemon().name("gate").start(this::run);
        }

        static Gate at(Path path) {
            return new Gate(path);
        }

        private void renew() {
            Path next = path.resolveSibling("next.pipe");
            Command.of(List.of("mkfifo", next.toString())).run().orThrow();
            try {
                Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void run() {
            while (!closing) {
                // Opened as soon as somebody reads it.
                try (OutputStream pipe = Files.newOutputStream(path, StandardOpenOption.WRITE)) {
                    if (held) {
                        arrived.release();
                        leave.acquire();
                    }
                    renew();
                    pipe.write('\n');
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void hold() {
            held = true;
        }

        void awaitReader(String what) {
            Awaitility.await("CoreDNS " + what)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .until(arrived::tryAcquire);
        }

        void letPass() {
            leave.release();
        }

        void open() {
            held = false;
            leave.release();
        }

        @Override
        public void close() throws IOException {
            closing = true;
            open();
            // A pipe that is opened for both has a reader.
            FileChannel reader = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            try {
                thread.join(Duration.ofSeconds(1));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                reader.close();
            }
        }
    }
}
