package dev.apportion.cli;

import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.SimpleResolver;
import org.xbill.DNS.Type;

/** Asks a DNS server for the host names that anybody can ask for, and counts what is really answered. */
final class Trial {

    /** Enough to see proportions, and asked in an instant. */
    private static final int QUESTIONS = 256;

    private static final int HOSTS_SHOWN = 5;

    private Trial() {}

    static String text(List<ZoneRecords> zones, InetSocketAddress server) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("ASKED", "FIRST ADDRESS", "ANSWERS", "OF " + QUESTIONS));
        for (ZoneRecords zone : zones) {
            for (Host host : zone.hosts().stream().limit(HOSTS_SHOWN).toList()) {
                boolean answered = host.streams().stream()
                        .anyMatch(stream -> stream.isEveryoneElse()
                                && stream.answers(false).findAny().isPresent());
                if (answered) {
                    count(host.name(), server)
                            .forEach((address, count) -> rows.add(List.of(
                                    host.name(),
                                    address,
                                    Integer.toString(count),
                                    PlanTable.percent((double) count / QUESTIONS))));
                }
            }
        }
        return rows.size() == 1 ? "" : PlanTable.aligned(rows);
    }

    private static Map<String, Integer> count(String host, InetSocketAddress server) {
        Map<String, Integer> counts = new TreeMap<>();
        try {
            SimpleResolver resolver = new SimpleResolver(server);
            Record question = Record.newRecord(Name.fromString(host + "."), Type.A, DClass.IN);
            for (int i = 0; i < QUESTIONS; i++) {
                Message response = resolver.send(Message.newQuery(question));
                String first = response.getSection(Section.ANSWER).stream()
                        .filter(ARecord.class::isInstance)
                        .map(record -> ((ARecord) record).getAddress().getHostAddress())
                        .findFirst()
                        .orElse("none");
                counts.merge(first, 1, Integer::sum);
            }
        } catch (IOException e) {
            counts.put("no answer: " + e.getMessage(), 0);
        }
        return counts;
    }
}
