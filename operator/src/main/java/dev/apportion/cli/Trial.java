package dev.apportion.cli;

import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Question;
import dev.apportion.dns.wire.Reply;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Section;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/** Asks a DNS server for the host names that anybody can ask for, and counts what is really answered. */
final class Trial {

    /** Enough to see proportions, and asked in an instant. */
    private static final int QUESTIONS = 256;

    private static final int HOSTS_SHOWN = 5;

    /** Query ids are numbers of 16 bits. */
    private static final int IDS = 1 << 16;

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

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
        Asker asker = new Asker(TIMEOUT);
        RandomGenerator ids = RandomGenerator.getDefault();
        for (int i = 0; i < QUESTIONS; i++) {
            Question question = new Question(absolute(host), Type.A, ids.nextInt(IDS));
            switch (asker.ask(server, question)) {
                case Reply.Answered(Message response) -> counts.merge(first(response), 1, Integer::sum);
                case Reply.Silent(String reason) -> {
                    counts.put("no answer: " + reason, 0);
                    return counts;
                }
            }
        }
        return counts;
    }

    private static String first(Message response) {
        return response.getSection(Section.ANSWER).stream()
                .filter(ARecord.class::isInstance)
                .map(record -> ((ARecord) record).getAddress().getHostAddress())
                .findFirst()
                .orElse("none");
    }

    private static Name absolute(String host) {
        try {
            return Name.fromString(host + ".");
        } catch (TextParseException e) {
            throw new IllegalArgumentException(host + " was published, so it is a name", e);
        }
    }
}
