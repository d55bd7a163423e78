package dev.apportion.simulation;

import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Tolerance;
import dev.apportion.records.Answers;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** Who decides which server a request goes to. */
public sealed interface Dispatch {

    /**
     * DNS: a policy gives each population its answers, and resolvers keep them.
     *
     * @param maxReplicas k, the most servers in a population's answers
     * @param ttl how long resolvers keep an answer, in seconds
     * @param replan the time after which loads are measured and the policy is asked again, in seconds; empty if it is asked
     *     only when servers come or go
     * @param detect the seconds until it is known that a server came or went
     * @param tolerance how far loads may be from what the policy says before anything moves
     * @param order how the server finds the address that comes first
     */
    record Dns(
            Policy policy,
            Answers answers,
            int maxReplicas,
            double ttl,
            OptionalDouble replan,
            double detect,
            Tolerance tolerance,
            Order order)
            implements Dispatch {

        /** A server that draws. */
        public Dns(
                Policy policy,
                Answers answers,
                int maxReplicas,
                double ttl,
                OptionalDouble replan,
                double detect,
                Tolerance tolerance) {
            this(policy, answers, maxReplicas, ttl, replan, detect, tolerance, Order.DRAWN);
        }

        Dns with(Policy other) {
            return new Dns(other, answers, maxReplicas, ttl, replan, detect, tolerance, order);
        }
    }

    /** How a DNS server finds the address that comes first in its next answer. */
    enum Order {
        /** By chance, as the weights say: CoreDNS. */
        DRAWN,
        /**
         * In turn, each as often as its weight says, as evenly as can be: the rotation lists of RFC 1794, with weights
         * (the smooth weighted round robin of nginx).
         */
        IN_TURN
    }

    /** A dispatcher in front of all servers that takes one after the other. */
    record Turns() implements Dispatch {}

    /** A dispatcher in front of all servers that draws by capacity: Poisson arrivals stay Poisson. */
    record Draws() implements Dispatch {}

    /**
     * A dispatcher in front of all servers that counts connections.
     *
     * @param maxContinuousAllocations L of improved weighted least-connection; empty for none
     */
    record Connections(OptionalInt maxContinuousAllocations, LeastConnectionsRun.Round round) implements Dispatch {}

    /**
     * No dispatcher: each site serves its own populations, with what its neighbours lend (Tay and Pang, IEEE TKDE 12(3), 2000).
     *
     * @param linkBudget the requests that may be served away from home at once; zero for isolated sites, infinite for one
     *     global queue
     * @param reclaim GWQ+L: a site that has a free slot takes back a request of its own that is served elsewhere
     * @param target the wait in seconds of which it is counted how many requests wait longer
     */
    record GlobalQueue(double linkBudget, boolean reclaim, double target) implements Dispatch {

        /** Sites of which it is counted how many requests wait at all. */
        public GlobalQueue(double linkBudget, boolean reclaim) {
            this(linkBudget, reclaim, 0);
        }
    }

    /** One large server with the slots of all sites. */
    record Central() implements Dispatch {}
}
