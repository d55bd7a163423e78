package dev.apportion.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.allocation.GlobalQueue;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.api.ReplicaPoolSpec.PolicyType;
import dev.apportion.reconcile.AdmittedPool;
import dev.apportion.reconcile.Demand;
import dev.apportion.reconcile.Member;
import dev.apportion.reconcile.PoolPlan;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import dev.apportion.records.Answers;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/**
 * A scenario of a pool that runs: its replicas with the capacities that were learned, its streams with the rates that are measured or
 * declared, its policy, k and time to live; and what is to be compared with it, as a sweep. Pure.
 */
final class PoolScenario {

    /** A value of a sweep that is as it is in the cluster. */
    private static final String NOW = "now";

    private static final double PERCENT = 100;

    /** Resolvers that the clients of a stream share; nobody measures them, so this is a guess, which the scenario shows. */
    private static final int RESOLVERS = 10;

    private static final int SEEDS = 10;
    private static final double USUAL_SECONDS = 600;
    private static final double TTLS = 40;
    private static final double FEWEST_REQUESTS = 20_000;
    private static final double MOST_REQUESTS = 2_000_000;
    private static final double WARM_UP = 0.1;

    /** Until the operator knows of a change and CoreDNS has read it: some health checks or an update of an EndpointSlice, and 2 s. */
    private static final double DETECT_SECONDS = 5;

    /** What is published of CoreDNS' answers of kind List where nothing else is said. */
    private static final int LIST_REPLICAS = 16;

    private static final Set<PolicyType> MEASURED = Set.of(
            PolicyType.LeastConnections,
            PolicyType.WeightedLeastConnections,
            PolicyType.LoadAverage,
            PolicyType.Rating);

    private static final ObjectMapper JSON = JsonMapper.builder()
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
            .build();

    private final StatusQuo quo;
    private final ReplicaPool resource;
    private final PoolPlan plan;
    private final WhatIf whatIf;
    private final List<Member> ready;
    private final double serviceTime;
    private final List<String> notes = new ArrayList<>();

    /**
     * What is to be compared.
     *
     * @param losses replicas that die: names, with commas where several die together, or how many of those with the largest shares
     * @param maxReplicas other values of k
     * @param rateFactors what all rates are multiplied by
     * @param policies other policies
     */
    record WhatIf(
            List<String> losses, List<Integer> maxReplicas, List<Double> rateFactors, List<PolicyType> policies) {}

    /**
     * A scenario as it is written.
     *
     * @param notes what is guessed or left out, for people
     */
    record Written(String name, String yaml, List<String> notes) {}

    private PoolScenario(StatusQuo quo, ReplicaPool resource, PoolPlan plan, WhatIf whatIf) throws ClusterException {
        this.quo = quo;
        this.resource = resource;
        this.plan = plan;
        this.whatIf = whatIf;
        this.ready = serving(plan);
        if (ready.isEmpty()) {
            throw new ClusterException(
                    "no replica of ReplicaPool %s is ready, so there is nothing to simulate".formatted(plan.pool()));
        }
        this.serviceTime = plan.basis().policy() instanceof GlobalQueue queue && queue.serviceTime() > 0
                ? queue.serviceTime()
                : ready.stream()
                        .mapToDouble(member -> member.concurrency() / member.capacity())
                        .average()
                        .orElseThrow();
    }

    /**
     * The scenario of a pool.
     *
     * @throws ClusterException if there is no such pool, or it is not planned
     */
    static Written of(StatusQuo quo, Ref pool, WhatIf whatIf) throws ClusterException {
        List<ReplicaPool> found = quo.state().pools().stream()
                .filter(each -> Ref.of(each).equals(pool))
                .toList();
        if (found.isEmpty()) {
            throw new ClusterException("there is no ReplicaPool %s; the namespace has %s"
                    .formatted(
                            pool,
                            quo.state().pools().isEmpty()
                                    ? "none"
                                    : quo.state().pools().stream()
                                            .map(each -> each.getMetadata().getName())
                                            .collect(Collectors.joining(", "))));
        }
        PoolPlan plan = quo.pools().get(pool);
        if (plan == null) {
            throw new ClusterException(
                    "ReplicaPool %s is not planned as it is declared now: maybe the operator does not run, or does not accept it; apportion explain says more"
                            .formatted(pool));
        }
        return new PoolScenario(quo, found.getFirst(), plan, whatIf).write();
    }

    /** The ready replicas of the sites that serve: those that stand by would have to be simulated as sites that fail over. */
    private static List<Member> serving(PoolPlan plan) {
        List<Member> ready = plan.replicas().stream()
                .map(PoolPlan.Replica::member)
                .filter(Member::isReady)
                .toList();
        Map<String, Integer> priorities = plan.basis().sites().stream()
                .collect(Collectors.toMap(AdmittedPool.Site::name, AdmittedPool.Site::priority));
        int first = ready.stream()
                .mapToInt(member -> priorities.getOrDefault(member.site(), 0))
                .min()
                .orElse(0);
        return ready.stream()
                .filter(member -> priorities.getOrDefault(member.site(), 0) == first)
                .toList();
    }

    private Written write() throws ClusterException {
        String name = "pool " + plan.pool();
        Demand largest = plan.streams().stream()
                .map(PoolPlan.Stream::demand)
                .max(Comparator.comparingDouble(Demand::rate))
                .orElseThrow(() -> new ClusterException(
                        "no TrafficService is served by ReplicaPool %s, so there is nothing to simulate"
                                .formatted(plan.pool())));
        double rate = plan.streams().stream()
                .mapToDouble(stream -> stream.demand().rate())
                .sum();
        if (!(rate > 0)) {
            throw new ClusterException(
                    "no stream of ReplicaPool %s has a rate, so there is nothing to simulate; declare spec.rate of its TrafficStreams, or spec.load"
                            .formatted(plan.pool()));
        }
        int ttl = largest.ttlSeconds();
        double seconds = seconds(rate, ttl);
        double warmUp = round(WARM_UP * seconds);
        ObjectNode root = JSON.createObjectNode();
        root.put("name", name)
                .put(
                        "about",
                        "Written by apportion simulate --from-pool from the statuses of %s."
                                .formatted(quo.state().read().truncatedTo(ChronoUnit.SECONDS)));
        root.put("seconds", seconds).put("warmUpSeconds", warmUp);
        root.putObject("seeds").put("first", 1).put("count", SEEDS);
        root.set("servers", servers(List.of(), warmUp));
        root.putObject("requests").putObject("size").put("exponential", round(serviceTime));
        root.set("populations", populations(1));
        root.putObject("resolvers").put("perPopulation", RESOLVERS);
        root.putObject("dispatch").set("dns", dns(largest));
        ObjectNode sweep = sweep(maxReplicas(largest), warmUp);
        if (!sweep.isEmpty()) {
            root.set("sweep", sweep);
        }
        ArrayNode show = root.putArray("show");
        Stream.of("delay", "delayP99", "lost", "imbalance", "makespan", "gap").forEach(show::add);
        note(largest, rate);
        return new Written(
                name,
                new Dump(DumpSettings.builder()
                                .setDefaultFlowStyle(FlowStyle.BLOCK)
                                .build())
                        .dumpToString(JSON.convertValue(root, Map.class)),
                List.copyOf(notes));
    }

    /** Long enough for caches and for the numbers to be steady, and not for long to wait for. */
    private static double seconds(double rate, int ttl) {
        double usual = Math.max(USUAL_SECONDS, TTLS * ttl);
        double few = Math.max(usual, FEWEST_REQUESTS / rate);
        return Math.rint(Math.max(TTLS * ttl / 2, Math.min(few, Math.max(1, MOST_REQUESTS / rate))));
    }

    private ArrayNode servers(List<String> lost, double when) {
        ArrayNode servers = JSON.createArrayNode();
        for (Member member : ready) {
            ObjectNode server = servers.addObject()
                    .put("name", member.name())
                    .put("site", member.site())
                    .put("speed", round(member.capacity() * serviceTime / member.concurrency()))
                    .put("slots", member.concurrency());
            if (lost.contains(member.name())) {
                server.put("absentFrom", when);
            }
        }
        return servers;
    }

    private ArrayNode populations(double factor) {
        ArrayNode populations = JSON.createArrayNode();
        for (PoolPlan.Stream stream : plan.streams()) {
            Demand demand = stream.demand();
            ObjectNode population =
                    populations.addObject().put("name", population(demand)).put("rate", round(factor * demand.rate()));
            demand.home()
                    .filter(home ->
                            ready.stream().anyMatch(member -> member.site().equals(home)))
                    .ifPresent(home -> population.put("home", home));
        }
        return populations;
    }

    private static String population(Demand demand) {
        return demand.isKey()
                ? demand.hostname()
                : demand.stream().isEmpty() ? demand.service().name() + " everyone else" : demand.stream();
    }

    private ObjectNode dns(Demand demand) {
        ObjectNode dns = JSON.createObjectNode();
        dns.set("policy", policy(type()));
        dns.put("answers", demand.answers().name())
                .put("maxReplicas", maxReplicas(demand))
                .put("ttlSeconds", demand.ttlSeconds())
                .put("detectSeconds", DETECT_SECONDS)
                .put(
                        "actAbovePercent",
                        round(PERCENT * plan.basis().behavior().tolerance().actAbove()))
                .put(
                        "repairToPercent",
                        round(PERCENT * plan.basis().behavior().tolerance().repairTo()));
        if (MEASURED.contains(type()) || whatIf.policies().stream().anyMatch(MEASURED::contains)) {
            dns.put("replanSeconds", plan.basis().behavior().cooldownSeconds().orElse(demand.ttlSeconds() + 2));
        }
        return dns;
    }

    private int maxReplicas(Demand demand) {
        int all = demand.answers() == Answers.List ? Math.min(ready.size(), LIST_REPLICAS) : ready.size();
        return Math.max(1, Math.min(demand.maxReplicas().orElse(all), ready.size()));
    }

    private PolicyType type() {
        return spec().policy().type();
    }

    private ReplicaPoolSpec spec() {
        return Objects.requireNonNull(resource.getSpec());
    }

    /** A policy with the parameters that the pool has for it. */
    private ObjectNode policy(PolicyType type) {
        JsonNode declared = JSON.valueToTree(spec().policy());
        ObjectNode policy = JSON.createObjectNode();
        policy.put("type", type.name());
        policy.set("seed", declared.path("seed"));
        String own = type.name().substring(0, 1).toLowerCase(Locale.ROOT)
                + type.name().substring(1);
        if (declared.path(own).isObject() && !declared.path(own).isEmpty()) {
            policy.set(own, declared.path(own));
        }
        return policy;
    }

    private ObjectNode sweep(int k, double warmUp) throws ClusterException {
        ObjectNode sweep = JSON.createObjectNode();
        if (!whatIf.losses().isEmpty()) {
            Map<String, JsonNode> servers = new LinkedHashMap<>();
            servers.put(NOW, servers(List.of(), warmUp));
            for (String loss : whatIf.losses()) {
                List<String> lost = lost(loss);
                servers.put("without " + String.join(", ", lost), servers(lost, warmUp));
            }
            sweep.set("servers", JSON.valueToTree(servers));
        }
        if (!whatIf.rateFactors().isEmpty()) {
            Map<String, JsonNode> populations = new LinkedHashMap<>();
            populations.put(NOW, populations(1));
            for (double factor : whatIf.rateFactors()) {
                require(
                        factor > 0 && factor <= 1000,
                        "--rate-factor %s: must be above 0, at most 1000".formatted(factor));
                populations.put(
                        "rates x "
                                + BigDecimal.valueOf(factor)
                                        .stripTrailingZeros()
                                        .toPlainString(),
                        populations(factor));
            }
            sweep.set("populations", JSON.valueToTree(populations));
        }
        if (!whatIf.maxReplicas().isEmpty()) {
            ArrayNode values = sweep.putArray("dispatch.dns.maxReplicas");
            values.add(k);
            for (int other : whatIf.maxReplicas()) {
                require(other >= 1 && other <= 10_000, "--k %d: must be from 1 to 10000".formatted(other));
                if (other != k) {
                    values.add(other);
                }
            }
        }
        if (!whatIf.policies().isEmpty()) {
            Map<String, JsonNode> policies = new LinkedHashMap<>();
            policies.put("%s, now".formatted(type()), policy(type()));
            whatIf.policies().stream()
                    .filter(other -> other != type())
                    .forEach(other -> policies.put(other.name(), policy(other)));
            sweep.set("dispatch.dns.policy", JSON.valueToTree(policies));
        }
        return sweep;
    }

    private List<String> lost(String text) throws ClusterException {
        List<String> names = ready.stream().map(Member::name).toList();
        List<String> lost;
        if (!names.contains(text) && text.matches("[1-9][0-9]{0,3}")) {
            Map<String, Double> shares = plan.replicas().stream()
                    .collect(Collectors.toMap(replica -> replica.member().name(), PoolPlan.Replica::share));
            lost = names.stream()
                    .sorted(Comparator.comparingDouble((String name) -> -shares.getOrDefault(name, 0.0))
                            .thenComparing(Comparator.naturalOrder()))
                    .limit(Integer.parseInt(text))
                    .toList();
        } else {
            lost = names.contains(text) ? List.of(text) : Arrays.asList(text.split(",", -1));
        }
        for (String name : lost) {
            require(
                    names.contains(name),
                    "--lose %s: no serving replica of ReplicaPool %s has the name \"%s\"; it has %s"
                            .formatted(text, plan.pool(), name, String.join(", ", names)));
        }
        require(
                lost.size() < names.size(),
                "--lose %s: that are all %d replicas that serve, and nobody would be left"
                        .formatted(text, names.size()));
        return lost;
    }

    private static void require(boolean condition, String message) throws ClusterException {
        if (!condition) {
            throw new ClusterException(message);
        }
    }

    private void tooMuch(String when, double rate, List<String> lost) {
        double capacity = ready.stream()
                .filter(member -> !lost.contains(member.name()))
                .mapToDouble(Member::capacity)
                .sum();
        if (rate >= capacity) {
            notes.add("%s%s requests/s come, and the replicas bear %s: queues grow for as long as it is so"
                    .formatted(when, PlanTable.decimal(rate), PlanTable.decimal(capacity)));
        }
    }

    private void note(Demand largest, double rate) throws ClusterException {
        List<Demand> demands =
                plan.streams().stream().map(PoolPlan.Stream::demand).toList();
        demands.stream()
                .filter(demand -> !demand.declared() && demand.rate() == 1)
                .forEach(demand -> notes.add(
                        "nobody declares or measures the rate of %s of %s: 1 request/s is taken; maybe declare spec.rate of a TrafficStream"
                                .formatted(
                                        demand.stream().isEmpty() ? "everyone else" : demand.stream(),
                                        demand.hostname())));
        if (quo.admission().servicesSharing(plan.pool()).stream()
                        .map(service -> List.of(service.ttlSeconds(), service.maxReplicas()))
                        .distinct()
                        .count()
                > 1) {
            notes.add("services of the pool differ in k or time to live; those of %s count for all"
                    .formatted(largest.service()));
        }
        if (demands.stream().anyMatch(demand -> !demand.sites().isEmpty())) {
            notes.add("streams that only some sites may serve are simulated as if all might");
        }
        if (plan.replicas().stream()
                        .filter(replica -> replica.member().isReady())
                        .count()
                > ready.size()) {
            notes.add("replicas that stand by, of sites with a higher priority, are left out");
        }
        for (double factor :
                Stream.concat(Stream.of(1.0), whatIf.rateFactors().stream()).toList()) {
            tooMuch("", factor * rate, List.of());
        }
        for (String loss : whatIf.losses()) {
            List<String> lost = lost(loss);
            tooMuch("without %s ".formatted(String.join(", ", lost)), rate, lost);
        }
        notes.add(
                "guessed are %d resolvers for each stream, exponential times of service of %s s in the mean, and %s s until a loss is known; --write-scenario writes all of it to be edited"
                        .formatted(RESOLVERS, PlanTable.decimal(serviceTime), PlanTable.decimal(DETECT_SECONDS)));
    }

    /** Six digits: more than anybody measures. */
    private static double round(double value) {
        return BigDecimal.valueOf(value).round(new MathContext(6)).doubleValue();
    }
}
