package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.allocation.KSplittable.Split;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Ten million requests in a process of their own: nothing of them is kept but counts. */
class MemoryTest {

    private static final double REQUESTS = 1e7;

    /** What the whole process may take, in KiB; its heap may take all of it but has no need to. */
    private static final long MOST = 512 << 10;

    private static final Pattern RESULT = Pattern.compile("(\\d+) requests, (\\d+) KiB at most");

    /** The experiment in a process of its own (Linux). */
    static void main() throws IOException {
        double rate = Settings.kSplittable(Split.OPTIMAL, 2, 0.7, 1).rate();
        Setting setting = Settings.kSplittable(Split.OPTIMAL, 2, 0.7, REQUESTS / 0.95 / rate * 1.001);
        long begin = System.nanoTime();
        Outcome outcome = Replication.run(setting, 1, () -> false).orElseThrow();
        double seconds = (System.nanoTime() - begin) / 1e9;
        long peak = Files.readString(Path.of("/proc/self/status"))
                .lines()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
        System.out.printf(
                Locale.ROOT,
                "%.0f requests, %d KiB at most, %.1f s%n",
                outcome.values().getOrDefault(Metric.REQUESTS, 0.0),
                peak,
                seconds);
    }

    @Test
    void tenMillionRequestsFitIntoHalfAGibibyte() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MemoryTest.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            System.out.print(output);

            assertThat(process.waitFor()).as(output).isZero();
            MatchResult result = RESULT.matcher(output).results().findFirst().orElseThrow();
            assertThat(Double.parseDouble(result.group(1))).isGreaterThanOrEqualTo(REQUESTS);
            assertThat(Long.parseLong(result.group(2))).isLessThan(MOST);
        } finally {
            process.destroyForcibly();
        }
    }
}
