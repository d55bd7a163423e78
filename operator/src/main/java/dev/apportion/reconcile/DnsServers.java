package dev.apportion.reconcile;

import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressNetwork.IPAddressGenerator;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds the DNS servers of a zone: those to ask, and the pods to refresh. Pure. */
final class DnsServers {

    private static final Comparator<InetSocketAddress> ORDER = Comparator.comparing(
                    (InetSocketAddress server) -> server.getAddress().getHostAddress())
            .thenComparingInt(InetSocketAddress::getPort);

    private static final IPAddressGenerator ADDRESSES = new IPAddressGenerator();

    private DnsServers() {}

    /** The servers that a zone's {@code verifyAt} names. */
    static Servers of(AdmittedZone zone, World world) {
        return of(zone, world::endpointSlices);
    }

    /** The same with the EndpointSlices of its Service. */
    static Servers of(AdmittedZone zone, List<EndpointSlice> slices) {
        return of(zone, service -> slices);
    }

    private static Servers of(AdmittedZone zone, Function<Ref, List<EndpointSlice>> slices) {
        return switch (zone.verifyAt()) {
            case AdmittedZone.VerifyAt.Nobody() -> Servers.NONE;
            case AdmittedZone.VerifyAt.Servers(List<InetSocketAddress> addresses) -> new Servers(true, addresses);
            case AdmittedZone.VerifyAt.Service(String name, int port) -> {
                List<InetSocketAddress> servers = new ArrayList<>();
                for (EndpointSlice slice : slices.apply(new Ref(zone.ref().namespace(), name))) {
                    int target = port(slice, port);
                    for (Endpoint endpoint : Members.endpoints(slice)) {
                        if (Members.serves(endpoint.getConditions())) {
                            Members.addresses(endpoint).stream()
                                    .map(Addresses::parse)
                                    .forEach(read -> {
                                        if (read instanceof Parsed.Value<IPAddress>(IPAddress address)) {
                                            servers.add(new InetSocketAddress(address.toInetAddress(), target));
                                        }
                                    });
                        }
                    }
                }
                yield new Servers(
                        true, servers.stream().distinct().sorted(ORDER).toList());
            }
        };
    }

    /** A server's address and port, as people write them. */
    static String text(InetSocketAddress server) {
        IPAddress address = ADDRESSES.from(server.getAddress());
        String host = address.toCanonicalString();
        return (address.isIPv6() ? "[" + host + "]" : host) + ":" + server.getPort();
    }

    /** The port that the endpoints listen on for the Service's port: the UDP one, and of several the one of that number. */
    private static int port(EndpointSlice slice, int servicePort) {
        List<Integer> udp = Objects.requireNonNullElse(slice.getPorts(), List.<EndpointPort>of()).stream()
                .filter(port -> "UDP".equals(port.getProtocol()))
                .map(EndpointPort::getPort)
                .filter(Objects::nonNull)
                .toList();
        return udp.isEmpty() || udp.contains(servicePort) ? servicePort : udp.getFirst();
    }

    /** The pods behind the Service of {@code verifyAt}. */
    static Set<String> pods(AdmittedZone zone, World world) {
        return zone.verifyAt() instanceof AdmittedZone.VerifyAt.Service(String name, int port)
                ? world.endpointSlices(new Ref(zone.ref().namespace(), name)).stream()
                        .flatMap(slice -> Members.endpoints(slice).stream())
                        .flatMap(endpoint -> Members.pod(endpoint).stream())
                        .collect(Collectors.toCollection(TreeSet::new))
                : Set.of();
    }
}
