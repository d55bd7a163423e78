package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.Claim;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardChange;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The ConfigMaps of all zones of a namespace, as they stand at one moment. */
record PublishedShards(List<ConfigMap> configMaps) {

    static PublishedShards of(KubernetesClient client) {
        return new PublishedShards(client.configMaps()
                .withLabelSelector(CoreDnsLayout.SELECTOR)
                .list()
                .getItems());
    }

    private List<ShardState.Published> states() {
        return configMaps.stream()
                .flatMap(configMap -> ShardState.read(configMap.getData()).stream())
                .map(state -> {
                    assertThat(state).isInstanceOf(ShardState.Published.class);
                    return (ShardState.Published) state;
                })
                .toList();
    }

    /** The serials, by domain and shard. */
    Map<String, Long> serials() {
        Map<String, Long> serials = new TreeMap<>();
        states().forEach(state ->
                serials.put(state.domain() + "/" + state.shard(), state.serial().value()));
        return serials;
    }

    /** The addresses of each host. */
    Map<String, Set<String>> hosts() {
        Map<String, Set<String>> hosts = new TreeMap<>();
        states().stream()
                .flatMap(state -> state.part().hosts().stream())
                .forEach(host -> hosts.put(host.name(), addresses(host)));
        return hosts;
    }

    /** The weights of a host's answers to everyone, by address; empty if there is no such host. */
    Map<String, Long> weights(String host) {
        Map<String, Long> weights = new TreeMap<>();
        states().stream()
                .flatMap(state -> state.part().hosts().stream())
                .filter(found -> found.name().equals(host))
                .flatMap(found -> found.streams().stream())
                .filter(HostStream::isEveryoneElse)
                .flatMap(stream -> stream.answers().stream())
                .forEach(answer -> weights.put(answer.address().toCanonicalString(), (long) answer.weight()));
        return weights;
    }

    private static Set<String> addresses(Host host) {
        return host.streams().stream()
                .flatMap(stream -> stream.answers().stream())
                .map(answer -> answer.address().toCanonicalString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Fails unless the files of every shard are exactly what its state says. */
    void check() {
        assertThat(changes()).allSatisfy(change -> assertThat(change).isInstanceOf(ShardChange.Unchanged.class));
    }

    /** Whether the files of every shard are exactly what its state says. */
    boolean isWhole() {
        return changes().stream().allMatch(ShardChange.Unchanged.class::isInstance);
    }

    /** What would have to be written so that the files are what the states say. */
    private List<ShardChange> changes() {
        Map<String, List<ShardState.Published>> zones =
                states().stream().collect(Collectors.groupingBy(ShardState.Published::domain));
        return zones.values().stream()
                .flatMap(states -> states.stream().map(state -> change(state, whole(states))))
                .toList();
    }

    private static ZoneRecords whole(List<ShardState.Published> states) {
        List<Host> hosts =
                states.stream().flatMap(state -> state.part().hosts().stream()).toList();
        // Only one of the shards has the fixed records.
        return states.stream()
                .map(ShardState.Published::part)
                .max(Comparator.comparingInt(part -> part.fixedRecords().size()))
                .orElseThrow()
                .withHosts(hosts);
    }

    private ShardChange change(ShardState.Published state, ZoneRecords zone) {
        ConfigMap configMap = configMaps.stream()
                .filter(found -> found.getMetadata().getName().endsWith("-" + state.shard()))
                .findFirst()
                .orElseThrow();
        String name = configMap.getMetadata().getName();
        CoreDnsLayout layout = new CoreDnsLayout(
                configMap.getMetadata().getNamespace(),
                name.substring(0, name.lastIndexOf('-')),
                new Shards(state.shards()),
                state.directory());
        return ShardChange.decide(configMap, zone, layout, state.shard(), Claim.NONE);
    }
}
