package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.load.Target.Place;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScrapeNetworksTest {

    private static Member.Server server(String uid, String address) {
        return new Member.Server("a", uid, EstimatesTest.address(address), Map.of("metrics", 9100));
    }

    private static ScrapeNetworks networks(String... blocks) {
        return new ScrapeNetworks(Arrays.stream(blocks)
                .map(block -> switch (Addresses.parseBlock(block)) {
                    case Parsed.Value<IPAddress>(IPAddress network) -> network;
                    case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
                })
                .toList());
    }

    private static String refusal(Place place) {
        return switch (place) {
            case Place.Nowhere(String reason) -> reason;
            case Place.At(InetSocketAddress address) -> "at " + address;
        };
    }

    @Test
    void podsAreAskedAtAPortByNumberOrName() {
        Member.Server pod = server("uid", "10.0.0.1");

        assertThat(ScrapeNetworks.PODS.place(pod, "8080"))
                .isEqualTo(new Place.At(new InetSocketAddress("10.0.0.1", 8080)));
        assertThat(ScrapeNetworks.PODS.place(pod, "metrics"))
                .isEqualTo(new Place.At(new InetSocketAddress("10.0.0.1", 9100)));
        assertThat(refusal(ScrapeNetworks.PODS.place(pod, "web")))
                .startsWith("no port of its EndpointSlices has the name \"web\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "169.254.169.254", "::1", "fe80::1", "224.0.0.1", "0.0.0.0"})
    void thisMachineAndItsLinkAreNoPods(String address) {
        assertThat(refusal(ScrapeNetworks.PODS.place(server("uid", address), "80")))
                .endsWith("is no address of a pod");
    }

    @Test
    void fixedEndpointsAreAskedOnlyWhereTheAdministratorAllowsIt() {
        Member.Server fixed = server("", "192.0.2.1");

        assertThat(refusal(ScrapeNetworks.PODS.place(fixed, "80"))).startsWith("no pod stands behind 192.0.2.1");
        assertThat(networks("192.0.2.0/24", "127.0.0.0/8").place(fixed, "80")).isInstanceOf(Place.At.class);
        assertThat(networks("127.0.0.0/8").place(server("uid", "127.0.0.1"), "80"))
                .isInstanceOf(Place.At.class);
        assertThat(refusal(networks("127.0.0.0/8").place(server("uid", "10.0.0.1"), "80")))
                .isEqualTo("10.0.0.1 is not in --scrape-networks of the operator");
    }
}
