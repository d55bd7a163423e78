package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who may use what, without repetition: <em>classes</em> of streams that may use the same replicas, and <em>groups</em> of
 * replicas that may be used by the same classes. Both are numbered independently of the order of listing.
 */
final class Eligibility {

    /** The class of streams that no replica may serve. */
    static final int NONE = -1;

    /** Stands for no restriction to sites. */
    private static final int EVERYWHERE = -1;

    private final int[] classOf;
    private final int[] groupOf;
    private final int[][] groups;
    private final int[] eligible;
    private final int groupCount;

    private Eligibility(int[] classOf, int[] groupOf, int[][] groups, int[] eligible, int groupCount) {
        this.classOf = classOf;
        this.groupOf = groupOf;
        this.groups = groups;
        this.eligible = eligible;
        this.groupCount = groupCount;
    }

    static Eligibility of(Problem problem) {
        Set<String> names = new HashSet<>();
        for (Problem.Replica replica : problem.replicas()) {
            names.add(replica.site());
        }
        List<String> sites = new ArrayList<>(new TreeSet<>(names));
        Map<String, Integer> siteNumber = new HashMap<>();
        for (String site : sites) {
            siteNumber.put(site, siteNumber.size());
        }

        // distinct sets of sites, in the order of listing
        int[] distinct = new int[problem.streams().size()];
        Map<Set<String>, Integer> seen = new HashMap<>();
        List<BitSet> members = new ArrayList<>();
        for (int j = 0; j < distinct.length; j++) {
            Set<String> wanted = problem.streams().get(j).sites();
            if (wanted.isEmpty()) {
                distinct[j] = EVERYWHERE;
                continue;
            }
            Integer number = seen.get(wanted);
            if (number == null) {
                number = seen.size();
                seen.put(wanted, number);
                members.add(numbers(wanted, siteNumber));
            }
            distinct[j] = number;
        }
        BitSet every = new BitSet();
        every.set(0, sites.size());
        Set<BitSet> unique = new HashSet<>(members);
        if (Arrays.stream(distinct).anyMatch(number -> number == EVERYWHERE)) {
            unique.add(every);
        }
        List<BitSet> classes = new ArrayList<>(unique);
        classes.removeIf(BitSet::isEmpty);
        classes.sort(Comparator.comparing(BitSet::toString));
        Map<BitSet, Integer> classNumber = new HashMap<>();
        for (BitSet some : classes) {
            classNumber.put(some, classNumber.size());
        }
        int everywhere = classNumber.getOrDefault(every, NONE);
        int[] classOfDistinct = members.stream()
                .mapToInt(some -> classNumber.getOrDefault(some, NONE))
                .toArray();
        int[] classOf = new int[distinct.length];
        for (int j = 0; j < classOf.length; j++) {
            classOf[j] = distinct[j] == EVERYWHERE ? everywhere : classOfDistinct[distinct[j]];
        }

        Map<BitSet, Integer> groupNumber = new LinkedHashMap<>();
        int[] groupOfSite = new int[sites.size()];
        for (int site = 0; site < groupOfSite.length; site++) {
            BitSet users = new BitSet();
            for (int c = 0; c < classes.size(); c++) {
                users.set(c, classes.get(c).get(site));
            }
            groupOfSite[site] =
                    users.isEmpty() ? NONE : groupNumber.computeIfAbsent(users, absent -> groupNumber.size());
        }
        int[] size = new int[groupNumber.size()];
        int[] groupOf = new int[problem.replicas().size()];
        for (int i = 0; i < groupOf.length; i++) {
            groupOf[i] = groupOfSite[
                    Collections.binarySearch(sites, problem.replicas().get(i).site())];
            if (groupOf[i] != NONE) {
                size[groupOf[i]]++;
            }
        }
        int[][] groups = new int[classes.size()][];
        int[] eligible = new int[classes.size()];
        for (int c = 0; c < groups.length; c++) {
            BitSet used = new BitSet();
            for (Map.Entry<BitSet, Integer> group : groupNumber.entrySet()) {
                if (group.getKey().get(c)) {
                    used.set(group.getValue());
                    eligible[c] += size[group.getValue()];
                }
            }
            groups[c] = used.stream().toArray();
        }
        return new Eligibility(classOf, groupOf, groups, eligible, size.length);
    }

    private static BitSet numbers(Collection<String> wanted, Map<String, Integer> siteNumber) {
        BitSet numbers = new BitSet();
        for (String site : wanted) {
            Integer number = siteNumber.get(site);
            if (number != null) {
                numbers.set(number);
            }
        }
        return numbers;
    }

    int classCount() {
        return groups.length;
    }

    int groupCount() {
        return groupCount;
    }

    /** The class of a stream, by its index in the problem, or {@link #NONE}. */
    int classOf(int stream) {
        return classOf[stream];
    }

    /** The group of a replica, by its index in the problem, or {@link #NONE} if no stream may use it. */
    int groupOf(int replica) {
        return groupOf[replica];
    }

    /** The groups that a class may use, ascending. */
    int[] groups(int streamClass) {
        return groups[streamClass];
    }

    /** How many replicas a stream of the class may use. */
    int eligible(int streamClass) {
        return streamClass == NONE ? 0 : eligible[streamClass];
    }
}
