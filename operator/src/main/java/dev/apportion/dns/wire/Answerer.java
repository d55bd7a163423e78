package dev.apportion.dns.wire;

import dev.apportion.dns.ClientStreams;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressNetwork.IPAddressGenerator;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.xbill.DNS.CNAMERecord;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/**
 * Answers queries as a CoreDNS with the rendered configuration does: the same slots, aliases, absent names and records
 * beside the answers.
 */
public final class Answerer {

    /** How many aliases are followed. */
    private static final int MOST_ALIASES = 8;

    /** The extended code for a version of EDNS that is not spoken (RFC 6891, section 9). */
    private static final int BADVERS = 16;

    private static final IPAddressGenerator ADDRESSES = new IPAddressGenerator();

    private final RandomGenerator random;

    /** @param random draws the first address where a response holds several */
    public Answerer(RandomGenerator random) {
        this.random = random;
    }

    /** What is asked. */
    private record Query(Name name, int type, int id, IPAddress client, int aliases) {

        Query at(Name other) {
            return new Query(other, type, id, client, aliases + 1);
        }

        boolean asks(int other) {
            return type == other || type == Type.ANY;
        }
    }

    /** What is answered. */
    private record Result(
            int rcode, boolean isAuthoritative, List<Record> answer, List<Record> authority, List<Record> additional) {

        static final Result REFUSED = new Result(Rcode.REFUSED, false, List.of(), List.of(), List.of());
        static final Result FAILED = new Result(Rcode.SERVFAIL, false, List.of(), List.of(), List.of());

        static Result of(int rcode, List<Record> answer, List<Record> authority, List<Record> additional) {
            return new Result(rcode, true, answer, authority, additional);
        }
    }

    /** Who answers: found by the name, and by the client where there are views. */
    private interface Handler {
        Result answer(Query query);
    }

    /** The response to a query. */
    public Message answer(Message query, InetAddress client, PublishedZones zones) {
        Message response = new Message(query.getHeader().getID());
        response.getHeader().setFlag(Flags.QR);
        response.getHeader().setOpcode(query.getHeader().getOpcode());
        if (query.getHeader().getFlag(Flags.RD)) {
            response.getHeader().setFlag(Flags.RD);
        }
        if (query.getHeader().getOpcode() != Opcode.QUERY) {
            response.getHeader().setRcode(Rcode.NOTIMP);
            return response;
        }
        List<Record> questions = query.getSection(Section.QUESTION);
        if (questions.size() != 1) {
            response.getHeader().setRcode(Rcode.FORMERR);
            return response;
        }
        Record question = questions.getFirst();
        response.addRecord(question, Section.QUESTION);
        OPTRecord opt = query.getOPT();
        if (opt != null && opt.getVersion() != 0) {
            response.addRecord(new OPTRecord(opt.getPayloadSize(), BADVERS >> 4, 0), Section.ADDITIONAL);
            return response;
        }
        Result result = question.getDClass() == DClass.IN
                ? new Lookup(zones)
                        .find(new Query(
                                ZoneData.lower(question.getName()),
                                question.getType(),
                                query.getHeader().getID(),
                                ADDRESSES.from(client),
                                0))
                : Result.REFUSED;
        response.getHeader().setRcode(result.rcode());
        if (result.isAuthoritative()) {
            response.getHeader().setFlag(Flags.AA);
        }
        result.answer().forEach(next -> response.addRecord(next, Section.ANSWER));
        result.authority().forEach(next -> response.addRecord(next, Section.AUTHORITY));
        result.additional().forEach(next -> response.addRecord(next, Section.ADDITIONAL));
        if (opt != null) {
            response.addRecord(new OPTRecord(opt.getPayloadSize(), 0, 0, opt.getFlags()), Section.ADDITIONAL);
        }
        return response;
    }

    /** The addresses of one family, the drawn one in the first place: the others stay in order but for the one it swaps with. */
    private List<Record> drawn(Name owner, int ttlSeconds, HostStream stream, int type) {
        List<Answer> answers = stream.answers(type == Type.AAAA).toList();
        List<Record> records = new ArrayList<>();
        answers.forEach(answer -> records.add(PublishedZones.address(owner, ttlSeconds, answer.address())));
        int sum = answers.stream().mapToInt(Answer::weight).sum();
        if (sum > 0) {
            int ticket = random.nextInt(sum);
            for (int i = 0; i < records.size(); i++) {
                ticket -= answers.get(i).weight();
                if (ticket < 0) {
                    Collections.swap(records, 0, i);
                    break;
                }
            }
        }
        return records;
    }

    /** One query's way through the zones. */
    private final class Lookup {

        private final PublishedZones zones;

        Lookup(PublishedZones zones) {
            this.zones = zones;
        }

        Result find(Query query) {
            if (query.aliases() > MOST_ALIASES) {
                return Result.FAILED;
            }
            if (query.type() == Type.AXFR || query.type() == Type.IXFR) {
                return Result.REFUSED;
            }
            Handler last = null;
            for (int skip = 0; skip < query.name().labels(); skip++) {
                String name = ZoneData.text(new Name(query.name(), skip));
                Optional<Handler> handler = handler(name, query);
                if (handler.isPresent() && query.type() != Type.DS) {
                    return handler.get().answer(query);
                }
                // What lies above a cut is asked for DS, so the outermost one answers.
                last = handler.orElse(last);
            }
            return last == null ? Result.REFUSED : last.answer(query);
        }

        private Optional<Handler> handler(String name, Query query) {
            Optional<PublishedZones.ServedHost> host = zones.host(name);
            if (host.isPresent()) {
                Optional<HostStream> stream = stream(host.get().host(), query);
                if (stream.isPresent()) {
                    return Optional.of(asked -> switch (host.get().zone().answers()) {
                        case Single, List -> alias(host.get(), stream.get(), asked);
                        case Drawn -> one(host.get(), stream.get(), asked);
                    });
                }
            }
            Optional<PublishedZones.SlotZone> slots = zones.slotZone(name);
            if (slots.isPresent()) {
                return Optional.of(asked -> slot(slots.get(), asked));
            }
            return zones.zone(name).map(zone -> asked -> domain(zone, asked));
        }

        private Optional<HostStream> stream(Host host, Query query) {
            String name = ZoneData.text(query.name());
            if (!host.isKey() && ServedNames.isWithin(name, ServedNames.probes(host.name()))) {
                return ClientStreams.inOrder(host).stream()
                        .filter(stream -> stream.isEveryoneElse()
                                || ServedNames.isWithin(name, ServedNames.probesOf(stream.label(), host.name())))
                        .findFirst();
            }
            return name.equals(host.name()) ? ClientStreams.of(host, query.client()) : Optional.empty();
        }

        /** One address of the stream, drawn by weight. */
        private Result one(PublishedZones.ServedHost host, HostStream stream, Query query) {
            List<Record> soa =
                    zones.zone(host.zone().domain()).orElseThrow().data().soa();
            return one(host.host(), stream, query).orElseGet(() -> Result.of(Rcode.NOERROR, List.of(), soa, List.of()));
        }

        private Optional<Result> one(Host host, HostStream stream, Query query) {
            if (query.type() != Type.A && query.type() != Type.AAAA) {
                return Optional.empty();
            }
            return drawn(query.name(), host.ttlSeconds(), stream, query.type()).stream()
                    .findFirst()
                    .map(first -> Result.of(Rcode.NOERROR, List.of(first), List.of(), List.of()));
        }

        private Result alias(PublishedZones.ServedHost host, HostStream stream, Query query) {
            String slots = ServedNames.slotsOf(host.host(), stream, host.zone().domain(), host.shard());
            String target =
                    host.zone().answers() == Answers.Single ? digits(Slots.ofId(query.id())) + "." + slots : slots;
            Name name = name(target);
            List<Record> answer = new ArrayList<>();
            answer.add(new CNAMERecord(query.name(), DClass.IN, host.host().ttlSeconds(), name));
            if (query.type() == Type.A || query.type() == Type.AAAA) {
                answer.addAll(find(query.at(name)).answer());
            }
            return Result.of(Rcode.NOERROR, answer, List.of(), List.of());
        }

        private Result slot(PublishedZones.SlotZone zone, Query query) {
            List<Record> soa = List.of(zone.soa());
            Result nothing = Result.of(Rcode.NOERROR, List.of(), soa, List.of());
            int below = query.name().labels() - zone.origin().labels();
            if (below == 0) {
                return switch (query.type()) {
                    case Type.SOA -> Result.of(Rcode.NOERROR, soa, zone.ns(), List.of());
                    case Type.NS -> Result.of(Rcode.NOERROR, zone.ns(), List.of(), List.of());
                    default -> nothing;
                };
            }
            int digits = inFront(query.name(), below);
            PublishedZones.SlotStream slots = zone.streams().get(labels(query.name(), digits, below));
            boolean single = zone.zone().answers() == Answers.Single;
            if (slots == null || (!single && digits > 0)) {
                return Result.of(Rcode.NXDOMAIN, List.of(), soa, List.of());
            }
            boolean address = query.type() == Type.A || query.type() == Type.AAAA;
            List<Record> answer = !address
                    ? List.of()
                    : single
                            ? inSlot(slots, query, digits)
                            : drawn(query.name(), slots.ttlSeconds(), slots.stream(), query.type());
            return answer.isEmpty() ? nothing : Result.of(Rcode.NOERROR, answer, zone.ns(), List.of());
        }

        /** How many labels stand in front of the name of a stream's slots. */
        private static int inFront(Name name, int below) {
            for (int i = 0; i < below - 1; i++) {
                if (name.getLabelString(i).equals(ServedNames.SLOTS)) {
                    return i;
                }
            }
            return below - 1;
        }

        private static String labels(Name name, int from, int to) {
            return IntStream.range(from, to).mapToObj(name::getLabelString).collect(Collectors.joining("."));
        }

        private List<Record> inSlot(PublishedZones.SlotStream slots, Query query, int digits) {
            if (digits != 4) {
                return List.of();
            }
            int slot = 0;
            for (int digit = 3; digit >= 0; digit--) {
                String label = query.name().getLabelString(digit);
                int value = label.length() == 1 ? Character.digit(label.charAt(0), 16) : -1;
                if (value < 0) {
                    return List.of();
                }
                slot = slot << 4 | value;
            }
            return run(query.type() == Type.AAAA ? slots.ipv6() : slots.ipv4(), slot)
                    .map(run -> List.of(PublishedZones.address(
                            query.name(), slots.ttlSeconds(), run.answer().address())))
                    .orElse(List.of());
        }

        private Result domain(PublishedZones.ServedZone zone, Query query) {
            Host apex = zone.apex();
            if (apex == null) {
                return file(zone.data(), query);
            }
            String name = ZoneData.text(query.name());
            boolean probe = ServedNames.isWithin(name, ServedNames.probes(apex.name()));
            Optional<HostStream> stream = probe ? stream(apex, query) : ClientStreams.of(apex, query.client());
            if (stream.isEmpty()) {
                return file(zone.data(), query);
            }
            boolean itself = probe || name.equals(apex.name());
            return switch (zone.zone().answers()) {
                case Single -> itself ? threshold(zone, apex, stream.get(), query) : file(zone.data(), query);
                case Drawn ->
                    itself
                            ? one(apex, stream.get(), query).orElseGet(() -> file(zone.data(), query))
                            : file(zone.data(), query);
                case List -> {
                    ZoneData data = zone.apexData().getOrDefault(stream.get().label(), zone.data());
                    Result result = file(data, query);
                    boolean weighted = name.equals(apex.name())
                            && (query.type() == Type.A || query.type() == Type.AAAA)
                            && !result.answer().isEmpty();
                    yield weighted
                            ? Result.of(
                                    result.rcode(),
                                    drawn(query.name(), apex.ttlSeconds(), stream.get(), query.type()),
                                    result.authority(),
                                    result.additional())
                            : result;
                }
            };
        }

        private Result threshold(PublishedZones.ServedZone zone, Host apex, HostStream stream, Query query) {
            for (boolean ipv6 : new boolean[] {false, true}) {
                List<Slots.Run> runs = Slots.runs(stream, ipv6);
                if (query.asks(ipv6 ? Type.AAAA : Type.A) && !runs.isEmpty()) {
                    List<Record> answer = run(runs, Slots.ofId(query.id()))
                            .map(run -> List.of(PublishedZones.address(
                                    query.name(),
                                    apex.ttlSeconds(),
                                    run.answer().address())))
                            .orElse(List.of());
                    return Result.of(Rcode.NOERROR, answer, List.of(), List.of());
                }
            }
            return file(zone.data(), query);
        }

        /** RFC 1034, section 4.3.2, and RFC 4592, for one zone. */
        private Result file(ZoneData data, Query query) {
            if (query.name().equals(data.origin())) {
                if (query.type() == Type.SOA) {
                    return Result.of(Rcode.NOERROR, data.soa(), data.ns(), List.of());
                }
                if (query.type() == Type.NS) {
                    return Result.of(Rcode.NOERROR, data.ns(), List.of(), data.glue(data.ns()));
                }
            }
            List<Record> cut = data.delegation(query.name(), query.type());
            if (!cut.isEmpty()) {
                return new Result(Rcode.NOERROR, false, List.of(), cut, data.glue(cut));
            }
            if (data.hasRecords(query.name())) {
                return at(data, query.name(), query);
            }
            if (data.exists(query.name())) {
                return Result.of(Rcode.NOERROR, List.of(), data.soa(), List.of());
            }
            Name encloser = new Name(query.name(), 1);
            while (!data.exists(encloser)) {
                encloser = new Name(encloser, 1);
            }
            Name wildcard = below(encloser);
            if (data.hasRecords(wildcard)) {
                return at(data, wildcard, query);
            }
            int rcode = data.exists(wildcard) ? Rcode.NOERROR : Rcode.NXDOMAIN;
            return Result.of(rcode, List.of(), data.soa(), List.of());
        }

        private Result at(ZoneData data, Name source, Query query) {
            List<Record> alias = data.get(source, Type.CNAME);
            if (!alias.isEmpty() && query.type() != Type.CNAME) {
                return follow(data, query, (CNAMERecord) owned(alias.getFirst(), query.name()));
            }
            List<Record> answer = data.get(source, query.type()).stream()
                    .map(found -> owned(found, query.name()))
                    .toList();
            return answer.isEmpty()
                    ? Result.of(Rcode.NOERROR, List.of(), data.soa(), List.of())
                    : Result.of(Rcode.NOERROR, answer, data.ns(), data.additional(answer));
        }

        private Result follow(ZoneData data, Query query, CNAMERecord first) {
            List<Record> answer = new ArrayList<>();
            answer.add(first);
            Name target = ZoneData.lower(first.getTarget());
            for (int aliases = 0; aliases <= MOST_ALIASES; aliases++) {
                List<Record> cut = target.subdomain(data.origin()) ? data.delegation(target, query.type()) : List.of();
                if (!cut.isEmpty()) {
                    return new Result(Rcode.NOERROR, false, answer, cut, data.glue(cut));
                }
                // Name servers are asked for anew, since the target may be the top of another zone.
                boolean top = query.type() == Type.NS || (query.type() == Type.SOA && target.equals(data.origin()));
                if (top || !data.hasRecords(target)) {
                    Result found = find(query.at(target));
                    answer.addAll(found.answer());
                    boolean nothing = found.rcode() == Rcode.NXDOMAIN
                            || (found.rcode() == Rcode.NOERROR && found.answer().isEmpty());
                    int rcode = found.rcode() == Rcode.REFUSED ? Rcode.NOERROR : found.rcode();
                    return Result.of(rcode, answer, nothing ? data.soa() : data.ns(), data.additional(answer));
                }
                List<Record> next = data.get(target, Type.CNAME);
                if (next.isEmpty()) {
                    answer.addAll(data.get(target, query.type()));
                    break;
                }
                answer.addAll(next);
                target = ZoneData.lower(((CNAMERecord) next.getFirst()).getTarget());
            }
            return Result.of(Rcode.NOERROR, answer, data.ns(), data.additional(answer));
        }
    }

    private static Optional<Slots.Run> run(List<Slots.Run> runs, int slot) {
        return runs.stream()
                .filter(run -> slot >= run.from() && slot < run.to())
                .findFirst();
    }

    private static String digits(int slot) {
        String digits = "%04x".formatted(slot);
        return new StringBuilder(String.join(".", digits.split(""))).reverse().toString();
    }

    private static Record owned(Record found, Name owner) {
        return found.getName().equals(owner)
                ? found
                : Record.newRecord(
                        owner, found.getType(), found.getDClass(), found.getTTL(), found.rdataToWireCanonical());
    }

    private static Name below(Name encloser) {
        try {
            return Name.fromString("*", encloser);
        } catch (TextParseException e) {
            return encloser;
        }
    }

    private static Name name(String text) {
        try {
            return PublishedZones.name(text);
        } catch (TextParseException e) {
            throw new IllegalArgumentException(text + " is not a name", e);
        }
    }
}
