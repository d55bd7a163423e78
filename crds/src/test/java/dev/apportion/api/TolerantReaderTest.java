package dev.apportion.api;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever an object holds, it can be read, and the reason says where it does not fit. */
class TolerantReaderTest {

    private final KubernetesSerialization serialization = new KubernetesSerialization();

    @Test
    void readsWhatFits() {
        ReplicaPool pool =
                pool("{sites: [{name: main, endpoints: [{name: a, address: 192.0.2.10, capacity: 1500m}]}]}");

        assertThat(pool.unreadable()).isNull();
        assertThat(requireNonNull(pool.getSpec()).sites().getFirst().endpoints())
                .singleElement()
                .satisfies(endpoint -> {
                    assertThat(endpoint.allAddresses()).containsExactly("192.0.2.10");
                    assertThat(requireNonNull(endpoint.capacity()).value()).isEqualTo(1.5);
                });
    }

    @Test
    void readsFieldsOfALaterVersion() {
        ReplicaPool pool = pool("{sites: [{name: main, service: {name: web, later: 1}}], later: {}}");

        assertThat(pool.unreadable()).isNull();
        assertThat(pool.getSpec()).isNotNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
        5                                              | spec: 5 must be an object
        {}                                             | spec.sites: is required
        {sites: {}}                                    | spec.sites: must be a list
        {sites: []}                                    | spec.sites: must not be empty
        {sites: [null]}                                | spec.sites[0]: is required
        {sites: [{service: {name: a}}]}                | spec.sites[0].name: is required
        {sites: [{name: a, service: {name: [x]}}]}     | spec.sites[0].service.name: must be a text
        {sites: [{name: a, service: {name: 5}}]}       | spec.sites[0].service.name: 5 must be a text
        {sites: [{name: a}]}                           | spec.sites[0]: exactly one of service and endpoints
        {sites: [{name: a, concurrency: 99999999999}]} | spec.sites[0].concurrency: 99999999999 must be a whole number
        {sites: [{name: a, concurrency: 1.5}]}         | spec.sites[0].concurrency: 1.5 must be a whole number
        {sites: [{name: a, concurrency: '5'}]}         | spec.sites[0].concurrency: "5" must be a whole number
        {sites: [{name: a, capacity: abc}]}            | spec.sites[0].capacity: "abc" must be a quantity
        {sites: [{name: a, capacity: 0.5}]}            | spec.sites[0].capacity: 0.5 must stand in quotes
        {sites: [{name: a, capacity: 1.0e+99}]}        | spec.sites[0].capacity: 1.0E99 must be a quantity
        {sites: [{name: a, capacity: 0}]}              | spec.sites[0].capacity: "0" must be a quantity above 0
        {sites: [{name: a, capacity: .nan}]}           | spec.sites[0].capacity: "NaN" must be a quantity
        {sites: [{name: a, service: {name: x}}, {name: a, service: {name: y}}]} | spec.sites[1]: "a" occurs twice
        {sites: [{name: a, endpoints: [{name: b, addresses: [10.0.0.1, 10.0.0.300]}]}]} \
            | spec.sites[0].endpoints[0].addresses[1]: "10.0.0.300" must be an IPv4 or IPv6 address
        {sites: [{name: a, service: {name: x}}], policy: {type: Best}} \
            | spec.policy.type: "Best" must be one of ["RoundRobin","WeightedRoundRobin",
        """)
    void saysWhatDoesNotFit(String spec, String reason) {
        ReplicaPool pool = pool(spec);

        assertThat(pool.getSpec()).isNull();
        assertThat(pool.unreadable()).startsWith(reason);
    }

    @Test
    void writesAnUnreadableSpecAsItWas() {
        ReplicaPool pool = pool("{sites: [{name: main, capacity: abc}], later: 1}");

        assertThat(serialization.asYaml(pool)).isEqualTo("""
            ---
            apiVersion: "apportion.dev/v1alpha1"
            kind: "ReplicaPool"
            metadata:
              name: "p"
            spec:
              sites:
              - name: "main"
                capacity: "abc"
              later: 1
            """);
        pool.setSpec(requireNonNull(
                pool("{sites: [{name: main, service: {name: web}}]}").getSpec()));
        assertThat(pool.unreadable()).isNull();
        assertThat(serialization.clone(pool)).isEqualTo(pool);
    }

    @Test
    void anUnreadableStatusIsNone() {
        DNSZone zone = serialization.unmarshal("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: z}
            spec: {domain: example.org, coreDNS: {}}
            status: {serial: [5]}
            """, DNSZone.class);

        assertThat(zone.getStatus()).isNull();
        assertThat(zone.getSpec()).isNotNull();
        assertThat(zone.unreadable()).isNull();
    }

    private ReplicaPool pool(String spec) {
        return serialization.unmarshal("""
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: p}
            spec: %s
            """.formatted(spec), ReplicaPool.class);
    }
}
