package dev.apportion.records;

import inet.ipaddr.IPAddress;
import java.util.List;
import java.util.stream.Stream;

/**
 * What one population of a host's clients is answered.
 *
 * @param label the DNS label under which its slots and its probe names stand, unique within the zone; the keys of one host share one
 * @param stream the name of the TrafficStream, empty for the implicit one
 * @param clients the address blocks that the clients ask from, sorted; empty for everyone whom no other stream names
 * @param answers the addresses, in {@link Answer#ORDER}
 */
public record HostStream(String label, String stream, List<IPAddress> clients, List<Answer> answers) {

    public HostStream {
        clients = clients.stream().sorted().toList();
        answers = answers.stream().sorted(Answer.ORDER).toList();
    }

    public boolean isEveryoneElse() {
        return clients.isEmpty();
    }

    public Stream<Answer> answers(boolean ipv6) {
        return answers.stream().filter(answer -> answer.address().isIPv6() == ipv6);
    }
}
