package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.LoadBalancerIngress;
import io.fabric8.kubernetes.api.model.LoadBalancerStatus;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Replicas that clients reach by way of something that stands before the endpoints of a Service: a load balancer, or the
 * nodes. Each counts for the endpoints behind it. Pure.
 */
final class Fronts {

    /** A front may stand before thousands of endpoints, which mostly say the same. */
    private static final int MOST_REASONS = 3;

    private Fronts() {}

    /**
     * An endpoint of the Service.
     *
     * @param node the node that it runs on; absent where nobody says
     */
    record Backend(Member member, @Nullable String node) {}

    /** What a Service's load balancer gives clients to reach. */
    sealed interface Ingress {

        record At(List<IPAddress> addresses) implements Ingress {}

        /** A name, which may stand for other addresses at any time. */
        record HostName(String name) implements Ingress {}

        record Pending() implements Ingress {}

        record NoService() implements Ingress {}
    }

    /** The one replica that stands for the load balancer of a Service; none where nothing can be answered for it. */
    static List<Member> loadBalancer(
            AdmittedPool.Site site, String service, Optional<Service> found, List<Backend> behind) {
        return ingress(found) instanceof Ingress.At(List<IPAddress> addresses)
                ? List.of(front(site, service, "the load balancer of " + service, addresses, behind))
                : List.of();
    }

    static Ingress ingress(Optional<Service> service) {
        if (service.isEmpty()) {
            return new Ingress.NoService();
        }
        List<LoadBalancerIngress> ingress = service.map(Service::getStatus)
                .map(ServiceStatus::getLoadBalancer)
                .map(LoadBalancerStatus::getIngress)
                .orElse(List.of());
        List<IPAddress> addresses = ingress.stream()
                .flatMap(entry -> address(entry.getIp()).stream())
                .toList();
        if (!addresses.isEmpty()) {
            return new Ingress.At(addresses);
        }
        return ingress.stream()
                .map(LoadBalancerIngress::getHostname)
                .filter(Objects::nonNull)
                .findFirst()
                .<Ingress>map(Ingress.HostName::new)
                .orElseGet(Ingress.Pending::new);
    }

    /** A replica for each node that runs an endpoint. */
    static List<Member> nodes(AdmittedPool.Site site, List<Backend> behind, World world) {
        Map<String, List<Backend>> byNode = new TreeMap<>();
        for (Backend backend : behind) {
            if (backend.node() != null) {
                byNode.computeIfAbsent(backend.node(), key -> new ArrayList<>()).add(backend);
            }
        }
        List<Member> members = new ArrayList<>();
        byNode.forEach((name, backends) -> {
            List<IPAddress> addresses = addresses(world.node(name));
            Member member = front(site, name, "the node", addresses, backends);
            members.add(addresses.isEmpty() ? member.because("the node has no address that is known") : member);
        });
        return members;
    }

    /** External addresses, else internal ones. */
    private static List<IPAddress> addresses(Optional<Node> node) {
        List<NodeAddress> all = node.map(Node::getStatus)
                .map(status -> Objects.requireNonNullElse(status.getAddresses(), List.<NodeAddress>of()))
                .orElse(List.of());
        for (String type : List.of("ExternalIP", "InternalIP")) {
            List<IPAddress> addresses = all.stream()
                    .filter(address -> type.equals(address.getType()))
                    .flatMap(address -> address(address.getAddress()).stream())
                    .toList();
            if (!addresses.isEmpty()) {
                return addresses;
            }
        }
        return List.of();
    }

    private static Optional<IPAddress> address(@Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        return switch (Addresses.parse(text)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> Optional.of(address);
            case Parsed.Invalid<IPAddress> invalid -> Optional.empty();
        };
    }

    /** It bears what those bear that serve behind it. */
    private static Member front(
            AdmittedPool.Site site, String name, String what, List<IPAddress> addresses, List<Backend> behind) {
        List<Member> ready =
                behind.stream().map(Backend::member).filter(Member::isReady).toList();
        boolean draining =
                behind.stream().map(Backend::member).anyMatch(member -> member.state() == Member.State.Draining);
        List<String> because = Stream.concat(
                        Stream.of("%d of %d endpoints serve behind %s".formatted(ready.size(), behind.size(), what)),
                        behind.stream()
                                .flatMap(backend -> backend.member().because().stream())
                                .distinct()
                                .sorted()
                                .limit(MOST_REASONS))
                .collect(Collectors.toList());
        return new Member(
                        name,
                        site.name(),
                        ready.isEmpty()
                                ? site.capacity()
                                : ready.stream().mapToDouble(Member::capacity).sum(),
                        ready.isEmpty()
                                ? site.concurrency()
                                : (int) Math.min(
                                        Integer.MAX_VALUE,
                                        ready.stream()
                                                .mapToLong(Member::concurrency)
                                                .sum()),
                        Sample.NONE,
                        addresses,
                        !ready.isEmpty()
                                ? Member.State.Ready
                                : draining ? Member.State.Draining : Member.State.NotReady,
                        because)
                .of(ready.stream()
                        .flatMap(member -> member.processes().stream())
                        .toList());
    }
}
