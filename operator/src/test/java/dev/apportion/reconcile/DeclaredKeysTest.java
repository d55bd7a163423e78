package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of names and rates, as people and programs write them. */
class DeclaredKeysTest {

    private static List<String> read(String text) {
        DeclaredKeys declared = DeclaredKeys.read(text);
        assertThat(declared.problems()).isEmpty();
        assertThat(declared.refused()).isZero();
        return declared.keys().stream()
                .map(key -> "%d %s %s".formatted(key.line(), key.name(), key.rate()))
                .toList();
    }

    private static String problem(String text) {
        DeclaredKeys declared = DeclaredKeys.read(text);
        assertThat(declared.refused()).isEqualTo(1);
        return declared.problems().getFirst();
    }

    @Test
    void linesAreReadInTheirOrder() {
        assertThat(read("alice,40\nbob,2500m\ndeep.er,0\nBücher,\"1e3\"\n"))
                .containsExactly("1 alice 40.0", "2 bob 2.5", "3 deep.er 0.0", "4 Bücher 1000.0");
    }

    @Test
    void whatEditorsAndSpreadsheetsAddIsPassedOver() {
        assertThat(read(String.join(
                        "\r\n",
                        "\ufeff",
                        "# tenants, from the billing",
                        " \"Name\" , RATE",
                        "",
                        "  alice ,\t40 ",
                        "\"bob\",\"3\"")))
                .containsExactly("5 alice 40.0", "6 bob 3.0");
        assertThat(read("alice,1\rbob,2\r")).containsExactly("1 alice 1.0", "2 bob 2.0");
        assertThat(read("#name,rate\nname,3")).containsExactly("2 name 3.0");
    }

    @Test
    void anEmptyListHasNoKeys() {
        assertThat(read("")).isEmpty();
        assertThat(read("\ufeff")).isEmpty();
        assertThat(read("name,rate\n\n# none\n")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "alice|line 1: \"alice\" has no rate; maybe write \"alice,0\", which counts as very rare",
                "alice,|line 1: \"alice\" has no rate; maybe write \"alice,0\", which counts as very rare",
                "alice,fast|line 1: the rate \"fast\" of \"alice\" must be a quantity from 0 to 1e12: for example 120,"
                        + " or 500m for a half",
                "alice,-1|line 1: the rate \"-1\" of \"alice\" must be a quantity",
                "alice,2T|line 1: the rate \"2T\" of \"alice\" must be a quantity",
                "alice,NaN|line 1: the rate \"NaN\" of \"alice\" must be a quantity",
                "alice,0,5|line 1: \"alice,0,5\" has 3 fields, of which two are possible, the name and the rate; maybe"
                        + " the rate has a comma",
                "alice;40|line 1: \"alice;40\" has no rate",
                ",40|line 1: \"\" must be a name below the service's host name",
                "a..b,40|line 1: \"a..b\" must be a name below the service's host name",
                "*,40|line 1: \"*\" must be a name below the service's host name",
                "alice.,40|line 1: \"alice.\" must be a name below the service's host name, without the host name and"
                        + " without a trailing dot: for example alice",
                "al ice,40|line 1: \"al ice\" must be a name below the service's host name",
            })
    void anyOtherLineIsLeftOutWithItsNumberItsValueAndAdvice(String line, String problem) {
        assertThat(problem(line)).startsWith(problem);
        DeclaredKeys beside = DeclaredKeys.read("before,1\n" + line + "\nafter,2");
        assertThat(beside.keys()).extracting(DeclaredKeys.Key::name).containsExactly("before", "after");
        assertThat(beside.problems()).containsExactly(problem(line).replace("line 1", "line 2"));
    }

    @Test
    void theHeaderIsOneInFrontOnly() {
        assertThat(problem("alice,1\nname,rate")).startsWith("line 2: the rate \"rate\" of \"name\"");
        assertThat(problem("name,rate\nname,rate")).startsWith("line 2: the rate \"rate\" of \"name\"");
    }

    @Test
    void longValuesAreCutWhereCharactersEnd() {
        assertThat(problem("alice," + "\ud83d\ude00".repeat(1000)))
                .contains("the rate \"" + "\ud83d\ude00".repeat(40) + "…\" of");
    }

    @Test
    void moreKeysThanAListMayHaveAreLeftOut() {
        String full = IntStream.range(0, DeclaredKeys.MOST)
                .mapToObj("t%d,1\n"::formatted)
                .collect(Collectors.joining());
        assertThat(read(full + "\n# the end\n")).hasSize(10_000);
        DeclaredKeys more = DeclaredKeys.read(full + "one,1\n\ntwo,1\n# not a key\nthree,nonsense\n");
        assertThat(more.keys()).hasSize(10_000);
        assertThat(more.refused()).isEqualTo(3);
        assertThat(more.problems())
                .containsExactly("line 10001: a list may have 10000 keys, and there are more from here on;"
                        + " maybe make two streams of it");
    }

    @Test
    void somethingElseAltogetherIsToldInAFewWords() {
        DeclaredKeys declared = DeclaredKeys.read("{\"alice\": 40}\n".repeat(100_000));
        assertThat(declared.keys()).isEmpty();
        assertThat(declared.refused()).isEqualTo(100_000);
        assertThat(declared.problems()).hasSize(8);
    }

    @Property
    void everyTextHasAnAnswer(@ForAll String text) {
        DeclaredKeys declared = DeclaredKeys.read(text);
        long lines = text.lines().count();
        assertThat(declared.keys().size() + declared.refused()).isLessThanOrEqualTo((int) lines);
        assertThat(declared.problems().isEmpty()).isEqualTo(declared.refused() == 0);
    }
}
