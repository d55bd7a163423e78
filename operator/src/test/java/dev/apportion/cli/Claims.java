package dev.apportion.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A claim of a published experiment, and what came of it.
 *
 * @param verdict in a word or two, as the program says it
 */
record Claims(String experiment, String claim, String verdict) {

    private static final String WORDS = "(holds mostly|holds partly|holds|refuted|unclear|not run)";

    private static final Pattern ROW =
            Pattern.compile("\\| `([a-z-]+)` \\| (.+) \\| " + WORDS + ": (\\d+), (\\d+), (\\d+) \\| " + WORDS + " \\|");

    private static final Pattern PRINTED = Pattern.compile("([a-z-]+) +" + WORDS + " +(\\d+) +(\\d+) +(\\d+) +(.+)");

    /** What the documentation says. */
    static List<Claims> documented(boolean small) throws IOException {
        return Files.readString(Path.of("README.md"))
                .lines()
                .flatMap(line -> ROW.matcher(line).results())
                .map(row ->
                        new Claims(row.group(1), row.group(2), small ? row.group(7) : counted(row.group(3), row, 4)))
                .toList();
    }

    /** What the program says at the end of its output. */
    static List<Claims> measured(String output, boolean small) {
        return output.substring(output.lastIndexOf("SCENARIO "))
                .lines()
                .skip(1)
                .takeWhile(line -> !line.isBlank())
                .flatMap(line -> PRINTED.matcher(line).results())
                .map(row ->
                        new Claims(row.group(1), row.group(6), small ? row.group(2) : counted(row.group(2), row, 3)))
                .toList();
    }

    private static String counted(String verdict, MatchResult row, int first) {
        return "%s: %s, %s, %s".formatted(verdict, row.group(first), row.group(first + 1), row.group(first + 2));
    }
}
