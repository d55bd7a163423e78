package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The published experiments whole, against the documentation. Takes some minutes of two processors, so it is not a test by its
 * name, and runs when it is asked for.
 */
final class WholeClaims {

    @Test
    void everyVerdictIsTheDocumentedOne() throws IOException {
        Run run = Run.of("simulate", "--all-claims");

        System.out.print(run.out());
        assertThat(run.err()).isEmpty();
        assertThat(Claims.measured(run.out(), false)).containsExactlyElementsOf(Claims.documented(false));
    }
}
