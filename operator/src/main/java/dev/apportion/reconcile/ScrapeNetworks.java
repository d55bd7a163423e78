package dev.apportion.reconcile;

import dev.apportion.load.Target;
import inet.ipaddr.IPAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;

/**
 * Where the operator may ask processes for their metrics. Whoever writes a pool or an EndpointSlice names addresses, and the
 * operator may reach what they cannot.
 *
 * @param allowed the networks that the administrator allows; empty: the addresses of pods, wherever they are, other than those
 *     that mean this machine or its link
 */
public record ScrapeNetworks(List<IPAddress> allowed) {

    /** Addresses of pods only. */
    public static final ScrapeNetworks PODS = new ScrapeNetworks(List.of());

    public ScrapeNetworks {
        allowed = List.copyOf(allowed);
    }

    /** Where a process shows its metrics on a port that is given by number or name. */
    Target.Place place(Member.Server process, String port) {
        Optional<String> refusal = refusal(process);
        if (refusal.isPresent()) {
            return new Target.Place.Nowhere(refusal.get());
        }
        Integer number =
                port.matches("[0-9]+") ? Integer.valueOf(port) : process.ports().get(port);
        return number == null
                ? new Target.Place.Nowhere(
                        "no port of its EndpointSlices has the name \"%s\"; maybe add it to the Service, or give its number"
                                .formatted(port))
                : new Target.Place.At(new InetSocketAddress(process.address().toInetAddress(), number));
    }

    private Optional<String> refusal(Member.Server process) {
        IPAddress address = process.address();
        if (!allowed.isEmpty()) {
            return allowed.stream().anyMatch(network -> network.contains(address))
                    ? Optional.empty()
                    : Optional.of("%s is not in --scrape-networks of the operator".formatted(address));
        }
        if (!process.isPod()) {
            return Optional.of(
                    "no pod stands behind %s, and only pods are scraped unless --scrape-networks of the operator says otherwise"
                            .formatted(address));
        }
        return address.isLoopback() || address.isLinkLocal() || address.isMulticast() || address.isAnyLocal()
                ? Optional.of("%s is no address of a pod".formatted(address))
                : Optional.empty();
    }
}
