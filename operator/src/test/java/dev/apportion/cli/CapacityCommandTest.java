package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CapacityCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void sitesByOptions() {
        Run run = Run.of(
                "capacity",
                "--site",
                "fra=10,8",
                "--site",
                "nyc=10,2",
                "--service-time-millis",
                "1000",
                "--target-wait-millis",
                "100",
                "--link-budget",
                "4",
                "--reclaim");

        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("Service 1000 ms, 1 at once per replica; target: mean wait at most 100 ms; link budget 4,"
                        + " reclaimed")
                .containsPattern("(?m)^fra +10 +8 +80\\.00% +204\\.6 +33\\.50% +11$")
                .containsPattern("(?m)^isolated +\\d+ +163\\.7 ! ")
                .containsPattern("(?m)^shared +\\d+ +[0-9.]+ ±[0-9.]+ ")
                .containsPattern("(?m)^central +\\d+ +")
                .contains("WITHOUT ONE OF FRA ms", "WITHOUT NYC ms", "endless !");
    }

    @Test
    void thePercentileIsATargetToo() throws IOException {
        JsonNode report = JSON.readTree(Run.of(
                        "capacity",
                        "--site",
                        "a=10,8",
                        "--service-time-millis",
                        "1000",
                        "--target-wait-millis",
                        "500",
                        "--percent",
                        "85",
                        "-o",
                        "json")
                .out());

        assertThat(report.path("percent").doubleValue()).isEqualTo(85);
        assertThat(report.path("sites").path(0).path("waitsLonger").doubleValue())
                .isCloseTo(0.1505, within(1e-4));
        JsonNode isolated = report.path("arrangements").path("isolated");
        assertThat(isolated.path("replicasNeeded").path(0).intValue()).isEqualTo(11);
        assertThat(isolated.path("cases").path("now").path("meets").booleanValue())
                .isFalse();
        assertThat(report.path("arrangements").path("shared").isMissingNode()).isTrue();
    }

    /** The pool of the example has two sites, a service of its own, and the policy that lends. */
    @Test
    void aPoolOfManifests() throws IOException {
        Run run = Run.of("capacity", "-f", "../examples/global-queue", "-o", "json");

        assertThat(run.err()).isEmpty();
        JsonNode report = JSON.readTree(run.out());
        assertThat(report.path("sites")).isNotEmpty();
        assertThat(report.path("linkBudget").doubleValue()).isPositive();
        assertThat(report.path("arrangements").path("shared").path("replicasNeeded"))
                .hasSameSizeAs(report.path("sites"));
        assertThat(Run.of("capacity", "-f", "../examples/global-queue", "-o", "json")
                        .out())
                .isEqualTo(run.out());
    }

    @Test
    void twoWithOneLineForWhatDoesNotFit() {
        for (List<String> options : List.<List<String>>of(
                List.<String>of(),
                List.of("--site", "a=1"),
                List.of("--site", "a=1,1"),
                List.of("--site", "a=1,1", "--site", "a=2,2", "--service-time-millis", "1"),
                List.of("--site", "a=1,0", "--service-time-millis", "1"),
                List.of("--site", "a=1,1", "--service-time-millis", "-1"),
                List.of("--site", "a=1,1", "--service-time-millis", "1", "--percent", "100"),
                List.of("-f", "../examples/global-queue", "--pool", "a/b"),
                List.of("-f", "nowhere.yaml"))) {
            Run run = Run.of(
                    Stream.concat(Stream.of("capacity"), options.stream()).toArray(String[]::new));

            assertThat(run.code()).as("%s", options).isEqualTo(2);
            assertThat(run.out()).isEmpty();
            assertThat(run.err().lines()).as("%s", options).hasSize(1);
        }
    }
}
