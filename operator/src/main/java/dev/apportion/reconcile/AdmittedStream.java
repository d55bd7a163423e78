package dev.apportion.reconcile;

import inet.ipaddr.IPAddress;
import java.util.List;
import java.util.Set;

/**
 * A TrafficStream whose specification is valid and does not conflict with an older one.
 *
 * @param service the TrafficService that it is part of
 * @param clients the blocks that its clients ask from; empty for everyone whom no other stream names
 * @param rate requests/s; zero when it says nothing
 * @param sites the sites that may serve it; empty for all
 */
public record AdmittedStream(Ref ref, Ref service, List<IPAddress> clients, double rate, Set<String> sites) {

    public AdmittedStream {
        clients = List.copyOf(clients);
        sites = Set.copyOf(sites);
    }
}
