package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The published experiments in their quick variants: what comes out is what the documentation says, where claims fail too. */
class ClaimsTest {

    @Test
    void everyVerdictIsTheDocumentedOne() throws IOException {
        Run run = Run.of("simulate", "--all-claims", "--small");

        assertThat(run.err()).isEmpty();
        assertThat(run.code()).as("some claim is refuted").isEqualTo(1);
        List<Claims> measured = Claims.measured(run.out(), true);
        assertThat(measured).extracting(Claims::experiment).contains(SimulateCommand.PUBLISHED.toArray(String[]::new));
        assertThat(measured).containsExactlyElementsOf(Claims.documented(true));
    }
}
