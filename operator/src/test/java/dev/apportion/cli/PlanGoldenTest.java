package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What {@code apportion plan -o json} prints for the manifests of each case, byte for byte, however the documents are ordered
 * and wherever the program runs; {@code -Dapportion.golden=write} renews the expectations.
 */
class PlanGoldenTest {

    private static final Path CASES = Path.of("src/test/resources/plan");

    private static final List<Locale> LOCALES = List.of(
            Locale.forLanguageTag("tr-TR"), Locale.forLanguageTag("ar"), Locale.forLanguageTag("th-TH-u-nu-thai"));

    private final Locale usual = Locale.getDefault();

    @TempDir
    private Path folder;

    @AfterEach
    void usualLocale() {
        Locale.setDefault(usual);
    }

    static Stream<Path> cases() throws IOException {
        try (Stream<Path> entries = Files.list(CASES)) {
            return entries.filter(Files::isDirectory).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void printsWhatIsKept(Path folder) throws IOException {
        Path kept = folder.resolve("out.json");
        Run run = plan(folder.resolve("in.yaml"));
        if ("write".equals(System.getProperty("apportion.golden"))) {
            Files.writeString(kept, run.out());
        }

        assertThat(run.err()).isEmpty();
        assertThat(run.out()).isEqualTo(Files.readString(kept));
        JsonNode problems = new ObjectMapper().readTree(run.out()).path("problems");
        assertThat(run.code()).isEqualTo(problems.isEmpty() ? 0 : 1);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theOrderOfDocumentsAndTheLocaleChangeNothing(Path folder) throws IOException {
        String expected = plan(folder.resolve("in.yaml")).out();
        List<String> documents = new ArrayList<>(
                List.of(Files.readString(folder.resolve("in.yaml")).split("(?m)^---\\n")));
        Path shuffled = this.folder.resolve("in.yaml");
        for (int i = 0; i < LOCALES.size(); i++) {
            Collections.shuffle(documents, new Random(i));
            Files.writeString(shuffled, String.join("---\n", documents));
            Locale.setDefault(LOCALES.get(i));

            assertThat(plan(shuffled).out()).isEqualTo(expected);
        }
    }

    @Test
    void theQuickstartIsTheExampleThatIsShipped() throws IOException {
        assertThat(CASES.resolve("quickstart/in.yaml"))
                .hasSameTextualContentAs(Path.of("../examples/quickstart/quickstart.yaml"));
    }

    private static Run plan(Path file) {
        return Run.of("plan", "-o", "json", "-f", file.toString());
    }
}
