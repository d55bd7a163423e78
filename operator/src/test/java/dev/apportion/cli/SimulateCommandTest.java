package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SimulateCommandTest {

    private static final Path EXAMPLES = Path.of("..", "examples", "simulation");

    private static final String SCENARIO = """
        seconds: 20
        seeds: {first: 7, count: 2}
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
          dispatch.dns.maxReplicas: [1, 2]
        claims:
        - {says: two are better, metric: delay, less: {maxReplicas: 2}, than: {maxReplicas: 1}}
        - {says: there is a delay, metric: delay, near: 1000}
        """;

    @TempDir
    private Path folder;

    private Run run(String scenario, String... options) throws IOException {
        Path file = Files.writeString(folder.resolve("s.yaml"), scenario);
        return Run.of(Stream.concat(Stream.of("simulate", file.toString()), Stream.of(options))
                .toArray(String[]::new));
    }

    @Test
    void aTableOfPointsAndOfVerdicts() throws IOException {
        Run run = run(SCENARIO);

        assertThat(run.err()).isEmpty();
        assertThat(run.code()).as("a claim is refuted").isEqualTo(1);
        assertThat(run.out())
                .contains("s: 2 points, 2 seeds each")
                .containsPattern("(?m)^MAXREPLICAS +DELAY ms +DELAYMAX ms +IMBALANCE$")
                .containsPattern("(?m)^1 +[0-9.]+ ±[0-9.]+ ")
                .containsPattern("(?m)^s +refuted +0 +0 +2 +there is a delay$");
    }

    @Test
    void everyOutputIsTheSameOnAnyThreads() throws IOException {
        for (String output : List.of("table", "csv", "json")) {
            String one = run(SCENARIO, "-o", output, "--threads", "1").out();

            assertThat(run(SCENARIO, "-o", output, "--threads", "5").out()).isEqualTo(one);
        }
    }

    @Test
    void csvHasALineForEachRun() throws IOException {
        List<String> lines = run(SCENARIO, "-o", "csv").out().lines().toList();

        assertThat(lines).hasSize(1 + 4);
        assertThat(lines.getFirst()).startsWith("scenario,maxReplicas,seed,requests,delay,");
        assertThat(lines.get(1)).startsWith("s,1,7,");
        assertThat(lines.get(4)).startsWith("s,2,8,");
    }

    @Test
    void jsonHasTheRunsAndTheServers() throws IOException {
        JsonNode scenario = new ObjectMapper()
                .readTree(run(SCENARIO, "-o", "json").out())
                .path("scenarios")
                .path(0);

        assertThat(scenario.path("complete").booleanValue()).isTrue();
        JsonNode point = scenario.path("points").path(1);
        assertThat(point.path("labels").path("maxReplicas").textValue()).isEqualTo("2");
        assertThat(point.path("metrics").path("delay").path("runs")).hasSize(2);
        assertThat(point.path("metrics").path("makespan").path("mean").doubleValue())
                .isEqualTo(0.5);
        assertThat(point.path("servers")).hasSize(2);
        assertThat(scenario.path("claims").path(0).path("cases")).hasSize(1);
    }

    /** What is wrong, and the line that says where it is. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate: 10 | rat: 10 | s.yaml:8:13: populations[0].rat: there is no such field; maybe one of count,",
                "rate: 10 | rate: -10 | s.yaml:8:13: populations[0].rate: -10: must be from 0 to 1000000000",
                "rate: 10 | rate: x | s.yaml:8:13: populations[0].rate: \"x\" is no number",
                "rate: 10 | delayMillis: 5 | s.yaml:8:3: populations[0].rate: a rate is required",
                "seconds: 20 | seconds: 0 | s.yaml:1:1: seconds: 0: must be above 0, at most 31622400",
                "seconds: 20 | # | s.yaml:2:1: seconds: is required",
                "slots: 2 | slots: 0 | s.yaml:4:23: servers[0].slots: 0: must be from 1 to 1000000",
                "exponential: 0.05 | fixed: 1, exponential: 1 | s.yaml:6:3: requests.size: exactly one of fixed",
                "exponential: 0.05 | 'boundedPareto: {shape: 1, least: 2, most: 1}' |"
                        + " requests.size.boundedPareto.most: 1: must be above 2",
                "type: KSplittable | type: Fastest | s.yaml:13:5: dispatch.dns.policy: ",
                "type: KSplittable | kind: KSplittable | s.yaml:13:14: dispatch.dns.policy.kind: there is no such"
                        + " field",
                "type: KSplittable | 'type: Rating, rating: {weightPerUser: -1}' | dispatch.dns.policy:"
                        + " spec.policy.rating.weightPerUser",
                "'[1, 2]' | '[1, 0]' | s.yaml:15:3: sweep.dispatch.dns.maxReplicas: 0: 0: must be from 1 to 10000",
                "'[1, 2]' | '[]' | s.yaml:15:3: sweep.dispatch.dns.maxReplicas: a list of values",
                "dispatch.dns.maxReplicas | servers.4.count | s.yaml:15:3: sweep.servers.4.count: \"4\" is no number"
                        + " from 0 to 0",
                "metric: delay | metric: joy | s.yaml:17:26: claims[0].metric: there is no quantity \"joy\"",
                "'maxReplicas: 2}' | 'k: 2}' | claims[0].less: the sweep does not vary \"k\"; maybe one of maxReplicas",
                "rate: 30 | 'rate: 1e9}\n"
                        + "- {name: r, rate: 1e9' | 's.yaml:1:1: seconds: 2 points with 2 seeds each are 1.60e+11"
                        + " requests'",
                "'q, rate' | 'p, rate' | s.yaml:9:4: populations[1].name: two populations have the name \"p\"",
                "perPopulation: 3 | 'perPopulation: 3, habits: {Lies: 5}' | resolvers.habits.Lies: there is no such"
                        + " habit",
                "seconds: 20 | 'rhythm: {bursts: {times: 3, onSeconds: 10, offSeconds: 10}}\\n"
                        + "seconds: 20' | s.yaml:1:19: rhythm.bursts.times: 3: must be from 1 to 2",
                "seconds: 20 | 'rhythm: {diurnal: {periodSeconds: 9}}\\n"
                        + "seconds: 20' | rhythm.diurnal.percent: is required",
                "'seeds: {' | 'seeds: [' | s.yaml:2:"
            })
    void oneLineSaysWhereAndWhat(String before, String after, String message) throws IOException {
        Run run = run(SCENARIO.replace(before, after.replace("\\n", "\n")));

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.err()).contains(message);
    }

    @Test
    void plansWithoutEndAreRefused() throws IOException {
        String often = SCENARIO.replace("seconds: 20", "seconds: 30000000")
                .replace("policy: {", "replanSeconds: 0.1\n    policy: {");

        Run run = run(often, "--seeds", "10");

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.err())
                .contains(
                        "s.yaml:1:1: seconds: 2 points with 10 seeds each plan 2.40e+10 streams, which would not end;");
    }

    @Test
    void aFileThatIsNotThere() {
        assertThat(Run.of("simulate", "nowhere.yaml").err()).isEqualTo("nowhere.yaml: there is no such file\n");
        assertThat(Run.of("simulate").code()).isEqualTo(2);
    }

    /** The program has the experiments that the examples are. */
    @Test
    void publishedExperimentsAreTheExamples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".yaml")))
                    .containsExactlyInAnyOrderElementsOf(SimulateCommand.PUBLISHED.stream()
                            .map(name -> name + ".yaml")
                            .toList());
        }
    }
}
