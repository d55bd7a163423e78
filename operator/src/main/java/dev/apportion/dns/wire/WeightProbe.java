package dev.apportion.dns.wire;

import dev.apportion.dns.ServedNames;
import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressNetwork.IPAddressGenerator;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/**
 * Asks a resolver for the addresses of a host, as its clients do, and counts which come first. The names are new ones below
 * the host's probe name, so that no answer comes from a cache that was filled by others, and no client is concerned; each
 * is asked for several times in a row. At most {@link ShareJudgement#MOST_QUESTIONS} questions, not counting those that are lost.
 */
public final class WeightProbe {

    /** How often a question is asked that is not answered. */
    private static final int TRIES = 3;

    /** So many answers without an address that was published mean that the zone cannot be judged through the resolver. */
    private static final int MOST_FAILURES = 3;

    private static final int IDS = 1 << 16;
    private static final IPAddressGenerator ADDRESSES = new IPAddressGenerator();

    private final Asker asker;
    private final Pace pace;
    private final RandomGenerator random;

    /** What came back. */
    public sealed interface Outcome {

        /** Responses that could be counted. */
        record Counted(Draws draws) implements Outcome {}

        /** No response; the reason is for people. */
        record Silent(String reason) implements Outcome {}

        /** Responses that hold no address of the host; for people. */
        record Unresolved(String question, String answer) implements Outcome {}

        /** It was no longer wanted. */
        record Abandoned() implements Outcome {}
    }

    /**
     * A probe.
     *
     * @param asker asks for recursion
     * @param pace the bound on questions, which all probes share
     * @param random draws names and ids
     */
    public WeightProbe(Asker asker, Pace pace, RandomGenerator random) {
        this.asker = asker;
        this.pace = pace;
        this.random = random;
    }

    /**
     * Asks.
     *
     * @param wanted is asked before each question whether to go on
     */
    public Outcome ask(InetSocketAddress resolver, WeightedRRset set, Answers answers, BooleanSupplier wanted) {
        List<List<IPAddress>> names = new ArrayList<>();
        int times = ShareJudgement.times(answers);
        int failures = 0;
        for (int i = 0; i < ShareJudgement.MOST_QUESTIONS / times; i++) {
            Optional<Name> name = freshName(set);
            if (name.isEmpty()) {
                return new Outcome.Unresolved(set.host(), "its probe names would be longer than DNS allows");
            }
            List<IPAddress> answered = new ArrayList<>();
            for (int time = 0; time < times; time++) {
                Reply reply;
                try {
                    if (time == 0) {
                        // All that are for one name, since a cache keeps its answer for no longer than the time to
                        // live.
                        pace.await(times);
                    }
                    reply = reply(resolver, new Question(name.get(), type(set), random.nextInt(IDS)), wanted);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return new Outcome.Abandoned();
                }
                if (!wanted.getAsBoolean()) {
                    return new Outcome.Abandoned();
                }
                switch (reply) {
                    case Reply.Silent(String reason) -> {
                        return new Outcome.Silent(reason);
                    }
                    case Reply.Answered(Message message) -> {
                        Optional<IPAddress> first = first(message, set);
                        first.ifPresent(answered::add);
                        if (first.isEmpty()) {
                            failures++;
                        }
                        if (failures == MOST_FAILURES) {
                            return new Outcome.Unresolved(
                                    "%s %s".formatted(name.get().toString(true), Type.string(type(set))),
                                    text(message));
                        }
                    }
                }
            }
            if (!answered.isEmpty()) {
                names.add(answered);
            }
        }
        return new Outcome.Counted(new Draws(names));
    }

    private Reply reply(InetSocketAddress resolver, Question question, BooleanSupplier wanted)
            throws InterruptedException {
        Reply reply = new Reply.Silent("not asked");
        for (int i = 0; i < TRIES && reply instanceof Reply.Silent && wanted.getAsBoolean(); i++) {
            if (i > 0) {
                pace.await(1);
            }
            reply = asker.ask(resolver, question);
        }
        return reply;
    }

    private Optional<Name> freshName(WeightedRRset set) {
        String name = "%08x%08x.%s"
                .formatted(random.nextInt(), random.nextInt(), ServedNames.probesOf(set.label(), set.host()));
        try {
            return Optional.of(PublishedZones.name(name));
        } catch (TextParseException e) {
            return Optional.empty();
        }
    }

    private static int type(WeightedRRset set) {
        return set.isIPv6() ? Type.AAAA : Type.A;
    }

    /** The first address of the response, if it is one of those that are published. */
    private static Optional<IPAddress> first(Message message, WeightedRRset set) {
        for (Record next : message.getSection(Section.ANSWER)) {
            Optional<IPAddress> address = address(next, set.isIPv6());
            if (address.isPresent()) {
                return address.filter(found -> set.weights().containsKey(found));
            }
        }
        return Optional.empty();
    }

    private static Optional<IPAddress> address(Record found, boolean ipv6) {
        return switch (found) {
            case ARecord a when !ipv6 -> Optional.of(ADDRESSES.from(a.getAddress()));
            case AAAARecord aaaa when ipv6 -> Optional.of(ADDRESSES.from(aaaa.getAddress()));
            default -> Optional.empty();
        };
    }

    private static String text(Message message) {
        if (message.getRcode() != Rcode.NOERROR) {
            return Rcode.string(message.getRcode());
        }
        return message.getSection(Section.ANSWER).stream()
                .flatMap(found -> address(found, false).or(() -> address(found, true)).stream())
                .findFirst()
                .map(address -> address.toCanonicalString() + ", which is not published")
                .orElse("no address");
    }
}
