package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DnsServersTest {

    private static ZoneStanding.Servers servers(String verifyAt, String... slices) {
        String[] documents = new String[slices.length + 1];
        documents[0] = Setting.ZONE.replace("coreDNS: {}", "coreDNS: {}" + verifyAt);
        System.arraycopy(slices, 0, documents, 1, slices.length);
        Setting setting = Setting.of(documents);
        return DnsServers.of(
                setting.admission().zone(new Ref("web", "example-org")).orElseThrow(), setting);
    }

    @Test
    void nobodyIsAskedWithoutServers() {
        assertThat(servers("").configured()).isFalse();
    }

    @Test
    void addressesAreAskedAsTheyStand() {
        assertThat(servers(", verifyAt: {addresses: [192.0.2.53, '192.0.2.54:5353', '[2001:db8::53]:53']}")
                        .addresses())
                .containsExactly(
                        new InetSocketAddress("192.0.2.53", 53),
                        new InetSocketAddress("192.0.2.54", 5353),
                        new InetSocketAddress("2001:db8::53", 53));
    }

    @Test
    void everyServingEndpointOfTheServiceIsAskedOnce() {
        String slice = Setting.slice("dns-1", "dns", """
            [{addresses: [10.0.0.2]}, {addresses: [10.0.0.1], conditions: {ready: true}},
            {addresses: [10.0.0.3], conditions: {ready: false}}, {addresses: [10.0.0.1]}]\
            """);

        assertThat(servers(", verifyAt: {service: {name: dns}}", slice).addresses())
                .containsExactly(new InetSocketAddress("10.0.0.1", 53), new InetSocketAddress("10.0.0.2", 53));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "null                                                       | 53",
                "[{protocol: UDP, port: 1053}, {protocol: TCP, port: 1054}] | 1053",
                "[{protocol: UDP, port: 1053}, {protocol: UDP, port: 53}]   | 53",
                "[{protocol: TCP, port: 1054}]                              | 53"
            })
    void thePortIsThatOfTheEndpoints(String ports, int port) {
        String slice = Setting.slice("dns-1", "dns", "[{addresses: [10.0.0.1]}]\nports: " + ports);

        assertThat(servers(", verifyAt: {service: {name: dns}}", slice).addresses())
                .containsExactly(new InetSocketAddress("10.0.0.1", port));
    }

    @Test
    void aServiceWithoutEndpointsIsConfiguredAndEmpty() {
        ZoneStanding.Servers servers =
                servers(", verifyAt: {service: {name: dns}}", Setting.slice("dns-1", "dns", "null\nports: null"));

        assertThat(servers.configured()).isTrue();
        assertThat(servers.addresses()).isEmpty();
    }
}
