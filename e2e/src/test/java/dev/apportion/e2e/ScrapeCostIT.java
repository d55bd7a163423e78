package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Command;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What it costs to scrape 1000 real HTTP servers every ten seconds, one of which accepts connections and never answers, in a JVM
 * with 64 MiB of heap and the options of the product.
 */
class ScrapeCostIT {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final Pattern FIGURES = Pattern.compile(
            "(\\d+) of (\\d+) targets measured; ([0-9.]+) % of a core over [0-9]+ s; heap ([0-9.]+) MiB live,"
                    + " ([0-9.]+) MiB taken; the slowest but the mute one after (\\d+) ms");

    @Test
    void aThousandProcessesCostLittleAndAMuteOneDelaysNobody() {
        Command.Result result = Command.of(List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.apportion.load.LoadBenchmark",
                        "3"))
                .within(PATIENCE)
                .run();
        System.out.println(result.stdout().strip());

        Matcher figures = FIGURES.matcher(result.stdout());
        assertThat(figures.find()).as(result.toString()).isTrue();
        assertThat(figures.group(1)).as("all but the mute one").isEqualTo("999");
        assertThat(figures.group(2)).isEqualTo("1000");
        assertThat(Double.parseDouble(figures.group(3))).as("percent of a core").isLessThan(10);
        assertThat(Double.parseDouble(figures.group(5))).as("MiB").isLessThanOrEqualTo(64);
        assertThat(Integer.parseInt(figures.group(6)))
                .as("ms until all others are known; the mute one has 3 s")
                .isLessThan(3000);
    }
}
