package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The published experiments in their quick variants: what comes out is what the documentation says, where claims fail too. */
class ClaimsTest {

    /** The report is of quantities of all sizes, zero among them. */
    @Test
    void everyVerdictIsTheDocumentedOne(@TempDir Path folder) throws IOException {
        Path report = folder.resolve("claims.html");
        Run run = Run.of("simulate", "--all-claims", "--small", "--report", report.toString());

        assertThat(run.err()).isEmpty();
        assertThat(run.code()).as("some claim is refuted").isEqualTo(1);
        List<Claims> measured = Claims.measured(run.out(), true);
        assertThat(measured).extracting(Claims::experiment).contains(SimulateCommand.PUBLISHED.toArray(String[]::new));
        assertThat(Files.readString(report)).contains("dlbdns, mean delay, ms").doesNotContain("Stopped");
        assertThat(measured).containsExactlyElementsOf(Claims.documented(true));
    }
}
