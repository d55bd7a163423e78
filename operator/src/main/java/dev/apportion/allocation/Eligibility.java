package dev.apportion.allocation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
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

    /** The distinct sets of sites that streams ask for, numbered in the order of listing, from one; zero is every site. */
    static final class Wishes {

        private static final int EVERYWHERE = 0;

        private final Map<Set<String>, Integer> numbers = new LinkedHashMap<>();
        private boolean everywhere;

        /** The number of a set of sites; an empty one means every site. */
        int number(Set<String> sites) {
            if (sites.isEmpty()) {
                everywhere = true;
                return EVERYWHERE;
            }
            Integer known = numbers.putIfAbsent(sites, numbers.size() + 1);
            return known == null ? numbers.size() : known;
        }
    }

    /** @param wishes those of all streams */
    static Eligibility of(List<Problem.Replica> replicas, Wishes wishes) {
        Set<String> names = new HashSet<>();
        for (Problem.Replica replica : replicas) {
            names.add(replica.site());
        }
        List<String> sites = new ArrayList<>(new TreeSet<>(names));
        Map<String, Integer> siteNumber = new HashMap<>();
        for (String site : sites) {
            siteNumber.put(site, siteNumber.size());
        }

        List<BitSet> members = new ArrayList<>();
        for (Set<String> wanted : wishes.numbers.keySet()) {
            members.add(numbers(wanted, siteNumber));
        }
        BitSet every = new BitSet();
        every.set(0, sites.size());
        Set<BitSet> unique = new HashSet<>(members);
        if (wishes.everywhere) {
            unique.add(every);
        }
        List<BitSet> classes = new ArrayList<>(unique);
        classes.removeIf(BitSet::isEmpty);
        classes.sort(Comparator.comparing(BitSet::toString));
        Map<BitSet, Integer> classNumber = new HashMap<>();
        for (BitSet some : classes) {
            classNumber.put(some, classNumber.size());
        }
        int[] classOf = new int[members.size() + 1];
        classOf[Wishes.EVERYWHERE] = classNumber.getOrDefault(every, NONE);
        for (int wish = 1; wish < classOf.length; wish++) {
            classOf[wish] = classNumber.getOrDefault(members.get(wish - 1), NONE);
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
        int[] groupOf = new int[replicas.size()];
        for (int i = 0; i < groupOf.length; i++) {
            Integer site = siteNumber.get(replicas.get(i).site());
            groupOf[i] = site == null ? NONE : groupOfSite[site];
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

    /** The class of the streams with a wish, or {@link #NONE}. */
    int classOf(int wish) {
        return classOf[wish];
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
