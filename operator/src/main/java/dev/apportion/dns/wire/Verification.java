package dev.apportion.dns.wire;

import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;

/** The questions that prove that a server answers as a zone says, and the judgement of what came back. */
public final class Verification {

    private final List<Question> questions;

    private Verification(List<Question> questions) {
        this.questions = questions;
    }

    /**
     * The verification of a zone.
     *
     * @param desired the zone as it should be answered
     * @param changed the hosts that are asked whole, those that are gone among them
     * @param sample how many of the other hosts are asked in this round
     * @param round the number of the round: successive rounds ask successive hosts
     */
    public static Verification of(ZoneRecords desired, Shards shards, Set<String> changed, int sample, long round) {
        return new Verification(List.of());
    }

    public List<Question> questions() {
        return questions;
    }

    /** Judges the replies, which stand in the order of the questions. */
    public Verdict judge(List<Reply> replies) {
        return new Verdict.Silent(replies.toString());
    }

    /** Asks one server all questions, and judges. A server that does not answer the first one is not asked further. */
    public Verdict ask(Asker asker, InetSocketAddress server) {
        return judge(
                questions.stream().map(question -> asker.ask(server, question)).toList());
    }
}
