package dev.apportion.e2e.bed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** A DNS server at an address, as somebody who asks sees it. */
public record DnsServer(InetSocketAddress address) {

    /** Asks, and returns the response. */
    public Answer ask(Question question) {
        try {
            return question.ask(address);
        } catch (IOException e) {
            throw new UncheckedIOException("Asking " + address + " " + question, e);
        }
    }

    /** Whether any response comes in time. */
    public boolean answers(Question question) {
        try {
            question.ask(address);
            return true;
        } catch (IOException silent) {
            return false;
        }
    }

    /**
     * The answers to 256 questions that differ in their id: every combination of two hexadecimal digits, the lowest one of each byte. A
     * server that draws its answer from these digits shows each of its 256 slots exactly once.
     */
    public Tally slots(Question question) {
        return tally(question, IntStream.range(0, 256).map(DnsServer::slotId));
    }

    /** The answers to a question that is asked once with each of these ids. */
    public Tally tally(Question question, IntStream ids) {
        return Tally.of(ids.mapToObj(id -> ask(question.withId(id))), question.type());
    }

    /** The id of a slot, 0 to 255: {@code (slot / 16) << 8 | slot % 16}. */
    public static int slotId(int slot) {
        return (slot >> 4) << 8 | (slot & 15);
    }

    /** The answers to a number of questions with random ids. */
    public Tally random(Question question, int count, RandomGenerator random) {
        return random(question, count, random, UnaryOperator.identity());
    }

    /** The answers to a number of questions with random ids, each changed before it is asked, such as by another case of the name. */
    public Tally random(Question question, int count, RandomGenerator random, UnaryOperator<Question> change) {
        return Tally.of(
                IntStream.range(0, count).mapToObj(i -> ask(change.apply(question.withId(random.nextInt(1 << 16))))),
                question.type());
    }
}
