package dev.apportion.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The sums of some series of a text that a process shows of itself. Lines of other series are passed over unread; a line of
 * a wanted series that does not have its form makes the whole text unreadable.
 *
 * <p>Source: the Prometheus text-based format 0.0.4, and OpenMetrics 1.0.0, whose timestamps are seconds and whose last line is
 * {@code # EOF}.
 *
 * @param sums the sum over all label sets, by the name of the series; the least sample where it is below zero
 * @param oldestMillis the oldest timestamp of a wanted sample, in milliseconds since 1970; empty where none has one
 */
record Exposition(Map<String, Double> sums, OptionalLong oldestMillis) {

    private static final double MILLIS_PER_SECOND = 1000;

    /** Text that cannot be what it claims to be. */
    static final class MalformedException extends IOException {

        private static final long serialVersionUID = 1;

        MalformedException(String message) {
            super(message);
        }
    }

    private static final int SHOWN = 80;

    /**
     * Reads a text to its end.
     *
     * @param openMetrics whether it is OpenMetrics
     * @throws MalformedException if a wanted line has no proper form, or the end is missing
     */
    static Exposition read(InputStream text, Collection<String> wanted, boolean openMetrics) throws IOException {
        Map<String, Double> sums = new HashMap<>();
        long oldest = Long.MAX_VALUE;
        boolean ended = false;
        BufferedReader lines = new BufferedReader(new InputStreamReader(text, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("#")) {
                ended |= line.equals("# EOF");
                continue;
            }
            int end = endOfName(line, 0);
            if (end == 0) {
                continue;
            }
            String name = line.substring(0, end);
            if (wanted.contains(name)) {
                Line read = Line.read(line, end, openMetrics);
                sums.merge(name, read.value(), Exposition::sum);
                oldest = Math.min(oldest, read.millis());
            }
        }
        if (openMetrics && !ended) {
            throw new MalformedException("it ends before its line \"# EOF\"");
        }
        return new Exposition(sums, oldest == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(oldest));
    }

    /** Nothing that is measured is below zero, and where something is, that must not hide behind others. */
    private static double sum(double one, double other) {
        return Math.min(one, other) < 0 ? Math.min(one, other) : one + other;
    }

    private static int endOfName(String line, int from) {
        int i = from;
        while (i < line.length() && isName(line.charAt(i))) {
            i++;
        }
        return i;
    }

    private static boolean isName(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    }

    /**
     * What follows the name of a sample.
     *
     * @param millis its timestamp; the largest number where it has none
     */
    private record Line(double value, long millis) {

        static Line read(String line, int nameEnd, boolean openMetrics) throws MalformedException {
            int i = blanks(line, nameEnd);
            if (i < line.length() && line.charAt(i) == '{') {
                i = blanks(line, endOfLabels(line, i + 1));
            } else if (i == nameEnd) {
                throw malformed(line);
            }
            int end = endOfWord(line, i);
            double value = number(line, i, end);
            i = blanks(line, end);
            if (i == line.length() || line.charAt(i) == '#') {
                return new Line(value, Long.MAX_VALUE);
            }
            end = endOfWord(line, i);
            double time = number(line, i, end);
            i = blanks(line, end);
            if ((i < line.length() && line.charAt(i) != '#') || !Double.isFinite(time)) {
                throw malformed(line);
            }
            return new Line(value, Math.round(openMetrics ? time * MILLIS_PER_SECOND : time));
        }

        private static int blanks(String line, int from) {
            int i = from;
            while (i < line.length() && (line.charAt(i) == ' ' || line.charAt(i) == '\t')) {
                i++;
            }
            return i;
        }

        private static int endOfWord(String line, int from) {
            int i = from;
            while (i < line.length() && line.charAt(i) != ' ' && line.charAt(i) != '\t') {
                i++;
            }
            return i;
        }

        /** Labels may hold any character between quotes; a backslash takes away the meaning of the one after it. */
        private static int endOfLabels(String line, int from) throws MalformedException {
            boolean quoted = false;
            for (int i = from; i < line.length(); i++) {
                char c = line.charAt(i);
                if (quoted && c == '\\') {
                    i++;
                } else if (c == '"') {
                    quoted = !quoted;
                } else if (!quoted && c == '}') {
                    return i + 1;
                }
            }
            throw malformed(line);
        }

        private static double number(String line, int from, int to) throws MalformedException {
            String text = line.substring(from, to);
            switch (text) {
                case "NaN", "nan" -> {
                    return Double.NaN;
                }
                case "+Inf", "Inf", "+inf", "inf" -> {
                    return Double.POSITIVE_INFINITY;
                }
                case "-Inf", "-inf" -> {
                    return Double.NEGATIVE_INFINITY;
                }
                default -> {}
            }
            // Java would take more for a number than the format does.
            boolean digits = text.chars().allMatch(c -> (c >= '0' && c <= '9') || "+-.eE".indexOf(c) >= 0);
            try {
                if (digits) {
                    return Double.parseDouble(text);
                }
            } catch (NumberFormatException e) {
                throw malformed(line);
            }
            throw malformed(line);
        }

        private static MalformedException malformed(String line) {
            String shown = line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "…";
            return new MalformedException("a line is malformed: \"%s\"".formatted(shown.replaceAll("\\p{Cntrl}", "?")));
        }
    }
}
