package dev.apportion.dns.wire;

import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Which address came first in each response through one resolver.
 *
 * @param names the responses to each name that was never asked for before, in the order in which they came; one or more
 */
public record Draws(List<List<IPAddress>> names) {

    public static final Draws NONE = new Draws(List.of());

    public Draws {
        names = names.stream().map(List::copyOf).toList();
    }

    /** Responses each of which is to a name of its own. */
    public static Draws ofEach(SortedMap<IPAddress, Integer> counts) {
        return new Draws(counts.entrySet().stream()
                .flatMap(entry -> Collections.nCopies(entry.getValue(), List.of(entry.getKey())).stream())
                .toList());
    }

    public Draws plus(Draws other) {
        List<List<IPAddress>> sum = new ArrayList<>(names);
        sum.addAll(other.names);
        return new Draws(sum);
    }

    /** How often each address came first in responses to the first question for a name. */
    public SortedMap<IPAddress, Integer> firsts() {
        return counts(names.stream().map(List::getFirst));
    }

    /** The same of all further questions. */
    public SortedMap<IPAddress, Integer> repeats() {
        return counts(names.stream().flatMap(name -> name.stream().skip(1)));
    }

    /** The same of all questions. */
    public SortedMap<IPAddress, Integer> all() {
        return counts(names.stream().flatMap(List::stream));
    }

    /** How many questions for a name were not the first one. */
    public int repeated() {
        return size() - names.size();
    }

    /** How many of these had the same address first as the one before. */
    public int agreed() {
        return names.stream().mapToInt(Draws::agreed).sum();
    }

    private static int agreed(List<IPAddress> name) {
        int agreed = 0;
        for (int i = 1; i < name.size(); i++) {
            agreed += name.get(i).equals(name.get(i - 1)) ? 1 : 0;
        }
        return agreed;
    }

    /** How many questions were answered. */
    public int size() {
        return names.stream().mapToInt(List::size).sum();
    }

    static int total(SortedMap<IPAddress, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static SortedMap<IPAddress, Integer> counts(Stream<IPAddress> responses) {
        SortedMap<IPAddress, Integer> counts = new TreeMap<>();
        responses.forEach(address -> counts.merge(address, 1, Integer::sum));
        return counts;
    }
}
