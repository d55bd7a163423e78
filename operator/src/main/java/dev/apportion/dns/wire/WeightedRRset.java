package dev.apportion.dns.wire;

import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The addresses of one family of one stream, of which each response puts one first, by weight.
 *
 * @param host the host name
 * @param label the label of the stream
 * @param isIPv6 the family
 * @param weights the weight of each address, greater than zero; two addresses or more
 */
public record WeightedRRset(String host, String label, boolean isIPv6, SortedMap<IPAddress, Integer> weights) {

    public WeightedRRset {
        weights = Collections.unmodifiableSortedMap(new TreeMap<>(weights));
    }

    /** Those of a host; none of a key, which has no probe names, and none where every stream has one address at most in each family, so that there is nothing to weigh. */
    public static List<WeightedRRset> of(Host host) {
        List<WeightedRRset> sets = new ArrayList<>();
        if (host.isKey()) {
            return sets;
        }
        for (HostStream stream : host.streams()) {
            for (boolean ipv6 : new boolean[] {false, true}) {
                SortedMap<IPAddress, Integer> weights = new TreeMap<>();
                stream.answers(ipv6).forEach(answer -> weights.merge(address(answer), answer.weight(), Integer::sum));
                if (weights.size() > 1) {
                    sets.add(new WeightedRRset(host.name(), stream.label(), ipv6, weights));
                }
            }
        }
        return sets;
    }

    private static IPAddress address(Answer answer) {
        return answer.address().withoutPrefixLength();
    }

    /** The part of the responses that shall have an address first, 0..1. */
    public double share(IPAddress address) {
        return weights.getOrDefault(address, 0) / (double) sum();
    }

    /** How likely two independent draws are to agree: the sum of the squared shares. */
    public double agreement() {
        return weights.keySet().stream()
                .mapToDouble(address -> share(address) * share(address))
                .sum();
    }

    private int sum() {
        return weights.values().stream().mapToInt(Integer::intValue).sum();
    }
}
