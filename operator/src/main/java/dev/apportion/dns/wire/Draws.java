package dev.apportion.dns.wire;

import inet.ipaddr.IPAddress;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How often each address came first in responses through one resolver. Some names are asked twice in a row.
 *
 * @param firsts responses to a name that was never asked before
 * @param repeats responses to the second question for a name
 * @param agreed how many of the second questions had the same address first as the one before
 */
public record Draws(SortedMap<IPAddress, Integer> firsts, SortedMap<IPAddress, Integer> repeats, int agreed) {

    public static final Draws NONE = new Draws(new TreeMap<>(), new TreeMap<>(), 0);

    public Draws {
        firsts = Collections.unmodifiableSortedMap(new TreeMap<>(firsts));
        repeats = Collections.unmodifiableSortedMap(new TreeMap<>(repeats));
    }

    public Draws plus(Draws other) {
        return new Draws(sum(firsts, other.firsts), sum(repeats, other.repeats), agreed + other.agreed);
    }

    /** All responses. */
    SortedMap<IPAddress, Integer> all() {
        return sum(firsts, repeats);
    }

    /** How many names were asked twice. */
    public int pairs() {
        return total(repeats);
    }

    /** How many questions were answered. */
    public int size() {
        return total(firsts) + total(repeats);
    }

    static int total(SortedMap<IPAddress, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static SortedMap<IPAddress, Integer> sum(
            SortedMap<IPAddress, Integer> one, SortedMap<IPAddress, Integer> other) {
        SortedMap<IPAddress, Integer> sum = new TreeMap<>(one);
        other.forEach((address, count) -> sum.merge(address, count, Integer::sum));
        return sum;
    }
}
