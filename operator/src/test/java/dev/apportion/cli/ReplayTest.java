package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arrivals from logs. */
class ReplayTest {

    private static final Offset<Double> ROUNDING = Offset.offset(1e-12);

    private static final String SCENARIO = """
        warmUpSeconds: 0
        replay: {file: logs/access.log%s}
        servers:
        - {name: a, site: here}
        - {name: b, site: there}
        requests:
          size: {fixed: 0.01}
        dispatch: {turns: {}}
        show: [requests, delay]
        """;

    private static final String COMMON = """
        192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326
        192.0.2.77 - - [10/Oct/2000:13:55:38 -0700] "GET /\\"b HTTP/1.1" 304 - "http://x/" "Mozilla [en]"
        2001:db8:1:2::3 - - [10/Oct/2000:20:55:36 +0000] "POST / HTTP/2" 500 17

        198.51.100.9 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 9
        """;

    private static final String CSV = """
        when,who,"what, else"
        2026-03-01T12:00:00.5Z,alice,x
        2026-03-01T13:00:01+01:00,"bob, the ""other\""",
        2026-03-01T12:00:09.25Z,alice,y
        """;

    @TempDir
    private Path folder;

    private Run run(String log, String options, String... arguments) throws IOException {
        Files.createDirectories(folder.resolve("logs"));
        Files.writeString(folder.resolve("logs/access.log"), log, StandardCharsets.ISO_8859_1);
        Path file = Files.writeString(folder.resolve("s.yaml"), SCENARIO.formatted(options));
        return Run.of(Stream.concat(Stream.of("simulate", file.toString(), "-o", "json"), Stream.of(arguments))
                .toArray(String[]::new));
    }

    private JsonNode metrics(String log, String options) throws IOException {
        Run run = run(log, options);
        assertThat(run.err()).isEmpty();
        return new ObjectMapper().readTree(run.out()).at("/scenarios/0/points/0/metrics");
    }

    /** Three requests in one second are spread over it, so that none waits for another. */
    @Test
    void aCommonLogIsPlayedAgain() throws IOException {
        JsonNode metrics = metrics(COMMON, "");

        assertThat(metrics.at("/requests/mean").asInt()).isEqualTo(4);
        assertThat(metrics.at("/delayMax/mean").asDouble()).isCloseTo(0.01, ROUNDING);
    }

    @Test
    void blocksOfAddressesArePopulations() throws IOException {
        String populations = """
            , prefixLength: 24, prefixLength6: 48}
            populations:
            - {name: 192.0.2.0/24, delayMillis: 400, home: there}
            - {name: "2001:db8:1::/48", delayMillis: 800}
            network: {remoteDelayMillis: 0\
            """;

        JsonNode metrics = metrics(COMMON, populations);

        assertThat(metrics.at("/delay/mean").asDouble()).isCloseTo(0.01 + (2 * 0.4 + 0.8) / 4, ROUNDING);
    }

    @Test
    void columnsOfACsvFileAreTimesAndPopulations() throws IOException {
        String options = """
            , format: CSV, time: when, client: who, speedup: %s}
            populations: [{name: 'bob, the "other"', delayMillis: 300}]
            network: {remoteDelayMillis: 0\
            """;

        JsonNode metrics = metrics(CSV, options.formatted("1"));

        assertThat(metrics.at("/requests/mean").asInt()).isEqualTo(3);
        assertThat(metrics.at("/delay/mean").asDouble()).isCloseTo(0.01 + 0.1, ROUNDING);
        // Nine seconds become nine milliseconds: the third request finds its server busy with the first one.
        JsonNode fast = metrics(CSV, options.formatted("1000"));
        assertThat(fast.at("/wait/mean").asDouble()).isBetween(0.00124 / 3, 0.00126 / 3);
    }

    @Test
    void plainSecondsAreTimesToo() throws IOException {
        String log = """
            time,client
            1000000000.5,a
            1000000003,b
            """;

        assertThat(metrics(log, ", format: CSV").at("/requests/mean").asInt()).isEqualTo(2);
    }

    /** What is wrong with a log, or with what is said of it; one line says where. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''| '' | logs/access.log:1: there is no request in it",
                "nonsense | '' | logs/access.log:1: \"nonsense\" is no line of the Common Log Format; maybe"
                        + " replay.format: CSV",
                "192.0.2.1 - - [10/Okt/2000:13:55:36 -0700] \"GET /\" 200 1 | '' | logs/access.log:1:"
                        + " \"10/Okt/2000:13:55:36 -0700\" is no time; it is written as 10/Oct/2000:13:55:36 -0700",
                "host.example.com - - [10/Oct/2000:13:55:36 -0700] \"GET /\" 200 1 | ', prefixLength: 24' |"
                        + " logs/access.log:1: \"host.example.com\" is no",
                "'t,client\\n"
                    + "1,a' | ', format: CSV' | logs/access.log:1: there is no column \"time\"; maybe replay.time or"
                    + " replay.client is one of t, client",
                "'time,client\\n1,a\\nx,b' | ', format: CSV' | logs/access.log:3: \"x\" is no time; write seconds",
                "'time,client\\n"
                        + "1,a\\n\\n"
                        + "2' | ', format: CSV' | logs/access.log:4: there are 1 values, but the header has 2",
                "'time,client\\n1,a\\n2,' | ', format: CSV' | logs/access.log:3: the client is empty",
                "'time,client\\n1,a\\n2,\"b' | ', format: CSV' | logs/access.log:3: this cannot be read as CSV",
                "'time,client\\n"
                        + "1,a\\n"
                        + "99999999,b' | ', format: CSV' | logs/access.log:3: 1973-03-03T09:46:39Z is more than a year",
                "'time,client\\n1,a' | ', format: CSV, speedup: -1' | s.yaml:2:46: replay.speedup: -1: must be above 0",
                "'time,client\\n"
                        + "1,a' | ', format: XML' | s.yaml:2:33: replay.format: \"XML\" is no value; maybe one of CSV,"
                        + " CommonLog",
                "'time,client\\n"
                        + "1,a' | ', prefixLength: 33' | s.yaml:2:33: replay.prefixLength: 33: must be from 0 to 32",
                "'time,client\\n"
                        + "1,a' | ', format: CSV}\\n"
                        + "traffic: {rate: 3' | s.yaml:3:1: traffic: replay gives the rates already",
                "'time,client\\n"
                    + "1,a' | ', format: CSV}\\n"
                    + "rhythm: {diurnal: {periodSeconds: 1, percent: 1}' | s.yaml:3:1: rhythm: replay gives the times"
                    + " already",
                "'time,client\\n"
                    + "1,a' | ', format: CSV}\\n"
                    + "populations: [{name: z}]\\n"
                    + "network: {' | s.yaml:3:16: populations[0].name: the log has no population \"z\"; maybe one of"
                    + " a",
                "'time,client\\n1,a' | ', format: CSV}\\npopulations: [{name: a, rate: 1}]\\nnetwork: {' | s.yaml:3:25:"
                        + " populations[0].rate: replay gives",
            })
    void oneLineSaysWhereAndWhat(String log, String options, String message) throws IOException {
        Run run = run(log.replace("\\n", "\n"), options.replace("\\n", "\n"));

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.err()).contains(message);
    }

    @Test
    void aLogThatIsNotThere() throws IOException {
        Path file = Files.writeString(folder.resolve("s.yaml"), SCENARIO.formatted(""));

        Run run = Run.of("simulate", file.toString());

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .isEqualTo(folder.resolve("logs/access.log")
                        + ": there is no such file; a path is relative to the scenario's folder\n");
    }
}
