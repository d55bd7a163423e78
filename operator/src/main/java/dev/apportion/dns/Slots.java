package dev.apportion.dns;

import dev.apportion.records.Answer;
import dev.apportion.records.HostStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The 65,536 slots that the ids of queries fall into, and the runs of slots that the answers of a stream hold.
 *
 * <p>The hexadecimal digits h0 h1 h2 h3 of an id give the digits of its slot in the order h3 h1 h2 h0: each half of the
 * id gives its low digit first, so that ids which are drawn from a part of the range still spread over the slots. A
 * share in steps of 1/16, 1/256, 1/4096 or 1/65536 is a run of slots that starts and ends with a digit.
 */
public final class Slots {

    /** How many slots there are: one for each id of a query. */
    public static final int COUNT = 1 << 16;

    private Slots() {}

    /** The slot of a query's id. */
    public static int ofId(int id) {
        return (id & 0xf) << 12 | (id >> 8 & 0xf) << 8 | (id >> 4 & 0xf) << 4 | (id >> 12 & 0xf);
    }

    /** The id of the queries that fall into a slot. */
    public static int idOf(int slot) {
        return (slot >> 12 & 0xf) | (slot >> 8 & 0xf) << 8 | (slot >> 4 & 0xf) << 4 | (slot & 0xf) << 12;
    }

    /**
     * Neighbouring slots that one answer holds.
     *
     * @param from the first slot
     * @param to the slot after the last one
     * @param answer the answer
     */
    public record Run(int from, int to, Answer answer) {}

    /**
     * The runs of the answers of one family, in the order of the answers, from slot zero to the last one.
     *
     * @return empty if the stream has no answer of the family
     * @throws IllegalArgumentException if the weights of the family do not add up to 16, 256, 4096 or 65536
     */
    public static List<Run> runs(HostStream stream, boolean ipv6) {
        List<Answer> answers = stream.answers(ipv6).toList();
        if (answers.isEmpty()) {
            return List.of();
        }
        long sum = answers.stream().mapToLong(Answer::weight).sum();
        boolean positive = answers.stream().allMatch(answer -> answer.weight() > 0);
        if (!positive || (sum != 16 && sum != 256 && sum != 4096 && sum != COUNT)) {
            throw new IllegalArgumentException(
                    "the %s weights %s of stream %s add up to %d; they must be greater than zero and add up to 16, 256, 4096 or 65536"
                            .formatted(
                                    ipv6 ? "IPv6" : "IPv4",
                                    answers.stream().map(Answer::weight).toList(),
                                    stream.label(),
                                    sum));
        }
        int slotsPerWeight = (int) (COUNT / sum);
        List<Run> runs = new ArrayList<>();
        int from = 0;
        for (Answer answer : answers) {
            int to = from + answer.weight() * slotsPerWeight;
            runs.add(new Run(from, to, answer));
            from = to;
        }
        return runs;
    }
}
