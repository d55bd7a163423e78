package dev.apportion.dns.coredns;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One of several texts of a configuration that mean the same, told apart by the number of empty comment lines below the notice.
 *
 * <p>CoreDNS loads a configuration when it is another one than it saw last. It compares words and the lines on which they stand, so
 * the words of a comment do not count, but its lines do. What it saw last may be what it does not serve: it looks again after it has
 * loaded, and does not notice what changed in between; and a configuration that could not be loaded is not tried again, although
 * what stood in the way may be gone. Then only another edition helps.
 */
record Edition(int number) {

    /** So many may follow each other before one of them looks like one before. */
    private static final int COUNT = 8;

    private static final String LINE = "#";

    static final Edition FIRST = new Edition(0);

    Edition {
        if (number < 0 || number >= COUNT) {
            throw new IllegalArgumentException("%d is not within 0 and %d".formatted(number, COUNT - 1));
        }
    }

    /** The edition of a text; of one that is not there, or was not written here, the first. */
    static Edition of(@Nullable String configuration) {
        List<String> lines = configuration == null
                ? List.of()
                : configuration.lines().limit(1L + COUNT).toList();
        if (lines.isEmpty() || !lines.getFirst().contains(ServerBlocks.NOTICE)) {
            return FIRST;
        }
        long empty = lines.stream().skip(1).takeWhile(LINE::equals).count();
        return new Edition((int) (empty % COUNT));
    }

    Edition next() {
        return new Edition((number + 1) % COUNT);
    }

    /** What stands below the notice. */
    String text() {
        return (LINE + "\n").repeat(number);
    }
}
