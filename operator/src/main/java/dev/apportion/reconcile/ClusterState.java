package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What the API server told of Apportion's resources to somebody who may read them, and little else. Immutable.
 *
 * @param configMaps those with keys that streams name, and those of zones of which the statuses do not say all
 * @param servers the EndpointSlices of the Services that zones verify at, by Service; without those that must not be read
 * @param namespaces the labels of namespaces, as far as zones select by them
 * @param read when it was read
 */
public record ClusterState(
        List<DNSZone> zones,
        List<ReplicaPool> pools,
        List<TrafficService> services,
        List<TrafficStream> streams,
        Map<Ref, ConfigMap> configMaps,
        Map<Ref, List<EndpointSlice>> servers,
        Map<String, Map<String, String>> namespaces,
        Instant read) {

    public ClusterState {
        zones = List.copyOf(zones);
        pools = List.copyOf(pools);
        services = List.copyOf(services);
        streams = List.copyOf(streams);
        configMaps = Map.copyOf(configMaps);
        servers = Map.copyOf(servers);
        namespaces = Map.copyOf(namespaces);
    }

    /** What the four kinds alone say. */
    public ClusterState(
            List<DNSZone> zones,
            List<ReplicaPool> pools,
            List<TrafficService> services,
            List<TrafficStream> streams,
            Instant read) {
        this(zones, pools, services, streams, Map.of(), Map.of(), Map.of(), read);
    }

    /** The same with what else was read. */
    public ClusterState with(
            Map<Ref, ConfigMap> moreConfigMaps,
            Map<Ref, List<EndpointSlice>> moreServers,
            Map<String, Map<String, String>> moreNamespaces) {
        return new ClusterState(zones, pools, services, streams, moreConfigMaps, moreServers, moreNamespaces, read);
    }
}
