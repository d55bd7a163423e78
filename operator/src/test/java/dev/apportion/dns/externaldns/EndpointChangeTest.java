package dev.apportion.dns.externaldns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Corpus;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EndpointChangeTest {

    private static final OwnerReference OWNER =
            DnsEndpoint.owner("apportion.dev/v1alpha1", "TrafficService", "shop", "uid-1");

    private static final KubernetesSerialization JSON = new KubernetesSerialization();

    private static EndpointState state(int first, int second) {
        return state(
                host("shop.example.org", Corpus.stream("shop-1", new int[] {first, second}, "192.0.2.1", "192.0.2.2")));
    }

    private static Host host(String name, HostStream... streams) {
        return new Host(name, "web/shop", 20, List.of(streams));
    }

    private static EndpointState state(Host... hosts) {
        return new EndpointState("dns/example-org", "example.org", "web/shop", Dialect.Route53, List.of(hosts));
    }

    /** An object as the API server gives it back. */
    private static GenericKubernetesResource stored(EndpointState state, long epoch) {
        GenericKubernetesResource stored = JSON.unmarshal(
                JSON.asJson(DnsEndpoint.of(state, Optional.of(OWNER), epoch)), GenericKubernetesResource.class);
        stored.getMetadata().setUid("uid-2");
        stored.getMetadata().setResourceVersion("17");
        return stored;
    }

    private static EndpointChange decide(GenericKubernetesResource current, EndpointState desired, long epoch) {
        return EndpointChange.decide(Optional.ofNullable(current), desired, OWNER, epoch);
    }

    @Test
    void whatIsNotThereIsCreatedAndReadsBack() {
        EndpointState desired = state(70, 30);

        assertThat(EndpointChange.decide(Optional.empty(), desired, OWNER, 3))
                .isInstanceOfSatisfying(EndpointChange.Create.class, create -> {
                    GenericKubernetesResource endpoint = create.endpoint();
                    assertThat(endpoint.getMetadata().getNamespace()).isEqualTo("web");
                    assertThat(endpoint.getMetadata().getName()).matches("shop-[0-9a-f]{10}");
                    assertThat(endpoint.getMetadata().getOwnerReferences()).containsExactly(OWNER);
                    assertThat(DnsEndpoint.state(endpoint)).contains(desired);
                });
    }

    @Test
    void whatSaysTheSameIsLeftAlone() {
        assertThat(decide(stored(state(70, 30), 3), state(70, 30), 3)).isInstanceOf(EndpointChange.Unchanged.class);
        // Whoever leads now need not write what the one before wrote.
        assertThat(decide(stored(state(70, 30), 3), state(70, 30), 4)).isInstanceOf(EndpointChange.Unchanged.class);
    }

    @Test
    void aChangeNamesTheVersionThatItWasDecidedOn() {
        assertThat(decide(stored(state(70, 30), 3), state(60, 40), 3))
                .isInstanceOfSatisfying(EndpointChange.Apply.class, apply -> {
                    assertThat(apply.endpoint().getMetadata().getUid()).isEqualTo("uid-2");
                    assertThat(apply.endpoint().getMetadata().getResourceVersion())
                            .isEqualTo("17");
                });
    }

    @Test
    void whatSomebodyElseEditedIsPutRight() {
        GenericKubernetesResource edited = stored(state(70, 30), 3);
        edited.getAdditionalProperties().put("spec", Map.of("endpoints", List.of()));
        assertThat(decide(edited, state(70, 30), 3)).isInstanceOf(EndpointChange.Apply.class);

        GenericKubernetesResource orphaned = stored(state(70, 30), 3);
        orphaned.getMetadata().setOwnerReferences(List.of());
        assertThat(decide(orphaned, state(70, 30), 3)).isInstanceOf(EndpointChange.Apply.class);
    }

    @Test
    void whatANewerLeaderWroteStays() {
        assertThat(decide(stored(state(70, 30), 4), state(60, 40), 3)).isEqualTo(new EndpointChange.Outranked(4));
        assertThat(EndpointChange.remove(stored(state(70, 30), 4), 3)).isEqualTo(new EndpointChange.Outranked(4));
    }

    @Test
    void whatIsSomebodyElsesStays() {
        GenericKubernetesResource foreign = stored(state(70, 30), 3);
        foreign.getMetadata().setLabels(Map.of("apportion.dev/part-of", "something-else"));

        assertThat(decide(foreign, state(60, 40), 3))
                .isInstanceOfSatisfying(
                        EndpointChange.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo("ForeignEndpoint"));
        assertThat(EndpointChange.remove(foreign, 3)).isInstanceOf(EndpointChange.Unchanged.class);
    }

    @Test
    void whatCannotBeSaidOrHeldIsRefused() {
        EndpointState heavy = state(256, 1);
        EndpointState large = state(IntStream.range(0, 2000)
                .mapToObj(i -> host(
                        "key-%d.shop.example.org".formatted(i), Corpus.stream("shop-keys", new int[] {1}, "192.0.2.1")))
                .toArray(Host[]::new));

        assertThat(EndpointChange.refusal(state(70, 30))).isEmpty();
        assertThat(EndpointChange.refusal(heavy))
                .isEqualTo(Optional.of(EndpointChange.decide(Optional.empty(), heavy, OWNER, 3)));
        assertThat(EndpointChange.refusal(large))
                .isEqualTo(Optional.of(EndpointChange.decide(Optional.empty(), large, OWNER, 3)));
        assertThat(EndpointChange.decide(Optional.empty(), heavy, OWNER, 3))
                .isInstanceOfSatisfying(
                        EndpointChange.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo("NotRenderable"));
        assertThat(EndpointChange.decide(Optional.empty(), large, OWNER, 3))
                .isInstanceOfSatisfying(
                        EndpointChange.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo("EndpointFull"));
    }

    @Test
    void aServiceWithoutAddressesHasNoObject() {
        assertThat(EndpointChange.decide(Optional.empty(), state(), OWNER, 3))
                .isInstanceOf(EndpointChange.Unchanged.class);
    }

    @Test
    void namesAreStableAndApart() {
        String long1 = "x".repeat(253);
        String long2 = "x".repeat(252) + "y";

        assertThat(DnsEndpoint.name("web", "shop")).isEqualTo(DnsEndpoint.name("web", "shop"));
        assertThat(DnsEndpoint.name("web", long1))
                .hasSizeLessThanOrEqualTo(253)
                .isNotEqualTo(DnsEndpoint.name("web", long2));
    }

    @Test
    void anUnreadableStateIsNone() {
        GenericKubernetesResource broken = stored(state(70, 30), 3);
        for (String text : List.of("", "{", "{}", "{\"format\":2}", "[]", "null")) {
            broken.getMetadata().setAnnotations(Map.of(DnsEndpoint.STATE, text));
            assertThat(DnsEndpoint.state(broken)).isEmpty();
            assertThat(decide(broken, state(70, 30), 3)).isInstanceOf(EndpointChange.Apply.class);
        }
    }

    @Test
    void nobodySpeaksForTheServicesOfOthers() {
        GenericKubernetesResource moved = stored(state(70, 30), 3);
        moved.getMetadata().setNamespace("elsewhere");
        assertThat(DnsEndpoint.state(moved)).isEmpty();

        GenericKubernetesResource renamed = stored(state(70, 30), 3);
        renamed.getMetadata().setName("shop");
        assertThat(DnsEndpoint.state(renamed)).isEmpty();

        GenericKubernetesResource foreignHost = stored(state(70, 30), 3);
        foreignHost
                .getMetadata()
                .getAnnotations()
                .compute(
                        DnsEndpoint.STATE,
                        (key, text) ->
                                String.valueOf(text).replace("\"owner\":\"web/shop\"", "\"owner\":\"bank/shop\""));
        assertThat(DnsEndpoint.state(foreignHost)).isEmpty();

        GenericKubernetesResource noPlace = stored(state(70, 30), 3);
        noPlace.getMetadata()
                .getAnnotations()
                .compute(DnsEndpoint.STATE, (key, text) -> String.valueOf(text).replace("dns/example-org", "nowhere"));
        assertThat(DnsEndpoint.state(noPlace)).isEmpty();
    }

    @Test
    void anEpochThatNoLeaderCanHaveFencesNobody() {
        assertThat(decide(stored(state(70, 30), 1_000_000), state(60, 40), 3)).isInstanceOf(EndpointChange.Apply.class);
    }
}
