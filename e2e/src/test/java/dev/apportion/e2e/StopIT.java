package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the programs end: what supervisors and scripts go by. */
@WithApiServer
class StopIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Well below the time that any of them would wait for itself. */
    private static final Duration AT_ONCE = Duration.ofSeconds(4);

    private static final String QUICKSTART =
            SourceTree.root().resolve("examples/quickstart").toString();

    @Test
    void theOperatorStopsAtOnceAndWell(ApiServer server, Kubectl kubectl) throws IOException {
        try (ServerProcess operator =
                Apportion.packaged().against(server).start("operator", "--namespaces", kubectl.namespace())) {
            stopsWell(operator, "Started");
        }
    }

    @Test
    void syncStopsAtOnceAndWell(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        try (ServerProcess sync =
                Apportion.packaged().against(server).start("sync", folder.toString(), "-n", kubectl.namespace())) {
            stopsWell(sync, "Following");
        }
    }

    @Test
    void localStopsAtOnceAndWell() throws IOException {
        try (ServerProcess local = Apportion.packaged().start("local", QUICKSTART)) {
            stopsWell(local, "Answering");
        }
    }

    private static void stopsWell(ServerProcess program, String running) {
        program.awaitLine(Pattern.compile(running), PATIENCE);
        program.terminate();
        assertThat(program.awaitExit(AT_ONCE)).as(program.log()).isZero();
    }

    @Test
    void whatFailsByItselfKeepsItsExitCode() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Command.Result result =
                    Apportion.packaged().run("local", QUICKSTART, "--dns", "127.0.0.1:" + taken.getLocalPort());
            assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
            assertThat(result.stderr()).contains("apportion: ");
        }
    }
}
