package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddressString;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PastTest {

    private static final Ref SERVICE = new Ref("web", "app");

    private static Host host(String name, Optional<String> under, HostStream... streams) {
        return new Host(name, SERVICE.toString(), 15, under, List.of(streams));
    }

    private static HostStream stream(String stream, String address) {
        return new HostStream("label", stream, List.of(), List.of(answer(address)));
    }

    private static Answer answer(String address) {
        return new Answer(new IPAddressString(address).getAddress(), "a", 256);
    }

    private static Demand demand(String stream, String key) {
        return new Demand(
                SERVICE,
                stream,
                key,
                key.isEmpty() ? "app.example.org" : key + ".app.example.org",
                1,
                OptionalInt.empty(),
                Answers.Single,
                15,
                Set.of(),
                Optional.empty(),
                List.of());
    }

    /** The keys of one stream have one label and one stream's name, and each its own answers. */
    @Test
    void theAnswersOfStreamsAndKeysAreFoundByTheirDemands() {
        Optional<String> app = Optional.of("app.example.org");
        ZoneRecords zone = new ZoneRecords(
                "example.org",
                "dns/example-org",
                Answers.Single,
                15,
                5,
                List.of(),
                List.of(),
                List.of(
                        host("app.example.org", Optional.empty(), stream("", "192.0.2.1")),
                        host("alice.app.example.org", app, stream("tenants", "192.0.2.2")),
                        host("bob.app.example.org", app, stream("tenants", "192.0.2.3"))));
        assertThat(Past.answers(List.of(zone)))
                .hasSize(3)
                .containsEntry(demand("", "").key(), List.of(answer("192.0.2.1")))
                .containsEntry(demand("tenants", "alice").key(), List.of(answer("192.0.2.2")))
                .containsEntry(demand("tenants", "bob").key(), List.of(answer("192.0.2.3")));
    }
}
