package dev.apportion.e2e.bed;

import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A network of this machine alone, 198.18.99.0/24: every address of it is this machine, by way of the loopback interface. Pods may
 * have these addresses, which the API server would refuse of 127.0.0.0/8.
 */
public final class LocalNetwork implements AutoCloseable {

    /** Of the range that is set aside for tests between machines (RFC 2544), so nobody's. */
    private static final String NETWORK = "198.18.99.";

    private LocalNetwork() {}

    /** Sets the network up; the calling test is skipped where this process may not. */
    public static LocalNetwork orSkip() {
        try {
            Command.Result result = route("replace");
            Assumptions.assumeTrue(
                    result.exitCode() == 0, () -> "this test needs a local network, and may not set it up: " + result);
        } catch (UncheckedIOException e) {
            Assumptions.abort("this test needs a local network, and the program ip to set it up: " + e.getMessage());
        }
        return new LocalNetwork();
    }

    /** An address of the network. */
    public String address(int host) {
        return NETWORK + host;
    }

    private static Command.Result route(String verb) {
        return Command.of(List.of("ip", "route", verb, "local", NETWORK + "0/24", "dev", "lo"))
                .run();
    }

    @Override
    public void close() {
        route("del");
    }
}
