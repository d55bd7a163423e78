package dev.apportion.reconcile;

import dev.apportion.allocation.Allocation;
import dev.apportion.allocation.Assessment;
import dev.apportion.allocation.Change;
import dev.apportion.allocation.IntegerWeights;
import dev.apportion.allocation.LeastChange;
import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Problem;
import dev.apportion.allocation.Resolution;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.SlotWeights;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Decides which replicas the streams of one pool are answered, and with what integer weights. Pure. */
public final class PoolPlanner {

    /** The most replicas in one answer with {@link Answers#List}, where nothing else is said: a response of 512 octets. */
    static final int LIST_MAX_REPLICAS = 16;

    /** The largest weight of CoreDNS' loadbalance plugin, and of a weighted record of Route 53. */
    private static final int MAX_WEIGHT = 255;

    /** Ends the words for a change that goes on once the cooldown has passed. */
    static final String MORE = "; more is to move";

    private static final double PERCENT = 100;

    /** A key that says that it has no requests is known to be rare, which is not the same as a stream that says nothing. */
    private static final double LEAST_KEY_RATE = 1e-6;

    private PoolPlanner() {}

    /**
     * Plans one pool of which nothing was planned or published before.
     *
     * @param pool the admitted pool
     * @param members its replicas, with unique names, in any order
     * @param demands the streams of all services that share it, in any order
     */
    public static PoolPlan plan(AdmittedPool pool, List<Member> members, List<Demand> demands) {
        return plan(pool, members, demands, Past.NONE);
    }

    /**
     * Plans one pool, so that no more traffic moves than has to.
     *
     * @param pool the admitted pool
     * @param members its replicas, with unique names, in any order
     * @param demands the streams of all services that share it, in any order
     * @param past what was planned and published before
     */
    public static PoolPlan plan(AdmittedPool pool, List<Member> members, List<Demand> demands, Past past) {
        List<Member> all =
                members.stream().sorted(Comparator.comparing(Member::name)).toList();
        List<Member> ready = all.stream().filter(Member::isReady).toList();
        List<Demand> ordered =
                demands.stream().sorted(Comparator.comparing(Demand::key)).toList();
        Optional<PoolPlan> before = past.plan();
        if (before.isPresent() && isUpToDate(before.get(), pool, all, ordered, past)) {
            return before.get();
        }
        Set<String> readySites = ready.stream().map(Member::site).collect(Collectors.toSet());
        Problem problem = new Problem(
                ready.stream()
                        .map(member -> new Problem.Replica(
                                member.name(),
                                member.site(),
                                member.capacity(),
                                member.concurrency(),
                                member.load() instanceof Member.Load.Hot ? Sample.NONE : member.measured()))
                        .toList(),
                ordered.stream()
                        .map(demand -> new Problem.Stream(
                                demand.key(),
                                demand.isKey() ? Math.max(demand.rate(), LEAST_KEY_RATE) : demand.rate(),
                                maxReplicas(demand, ready.size()),
                                sites(demand, pool::priority, readySites),
                                demand.home(),
                                demand.ttlSeconds()))
                        .toList());
        Standing standing = Standing.of(ready, ordered, past);
        Occasion occasion = occasion(pool, all, ordered, past);
        Change change = LeastChange.of(
                problem,
                standing.running(),
                pool.policy().allocate(problem),
                pool.policy().aim(),
                pool.behavior().tolerance(),
                occasion);
        Allocation allocation = change.effect().allocation();

        List<PoolPlan.Stream> streams = new ArrayList<>();
        List<List<Allocation.Piece>> published = new ArrayList<>();
        for (int s = 0; s < ordered.size(); s++) {
            Demand demand = ordered.get(s);
            List<Allocation.Piece> pieces = allocation.streams().get(s);
            boolean kept = change.effect().kept().contains(demand.key());
            List<Allocation.Piece> given = Restraint.of(pieces, ready, standing.given(demand));
            boolean restrained = !given.equals(pieces);
            boolean same = kept && !restrained && !standing.isRestrained(demand);
            Rounded rounded = round(ready, given, demand.answers(), same ? standing.answers(demand) : List.of());
            streams.add(new PoolPlan.Stream(
                    demand,
                    rounded.rows(),
                    kept ? standing.shares(demand) : shares(ready, pieces),
                    shares(ready, rounded.pieces()),
                    restrained));
            published.add(rounded.pieces());
        }
        Assessment assessment = Assessment.of(problem, published, allocation);
        return new PoolPlan(
                pool.ref(),
                pool.policyName(),
                assessment.makespan(),
                assessment.average(),
                allocation.lowerBound(),
                assessment.optimalityGap(),
                assessment.worstOverLevel(),
                rows(all, ready, problem, allocation, assessment),
                streams,
                pool,
                course(change, occasion, past, standing, streams),
                past.held());
    }

    private static Map<String, Double> shares(List<Member> ready, List<Allocation.Piece> pieces) {
        return pieces.stream()
                .collect(Collectors.toMap(piece -> ready.get(piece.replica()).name(), Allocation.Piece::share));
    }

    private static boolean isUpToDate(
            PoolPlan plan, AdmittedPool pool, List<Member> members, List<Demand> demands, Past past) {
        return !plan.course().isUnfinished()
                && plan.held().equals(past.held())
                && plan.basis().equals(pool)
                && plan.replicas().stream()
                        .map(PoolPlan.Replica::member)
                        .toList()
                        .equals(members)
                && plan.streams().stream().map(PoolPlan.Stream::demand).toList().equals(demands);
    }

    /** What is declared, and what replicas there are, takes effect at once; what rates are can wait. */
    private static Occasion occasion(AdmittedPool pool, List<Member> members, List<Demand> demands, Past past) {
        if (past.plan().isEmpty()) {
            if (past.settling()) {
                return Occasion.COOLING;
            }
            // Nobody knows what was declared when this was published; a change that was about to be made must not be
            // lost.
            return Occasion.INTENT;
        }
        PoolPlan before = past.plan().get();
        if (!pool.equals(before.basis())
                || !isSame(
                        before.streams().stream().map(PoolPlan.Stream::demand).toList(), demands)
                || !whatServes(before.replicas().stream()
                                .map(PoolPlan.Replica::member)
                                .toList())
                        .equals(whatServes(members))) {
            return Occasion.INTENT;
        }
        if (past.cooling() || past.settling()) {
            return Occasion.COOLING;
        }
        return before.course().goesOn() ? Occasion.INTENT : Occasion.DRIFT;
    }

    /** Whether demands differ in nothing but their rates, as far as it matters where their traffic goes. */
    static boolean isSame(List<Demand> some, List<Demand> others) {
        return whatIsAsked(some).equals(whatIsAsked(others));
    }

    private static Set<List<Object>> whatIsAsked(List<Demand> demands) {
        return demands.stream()
                .map(demand -> List.<Object>of(
                        demand.key(), demand.maxReplicas(), demand.answers(), demand.sites(), demand.home()))
                .collect(Collectors.toSet());
    }

    private static Set<List<Object>> whatServes(List<Member> members) {
        return members.stream()
                .filter(Member::isReady)
                .map(member -> List.<Object>of(member.name(), member.site(), member.declared(), member.addresses()))
                .collect(Collectors.toSet());
    }

    private static PoolPlan.Course course(
            Change change, Occasion occasion, Past past, Standing standing, List<PoolPlan.Stream> streams) {
        if (standing.running().shares().isEmpty()) {
            return PoolPlan.Course.NEW;
        }
        Change.Effect effect = change.effect();
        boolean changed = streams.stream()
                .anyMatch(stream -> !standing.answers(stream.demand()).isEmpty()
                        && !Set.copyOf(standing.answers(stream.demand())).equals(answers(stream.answers())));
        if (past.plan().isEmpty() && !changed && !effect.unfinished()) {
            // A start is no news.
            return PoolPlan.Course.NEW;
        }
        String worst = String.format(Locale.ROOT, "worst load %.2f of its level", effect.worst());
        String moved = String.format(
                Locale.ROOT,
                "moved %.1f%% of the traffic, %.1f%% had to",
                PERCENT * effect.moved(),
                PERCENT * effect.unavoidable());
        String what = switch (change) {
            case Change.Kept(Change.Effect same, String reason) -> "kept: %s, %s".formatted(worst, reason);
            case Change.Repaired(Change.Effect some, String reason) ->
                changed
                        ? "repaired: %s; %s, %s".formatted(moved, worst, reason)
                        : "kept: %s, %s".formatted(worst, reason);
            case Change.Resolved(Change.Effect other, String reason) ->
                changed
                        ? "allocated anew: %s; %s".formatted(moved, reason)
                        : "kept: %s, as the policy has it".formatted(worst);
        };
        boolean wentOn = past.plan().map(before -> before.course().goesOn()).orElse(false);
        return switch (occasion) {
            case COOLING -> new PoolPlan.Course(what, changed, effect.unfinished() || wentOn, wentOn);
            case DRIFT, INTENT ->
                new PoolPlan.Course(effect.unfinished() ? what + MORE : what, changed, false, effect.unfinished());
        };
    }

    private static Set<Answer> answers(List<PoolPlan.Row> rows) {
        return rows.stream()
                .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                .collect(Collectors.toSet());
    }

    private static int maxReplicas(Demand demand, int ready) {
        int otherwise = switch (demand.answers()) {
            case Single, Drawn -> ready;
            case List -> LIST_MAX_REPLICAS;
        };
        return Math.max(1, demand.maxReplicas().orElse(otherwise));
    }

    /** The sites that serve a stream: of those that may, the ones of the lowest priority that has a ready replica. */
    private static Set<String> sites(Demand demand, ToIntFunction<String> priority, Set<String> readySites) {
        Set<String> eligible = readySites.stream()
                .filter(site -> demand.sites().isEmpty() || demand.sites().contains(site))
                .collect(Collectors.toSet());
        int first = eligible.stream().mapToInt(priority).min().orElse(0);
        Set<String> serving = eligible.stream()
                .filter(site -> priority.applyAsInt(site) == first)
                .collect(Collectors.toSet());
        if (serving.isEmpty()) {
            // No site is an empty set to the reader, but every site to the problem.
            return demand.sites();
        }
        return serving.equals(readySites) ? Set.of() : serving;
    }

    private record Rounded(List<PoolPlan.Row> rows, List<Allocation.Piece> pieces) {}

    /** What one address of a family has to carry: the parts of the replicas behind it, by index. */
    private record Carried(IPAddress address, Map<Integer, Double> parts) {
        double share() {
            return parts.values().stream().mapToDouble(Double::doubleValue).sum();
        }
    }

    /**
     * Makes integers of shares.
     *
     * @param last the answers that stand for these shares already, and stay as they are; empty for none
     */
    private static Rounded round(
            List<Member> ready, List<Allocation.Piece> pieces, Answers answers, List<Answer> last) {
        List<PoolPlan.Row> rows = new ArrayList<>();
        Map<Integer, Double> sums = new TreeMap<>();
        int families = 0;
        for (boolean ipv6 : new boolean[] {false, true}) {
            List<Carried> carried = carried(ready, pieces, ipv6);
            if (carried.isEmpty()) {
                continue;
            }
            families++;
            int[] weights = weights(
                    carried,
                    answers,
                    last.stream()
                            .filter(answer -> answer.address().isIPv6() == ipv6)
                            .toList());
            double sum = IntStream.of(weights).sum();
            for (int i = 0; i < weights.length; i++) {
                if (weights[i] == 0) {
                    continue;
                }
                Carried address = carried.get(i);
                double share = weights[i] / sum;
                String names = address.parts().keySet().stream()
                        .map(index -> ready.get(index).name())
                        .collect(Collectors.joining(","));
                rows.add(new PoolPlan.Row(address.address(), names, weights[i], share));
                address.parts()
                        .forEach((index, part) -> sums.merge(index, share * part / address.share(), Double::sum));
            }
        }
        int divisor = families;
        return new Rounded(
                rows,
                sums.entrySet().stream()
                        .map(entry -> new Allocation.Piece(entry.getKey(), entry.getValue() / divisor))
                        .toList());
    }

    private static int[] weights(List<Carried> carried, Answers answers, List<Answer> last) {
        int[] kept = last.stream()
                .sorted(Comparator.comparing(Answer::address))
                .mapToInt(Answer::weight)
                .toArray();
        List<IPAddress> addresses = carried.stream().map(Carried::address).toList();
        if (fits(kept, answers)
                && last.stream().map(Answer::address).sorted().toList().equals(addresses)) {
            return kept;
        }
        return weights(carried.stream().mapToDouble(Carried::share).toArray(), answers);
    }

    private static List<Carried> carried(List<Member> ready, List<Allocation.Piece> pieces, boolean ipv6) {
        Map<IPAddress, Map<Integer, Double>> byAddress = new TreeMap<>();
        for (Allocation.Piece piece : pieces) {
            List<IPAddress> addresses = ready.get(piece.replica()).addresses().stream()
                    .filter(address -> address.isIPv6() == ipv6)
                    .toList();
            for (IPAddress address : addresses) {
                byAddress
                        .computeIfAbsent(address, key -> new TreeMap<>())
                        .put(piece.replica(), piece.share() / addresses.size());
            }
        }
        return byAddress.entrySet().stream()
                .map(entry -> new Carried(entry.getKey(), entry.getValue()))
                .toList();
    }

    /** The integers that stand for the shares of the addresses of one family. */
    static int[] weights(double[] shares, Answers answers) {
        return switch (answers) {
            case List, Drawn -> IntegerWeights.of(shares, new Resolution.AtMost(MAX_WEIGHT));
            case Single -> SlotWeights.of(shares);
        };
    }

    /** Says whether integers are weights that the kind of answers takes for the addresses of one family. */
    static boolean fits(int[] weights, Answers answers) {
        return switch (answers) {
            case List, Drawn -> IntStream.of(weights).allMatch(weight -> weight <= MAX_WEIGHT);
            case Single -> SlotWeights.fill(weights);
        };
    }

    private static List<PoolPlan.Replica> rows(
            List<Member> all, List<Member> ready, Problem problem, Allocation allocation, Assessment assessment) {
        double rate =
                problem.streams().stream().mapToDouble(Problem.Stream::rate).sum();
        Map<String, PoolPlan.Replica> serving = new HashMap<>();
        for (int i = 0; i < ready.size(); i++) {
            double load = assessment.loads().get(i);
            double share = rate > 0 ? load * ready.get(i).capacity() / rate : 0;
            serving.put(
                    ready.get(i).name(),
                    new PoolPlan.Replica(
                            ready.get(i),
                            load,
                            allocation.levels().get(i),
                            share,
                            allocation.because().get(i)));
        }
        return all.stream()
                .map(member -> serving.getOrDefault(member.name(), new PoolPlan.Replica(member, 0, 0, 0, "")))
                .toList();
    }
}
