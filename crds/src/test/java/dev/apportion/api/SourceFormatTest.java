package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.palantir.javaformat.java.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every Java file of the repository is formatted by palantir-java-format, the way that its command line does it. */
class SourceFormatTest {

    private static final String WRITE = "mvn -q -pl crds test -Dtest=SourceFormatTest -Dapportion.format=write";

    @Test
    void sourcesAreFormatted() throws Exception {
        boolean write = "write".equals(System.getProperty("apportion.format"));
        List<String> arguments = new ArrayList<>(List.of("--palantir", write ? "--replace" : "--dry-run"));
        Path repository = Path.of("..").toRealPath();
        List<Path> sources = sources(repository);
        assertThat(sources).as("Java files below %s", repository).isNotEmpty();
        sources.forEach(source -> arguments.add(source.toString()));

        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = new Main(new PrintWriter(out, true), new PrintWriter(err, true), InputStream.nullInputStream())
                .format(arguments.toArray(String[]::new));

        assertThat(code).as("files that cannot be parsed: %s", err).isZero();
        assertThat(out.toString())
                .as("files that are not formatted; run: %s", WRITE)
                .isEmpty();
    }

    private static List<Path> sources(Path repository) throws IOException {
        try (Stream<Path> files = Files.walk(repository)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !repository.relativize(file).toString().matches("(.*/)?(target|\\..*)/.*"))
                    .sorted()
                    .toList();
        }
    }
}
