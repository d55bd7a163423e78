package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The load generator dnsperf, on loopback. */
public final class DnsPerf {

    private static final Duration GRACE = Duration.ofSeconds(20);

    private final Path program;

    private DnsPerf(Path program) {
        this.program = program;
    }

    /** dnsperf; the calling test is skipped if it is not installed and cannot be. */
    public static DnsPerf orSkip() {
        return new DnsPerf(DebianPackage.DNSPERF.orSkip());
    }

    /**
     * Asks the server on a port of 127.0.0.1 as fast as it answers.
     *
     * @param questions lines such as {@code shop.example.org A}, asked round and round
     * @param time how long, in whole seconds
     */
    public Result run(int port, List<String> questions, Duration time) throws IOException {
        Path file = Files.createTempFile("apportion-dnsperf-", ".txt");
        try {
            Files.write(file, questions);
            Command.Result done = Command.of(List.of(
                            program.toString(),
                            "-s",
                            "127.0.0.1",
                            "-p",
                            Integer.toString(port),
                            "-d",
                            file.toString(),
                            "-l",
                            Long.toString(time.toSeconds())))
                    .within(time.plus(GRACE))
                    .run()
                    .orThrow();
            return Result.parse(done.stdout());
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /**
     * What dnsperf counted.
     *
     * @param queriesPerSecond answered questions per second
     * @param sent questions asked
     * @param completed questions answered
     * @param averageLatencySeconds mean time from a question to its answer
     */
    public record Result(double queriesPerSecond, long sent, long completed, double averageLatencySeconds) {

        static Result parse(String output) {
            return new Result(
                    number(output, "Queries per second"),
                    (long) number(output, "Queries sent"),
                    (long) number(output, "Queries completed"),
                    number(output, "Average Latency (s)"));
        }

        private static double number(String output, String label) {
            Matcher matcher = Pattern.compile("(?m)^\\s*" + Pattern.quote(label) + ":\\s+([0-9.]+)")
                    .matcher(output);
            if (!matcher.find()) {
                throw new AssertionError("dnsperf printed no line \"" + label + "\":\n" + output);
            }
            return Double.parseDouble(matcher.group(1));
        }
    }
}
