package dev.apportion.reconcile;

import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.api.ReplicaPoolSpec;
import inet.ipaddr.IPAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/**
 * A ReplicaPool whose specification is valid.
 *
 * @param ref where it is
 * @param sites its sites, with unique names
 * @param policy how streams are spread
 * @param policyName the policy's name as users write it
 * @param observe true when nothing of it may be published
 * @param behavior how change happens
 */
public record AdmittedPool(
        Ref ref, List<Site> sites, Policy policy, String policyName, boolean observe, Behavior behavior) {

    public AdmittedPool {
        sites = List.copyOf(sites);
    }

    /** A pool whose specification says nothing of how change happens. */
    public AdmittedPool(Ref ref, List<Site> sites, Policy policy, String policyName, boolean observe) {
        this(ref, sites, policy, policyName, observe, Behavior.DEFAULT);
    }

    /**
     * How change happens.
     *
     * @param tolerance how far loads may be from what they shall be, and how much may move at a time
     * @param cooldownSeconds the least time between two changes that can wait; empty for the default
     */
    public record Behavior(Tolerance tolerance, OptionalInt cooldownSeconds) {

        static final Behavior DEFAULT = new Behavior(new Tolerance(0.1, 0.02, 1), OptionalInt.empty());

        /** Until CoreDNS has read changed files. */
        private static final int RELOAD_SECONDS = 2;

        /** @param longestTtl the longest time for which an answer of the pool is remembered */
        Duration cooldown(Duration longestTtl) {
            return cooldownSeconds.isPresent()
                    ? Duration.ofSeconds(cooldownSeconds.getAsInt())
                    : longestTtl.plusSeconds(RELOAD_SECONDS);
        }
    }

    /**
     * A group of replicas.
     *
     * @param name its name
     * @param priority a site serves only while no site with a lower number has a ready replica
     * @param capacity requests/s that one of its replicas bears, where nothing else is said
     * @param concurrency the requests that one of its replicas serves at once
     * @param source where its replicas come from
     */
    public record Site(String name, int priority, double capacity, int concurrency, Source source) {}

    /** Where the replicas of a site come from. */
    public sealed interface Source {

        /**
         * A Service in the pool's namespace.
         *
         * @param publish which addresses clients are given
         */
        record Service(String name, ReplicaPoolSpec.Publish publish) implements Source {}

        /** Replicas that are listed in the pool. */
        record Fixed(List<FixedReplica> replicas) implements Source {
            public Fixed {
                replicas = List.copyOf(replicas);
            }
        }
    }

    /**
     * A replica that is listed in the pool.
     *
     * @param capacity requests/s that it bears
     * @param drain true when it is to be in no answer
     * @param measured the sample of its load that is listed with it
     */
    public record FixedReplica(
            String name, List<IPAddress> addresses, double capacity, boolean drain, Sample measured) {}

    int priority(String site) {
        return sites.stream()
                .filter(candidate -> candidate.name().equals(site))
                .mapToInt(Site::priority)
                .findFirst()
                .orElse(0);
    }
}
