package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plots and reports of simulations, and what becomes of output when the program is stopped. */
class SimulationFilesTest {

    private static final String SCENARIO = """
        about: Two <servers> & a "claim".
        seconds: 20
        seeds: {first: 7, count: 3}
        servers:
        - {name: a, count: 2, slots: 2}
        requests:
          size: {exponential: 0.05}
        populations:
        - {name: p, rate: 10}
        - {name: q, rate: 30}
        resolvers: {perPopulation: 3}
        dispatch:
          dns:
            policy: {type: KSplittable}
        sweep:
          dispatch.dns.policy.kSplittable:
            random: {split: EqualRandom}
            optimal: {split: Optimal}
          dispatch.dns.maxReplicas: [1, 2]
        show: [delay, imbalance]
        claims:
        - {says: two are better, metric: delay, less: {maxReplicas: 2}, than: {maxReplicas: 1}}
        """;

    @TempDir
    private Path folder;

    private Run run(String threads) throws IOException {
        Path file = Files.writeString(folder.resolve("s.yaml"), SCENARIO);
        return Run.of(
                "simulate",
                file.toString(),
                "--threads",
                threads,
                "--plots",
                folder.resolve("plots-" + threads).toString(),
                "--report",
                folder.resolve("report-%s.html".formatted(threads)).toString());
    }

    @Test
    void aPlotOfEachQuantityAsPngAndSvg() throws Exception {
        assertThat(run("2").err()).isEmpty();

        Path plots = folder.resolve("plots-2");
        try (Stream<Path> files = Files.list(plots)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("s-delay.png", "s-delay.svg", "s-imbalance.png", "s-imbalance.svg");
        }
        BufferedImage image = ImageIO.read(plots.resolve("s-delay.png").toFile());
        assertThat(image.getWidth()).isEqualTo(PlotDrawing.WIDTH);
        assertThat(image.getHeight()).isEqualTo(PlotDrawing.HEIGHT);
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        assertThat(factory.newDocumentBuilder()
                        .parse(plots.resolve("s-delay.svg").toFile())
                        .getDocumentElement()
                        .getTagName())
                .isEqualTo("svg");
    }

    @Test
    void theSameBytesOnAnyThreads() throws IOException {
        run("1");
        run("3");

        assertThat(folder.resolve("report-3.html")).hasSameBinaryContentAs(folder.resolve("report-1.html"));
        for (String plot : List.of("s-delay.png", "s-delay.svg", "s-imbalance.png")) {
            assertThat(folder.resolve("plots-3").resolve(plot))
                    .hasSameBinaryContentAs(folder.resolve("plots-1").resolve(plot));
        }
    }

    @Test
    void aReportNeedsNothingElse() throws IOException {
        run("1");

        String page = Files.readString(folder.resolve("report-1.html"));
        assertThat(page)
                .contains("Two &lt;servers&gt; &amp; a &quot;claim&quot;.")
                .containsPattern(
                        "<td>s</td><td class=\"[a-z]+\">[a-z ]+</td><td>\\d</td><td>\\d</td><td>\\d</td><td>two are"
                                + " better</td>")
                .contains("<tr><th>POPULATION</th><th>RATE</th><th>SERVER</th><th>WEIGHT</th><th>SHARE</th></tr>")
                .doesNotContain("<script", "<link", "<img", "<iframe", "@import", "<!DOCTYPE svg", "Stopped");
        assertThat(Pattern.compile("<svg ").matcher(page).results()).hasSize(2);
        assertThat(Pattern.compile("(?:src|href)=\"([^\"]*)\"").matcher(page).results())
                .as("what is referred to is in the page")
                .allMatch(reference -> reference.group(1).startsWith("#"));
        assertThat(Pattern.compile(" id=\"([^\"]*)\"").matcher(page).results().map(match -> match.group(1)))
                .doesNotHaveDuplicates();
    }

    private static List<String> java(List<String> options, String... arguments) {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m"));
        line.addAll(options);
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        line.addAll(List.of(arguments));
        return line;
    }

    /** As in the container image: what cannot be drawn is said before anything is run. */
    @Test
    void aRuntimeThatCannotDrawSaysSo() throws Exception {
        Path file = Files.writeString(folder.resolve("s.yaml"), SCENARIO);
        Process process = new ProcessBuilder(java(
                        List.of(
                                "--limit-modules",
                                "java.base,java.logging,java.management,java.naming,java.net.http,java.xml"
                                        + ",jdk.httpserver,jdk.unsupported"),
                        "simulate",
                        file.toString(),
                        "--report",
                        folder.resolve("r.html").toString()))
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor()).as(output).isEqualTo(2);
            assertThat(output.lines()).hasSize(1);
            assertThat(output).startsWith("plots need the module java.desktop, which this Java runtime lacks");
            assertThat(folder.resolve("r.html")).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Half of the runs end at once, the others would take hours. */
    @Test
    void anInterruptWritesWhatThereIs() throws Exception {
        Path file = Files.writeString(
                folder.resolve("s.yaml"),
                SCENARIO.replace("  dispatch.dns.maxReplicas: [1, 2]", "  seconds: [20, 30000000]")
                        .replace("less: {maxReplicas: 2}, than: {maxReplicas: 1}", "near: 1"));
        Path report = folder.resolve("report.html");
        // What a shell runs in the background is started with this signal ignored, and so is all that it starts.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.addAll(java(
                List.of(),
                "simulate",
                file.toString(),
                "-o",
                "json",
                "--threads",
                "2",
                "--progress",
                "--report",
                report.toString()));
        Process process = new ProcessBuilder(command)
                .redirectOutput(folder.resolve("out.json").toFile())
                .start();
        try (BufferedReader errors = process.errorReader()) {
            StringBuilder seen = new StringBuilder();
            while (!seen.toString().matches("(?s).*\\d of 12 runs.*")) {
                int next = errors.read();
                assertThat(next).as(seen.toString()).isNotNegative();
                seen.append((char) next);
            }

            assertThat(new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                            .start()
                            .waitFor())
                    .isZero();

            errors.lines().forEach(line -> seen.append(line).append('\n'));
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(seen.toString()).isZero();
            MatchResult ended = Pattern.compile("stopped: (\\d+) of 12 runs have ended, and are in the output")
                    .matcher(seen)
                    .results()
                    .findFirst()
                    .orElseThrow();
            JsonNode output =
                    new ObjectMapper().readTree(folder.resolve("out.json").toFile());
            assertThat(output.path("complete").booleanValue()).isFalse();
            assertThat(output.at("/scenarios/0/complete").booleanValue()).isFalse();
            int runs = 0;
            for (JsonNode point : output.at("/scenarios/0/points")) {
                runs += point.at("/metrics/delay/runs").size();
            }
            assertThat(runs).isEqualTo(Integer.parseInt(ended.group(1))).isBetween(1, 6);
            assertThat(Files.readString(report)).contains("Stopped: only a part of the runs has ended.", "<svg ");
        } finally {
            process.destroyForcibly();
        }
    }
}
