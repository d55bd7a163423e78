package dev.apportion.allocation;

import java.util.List;
import java.util.Optional;
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
     * @param concurrency the requests that it serves at once; at least one
     * @param measured what is known of its load
     */
    public record Replica(String name, String site, double capacity, int concurrency, Sample measured) {

        /** A replica that serves one request at a time, and of whose load nothing is known. */
        public Replica(String name, String site, double capacity) {
            this(name, site, capacity, 1, Sample.NONE);
        }
    }

    /**
     * A population of requests that DNS can tell apart.
     *
     * @param name its unique name
     * @param rate requests/s; finite and not negative; zero when nothing is known
     * @param maxReplicas k, the most replicas that its answers may use; at least one
     * @param sites the sites that may serve it; empty means every site
     * @param home the site that is local to its clients; empty when none is
     * @param ttlSeconds how long resolvers keep an answer
     */
    public record Stream(
            String name, double rate, int maxReplicas, Set<String> sites, Optional<String> home, double ttlSeconds) {

        /** How long resolvers keep an answer where nothing else is said. */
        public static final double DEFAULT_TTL_SECONDS = 15;

        public Stream {
            sites = Set.copyOf(sites);
        }

        /** A stream that is at home nowhere. */
        public Stream(String name, double rate, int maxReplicas, Set<String> sites) {
            this(name, rate, maxReplicas, sites, Optional.empty(), DEFAULT_TTL_SECONDS);
        }
    }
}
