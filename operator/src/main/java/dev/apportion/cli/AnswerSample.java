package dev.apportion.cli;

import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Question;
import dev.apportion.dns.wire.Reply;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Section;

/**
 * What one server answered to one question, asked several times with ids drawn as clients draw them.
 *
 * @param firsts how often each record came first, or why there was none
 * @param codes how often each response code came
 * @param silence why a question had no response, after which nothing more is asked
 */
record AnswerSample(SortedMap<String, Integer> firsts, SortedMap<String, Integer> codes, Optional<String> silence) {

    /** Query ids are numbers of 16 bits. */
    private static final int IDS = 1 << 16;

    /** A datagram may be lost; three in a row are a server that does not answer. */
    private static final int TRIES = 3;

    private static final String NO_RECORD = "no such record";

    AnswerSample {
        firsts = Collections.unmodifiableSortedMap(new TreeMap<>(firsts));
        codes = Collections.unmodifiableSortedMap(new TreeMap<>(codes));
    }

    static AnswerSample take(Asker asker, InetSocketAddress server, Name name, int type, int questions) {
        SortedMap<String, Integer> firsts = new TreeMap<>();
        SortedMap<String, Integer> codes = new TreeMap<>();
        RandomGenerator ids = RandomGenerator.getDefault();
        for (int i = 0; i < questions; i++) {
            switch (ask(asker, server, new Question(name, type, ids.nextInt(IDS)))) {
                case Reply.Answered(Message response) -> {
                    codes.merge(Rcode.string(response.getHeader().getRcode()), 1, Integer::sum);
                    firsts.merge(first(response, type), 1, Integer::sum);
                }
                case Reply.Silent(String reason) -> {
                    return new AnswerSample(firsts, codes, Optional.of(reason));
                }
            }
        }
        return new AnswerSample(firsts, codes, Optional.empty());
    }

    private static Reply ask(Asker asker, InetSocketAddress server, Question question) {
        Reply reply = asker.ask(server, question);
        for (int i = 1; i < TRIES && reply instanceof Reply.Silent; i++) {
            reply = asker.ask(server, question);
        }
        return reply;
    }

    private static String first(Message response, int type) {
        return response.getSection(Section.ANSWER).stream()
                .filter(record -> record.getType() == type)
                .map(record -> record.rdataToString())
                .findFirst()
                .orElseGet(() -> response.getHeader().getRcode() == Rcode.NOERROR
                        ? NO_RECORD
                        : Rcode.string(response.getHeader().getRcode()));
    }

    /** Whether every response had this code and, where that is NOERROR, a record of the type. */
    boolean isAlways(String code) {
        return silence.isEmpty() && codes.keySet().stream().allMatch(code::equals) && !firsts.containsKey(NO_RECORD);
    }
}
