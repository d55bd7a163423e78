package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that README.md names for the cases of others are there. */
class CaseTableTest {

    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:IT|Test))(?:\\.(\\w+))?`");

    private static final String HEADING = "## What went wrong elsewhere";

    private static final int CASES = 50;

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        Path root = SourceTree.root();
        String table = Files.readString(root.resolve("e2e/README.md"));
        int start = table.indexOf(HEADING);
        assertThat(start).as(HEADING).isNotNegative();
        table = table.substring(start, table.indexOf("\n## ", start + 1));
        Map<String, String> sources = sources(root);
        List<String> missing = new ArrayList<>();
        int named = 0;
        Matcher matcher = NAMED.matcher(table);
        while (matcher.find()) {
            String source = sources.get(matcher.group(1));
            String method = matcher.group(2);
            named++;
            if (source == null || (method != null && !source.contains(" " + method + "("))) {
                missing.add(matcher.group());
            }
        }
        assertThat(missing).isEmpty();
        assertThat(named).isGreaterThanOrEqualTo(CASES);
    }

    /** The texts of all tests, by class. */
    private static Map<String, String> sources(Path root) throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (String module : List.of("crds", "operator", "e2e")) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/test/java"))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString();
                    sources.put(name.substring(0, name.length() - ".java".length()), Files.readString(file));
                }
            }
        }
        return sources;
    }
}
