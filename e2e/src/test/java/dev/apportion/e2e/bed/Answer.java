package dev.apportion.e2e.bed;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.CNAMERecord;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/** A DNS response as a test reads it: the sections in the order in which they came. */
public record Answer(Message message) {

    /** The response code, such as {@code NOERROR}. */
    public String rcode() {
        return Rcode.string(message.getRcode());
    }

    /** The records of the answer section, in their order. */
    public List<Record> records() {
        return message.getSection(Section.ANSWER);
    }

    /** The name that was asked for and the targets of the CNAME records that lead on from it, in the order of the chain. */
    public List<Name> chain() {
        List<Name> chain = new ArrayList<>(List.of(message.getQuestion().getName()));
        for (Optional<Name> next = target(chain.getLast()); next.isPresent(); next = target(chain.getLast())) {
            if (chain.contains(next.get())) {
                throw new AssertionError("A loop of CNAME records: " + message);
            }
            chain.add(next.get());
        }
        return chain;
    }

    private Optional<Name> target(Name owner) {
        return records().stream()
                .filter(record ->
                        record instanceof CNAMERecord && record.getName().equals(owner))
                .map(record -> ((CNAMERecord) record).getTarget())
                .findFirst();
    }

    /** The addresses of one family, {@link Type#A} or {@link Type#AAAA}, at the end of the chain, in their order. */
    public List<String> addresses(int type) {
        Name owner = chain().getLast();
        return records().stream()
                .filter(record -> record.getType() == type && record.getName().equals(owner))
                .map(Answer::address)
                .map(InetAddress::getHostAddress)
                .toList();
    }

    private static InetAddress address(Record record) {
        return switch (record) {
            case ARecord a -> a.getAddress();
            case AAAARecord aaaa -> aaaa.getAddress();
            default -> throw new IllegalArgumentException("No address record: " + record);
        };
    }

    /** NOERROR without a record of the type: the name is there, the type is not (RFC 2308). */
    public boolean isNoData(int type) {
        return message.getRcode() == Rcode.NOERROR && records().stream().noneMatch(record -> record.getType() == type);
    }
}
