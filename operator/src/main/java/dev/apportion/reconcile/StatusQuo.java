package dev.apportion.reconcile;

import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.Parsed;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What is in force in a cluster: what DNS says, and the plan of each pool behind it, read back from what the operator tells of them in
 * statuses. Immutable.
 */
public final class StatusQuo {

    private final ClusterState state;
    private final StatusWorld world;
    private final Admission admission;
    private final SortedMap<Ref, ZoneRecords> published = new TreeMap<>();
    private final SortedMap<Ref, PoolPlan> pools = new TreeMap<>();

    private StatusQuo(ClusterState state) {
        this.state = state;
        world = new StatusWorld(state, Optional.empty());
        admission = Admission.of(world);
        Map<Ref, TrafficService> services =
                state.services().stream().collect(Collectors.toMap(Ref::of, Function.identity()));
        Map<Ref, TrafficStream> streams =
                state.streams().stream().collect(Collectors.toMap(Ref::of, Function.identity()));
        admission
                .zones()
                .forEach((ref, judged) -> judged.value().ifPresent(zone -> {
                    List<Host> hosts = inShards(zone)
                            .orElseGet(() -> admission.servicesOf(ref).stream()
                                    .flatMap(service -> host(service, services, streams).stream())
                                    .toList());
                    published.put(ref, ZoneComposer.records(zone, hosts));
                }));
        Map<String, List<Answer>> answers = Past.answers(published.values());
        for (ReplicaPool pool : state.pools()) {
            Ref ref = Ref.of(pool);
            admission.pool(ref).ifPresent(admitted -> {
                if (isPlanned(pool)) {
                    pools.put(ref, plan(admitted, Objects.requireNonNull(pool.getStatus()), answers));
                }
            });
        }
    }

    /** Reads it. Pure. */
    public static StatusQuo of(ClusterState state) {
        return new StatusQuo(state);
    }

    public ClusterState state() {
        return state;
    }

    /** The verdicts on what is declared. */
    public Admission admission() {
        return admission;
    }

    /** What DNS says of each admitted zone, as far as the hosts of the services that were read go. */
    public SortedMap<Ref, ZoneRecords> published() {
        return published;
    }

    /** The plan in force of each pool that the operator has planned as it is declared now. */
    public SortedMap<Ref, PoolPlan> pools() {
        return pools;
    }

    /** All that is in force as a plan. */
    public Plan plan() {
        return new Plan(admission, pools, new TreeMap<>(), new TreeMap<>(), List.of());
    }

    /**
     * All that is in force, with the shares that are meant, where they can be told: those of a plan from nothing, if it comes to the same
     * answers. Of answers that were kept from before, statuses have the integers alone.
     */
    public Plan explained() {
        Plan anew = Plan.of(world, zone -> Optional.empty());
        SortedMap<Ref, PoolPlan> explained = new TreeMap<>();
        pools.forEach((ref, pool) -> explained.put(
                ref,
                pool.with(pool.streams().stream()
                        .map(stream ->
                                meant(stream, Optional.ofNullable(anew.pools().get(ref))))
                        .toList())));
        return new Plan(admission, explained, new TreeMap<>(), new TreeMap<>(), List.of());
    }

    private static PoolPlan.Stream meant(PoolPlan.Stream stream, Optional<PoolPlan> anew) {
        return anew.stream()
                .flatMap(plan -> plan.streams().stream())
                .filter(other -> other.demand().key().equals(stream.demand().key())
                        && other.answers().equals(stream.answers()))
                .findFirst()
                .map(other -> new PoolPlan.Stream(
                        stream.demand(), stream.answers(), other.shares(), other.given(), other.restrained()))
                .orElseGet(() -> new PoolPlan.Stream(
                        stream.demand(), stream.answers(), Map.of(), stream.given(), stream.restrained()));
    }

    /**
     * What the operator will publish once it may change something again. Pure.
     *
     * @param manifests what replaces resources of the cluster, or comes to them
     */
    public Plan next(Optional<World> manifests) {
        return Plan.of(
                new StatusWorld(state, manifests),
                zone -> Optional.ofNullable(published.get(zone)),
                Optional.of(plan()));
    }

    /** Whether the operator has planned a pool as it is declared now. */
    public static boolean isPlanned(ReplicaPool pool) {
        ReplicaPoolStatus status = pool.getStatus();
        return status != null
                && status.replicas() != null
                && Objects.equals(
                        status.observedGeneration(), pool.getMetadata().getGeneration());
    }

    /** The authoritative servers that a zone names; empty if nobody knows them who must not read EndpointSlices. */
    public List<InetSocketAddress> servers(AdmittedZone zone) {
        if (!(zone.verifyAt() instanceof AdmittedZone.VerifyAt.Service(String name, int port))) {
            return DnsServers.of(zone, world).addresses();
        }
        Ref service = new Ref(zone.ref().namespace(), name);
        return DnsServers.of(zone, state.servers().getOrDefault(service, List.of()))
                .addresses();
    }

    /** The ConfigMaps of a zone, where they were read. */
    private Optional<List<Host>> inShards(AdmittedZone zone) {
        List<ConfigMap> shards = shards(zone).stream()
                .flatMap(ref -> Stream.ofNullable(state.configMaps().get(ref)))
                .toList();
        Set<String> mine = admission.servicesOf(zone.ref()).stream()
                .map(service -> service.ref().toString())
                .collect(Collectors.toSet());
        return shards.isEmpty()
                ? Optional.empty()
                : Optional.of(shards.stream()
                        .flatMap(shard ->
                                ShardState.read(Objects.requireNonNullElse(shard.getData(), Map.of())).stream())
                        .filter(part -> part.domain().equals(zone.domain()))
                        .flatMap(part -> part instanceof ShardState.Published readable
                                ? readable.part().hosts().stream()
                                : Stream.empty())
                        .filter(host -> mine.contains(host.owner()))
                        .toList());
    }

    private Optional<Host> host(
            AdmittedService service, Map<Ref, TrafficService> services, Map<Ref, TrafficStream> streams) {
        List<HostStream> answered = new ArrayList<>();
        TrafficService declared = services.get(service.ref());
        if (declared != null && declared.getStatus() != null) {
            add(answered, service, "", List.of(), declared.getStatus().answers());
        }
        for (AdmittedStream stream : admission.streamsOf(service.ref())) {
            TrafficStream found = streams.get(stream.ref());
            if (found != null && found.getStatus() != null && stream.keys().isEmpty()) {
                add(
                        answered,
                        service,
                        stream.ref().name(),
                        stream.clients(),
                        found.getStatus().answers());
            }
        }
        return answered.isEmpty()
                ? Optional.empty()
                : Optional.of(new Host(service.hostname(), service.ref().toString(), service.ttlSeconds(), answered));
    }

    private static void add(
            List<HostStream> streams,
            AdmittedService service,
            String stream,
            List<IPAddress> clients,
            List<dev.apportion.api.Answer> shown) {
        List<Answer> answers = new ArrayList<>();
        for (dev.apportion.api.Answer answer : shown) {
            if (Addresses.parse(answer.address()) instanceof Parsed.Value<IPAddress>(IPAddress address)) {
                answers.add(new Answer(address, answer.replica(), answer.weight()));
            }
        }
        if (!answers.isEmpty()) {
            streams.add(new HostStream(HostLabel.of(service.hostname(), stream), stream, clients, answers));
        }
    }

    private PoolPlan plan(AdmittedPool pool, ReplicaPoolStatus status, Map<String, List<Answer>> answers) {
        Map<String, ReportedReplica> rows = world.reported(pool.ref());
        List<Member> members = world.members(pool).stream()
                .sorted(Comparator.comparing(Member::name))
                .toList();
        List<Member> ready = members.stream().filter(Member::isReady).toList();
        List<PoolPlan.Stream> streams = Demands.of(pool.ref(), admission).stream()
                .map(world::inForce)
                .sorted(Comparator.comparing(Demand::key))
                .map(demand -> stream(demand, answers.getOrDefault(demand.key(), List.of()), ready))
                .toList();
        String what =
                status.condition(Finding.ALLOCATED).map(Condition::getMessage).orElse("");
        return new PoolPlan(
                pool.ref(),
                pool.policyName(),
                ReportedReplica.number(status.makespan()),
                ReportedReplica.number(status.average()),
                ReportedReplica.number(status.lowerBound()),
                ReportedReplica.number(status.optimalityGap()),
                ReportedReplica.number(status.worstOverLevel()),
                members.stream()
                        .map(member -> Optional.ofNullable(rows.get(member.name()))
                                .map(row -> row.planned(member))
                                .orElseGet(() -> new PoolPlan.Replica(member, 0, 0, 0, "")))
                        .toList(),
                streams,
                pool,
                // Whatever is due is planned, as after the cooldown.
                new PoolPlan.Course(what, false, true, what.contains(PoolPlanner.MORE)),
                Optional.empty());
    }

    private static PoolPlan.Stream stream(Demand demand, List<Answer> answers, List<Member> ready) {
        Map<String, Double> shares = answers.isEmpty() ? Map.of() : Standing.shares(ready, answers);
        return new PoolPlan.Stream(demand, rows(answers), shares, shares, false);
    }

    /** Answers with the shares that their weights are. */
    static List<PoolPlan.Row> rows(List<Answer> answers) {
        Map<Boolean, Integer> sums = new HashMap<>();
        answers.forEach(answer -> sums.merge(answer.address().isIPv6(), answer.weight(), Integer::sum));
        return answers.stream()
                .map(answer -> new PoolPlan.Row(
                        answer.address(),
                        answer.replica(),
                        answer.weight(),
                        (double) answer.weight()
                                / Objects.requireNonNull(
                                        sums.get(answer.address().isIPv6()))))
                .toList();
    }

    /** The zones of which the statuses do not say all: keys are counted there, and long answers cut off. */
    public Set<Ref> zonesToReadWhole() {
        return inPart().stream()
                .flatMap(service -> admission.service(service).stream())
                .map(AdmittedService::zone)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The services that have answers of which no status says all. */
    private Set<Ref> inPart() {
        Set<Ref> services = new TreeSet<>();
        for (TrafficService service : state.services()) {
            if (service.getStatus() != null && isCutOff(service.getStatus().answers())) {
                services.add(Ref.of(service));
            }
        }
        for (TrafficStream stream : state.streams()) {
            boolean isCutOff =
                    stream.getStatus() != null && isCutOff(stream.getStatus().answers());
            if (stream.getSpec() != null && (isCutOff || stream.getSpec().keys() != null)) {
                services.add(new Ref(
                        stream.getMetadata().getNamespace(),
                        stream.getSpec().serviceRef().name()));
            }
        }
        return services;
    }

    private static boolean isCutOff(List<dev.apportion.api.Answer> answers) {
        return answers.size() >= Statuses.ROWS_SHOWN;
    }

    /** The services of which it is not known what is published, since nothing but statuses was read. */
    public Set<Ref> unknown() {
        return inPart().stream()
                .filter(service -> admission
                        .service(service)
                        .flatMap(found -> admission.zone(found.zone()))
                        .filter(zone -> inShards(zone).isPresent())
                        .isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The pools of which too little is known to foresee what they change, and why. */
    public SortedMap<Ref, String> unforeseeable() {
        SortedMap<Ref, String> pools = new TreeMap<>();
        for (Ref service : unknown()) {
            admission
                    .service(service)
                    .ifPresent(found -> pools.put(
                            found.pool(),
                            "the keys, or long answers, of the service %s are in no status".formatted(service)));
        }
        for (ReplicaPool pool : state.pools()) {
            ReplicaPoolStatus status = pool.getStatus();
            if (status != null
                    && showsSome(status)
                    && admission.pool(Ref.of(pool)).filter(world::isReported).isPresent()) {
                pools.put(Ref.of(pool), "its status shows %s replicas".formatted(shown(status)));
            }
        }
        return pools;
    }

    /** Whether a status shows some of the replicas only: a status is read by people. */
    public static boolean showsSome(ReplicaPoolStatus status) {
        return status.replicas() != null
                && status.replicas().total() > status.rows().size();
    }

    /** How many replicas a status shows, of how many. */
    public static String shown(ReplicaPoolStatus status) {
        ReplicaPoolStatus.Replicas replicas = Objects.requireNonNull(status.replicas());
        return "%d of %d".formatted(status.rows().size(), replicas.total());
    }

    /** The names of the ConfigMaps that hold a zone; none where it stands in DNSEndpoints. */
    public List<Ref> shards(Ref zone) {
        return admission.zone(zone).map(StatusQuo::shards).orElse(List.of());
    }

    private static List<Ref> shards(AdmittedZone zone) {
        if (!(zone.backEnd() instanceof AdmittedZone.CoreDns)) {
            return List.of();
        }
        CoreDnsLayout layout = ZonePublisher.layout(zone);
        return IntStream.range(0, layout.shards().count())
                .mapToObj(shard -> new Ref(layout.namespace(), layout.configMapName(shard)))
                .toList();
    }

    /** What hinders an answer from being known exactly, for people. */
    public List<String> gaps() {
        List<String> gaps = new ArrayList<>();
        for (ReplicaPool pool : state.pools()) {
            Ref ref = Ref.of(pool);
            ReplicaPoolStatus status = pool.getStatus();
            if (status == null || status.replicas() == null) {
                gaps.add(
                        "ReplicaPool %s has not been planned yet. Maybe the operator does not run, or does not watch the namespace"
                                .formatted(ref));
            } else if (!isPlanned(pool)) {
                gaps.add(
                        "ReplicaPool %s was changed, and its status is of the generation %s before. Maybe the operator does not run"
                                .formatted(ref, status.observedGeneration()));
            } else if (showsSome(status)) {
                gaps.add("the status of ReplicaPool %s shows %s replicas; the others are left out"
                        .formatted(ref, shown(status)));
            } else if (status.replicas().warming() > 0) {
                gaps.add("%d replicas of ReplicaPool %s are warming up: their shares will grow as time goes on"
                        .formatted(status.replicas().warming(), ref));
            }
        }
        return gaps;
    }
}
