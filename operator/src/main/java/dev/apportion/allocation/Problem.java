package dev.apportion.allocation;

import java.util.List;
import java.util.Set;

/**
 * One allocation problem: n streams with rates are mapped to m replicas with capacities.
 *
 * @param replicas the replicas that may serve, with unique names
 * @param streams the streams, with unique names
 */
public record Problem(List<Replica> replicas, List<Stream> streams) {

    public Problem {
        replicas = List.copyOf(replicas);
        streams = List.copyOf(streams);
    }

    /**
     * A server that clients can be sent to.
     *
     * @param name its unique name
     * @param site the site that it belongs to
     * @param capacity what it can bear, in requests/s; finite and greater than zero
     */
    public record Replica(String name, String site, double capacity) {}

    /**
     * A population of requests that DNS can tell apart.
     *
     * @param name its unique name
     * @param rate requests/s; finite and not negative; zero when nothing is known
     * @param maxReplicas k, the most replicas that its answers may use; at least one
     * @param sites the sites that may serve it; empty means every site
     */
    public record Stream(String name, double rate, int maxReplicas, Set<String> sites) {

        public Stream {
            sites = Set.copyOf(sites);
        }
    }
}
