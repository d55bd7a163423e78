package dev.apportion.cli;

import dev.apportion.dns.wire.Asker;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.xbill.DNS.Name;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/** Asks a DNS server for the host names that anybody can ask for, and counts what is really answered. */
final class Trial {

    /** Enough to see proportions, and asked in an instant. */
    private static final int QUESTIONS = 256;

    private static final int HOSTS_SHOWN = 5;

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

    private static SortedMap<String, Integer> count(String host, InetSocketAddress server) {
        AnswerSample sample = AnswerSample.take(new Asker(TIMEOUT), server, absolute(host), Type.A, QUESTIONS);
        SortedMap<String, Integer> counts = new TreeMap<>(sample.firsts());
        sample.silence().ifPresent(reason -> counts.put("no answer: " + reason, 0));
        return counts;
    }

    private static Name absolute(String host) {
        try {
            return Name.fromString(host + ".");
        } catch (TextParseException e) {
            throw new IllegalArgumentException(host + " was published, so it is a name", e);
        }
    }
}
