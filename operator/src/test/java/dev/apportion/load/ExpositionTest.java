package dev.apportion.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpositionTest {

    private static Exposition read(String text, boolean openMetrics, String... wanted) throws IOException {
        return Exposition.read(
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), List.of(wanted), openMetrics);
    }

    @Test
    void samplesOfAllLabelsAreSummedAndOtherSeriesPassedOver() throws IOException {
        Exposition read = read("""
            # HELP http_requests_total All requests.
            # TYPE http_requests_total counter
            http_requests_total{code="200",path="/a \\"b\\" } 7"} 10
            http_requests_total{code="500"}\t2.5e1
            http_requests_total_other 9
            http_requests 8
            broken{ 1
            up 1
            """, false, "http_requests_total", "up");

        assertThat(read.sums()).isEqualTo(Map.of("http_requests_total", 35.0, "up", 1.0));
        assertThat(read.oldestMillis()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a{x=\"1\"} -3\na{x=\"2\"} 10\n", "a{x=\"1\"} 10\na{x=\"2\"} -3\na{x=\"3\"} 5\n"})
    void whatIsBelowZeroDoesNotHideBehindOthers(String text) throws IOException {
        assertThat(read(text, false, "a").sums()).isEqualTo(Map.of("a", -3.0));
    }

    @Test
    void theOldestTimestampCountsInTheUnitOfTheFormat() throws IOException {
        assertThat(read("a 1 1700000000500\na{x=\"y\"} 1 1700000000400\n", false, "a")
                        .oldestMillis())
                .isEqualTo(OptionalLong.of(1700000000400L));
        assertThat(read("a 1 1700000000.5 # {trace=\"1\"} 3\n# EOF\n", true, "a")
                        .oldestMillis())
                .isEqualTo(OptionalLong.of(1700000000500L));
    }

    @Test
    void openMetricsWithoutItsEndWasCutOff() {
        assertThatThrownBy(() -> read("a 1\n", true, "a"))
                .isInstanceOf(Exposition.MalformedException.class)
                .hasMessage("it ends before its line \"# EOF\"");
    }

    @ParameterizedTest
    @CsvSource({"NaN, NaN", "+Inf, Infinity", "-Inf, -Infinity", "-5, -5", "1e3, 1000", ".5, .5", "+2, 2"})
    void numbersAreThoseOfTheFormat(String text, double value) throws IOException {
        assertThat(read("a " + text + "\n", false, "a").sums()).isEqualTo(Map.of("a", value));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a ",
                "a x",
                "a 1f",
                "a 0x10",
                "a 1d",
                "a 1,5",
                "a{ 1",
                "a{b=\"c\"",
                "a{b=\"}\" 1",
                "a 1 2 3",
                "a 1 NaN",
                "a 1 x",
                "a-b 1",
                "a 1_0",
                "a ١"
            })
    void aWantedLineWithoutItsFormIsRefusedAndShown(String line) {
        assertThatThrownBy(() -> read("# TYPE a gauge\n" + line + "\n", false, "a"))
                .isInstanceOf(Exposition.MalformedException.class)
                .hasMessageContaining("a line is malformed: \"" + line);
    }

    @Property
    void whateverComesIsReadOrRefused(@ForAll("lines") List<String> lines, @ForAll boolean openMetrics) {
        String text = String.join("\n", lines);
        try {
            assertThat(read(text, openMetrics, "a").sums().keySet()).isSubsetOf("a");
        } catch (IOException e) {
            assertThat(e).isInstanceOf(Exposition.MalformedException.class);
        }
    }

    @Property
    void whatIsWrittenByTheRulesReadsBack(@ForAll("labels") List<String> labels, @ForAll List<Integer> values)
            throws IOException {
        StringBuilder text = new StringBuilder();
        long sum = 0;
        long least = 0;
        for (int i = 0; i < Math.min(labels.size(), values.size()); i++) {
            String escaped =
                    labels.get(i).replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
            text.append("a{l=\"%s\"} %d\n".formatted(escaped, values.get(i)));
            sum += values.get(i);
            least = Math.min(least, values.get(i));
        }

        double read = read(text.toString(), false, "a").sums().getOrDefault("a", 0.0);

        assertThat(read).isCloseTo((double) (least < 0 ? least : sum), within(1.0));
    }

    @Provide
    Arbitrary<List<String>> lines() {
        Arbitrary<String> form = Combinators.combine(
                        Arbitraries.of("a", "b", "a{", "a{x=\"", "#", "# EOF", ""),
                        Arbitraries.strings()
                                .withChars("ab{}=\"\\ \t,.0123456789eE+-#NInf\u0000é")
                                .ofMaxLength(20))
                .as((head, tail) -> head + tail);
        return Arbitraries.oneOf(form, Arbitraries.strings().ofMaxLength(30))
                .list()
                .ofMaxSize(20);
    }

    @Provide
    Arbitrary<List<String>> labels() {
        return Arbitraries.strings()
                .ofMaxLength(20)
                .filter(label -> label.chars().noneMatch(c -> c == '\r' || Character.isSurrogate((char) c)))
                .list()
                .ofMaxSize(10);
    }
}
