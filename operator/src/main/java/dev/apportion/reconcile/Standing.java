package dev.apportion.reconcile;

import dev.apportion.allocation.Running;
import dev.apportion.records.Answer;
import inet.ipaddr.IPAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What is in force of each stream: the shares that were planned, and the answers that stand for them. Where only answers are
 * known, the shares are read from them.
 *
 * @param running the shares by {@link Demand#key()} and the name of the replica
 * @param answers the answers by {@link Demand#key()}
 * @param given the shares that the answers give, where they are not those that were planned, by {@link Demand#key()}
 */
record Standing(Running running, Map<String, List<Answer>> answers, Map<String, Map<String, Double>> given) {

    /** Comes before the names of replicas that are known by nothing but an address that nobody has any more. */
    private static final String GONE = "gone ";

    static Standing of(List<Member> ready, List<Demand> demands, Past past) {
        Map<String, PoolPlan.Stream> planned = past.plan()
                .map(plan -> plan.streams().stream()
                        .filter(stream -> !stream.answers().isEmpty())
                        .collect(Collectors.toMap(stream -> stream.demand().key(), Function.identity())))
                .orElse(Map.of());
        Map<String, Map<String, Double>> shares = new HashMap<>();
        Map<String, List<Answer>> answers = new HashMap<>();
        Map<String, Map<String, Double>> given = new HashMap<>();
        for (Demand demand : demands) {
            PoolPlan.Stream stream = planned.get(demand.key());
            if (stream != null) {
                shares.put(demand.key(), stream.shares());
                if (stream.restrained()) {
                    given.put(demand.key(), stream.given());
                }
                answers.put(
                        demand.key(),
                        stream.answers().stream()
                                .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                                .toList());
            } else {
                List<Answer> published = past.published().getOrDefault(demand.key(), List.of());
                if (!published.isEmpty()) {
                    shares.put(demand.key(), shares(ready, published));
                    answers.put(demand.key(), published);
                }
            }
        }
        return new Standing(new Running(shares), answers, given);
    }

    /** Whether the answers give some replica less than was planned. */
    boolean isRestrained(Demand demand) {
        return given.containsKey(demand.key());
    }

    /** The shares that the answers give. */
    Map<String, Double> given(Demand demand) {
        Map<String, Double> restrained = given.get(demand.key());
        return restrained == null ? shares(demand) : restrained;
    }

    List<Answer> answers(Demand demand) {
        return answers.getOrDefault(demand.key(), List.of());
    }

    Map<String, Double> shares(Demand demand) {
        return running.shares().getOrDefault(demand.key(), Map.of());
    }

    /** The mean over the families that are answered. An address of several replicas is shared by their capacities. */
    static Map<String, Double> shares(List<Member> ready, List<Answer> published) {
        Map<String, Double> shares = new TreeMap<>();
        for (boolean ipv6 : new boolean[] {false, true}) {
            List<Answer> family = published.stream()
                    .filter(answer -> answer.address().isIPv6() == ipv6)
                    .toList();
            double sum = family.stream().mapToDouble(Answer::weight).sum();
            for (Answer answer : family) {
                double share = answer.weight() / sum;
                Map<String, Double> behind = behind(ready, answer.address());
                double capacity = behind.values().stream()
                        .mapToDouble(Double::doubleValue)
                        .sum();
                if (behind.isEmpty()) {
                    shares.merge(GONE + answer.address().toCanonicalString(), share, Double::sum);
                }
                behind.forEach((name, part) -> shares.merge(name, share * part / capacity, Double::sum));
            }
        }
        return shares;
    }

    /** The capacities of the replicas that have an address, by name. */
    private static Map<String, Double> behind(List<Member> ready, IPAddress address) {
        Map<String, Double> behind = new TreeMap<>();
        for (Member member : ready) {
            if (member.addresses().contains(address)) {
                behind.put(member.name(), member.capacity());
            }
        }
        return behind;
    }
}
