package dev.apportion.dns.wire;

import dev.apportion.dns.ClientStreams;
import dev.apportion.dns.Serial;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressNetwork.IPAddressGenerator;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.SOARecord;
import org.xbill.DNS.Section;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/**
 * The questions that prove that a server answers as a zone says, and the judgement of what came back.
 *
 * <p>Where a response holds one address, the id of the query alone decides which. Whatever was published for a stream
 * gives each of its addresses one run of neighbouring slots, so an address that is answered in the first and in the last
 * slot of its run is answered in all slots between: two questions for each address prove the shares exactly, with no
 * statistics. A stream with more than {@value #MOST_QUESTIONS} such ends in a family is asked at as many of them, evenly
 * spread. Where a response holds all addresses, one question shows the set.
 *
 * <p>Where the server draws by itself, nothing but counting shows the shares: {@value #DRAWS} questions, whose answers are
 * judged as those through a resolver are. Shares that are near to those that are published fit, too.
 *
 * <p>Keys are many and alike, and the serials of the zone files show that a server has them; of those that changed, at most
 * {@value #MOST_KEYS} are asked for in one round, evenly spread.
 *
 * <p>Where a host has several streams, each is asked by its probe name, since the verifier may be a client of any; a
 * stream that is alone and takes everyone is asked by the host name.
 */
public final class Verification {

    /** How many questions are asked about one family of one stream. */
    static final int MOST_QUESTIONS = 64;

    /** How many hosts that are gone are asked for in one round. */
    static final int MOST_GONE = 1024;

    /** How many keys of those that changed are asked for in one round. */
    static final int MOST_KEYS = 256;

    /** How many questions are asked about a family of a stream that changed, where the server draws. */
    static final int DRAWS = ShareJudgement.MOST_QUESTIONS;

    /** The same of one that did not change: enough to see wrong addresses, and those who always answer one of them. */
    static final int FEW_DRAWS = 32;

    /** Odd, so that ids repeat as late as they can, and about the golden part of them, so that they spread. */
    private static final int ID_STRIDE = 40_503;

    /** How many addresses of a sample a message shows. */
    private static final int SHOWN = 8;

    private static final IPAddressGenerator ADDRESSES = new IPAddressGenerator();

    private final List<Check> checks;

    /**
     * A question, and what it should be answered.
     *
     */
    private record Check(String host, String stream, Question question, Expected expected) {}

    private sealed interface Expected {

        /** These addresses, in any order; none where there must be none. */
        record Addresses(NavigableSet<IPAddress> addresses) implements Expected {}

        /** One of the addresses that a server draws by weight, as often as its weight says. */
        record Drawn(Sample sample) implements Expected {}

        /** The serial of a zone, empty if any will do. */
        record Generation(Optional<Serial> serial) implements Expected {}
    }

    /**
     * The questions for one family of one stream whose address the server draws: their answers are judged together.
     *
     * @param weights the weight of each address
     */
    private record Sample(Host host, HostStream stream, boolean isIPv6, SortedMap<IPAddress, Integer> weights) {}

    private Verification(List<Check> checks) {
        this.checks = checks;
    }

    /**
     * The verification of a zone.
     *
     * @param desired the zone as it should be answered
     * @param serials the serial of each zone file, by the name of the file's zone: a server that still has an older file of one
     *     shard is found by it, whichever hosts are asked. Where there is none, any serial of the domain will do
     * @param changed the hosts that are asked whole; those of them that the zone does not have must have no address
     * @param sample how many of the other hosts are asked in this round
     * @param round the number of the round: successive rounds ask successive hosts
     * @throws IllegalArgumentException if a name is not one
     */
    public static Verification of(
            ZoneRecords desired, Map<String, Serial> serials, Set<String> changed, int sample, long round) {
        List<Check> checks = new ArrayList<>();
        Set<String> files = new TreeSet<>(serials.keySet());
        files.add(desired.domain());
        for (String file : files) {
            checks.add(new Check(
                    desired.domain(),
                    "",
                    question(file, Type.SOA, 0),
                    new Expected.Generation(Optional.ofNullable(serials.get(file)))));
        }
        List<Host> others = new ArrayList<>();
        List<Host> keys = new ArrayList<>();
        Set<String> gone = new TreeSet<>(changed);
        for (Host host : desired.hosts()) {
            gone.remove(host.name());
            if (changed.contains(host.name()) && host.isKey()) {
                keys.add(host);
            } else if (changed.contains(host.name())) {
                addHost(checks, desired, host, DRAWS);
            } else {
                others.add(host);
            }
        }
        int asked = Math.min(keys.size(), MOST_KEYS);
        for (int i = 0; i < asked; i++) {
            int spread = (int) ((long) i * keys.size() / asked);
            addHost(
                    checks,
                    desired,
                    keys.get((int) ((spread + Math.floorMod(round, (long) keys.size())) % keys.size())),
                    FEW_DRAWS);
        }
        for (int i = 0; i < Math.min(sample, others.size()); i++) {
            addHost(
                    checks,
                    desired,
                    others.get((int) Math.floorMod(round * sample + i, (long) others.size())),
                    FEW_DRAWS);
        }
        for (String host : gone.stream().limit(MOST_GONE).toList()) {
            if (!hasOtherAddresses(desired, host)) {
                for (int type : new int[] {Type.A, Type.AAAA}) {
                    checks.add(new Check(host, "", question(host, type, 0), new Expected.Addresses(new TreeSet<>())));
                }
            }
        }
        return new Verification(checks);
    }

    public List<Question> questions() {
        return checks.stream().map(Check::question).toList();
    }

    /**
     * Judges the replies.
     *
     * @param replies one for each question, in the same order; those that are missing count as silence
     */
    public Verdict judge(List<Reply> replies) {
        List<Verdict.Difference> differences = new ArrayList<>();
        Map<Sample, SortedMap<IPAddress, Integer>> draws = new LinkedHashMap<>();
        Map<Sample, Verdict.Difference> wrong = new LinkedHashMap<>();
        Map<Sample, Verdict.Difference> undrawn = new LinkedHashMap<>();
        for (int i = 0; i < checks.size(); i++) {
            Check check = checks.get(i);
            switch (i < replies.size() ? replies.get(i) : new Reply.Silent("not asked")) {
                case Reply.Silent(var reason) -> {
                    return new Verdict.Silent("%s: %s".formatted(text(check.question()), reason));
                }
                case Reply.Answered(var message) -> {
                    if (check.expected() instanceof Expected.Drawn(Sample sample)) {
                        NavigableSet<IPAddress> addresses =
                                addresses(message, check.question().type());
                        Optional<Verdict.Difference> difference = difference(check, message);
                        if (difference.isPresent()) {
                            wrong.putIfAbsent(sample, difference.get());
                        } else if (addresses.size() > 1) {
                            undrawn.putIfAbsent(sample, difference(check, "one of them", text(addresses), false));
                        } else {
                            draws.computeIfAbsent(sample, key -> new TreeMap<>())
                                    .merge(addresses.getFirst(), 1, Integer::sum);
                        }
                    } else {
                        difference(check, message).ifPresent(differences::add);
                    }
                }
            }
        }
        draws.forEach((sample, counts) -> {
            if (!wrong.containsKey(sample) && !undrawn.containsKey(sample)) {
                judge(sample, counts, wrong, undrawn);
            }
        });
        differences.addAll(wrong.values());
        if (differences.isEmpty() && !undrawn.isEmpty()) {
            return new Verdict.IgnoresWeights(List.copyOf(undrawn.values()));
        }
        differences.addAll(undrawn.values());
        return differences.isEmpty() ? new Verdict.Verified(checks.size()) : new Verdict.Lags(differences);
    }

    private static void judge(
            Sample sample,
            SortedMap<IPAddress, Integer> counts,
            Map<Sample, Verdict.Difference> wrong,
            Map<Sample, Verdict.Difference> undrawn) {
        WeightedRRset set =
                new WeightedRRset(sample.host().name(), sample.stream().label(), sample.isIPv6(), sample.weights());
        int total = Draws.total(counts);
        Verdict.Difference difference = new Verdict.Difference(
                sample.host().name(),
                sample.stream().label(),
                "%d questions for %s %s".formatted(total, sample.host().name(), sample.isIPv6() ? "AAAA" : "A"),
                text(sample.weights().keySet(), address -> Math.round(set.share(address) * total)),
                text(sample.weights().keySet(), address -> counts.getOrDefault(address, 0)),
                false);
        switch (ShareJudgement.judge(set, Draws.ofEach(counts))) {
            case ShareVerdict.Fit fit -> {}
            case ShareVerdict.Undecided undecided -> {}
            case ShareVerdict.Even even -> undrawn.put(sample, difference);
            case ShareVerdict.Other other -> wrong.put(sample, difference);
            case ShareVerdict.Pinned pinned -> wrong.put(sample, difference);
        }
    }

    private static String text(Collection<IPAddress> addresses, Function<IPAddress, Number> count) {
        return addresses.stream()
                .limit(SHOWN)
                .map(address -> "%s %s times".formatted(address.toCanonicalString(), count.apply(address)))
                .collect(Collectors.joining(", "));
    }

    /** Asks one server all questions, until one stays without a reply although it is asked twice, and judges. */
    public Verdict ask(Asker asker, InetSocketAddress server) {
        List<Reply> replies = new ArrayList<>();
        Map<Sample, Reply> wrong = new HashMap<>();
        for (Check check : checks) {
            if (check.expected() instanceof Expected.Drawn(Sample sample) && wrong.containsKey(sample)) {
                // One wrong answer says it: nobody is asked two hundred times while he lags.
                replies.add(wrong.get(sample));
                continue;
            }
            Reply reply = asker.ask(server, check.question());
            if (reply instanceof Reply.Silent) {
                // Datagrams get lost; of thousands of questions some always do.
                reply = asker.ask(server, check.question());
            }
            replies.add(reply);
            if (reply instanceof Reply.Silent) {
                break;
            }
            if (check.expected() instanceof Expected.Drawn(Sample sample)
                    && reply instanceof Reply.Answered(Message message)
                    && (difference(check, message).isPresent()
                            || addresses(message, check.question().type()).size() > 1)) {
                wrong.put(sample, reply);
            }
        }
        return judge(replies);
    }

    /** Whether a name that is no host any more can have addresses all the same. */
    private static boolean hasOtherAddresses(ZoneRecords zone, String name) {
        return zone.nameServers().stream().anyMatch(server -> server.name().equals(name))
                || zone.fixedRecords().stream()
                        .anyMatch(fixed ->
                                fixed.name().equals(name) || fixed.name().startsWith("*."));
    }

    /**
     * The questions about a host.
     *
     * @param draws how many there are for a family of a stream whose address the server draws
     */
    private static void addHost(List<Check> checks, ZoneRecords zone, Host host, int draws) {
        if (zone.answers() == Answers.Drawn) {
            for (HostStream stream : ClientStreams.inOrder(host)) {
                addDraws(checks, host, stream, draws);
            }
            return;
        }
        for (HostStream stream : ClientStreams.inOrder(host)) {
            String name = stream.isEveryoneElse() && host.streams().size() == 1
                    ? host.name()
                    : "v." + ServedNames.probesOf(stream.label(), host.name());
            for (boolean ipv6 : new boolean[] {false, true}) {
                int type = ipv6 ? Type.AAAA : Type.A;
                List<Slots.Run> runs = zone.answers() == Answers.Single ? Slots.runs(stream, ipv6) : List.of();
                if (runs.isEmpty()) {
                    NavigableSet<IPAddress> all =
                            stream.answers(ipv6).map(Answer::address).collect(Collectors.toCollection(TreeSet::new));
                    checks.add(new Check(
                            host.name(), stream.label(), question(name, type, 0), new Expected.Addresses(all)));
                } else {
                    addRuns(checks, host, stream, name, type, runs);
                }
            }
        }
    }

    private static void addDraws(List<Check> checks, Host host, HostStream stream, int draws) {
        Optional<IPAddress> client = host.streams().size() == 1 && stream.isEveryoneElse()
                ? Optional.empty()
                : ClientStreams.example(host, stream);
        if (client.isEmpty() && host.streams().size() > 1) {
            return;
        }
        for (boolean ipv6 : new boolean[] {false, true}) {
            SortedMap<IPAddress, Integer> weights = new TreeMap<>();
            stream.answers(ipv6).forEach(answer -> weights.put(answer.address(), answer.weight()));
            int type = ipv6 ? Type.AAAA : Type.A;
            if (weights.size() < 2) {
                checks.add(new Check(
                        host.name(),
                        stream.label(),
                        question(host.name(), type, 0, client),
                        new Expected.Addresses(new TreeSet<>(weights.keySet()))));
                continue;
            }
            Sample sample = new Sample(host, stream, ipv6, weights);
            for (int i = 0; i < draws; i++) {
                checks.add(new Check(
                        host.name(),
                        stream.label(),
                        question(host.name(), type, i * ID_STRIDE & 0xffff, client),
                        new Expected.Drawn(sample)));
            }
        }
    }

    private static void addRuns(
            List<Check> checks, Host host, HostStream stream, String name, int type, List<Slots.Run> runs) {
        int ends = 2 * runs.size();
        int asked = Math.min(ends, MOST_QUESTIONS);
        int last = -1;
        for (int i = 0; i < asked; i++) {
            int end = (int) ((long) i * (ends - 1) / Math.max(1, asked - 1));
            Slots.Run run = runs.get(end / 2);
            int slot = end % 2 == 0 ? run.from() : run.to() - 1;
            if (slot != last) {
                checks.add(new Check(
                        host.name(),
                        stream.label(),
                        question(name, type, Slots.idOf(slot)),
                        new Expected.Addresses(new TreeSet<>(Set.of(run.answer().address())))));
            }
            last = slot;
        }
    }

    private static Optional<Verdict.Difference> difference(Check check, Message message) {
        Optional<String> failure = message.getRcode() != Rcode.NOERROR && message.getRcode() != Rcode.NXDOMAIN
                ? Optional.of(Rcode.string(message.getRcode()))
                : message.getHeader().getFlag(Flags.AA) ? Optional.empty() : Optional.of("an answer without authority");
        return switch (check.expected()) {
            case Expected.Addresses(NavigableSet<IPAddress> expected) -> {
                NavigableSet<IPAddress> addresses =
                        addresses(message, check.question().type());
                yield failure.isEmpty() && addresses.equals(expected)
                        ? Optional.empty()
                        : Optional.of(
                                difference(check, text(expected), failure.orElseGet(() -> text(addresses)), false));
            }
            case Expected.Drawn(Sample sample) -> {
                NavigableSet<IPAddress> addresses =
                        addresses(message, check.question().type());
                boolean known =
                        !addresses.isEmpty() && sample.weights().keySet().containsAll(addresses);
                yield failure.isEmpty() && known
                        ? Optional.empty()
                        : Optional.of(difference(
                                check,
                                "one of " + text(sample.weights().keySet()),
                                failure.orElseGet(() -> text(addresses)),
                                false));
            }
            case Expected.Generation(Optional<Serial> expected) -> {
                Optional<Long> serial = serial(message);
                boolean asExpected = expected.isPresent()
                        ? serial.equals(expected.map(Serial::value))
                        : message.getRcode() == Rcode.NOERROR;
                yield failure.isEmpty() && asExpected
                        ? Optional.empty()
                        : Optional.of(difference(
                                check,
                                expected.map(wanted -> "the serial " + wanted).orElse("an authoritative answer"),
                                failure.orElseGet(() -> serial.map(found -> "the serial " + found)
                                        .orElse("no SOA")),
                                failure.isEmpty() && expected.isPresent() && serial.isPresent()));
            }
        };
    }

    private static Verdict.Difference difference(Check check, String expected, String observed, boolean isOtherFile) {
        return new Verdict.Difference(
                check.host(), check.stream(), text(check.question()), expected, observed, isOtherFile);
    }

    /** The serial of the zone that was asked for. */
    private static Optional<Long> serial(Message message) {
        return message.getSection(Section.ANSWER).stream()
                .flatMap(found -> found instanceof SOARecord soa ? Stream.of(soa.getSerial()) : Stream.empty())
                .findFirst();
    }

    private static NavigableSet<IPAddress> addresses(Message message, int type) {
        NavigableSet<IPAddress> addresses = new TreeSet<>();
        for (Record next : message.getSection(Section.ANSWER)) {
            switch (next) {
                case ARecord ipv4 when type == Type.A -> addresses.add(ADDRESSES.from(ipv4.getAddress()));
                case AAAARecord ipv6 when type == Type.AAAA -> addresses.add(ADDRESSES.from(ipv6.getAddress()));
                default -> {}
            }
        }
        return addresses;
    }

    private static String text(Collection<IPAddress> addresses) {
        return addresses.isEmpty()
                ? "no address"
                : addresses.stream().map(IPAddress::toCanonicalString).collect(Collectors.joining(" "));
    }

    private static String text(Question question) {
        return "%s %s id %d%s"
                .formatted(
                        question.name().toString(true),
                        Type.string(question.type()),
                        question.id(),
                        question.client()
                                .map(client -> " for " + client.toCanonicalString())
                                .orElse(""));
    }

    private static Question question(String name, int type, int id) {
        return question(name, type, id, Optional.empty());
    }

    private static Question question(String name, int type, int id, Optional<IPAddress> client) {
        try {
            return new Question(PublishedZones.name(name), type, id, client);
        } catch (TextParseException e) {
            throw new IllegalArgumentException(name + " is not a name", e);
        }
    }
}
