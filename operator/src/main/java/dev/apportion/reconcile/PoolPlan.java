package dev.apportion.reconcile;

import inet.ipaddr.IPAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a pool's replicas are given to do: the allocation, in the integers that are published.
 *
 * @param pool the ReplicaPool
 * @param policy the name of the policy
 * @param makespan the largest load of a replica, requests/s over capacity
 * @param average the sum of the rates over the sum of the capacities of the ready replicas
 * @param lowerBound no allocation whatever has a smaller makespan
 * @param optimalityGap makespan over lowerBound, less one
 * @param worstOverLevel the largest load over level of a replica
 * @param replicas every member of the pool, by name
 * @param streams every stream of its services, by service and name
 * @param basis the pool's specification that it follows from
 * @param course what became of the allocation that was in force
 * @param held why replicas that vanished are in it; empty if none is
 */
public record PoolPlan(
        Ref pool,
        String policy,
        double makespan,
        double average,
        double lowerBound,
        double optimalityGap,
        double worstOverLevel,
        List<Replica> replicas,
        List<Stream> streams,
        AdmittedPool basis,
        Course course,
        Optional<String> held) {

    public PoolPlan {
        replicas = List.copyOf(replicas);
        streams = List.copyOf(streams);
    }

    /**
     * A member of the pool and what it bears.
     *
     * @param load requests/s over capacity
     * @param level the load that the bound of its block says it has to bear
     * @param share its part of the whole rate of the pool, 0 to 1
     * @param because what the policy saw in it and made of it; empty where capacity and rates say all
     */
    public record Replica(Member member, double load, double level, double share, String because) {}

    /**
     * What became of the allocation that was in force.
     *
     * @param what in words; empty where none was
     * @param moved whether other answers are given than before
     * @param waits whether something is to move once the last change is long enough ago
     * @param goesOn whether more is to move than may at a time
     */
    public record Course(String what, boolean moved, boolean waits, boolean goesOn) {

        static final Course NEW = new Course("", false, false, false);

        /** Whether another plan of the same may move more. */
        public boolean isUnfinished() {
            return waits || goesOn;
        }
    }

    /**
     * A stream and its answers; without answers when no replica is there for it.
     *
     * @param shares the share of each replica that the policy means, by name
     * @param given the share of each replica that the answers give, by name; less than is meant while a replica is warming up, or
     *     silent
     * @param restrained whether that is so of some replica
     */
    public record Stream(
            Demand demand,
            List<Row> answers,
            Map<String, Double> shares,
            Map<String, Double> given,
            boolean restrained) {

        public Stream {
            answers = List.copyOf(answers);
            shares = Map.copyOf(shares);
            given = Map.copyOf(given);
        }
    }

    /**
     * One address of an answer.
     *
     * @param replica the name of the replica, or several, separated by commas, that share the address
     * @param weight the published integer
     * @param share the part of the stream's clients of this address family that is sent here, 0 to 1
     */
    public record Row(IPAddress address, String replica, int weight, double share) {}

    /** The same plan with other streams. */
    PoolPlan with(List<Stream> others) {
        return new PoolPlan(
                pool,
                policy,
                makespan,
                average,
                lowerBound,
                optimalityGap,
                worstOverLevel,
                replicas,
                others,
                basis,
                course,
                held);
    }

    /** The answers of every stream, by {@link Demand#key()}. */
    Map<String, List<Row>> answers() {
        return streams.stream()
                .collect(Collectors.toMap(stream -> stream.demand().key(), Stream::answers));
    }

    /** The stream of a service by its name, empty for the implicit one. */
    public Optional<Stream> stream(Ref service, String stream) {
        return streams.stream()
                .filter(candidate -> candidate.demand().service().equals(service)
                        && candidate.demand().stream().equals(stream))
                .findFirst();
    }

    /** The names of the ready replicas whose addresses are in more than one site. */
    public List<String> inSeveralSites() {
        Map<IPAddress, Set<String>> sites = new HashMap<>();
        List<Member> ready =
                replicas.stream().map(Replica::member).filter(Member::isReady).toList();
        ready.forEach(member -> member.addresses()
                .forEach(address ->
                        sites.computeIfAbsent(address, key -> new HashSet<>()).add(member.site())));
        return ready.stream()
                .filter(member -> member.addresses().stream()
                        .anyMatch(
                                address -> sites.getOrDefault(address, Set.of()).size() > 1))
                .map(Member::name)
                .toList();
    }

    public long ready() {
        return replicas.stream().filter(replica -> replica.member().isReady()).count();
    }

    /** How many ready replicas have no sample; zero where none has and nothing is to be measured. */
    long silent() {
        long silent = replicas.stream()
                .map(Replica::member)
                .filter(member -> member.isReady() && member.isSilent())
                .count();
        return silent == ready() && basis.load().isEmpty() ? 0 : silent;
    }

    /** How many ready replicas have only a part of their share yet. */
    long warming() {
        return replicas.stream()
                .map(Replica::member)
                .filter(member -> member.isReady() && member.isWarming())
                .count();
    }

    /** Whether every ready replica has all that it bears, as far as that was measured. */
    boolean isAllHot() {
        List<Member> ready =
                replicas.stream().map(Replica::member).filter(Member::isReady).toList();
        return !ready.isEmpty() && ready.stream().allMatch(member -> member.load() instanceof Member.Load.Hot);
    }

    /** Whether the load of some ready replica is known. */
    boolean isMeasured() {
        return replicas.stream().map(Replica::member).anyMatch(member -> member.isReady() && !member.isSilent());
    }

    /** The names of the ready replicas that no stream's answers use. */
    public List<String> unused() {
        Set<IPAddress> used = streams.stream()
                .flatMap(stream -> stream.answers().stream())
                .map(Row::address)
                .collect(Collectors.toSet());
        return replicas.stream()
                .map(Replica::member)
                .filter(member ->
                        member.isReady() && member.addresses().stream().noneMatch(used::contains))
                .map(Member::name)
                .toList();
    }
}
