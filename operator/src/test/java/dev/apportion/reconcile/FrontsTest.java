package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FrontsTest {

    private static final String ENDPOINTS = """
        [{addresses: [10.0.0.1], nodeName: n1}, {addresses: [10.0.0.2], nodeName: n1},
         {addresses: [10.0.0.3], nodeName: n2, conditions: {ready: false, serving: false}},
         {addresses: [10.0.0.4], nodeName: n3}]\
        """;

    private static final String NODES = """
        kind: Node
        metadata: {name: n1}
        status: {addresses: [{type: InternalIP, address: 192.0.2.11}, {type: Hostname, address: n1}]}
        ---
        kind: Node
        metadata: {name: n2}
        status: {addresses: [{type: InternalIP, address: 192.0.2.12}]}
        ---
        kind: Node
        metadata: {name: n3}
        status:
          addresses:
          - {type: InternalIP, address: 192.0.2.13}
          - {type: ExternalIP, address: 203.0.113.3}
          - {type: ExternalIP, address: "2001:db8::3"}
        """;

    private static Setting setting(String publish, String... more) {
        List<String> documents = new ArrayList<>(List.of(more));
        documents.add(Setting.pool(
                "shop", "{name: main, service: {name: shop, publish: %s}, capacity: 100}".formatted(publish)));
        documents.add(Setting.slice("shop-1", "shop", ENDPOINTS));
        return Setting.of(documents.toArray(String[]::new));
    }

    private static String service(String ingress) {
        return "kind: Service\nmetadata: {name: shop}\nstatus: {loadBalancer: {ingress: %s}}\n".formatted(ingress);
    }

    private static List<Member> members(Setting setting) {
        return Members.of(setting.onlyPool(), setting);
    }

    private static List<String> addresses(Member member) {
        return member.addresses().stream().map(IPAddress::toCanonicalString).toList();
    }

    private static Optional<String> unresolved(Setting setting) {
        return Findings.missingServices(setting.onlyPool(), setting)
                .map(finding -> finding.reason() + ": " + finding.message());
    }

    @Test
    void aLoadBalancerBearsWhatServesBehindIt() {
        Setting setting = setting("LoadBalancer", service("[{ip: 203.0.113.1}, {ip: \"2001:db8::1\"}]"));
        assertThat(members(setting)).singleElement().satisfies(member -> {
            assertThat(member.name()).isEqualTo("shop");
            assertThat(addresses(member)).containsExactly("203.0.113.1", "2001:db8::1");
            assertThat(member.capacity()).isEqualTo(300);
            assertThat(member.concurrency()).isEqualTo(3);
            assertThat(member.state()).isEqualTo(Member.State.Ready);
            assertThat(member.because())
                    .containsExactly("3 of 4 endpoints serve behind the load balancer of shop", "capacity of the site");
        });
        assertThat(unresolved(setting)).isEmpty();
    }

    @Test
    void aLoadBalancerThatCannotBeAnsweredIsNoReplicaAndWhyIsSaid() {
        Setting named = setting("LoadBalancer", service("[{hostname: lb.example.net}]"));
        assertThat(members(named)).isEmpty();
        assertThat(unresolved(named))
                .hasValueSatisfying(said -> assertThat(said)
                        .startsWith("LoadBalancerHostName: ")
                        .contains("web/shop", "lb.example.net", "publish: Nodes"));
        Setting pending = setting("LoadBalancer", service("[]"));
        assertThat(members(pending)).isEmpty();
        assertThat(unresolved(pending))
                .hasValueSatisfying(said -> assertThat(said).startsWith("LoadBalancerPending: "));
        assertThat(unresolved(setting("LoadBalancer"))).hasValue("ServiceNotFound: there is no Service web/shop");
    }

    @Test
    void aLoadBalancerWithNothingBehindItIsNotReady() {
        Setting setting = Setting.of(
                Setting.pool("shop", "{name: main, service: {name: shop, publish: LoadBalancer}}"),
                Setting.slice("shop-1", "shop", "[{addresses: [10.0.0.3], conditions: {serving: false}}]"),
                service("[{ip: 203.0.113.1}]"));
        assertThat(members(setting))
                .singleElement()
                .satisfies(member -> assertThat(member.state()).isEqualTo(Member.State.NotReady));
    }

    @Test
    void aNodeBearsWhatServesOnItAndHasExternalAddressesFirst() {
        List<Member> members = members(setting("Nodes", NODES));
        assertThat(members).extracting(Member::name).containsExactly("n1", "n2", "n3");
        assertThat(members).extracting(Member::capacity).containsExactly(200.0, 100.0, 100.0);
        assertThat(members)
                .extracting(Member::state)
                .containsExactly(Member.State.Ready, Member.State.NotReady, Member.State.Ready);
        assertThat(members)
                .extracting(FrontsTest::addresses)
                .containsExactly(List.of("192.0.2.11"), List.of("192.0.2.12"), List.of("203.0.113.3", "2001:db8::3"));
    }

    @Test
    void aNodeThatNobodyKnowsIsInNoAnswer() {
        assertThat(members(setting("Nodes"))).hasSize(3).allSatisfy(member -> {
            assertThat(member.isReady()).isFalse();
            assertThat(member.because()).contains("the node has no address that is known");
        });
    }

    @Test
    void aNodeOnWhichAllEndpointsDrainDrains() {
        Setting setting = Setting.of(
                NODES,
                Setting.pool("shop", "{name: main, service: {name: shop, publish: Nodes}}"),
                Setting.slice(
                        "shop-1", "shop", "[{addresses: [10.0.0.1], nodeName: n1, targetRef: {kind: Pod, name: p}}]"),
                "kind: Pod\nmetadata: {name: p, annotations: {apportion.dev/drain: \"true\"}}\n");
        assertThat(members(setting))
                .singleElement()
                .satisfies(member -> assertThat(member.state()).isEqualTo(Member.State.Draining));
    }
}
