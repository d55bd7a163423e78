package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddressString;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EndpointZonesTest {

    private static List<Host> hosts(String... addresses) {
        List<Answer> answers = Stream.of(addresses)
                .map(address -> new Answer(new IPAddressString(address).getAddress(), "replica", 1))
                .toList();
        return List.of(new Host(
                "shop.example.org", "web/shop", 20, List.of(new HostStream("shop-1", "", List.of(), answers))));
    }

    private static boolean isUrgent(List<Host> before, List<Host> after, String... serving) {
        return EndpointZones.isUrgent(before, after, address -> Set.of(serving).contains(address.toCanonicalString()));
    }

    @Test
    void whatTakesClientsAwayFromTheDeadIsUrgentAndNothingElse() {
        List<Host> both = hosts("192.0.2.1", "192.0.2.2");
        List<Host> first = hosts("192.0.2.1");

        assertThat(isUrgent(both, first, "192.0.2.1")).isTrue();
        assertThat(isUrgent(both, first, "192.0.2.1", "192.0.2.2")).isFalse();
        assertThat(isUrgent(first, both, "192.0.2.1", "192.0.2.2")).isFalse();
        assertThat(isUrgent(both, both, "192.0.2.1")).isFalse();
        assertThat(isUrgent(both, List.of(), "192.0.2.1", "192.0.2.2")).isFalse();
        assertThat(isUrgent(List.of(), first, "192.0.2.1")).isFalse();
    }
}
