package dev.apportion.reconcile;

import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.health.HealthCheck;
import dev.apportion.health.Target;
import dev.apportion.load.Series;
import inet.ipaddr.IPAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A ReplicaPool whose specification is valid.
 *
 * @param ref where it is
 * @param sites its sites, with unique names
 * @param policy how streams are spread
 * @param policyName the policy's name as users write it
 * @param observe true when nothing of it may be published
 * @param behavior how change happens
 * @param load where the load of its replicas is measured; empty if nowhere
 */
public record AdmittedPool(
        Ref ref,
        List<Site> sites,
        Policy policy,
        String policyName,
        boolean observe,
        Behavior behavior,
        Optional<Load> load) {

    public AdmittedPool {
        sites = List.copyOf(sites);
    }

    /** A pool of which nothing is measured. */
    public AdmittedPool(
            Ref ref, List<Site> sites, Policy policy, String policyName, boolean observe, Behavior behavior) {
        this(ref, sites, policy, policyName, observe, behavior, Optional.empty());
    }

    /** A pool whose specification says nothing of how change happens. */
    public AdmittedPool(Ref ref, List<Site> sites, Policy policy, String policyName, boolean observe) {
        this(ref, sites, policy, policyName, observe, Behavior.DEFAULT);
    }

    /**
     * A source of load.
     *
     * @param from what is asked
     * @param interval the time between two measurements
     * @param staleAfter the age from which a measurement no longer counts
     */
    public record Load(From from, Duration interval, Duration staleAfter) {}

    /** What is asked for the load of replicas. */
    public sealed interface From {

        /**
         * Each process itself.
         *
         * @param port the number or name of its port
         */
        record Scrape(String port, String path, Series series) implements From {}

        /**
         * The metrics API of Kubernetes.
         *
         * @param resource {@code cpu} or {@code memory}
         */
        record PodMetrics(String resource) implements From {}

        /**
         * A Prometheus server.
         *
         * @param source the name that the administrator gave it
         */
        record Prometheus(String source, Series series) implements From {}
    }

    /**
     * How change happens.
     *
     * @param tolerance how far loads may be from what they shall be, and how much may move at a time
     * @param cooldownSeconds the least time between two changes that can wait; empty for the default
     * @param slowStart how the share of a new replica grows; empty if it has all of it at once
     * @param minReadyPercent the part of the endpoints of a site of which less being ready is taken for an error of whoever tells
     * @param maxRemovalPercent the part of the replicas of which more vanishing at once is not believed at once where there are doubts
     */
    public record Behavior(
            Tolerance tolerance,
            OptionalInt cooldownSeconds,
            Optional<SlowStart> slowStart,
            int minReadyPercent,
            int maxRemovalPercent) {

        private static final int HALF = 50;

        static final Behavior DEFAULT = new Behavior(new Tolerance(0.1, 0.02, 1), OptionalInt.empty());

        /** New replicas have their share at once, and readiness is believed. */
        public Behavior(Tolerance tolerance, OptionalInt cooldownSeconds) {
            this(tolerance, cooldownSeconds, Optional.empty(), 0, HALF);
        }

        /** Until CoreDNS has read changed files. */
        private static final int RELOAD_SECONDS = 2;

        /**
         * The least time between two changes that can wait: the second shall rest on what is known since the first is in force.
         *
         * @param longestTtl the longest time for which an answer of the pool is remembered
         * @param sampleAge how old what is known may be
         */
        Duration cooldown(Duration longestTtl, Duration sampleAge) {
            return cooldownSeconds.isPresent()
                    ? Duration.ofSeconds(cooldownSeconds.getAsInt())
                    : inForceAfter(longestTtl).plus(sampleAge);
        }

        /** How long it takes until a changed answer is the one that everybody has. */
        static Duration inForceAfter(Duration longestTtl) {
            return longestTtl.plusSeconds(RELOAD_SECONDS);
        }
    }

    /**
     * A ramp.
     *
     * @param window until a new replica has its whole share
     * @param least the part that it has from the beginning, above 0 and at most 1
     * @param aggression the form: 1 is a straight line, more rises faster at the beginning
     */
    public record SlowStart(Duration window, double least, double aggression) {

        private static final int STEPS = 12;
        private static final Duration SHORTEST_STEP = Duration.ofSeconds(1);

        /** The time from one step to the next: a ramp in DNS is a stair, and each step is a change of answers. */
        Duration step() {
            Duration step = window.dividedBy(STEPS);
            return step.compareTo(SHORTEST_STEP) < 0 ? SHORTEST_STEP : step;
        }

        /** The part of its share that a replica may have at an age. */
        double part(Duration age) {
            long steps = age.dividedBy(step());
            double time = (double) steps * step().toNanos() / window.toNanos();
            return age.compareTo(window) >= 0 ? 1 : Math.max(least, Math.pow(Math.max(0, time), 1 / aggression));
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

        /**
         * Replicas that are listed in the pool.
         *
         * @param check how they are asked whether they are well; empty where they count as ready
         */
        record Fixed(List<FixedReplica> replicas, Optional<HealthCheck> check) implements Source {
            public Fixed {
                replicas = List.copyOf(replicas);
            }

            /** Replicas that count as ready. */
            public Fixed(List<FixedReplica> replicas) {
                this(replicas, Optional.empty());
            }
        }
    }

    /**
     * A replica that is listed in the pool.
     *
     * @param capacity requests/s that it bears
     * @param own whether that is said of itself, and not of all replicas of its site
     * @param drain true when it is to be in no answer
     * @param measured the sample of its load that is listed with it
     */
    public record FixedReplica(
            String name, List<IPAddress> addresses, double capacity, boolean own, boolean drain, Sample measured) {}

    /** The addresses whose health is asked. */
    public Set<Target> targets() {
        return sites.stream()
                .flatMap(site -> site.source() instanceof Source.Fixed(var replicas, Optional<HealthCheck> check)
                        ? check.stream()
                                .flatMap(how -> replicas.stream()
                                        .flatMap(replica -> replica.addresses().stream())
                                        .map(address -> new Target(address.toInetAddress(), how)))
                        : Stream.empty())
                .collect(Collectors.toSet());
    }

    int priority(String site) {
        return sites.stream()
                .filter(candidate -> candidate.name().equals(site))
                .mapToInt(Site::priority)
                .findFirst()
                .orElse(0);
    }
}
