package dev.apportion.reconcile;

import dev.apportion.api.Amount;
import dev.apportion.api.TrafficStreamSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Keys as a stream declares them, before it is known whether their names are possible and free.
 *
 * @param keys the names and their rates, in their order
 * @param problems what is wrong with the first of the lines that are left out
 * @param refused how many lines are left out
 */
public record DeclaredKeys(List<Key> keys, List<String> problems, int refused) {

    /** The most keys that one list may have. */
    static final int MOST = 10_000;

    /** The most problems that are put in words: a list may be something else altogether. */
    private static final int SHOWN = 8;

    /** The most characters of a line's fields that are repeated in a message. */
    private static final int QUOTED = 40;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    /**
     * A name with its rate.
     *
     * @param line the number of its line; 0 where it stands in none
     * @param name the name below the service's host name, as it was written
     * @param rate requests/s
     */
    public record Key(int line, String name, double rate) {

        /** Where it stands, as a message begins with it. */
        String place() {
            return DeclaredKeys.place(line);
        }
    }

    public DeclaredKeys {
        keys = List.copyOf(keys);
        problems = List.copyOf(problems);
    }

    /** The keys of a list in a stream itself. */
    static DeclaredKeys of(List<TrafficStreamSpec.Key> list) {
        return new DeclaredKeys(
                list.stream()
                        .map(key -> new Key(0, key.name(), key.rate().value()))
                        .toList(),
                List.of(),
                0);
    }

    /**
     * Reads lines of a name, a comma and a rate, of which some may be in quotes. Empty lines, lines that begin with {@code #}
     * and the line {@code name,rate} in front are passed over; a line that is something else is left out.
     */
    static DeclaredKeys read(String text) {
        Reader reader = new Reader();
        Iterator<String> lines = (text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text)
                .lines()
                .iterator();
        while (lines.hasNext()) {
            reader.take(lines.next().strip());
        }
        return new DeclaredKeys(reader.keys, reader.problems, reader.refused);
    }

    private static String place(int line) {
        return line == 0 ? "" : "line %d: ".formatted(line);
    }

    /** A text of any length and content, as a message can bear it. */
    private static String quoted(String text) {
        int end = text.offsetByCodePoints(0, Math.min(QUOTED, text.codePointCount(0, text.length())));
        return "\"" + text.substring(0, end) + (end < text.length() ? "…" : "") + "\"";
    }

    /** Goes through the lines once. */
    private static final class Reader {

        private final List<Key> keys = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();
        private int refused;
        private int line;
        private boolean begun;
        private boolean full;

        void take(String text) {
            line++;
            if (text.isEmpty() || text.startsWith("#")) {
                return;
            }
            // No name and no rate holds a comma, so one within quotes is none that could be right.
            List<String> fields =
                    Arrays.stream(text.split(",", -1)).map(Reader::unquoted).toList();
            boolean first = !begun;
            begun = true;
            if (first && isHeader(fields)) {
                return;
            }
            if (keys.size() == MOST) {
                if (!full) {
                    refuse("a list may have %d keys, and there are more from here on; maybe make two streams of it"
                            .formatted(MOST));
                } else {
                    refused++;
                }
                full = true;
                return;
            }
            if (fields.size() == 1 || (fields.size() == 2 && fields.getLast().isEmpty())) {
                refuse("%s has no rate; maybe write %s, which counts as very rare"
                        .formatted(quoted(fields.getFirst()), quoted(fields.getFirst() + ",0")));
                return;
            }
            if (fields.size() > 2) {
                refuse("%s has %d fields, of which two are possible, the name and the rate; maybe the rate has a comma"
                        .formatted(quoted(text), fields.size()));
                return;
            }
            read(fields.getFirst(), fields.getLast());
        }

        private void read(String name, String rate) {
            Optional<Amount> amount = amount(rate);
            if (amount.isEmpty()) {
                refuse("the rate %s of %s must be a quantity from 0 to 1e12: for example 120, or 500m for a half"
                        .formatted(quoted(rate), quoted(name)));
            } else if (!isName(name, amount.get())) {
                refuse(
                        "%s must be a name below the service's host name, without the host name and without a trailing dot: for example alice"
                                .formatted(quoted(name)));
            } else {
                keys.add(new Key(line, name, amount.get().value()));
            }
        }

        private void refuse(String problem) {
            refused++;
            if (problems.size() < SHOWN) {
                problems.add(place(line) + problem);
            }
        }

        private static boolean isHeader(List<String> fields) {
            return fields.size() == 2
                    && fields.getFirst().equalsIgnoreCase("name")
                    && fields.getLast().equalsIgnoreCase("rate");
        }

        private static String unquoted(String field) {
            String bare = field.strip();
            return bare.length() >= 2 && bare.startsWith("\"") && bare.endsWith("\"")
                    ? bare.substring(1, bare.length() - 1).strip()
                    : bare;
        }

        private static Optional<Amount> amount(String text) {
            try {
                return Optional.of(new Amount(text));
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }

        /** Says whether the list of a stream would take the name. */
        private static boolean isName(String name, Amount rate) {
            try {
                return new TrafficStreamSpec.Key(name, rate).name().equals(name);
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
    }
}
