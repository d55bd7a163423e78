package dev.apportion.cli;

import dev.apportion.cli.ScenarioSpec.LogFormat;
import dev.apportion.cli.ScenarioSpec.ReplaySpec;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import dev.apportion.simulation.ArrivalLog;
import inet.ipaddr.IPAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.commons.csv.CSVException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * Reads the requests of a log: a CSV file with a header (RFC 4180), or a log of a Web server in the Common Log Format or one
 * that begins like it, as the combined one. Lines need not be in the order of time; those of the Common Log Format, whose
 * times are whole seconds, are spread evenly over their second.
 */
final class ArrivalLogReader {

    /** More do not fit into a heap of 512 MiB; that much is a day at a hundred requests/s. */
    private static final int MOST_REQUESTS = 10_000_000;

    private static final double NANOS = 1e9;

    /** {@code host ident user [time] "request" status bytes}, whatever comes after that; hosts and users have no brackets. */
    private static final Pattern COMMON =
            Pattern.compile("(\\S+) [^\\[]*\\[([^]]+)] \"(?:[^\"\\\\]|\\\\.)*\" (?:\\d{3}|-) (?:\\d+|-)(?: .*)?");

    private static final DateTimeFormatter COMMON_TIME =
            DateTimeFormatter.ofPattern("dd/MMM/uuuu:HH:mm:ss Z", Locale.ENGLISH);

    private final Path file;
    private final ReplaySpec spec;
    private final Map<String, Integer> populationOf = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> populations = new ArrayList<>();
    private Instant origin = Instant.MIN;
    private double[] times = new double[1 << 10];
    private int[] from = new int[1 << 10];
    private int size;

    private ArrivalLogReader(Path file, ReplaySpec spec) {
        this.file = file;
        this.spec = spec;
    }

    /**
     * Reads a log.
     *
     * @throws ScenarioException with the file and the line, if it cannot be read
     */
    static ArrivalLog read(Path file, ReplaySpec spec) throws ScenarioException {
        return new ArrivalLogReader(file, spec).read();
    }

    private ArrivalLog read() throws ScenarioException {
        LogFormat format = spec.format() != null
                ? spec.format()
                : file.toString().toLowerCase(Locale.ROOT).endsWith(".csv") ? LogFormat.CSV : LogFormat.CommonLog;
        try {
            switch (format) {
                case CSV -> csv();
                case CommonLog -> commonLog();
            }
        } catch (NoSuchFileException e) {
            throw new ScenarioException(
                    "%s: there is no such file; a path is relative to the scenario's folder".formatted(file));
        } catch (CharacterCodingException e) {
            throw new ScenarioException("%s: this is no UTF-8 text".formatted(file));
        } catch (IOException e) {
            throw new ScenarioException("%s: cannot be read: %s".formatted(file, e.getMessage()));
        }
        if (size == 0) {
            throw fault(1, "there is no request in it");
        }
        return log(format);
    }

    private void csv() throws IOException, ScenarioException {
        String time = spec.time() == null ? "time" : spec.time();
        String client = spec.client() == null ? "client" : spec.client();
        CSVFormat format = CSVFormat.RFC4180
                .builder()
                .setHeader()
                .setSkipHeaderRecord(true)
                .setIgnoreSurroundingSpaces(true)
                .setIgnoreEmptyLines(true)
                .get();
        try (BufferedReader text = Files.newBufferedReader(file);
                CSVParser parser =
                        CSVParser.builder().setReader(text).setFormat(format).get()) {
            for (String column : List.of(time, client)) {
                if (!parser.getHeaderNames().contains(column)) {
                    throw fault(
                            1,
                            "there is no column \"%s\"; maybe replay.time or replay.client is one of %s"
                                    .formatted(column, String.join(", ", parser.getHeaderNames())));
                }
            }
            for (CSVRecord row : parser) {
                long line = parser.getCurrentLineNumber();
                if (!row.isConsistent()) {
                    throw fault(
                            line,
                            "there are %d values, but the header has %d columns"
                                    .formatted(
                                            row.size(), parser.getHeaderNames().size()));
                }
                add(line, instant(line, row.get(time)), row.get(client));
            }
        } catch (IllegalArgumentException e) {
            throw fault(1, "this is no header of a CSV file: " + e.getMessage());
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof CSVException bad) {
                throw fault(size + 2L, "this cannot be read as CSV: " + bad.getMessage());
            }
            if (e.getCause() instanceof CharacterCodingException noText) {
                throw noText;
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Seconds from any origin, or a date and time with its offset (ISO 8601). */
    private Instant instant(long line, String text) throws ScenarioException {
        try {
            if (text.matches("[0-9]{1,15}(\\.[0-9]{1,12})?")) {
                int point = text.indexOf('.');
                long whole = Long.parseLong(point < 0 ? text : text.substring(0, point));
                double part = point < 0 ? 0 : Double.parseDouble("0" + text.substring(point));
                return Instant.ofEpochSecond(whole, (long) (part * NANOS));
            }
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw fault(
                    line, "\"%s\" is no time; write seconds, or as 2026-03-01T12:00:00.5Z".formatted(shortened(text)));
        }
    }

    private void commonLog() throws IOException, ScenarioException {
        // Whatever clients send is in it: bytes that are no UTF-8 must not hinder.
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            long number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (!line.isBlank()) {
                    common(number, line);
                }
            }
        }
    }

    private void common(long number, String line) throws ScenarioException {
        Matcher parts = COMMON.matcher(line);
        if (!parts.matches()) {
            throw fault(
                    number,
                    "\"%s\" is no line of the Common Log Format; maybe replay.format: CSV is meant"
                            .formatted(shortened(line)));
        }
        try {
            add(number, OffsetDateTime.parse(parts.group(2), COMMON_TIME).toInstant(), parts.group(1));
        } catch (DateTimeException e) {
            throw fault(
                    number,
                    "\"%s\" is no time; it is written as 10/Oct/2000:13:55:36 -0700"
                            .formatted(shortened(parts.group(2))));
        }
    }

    private void add(long line, Instant time, String client) throws ScenarioException {
        if (size == MOST_REQUESTS) {
            throw fault(line, "these are more than %d requests; maybe a part of the log does".formatted(size));
        }
        if (size == 0) {
            origin = time;
        }
        Duration since = Duration.between(origin, time);
        if (Math.abs(since.getSeconds()) > Bounds.MOST_SECONDS) {
            throw fault(line, "%s is more than a year away from the first request".formatted(time));
        }
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            from = Arrays.copyOf(from, 2 * size);
        }
        times[size] = since.getSeconds() + since.getNano() / NANOS;
        from[size++] = population(line, client);
    }

    private int population(long line, String client) throws ScenarioException {
        Integer known = populationOf.get(client);
        if (known == null) {
            String name = name(line, client);
            known = numbers.get(name);
            if (known == null) {
                known = populations.size();
                if (known == Bounds.MOST_POPULATIONS) {
                    throw fault(
                            line,
                            "these are more than %d populations; maybe replay.prefixLength makes fewer"
                                    .formatted(known));
                }
                populations.add(name);
                numbers.put(name, known);
            }
            populationOf.put(client, known);
        }
        return known;
    }

    /** The block of a client's address, or the client as it is written. */
    private String name(long line, String client) throws ScenarioException {
        if (client.isBlank()) {
            throw fault(line, "the client is empty");
        }
        if (spec.prefixLength() == null && spec.prefixLength6() == null) {
            return client;
        }
        return switch (Addresses.parse(client)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> {
                Integer bits = address.isIPv4() ? spec.prefixLength() : spec.prefixLength6();
                yield bits == null
                        ? address.toCanonicalString()
                        : address.toPrefixBlock(bits).toCanonicalString();
            }
            case Parsed.Invalid<IPAddress>(String problem) ->
                throw fault(line, problem + "; without replay.prefixLength each client is a population");
        };
    }

    private ArrivalLog log(LogFormat format) {
        double[] sorted = Arrays.copyOf(times, size);
        int[] whose = Arrays.copyOf(from, size);
        if (IntStream.range(1, size).anyMatch(i -> sorted[i] < sorted[i - 1])) {
            int[] order = IntStream.range(0, size)
                    .boxed()
                    .sorted(Comparator.comparingDouble(i -> times[i]))
                    .mapToInt(Integer::intValue)
                    .toArray();
            for (int i = 0; i < size; i++) {
                sorted[i] = times[order[i]];
                whose[i] = from[order[i]];
            }
        }
        double first = sorted[0];
        for (int i = 0; i < size; i++) {
            sorted[i] -= first;
        }
        if (format == LogFormat.CommonLog) {
            spread(sorted);
        }
        return new ArrivalLog(populations, sorted, whose);
    }

    private static void spread(double[] times) {
        for (int begin = 0; begin < times.length; ) {
            int end = begin;
            while (end < times.length && times[end] == times[begin]) {
                end++;
            }
            for (int i = end - 1; i > begin; i--) {
                times[i] += (double) (i - begin) / (end - begin);
            }
            begin = end;
        }
    }

    private static String shortened(String text) {
        int most = 60;
        return text.length() <= most ? text : text.substring(0, most) + "…";
    }

    private ScenarioException fault(long line, String reason) {
        return new ScenarioException("%s:%d: %s".formatted(file, line, reason.replaceAll("\\s+", " ")));
    }
}
