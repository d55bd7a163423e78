package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApportionTest {

    @TempDir
    Path tree;

    private void install(String script) throws IOException {
        Path program = tree.resolve("operator/target/apportion/bin/apportion");
        Files.createDirectories(program.getParent());
        Files.writeString(program, script);
        assertThat(program.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void saysHowToBuildWhatIsMissing() {
        assertThatThrownBy(() -> Apportion.in(tree))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("operator/target/apportion/bin/apportion is missing")
                .hasMessageContaining("mvn package");
    }

    @Test
    void runsACommandToItsEnd() throws IOException {
        install("#!/bin/sh\necho \"$JAVA_HOME $*\"\necho oops >&2\nexit 2\n");

        Command.Result result = Apportion.in(tree).run("plan", "-f", "x y");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.stdout()).isEqualTo(System.getProperty("java.home") + " plan -f x y\n");
        assertThat(result.stderr()).isEqualTo("oops\n");
    }

    @Test
    void waitsForALineAndEndsTheProgram() throws IOException {
        install("""
            #!/bin/sh
            trap 'echo bye; exit 0' TERM
            sleep 0.2
            echo ready on port 5353
            while :; do sleep 0.1; done
            """);

        try (ServerProcess program = Apportion.in(tree).start("operator")) {
            assertThat(program.awaitLine(Pattern.compile("port (\\d+)"), Duration.ofSeconds(10))
                            .group(1))
                    .isEqualTo("5353");

            program.terminate();

            assertThat(program.awaitExit(Duration.ofSeconds(10))).isZero();
            assertThat(program.log()).contains("bye");
        }
    }

    @Test
    void showsTheLogOfAProgramThatEndsTooEarly() throws IOException {
        install("#!/bin/sh\necho no kubeconfig\nexit 2\n");

        try (ServerProcess program = Apportion.in(tree).start("operator")) {
            assertThatThrownBy(() -> program.awaitLine(Pattern.compile("ready"), Duration.ofSeconds(10)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("ended with 2")
                    .hasMessageContaining("no kubeconfig");
        }
    }
}
