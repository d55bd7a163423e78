package dev.apportion.reconcile;

import dev.apportion.allocation.Policy;
import inet.ipaddr.IPAddress;
import java.util.List;

/**
 * A ReplicaPool whose specification is valid.
 *
 * @param ref where it is
 * @param sites its sites, with unique names
 * @param policy how streams are spread
 * @param policyName the policy's name as users write it
 * @param observe true when nothing of it may be published
 */
public record AdmittedPool(Ref ref, List<Site> sites, Policy policy, String policyName, boolean observe) {

    public AdmittedPool {
        sites = List.copyOf(sites);
    }

    /**
     * A group of replicas.
     *
     * @param name its name
     * @param priority a site serves only while no site with a lower number has a ready replica
     * @param capacity requests/s that one of its replicas bears, where nothing else is said
     * @param concurrency requests that one of its replicas serves at once
     * @param source where its replicas come from
     */
    public record Site(String name, int priority, double capacity, int concurrency, Source source) {}

    /** Where the replicas of a site come from. */
    public sealed interface Source {

        /** The endpoints of a Service in the pool's namespace. */
        record Service(String name) implements Source {}

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
     */
    public record FixedReplica(String name, List<IPAddress> addresses, double capacity, boolean drain) {}

    int priority(String site) {
        return sites.stream()
                .filter(candidate -> candidate.name().equals(site))
                .mapToInt(Site::priority)
                .findFirst()
                .orElse(0);
    }

    int concurrency(String site) {
        return sites.stream()
                .filter(candidate -> candidate.name().equals(site))
                .mapToInt(Site::concurrency)
                .findFirst()
                .orElse(1);
    }
}
