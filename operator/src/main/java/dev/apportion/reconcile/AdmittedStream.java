package dev.apportion.reconcile;

import dev.apportion.load.RateQuery;
import inet.ipaddr.IPAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A TrafficStream whose specification is valid and does not conflict with an older one.
 *
 * @param service the TrafficService that it is part of
 * @param clients the blocks that its clients ask from; empty for everyone whom no other stream names
 * @param rate requests/s; zero when it says nothing
 * @param sites the sites that may serve it; empty for all
 * @param home the site that is local to its clients; empty if it names none
 * @param keys the names below the service's host name that it consists of; empty if it is about the host name itself
 * @param rateFrom the query that gives its rate; empty if none does
 */
public record AdmittedStream(
        Ref ref,
        Ref service,
        List<IPAddress> clients,
        double rate,
        Set<String> sites,
        Optional<String> home,
        Optional<List<Key>> keys,
        Optional<RateQuery> rateFrom) {

    /**
     * A name of its own.
     *
     * @param name the canonical name relative to the service's host name
     * @param rate requests/s
     */
    public record Key(String name, double rate) {}

    public AdmittedStream {
        clients = List.copyOf(clients);
        sites = Set.copyOf(sites);
        keys = keys.map(List::copyOf);
    }

    /** The same stream with other keys. */
    AdmittedStream withKeys(List<Key> other) {
        return new AdmittedStream(ref, service, clients, rate, sites, home, Optional.of(other), rateFrom);
    }
}
