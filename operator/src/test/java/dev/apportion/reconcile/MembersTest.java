package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.health.EndpointHealth;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditionsBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MembersTest {

    private static final String POOL = Setting.pool("shop", "{name: main, service: {name: shop}, capacity: 100}");

    private static List<Member> members(String... documents) {
        Setting setting = Setting.of(documents);
        return Members.of(setting.onlyPool(), setting);
    }

    @ParameterizedTest
    @CsvSource({
        "     ,      ,      , true",
        "true ,      ,      , true",
        "false,      ,      , false",
        "false, true ,      , true",
        "true , false,      , false",
        "false, false,      , false",
        "true , true , false, true",
        "true , true , true , false",
        "     ,      , true , false",
        "     , true ,      , true"
    })
    void servingDecidesBeforeReadyAndWhatTerminatesDoesNotServe(
            @Nullable Boolean ready, @Nullable Boolean serving, @Nullable Boolean terminating, boolean serves) {
        EndpointConditions conditions = new EndpointConditionsBuilder()
                .withReady(ready)
                .withServing(serving)
                .withTerminating(terminating)
                .build();

        assertThat(Members.serves(conditions)).isEqualTo(serves);
    }

    @Test
    void replicasHaveTheConcurrencyOfTheirSiteAndFixedOnesTheirSamples() {
        List<Member> members = members(
                Setting.pool(
                        "shop",
                        "{name: main, service: {name: shop}, concurrency: 7}, {name: fixed, concurrency: 9, endpoints:"
                                + " [{name: a, address: 192.0.2.1, measured: {connections: 12}}]}"),
                Setting.slice("shop-1", "shop", "[{addresses: [10.0.0.1]}]"));

        assertThat(members).extracting(Member::concurrency).containsExactly(7, 9);
        assertThat(members).extracting(Member::isSilent).containsExactly(true, false);
        assertThat(members.getLast().measured().connections()).hasValue(12);
        assertThat(members.getLast().because("also").measured())
                .isEqualTo(members.getLast().measured());
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "25, 1", "26, 4", "100, 4"})
    void whereTooFewAreReadyTheOthersThatAreThereStay(int minReadyPercent, int ready) {
        List<Member> members = members(
                POOL.replace("spec: {", "spec: {behavior: {minReadyPercent: %d}, ".formatted(minReadyPercent)),
                Setting.slice(
                        "shop-1",
                        "shop",
                        "[{addresses: [10.0.0.1]}, {addresses: [10.0.0.2], conditions: {ready: false}}, {addresses:"
                            + " [10.0.0.3], conditions: {ready: false}}, {addresses: [10.0.0.4], conditions: {ready:"
                            + " false, serving: false}}, {addresses: [10.0.0.5], conditions: {ready: false, serving:"
                            + " true, terminating: true}}]"));

        assertThat(members.stream().filter(Member::isReady)).hasSize(ready);
        assertThat(members.getLast().isReady()).isFalse();
        assertThat(members.get(1).because())
                .hasSize(ready == 1 ? 1 : 2)
                .last()
                .asString()
                .contains(ready == 1 ? "capacity" : "not ready, but kept: less than %d %%".formatted(minReadyPercent));
    }

    @Test
    void anEndpointWithoutConditionsServes() {
        assertThat(Members.serves(null)).isTrue();
    }

    @Test
    void aSliceMayHaveNoListOfEndpointsAndAnEndpointNoAddresses() {
        assertThat(members(POOL, Setting.slice("shop-1", "shop", "null"))).isEmpty();
        assertThat(members(POOL, Setting.slice("shop-1", "shop", "[{addresses: null}]")))
                .extracting(Member::isReady)
                .containsExactly(false);
    }

    @Test
    void slicesOfTwoFamiliesAndDuplicatesSpeakOfOneReplica() {
        List<Member> members = members(
                POOL,
                Setting.slice("a", "shop", "[{addresses: [10.0.0.1], targetRef: {kind: Pod, name: p}}]"),
                Setting.slice("b", "shop", "[{addresses: [10.0.0.1], targetRef: {kind: Pod, name: p}}]"),
                Setting.slice("c", "shop", "[{addresses: ['2001:DB8::1'], targetRef: {kind: Pod, name: p}}]"));

        assertThat(members).singleElement().satisfies(member -> {
            assertThat(member.name()).isEqualTo("p");
            assertThat(member.addresses())
                    .extracting(IPAddress::toCanonicalString)
                    .containsExactly("10.0.0.1", "2001:db8::1");
            assertThat(member.isReady()).isTrue();
        });
    }

    @Test
    void anAddressThatCannotBeReadIsSaidAndTheOthersStay() {
        List<Member> members =
                members(POOL, Setting.slice("a", "shop", "[{addresses: [10.0.0.300]}, {addresses: [10.0.0.1]}]"));

        assertThat(members)
                .extracting(Member::name, Member::isReady)
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("unnamed", false),
                        org.assertj.core.groups.Tuple.tuple("10.0.0.1", true));
        assertThat(members.stream()
                        .filter(member -> !member.isReady())
                        .findFirst()
                        .orElseThrow()
                        .because())
                .anySatisfy(because -> assertThat(because).contains("10.0.0.300"));
    }

    @Test
    void theOrderOfListingChangesNothing() {
        Setting setting = Setting.of(
                POOL,
                Setting.slice("a", "shop", "[{addresses: [10.0.0.300, x]}, {addresses: [10.0.0.2]}]"),
                Setting.slice("b", "shop", "[{addresses: [10.0.0.400]}, {addresses: [10.0.0.1]}]"),
                Setting.slice("c", "shop", "[{addresses: [10.0.0.500]}]"));
        List<Member> members = Members.of(setting.onlyPool(), setting);

        for (int seed = 0; seed < 10; seed++) {
            assertThat(Members.of(setting.shuffled(seed).onlyPool(), setting)).isEqualTo(members);
        }
    }

    @Test
    void twoSitesWithReplicasOfOneNameAreToldApart() {
        List<Member> members = members(Setting.pool("shop", """
            {name: a, endpoints: [{name: r, address: 192.0.2.1}]},
            {name: b, endpoints: [{name: r, address: 192.0.2.2}]}\
            """));

        assertThat(members).extracting(Member::name).containsExactly("r", "b/r");
        assertThat(members).extracting(Member::site).containsExactly("a", "b");
    }

    @ParameterizedTest
    @CsvSource({
        "apportion.dev/capacity, 250 , 250, Ready   , capacity of the pod's annotation",
        "apportion.dev/capacity, 500m, 0.5, Ready   , capacity of the pod's annotation",
        "apportion.dev/capacity, 0   , 100, Ready   , '\"0\" is not a number greater than 0'",
        "apportion.dev/capacity, -513m, 100, Ready  , '\"-513m\" is not a number greater than 0'",
        "apportion.dev/capacity, NaN , 100, Ready   , '\"NaN\" is not a number greater than 0'",
        "apportion.dev/drain   , true, 100, Draining, capacity of the site",
        "apportion.dev/drain   , false, 100, Ready  , capacity of the site",
        "apportion.dev/drain   , yes , 100, Ready   , '\"yes\" is neither true nor false'",
        "somebody.else/drain   , true, 100, Ready   , capacity of the site"
    })
    void podsSayWhatTheyBear(String key, String value, double capacity, Member.State state, String because) {
        List<Member> members = members(
                POOL,
                Setting.slice("a", "shop", "[{addresses: [10.0.0.1], targetRef: {kind: Pod, name: p}}]"),
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: p, annotations: {%s: "%s"}}
                """.formatted(key, value));

        assertThat(members).singleElement().satisfies(member -> {
            assertThat(member.capacity()).isEqualTo(capacity);
            assertThat(member.state()).isEqualTo(state);
            assertThat(member.because()).anySatisfy(found -> assertThat(found).contains(because));
        });
    }

    @Test
    void ofACheckedReplicaOnlyTheAddressesThatAreWellServe() {
        Setting setting = Setting.of(Setting.pool(
                        "shop",
                        "{name: fixed, healthCheck: {tcp: {port: 80}}, endpoints: [{name: a, address: 192.0.2.1},"
                                + " {name: b, addresses: [192.0.2.2, \"2001:db8::2\"]}, {name: c, address: 192.0.2.3,"
                                + " drain: true}]}, {name: other, endpoints: [{name: d, address: 192.0.2.2}]}"))
                .with("192.0.2.1", new EndpointHealth.Unhealthy("192.0.2.1:80: Connection refused"))
                .with("192.0.2.2", new EndpointHealth.Unchecked());
        List<Member> members = Members.of(setting.onlyPool(), setting);

        assertThat(members)
                .extracting(Member::state)
                .containsExactly(Member.State.NotReady, Member.State.Ready, Member.State.Draining, Member.State.Ready);
        assertThat(members.get(0).addresses()).isEmpty();
        assertThat(members.get(0).because())
                .containsExactly("capacity of the site", "fails its health check: 192.0.2.1:80: Connection refused");
        assertThat(members.get(1).addresses())
                .extracting(IPAddress::toCanonicalString)
                .containsExactly("2001:db8::2");
        assertThat(members.get(1).because()).containsExactly("capacity of the site", "not checked yet");
    }
}
