package dev.apportion.dns.coredns;

import dev.apportion.dns.Slots;
import dev.apportion.records.Answer;
import dev.apportion.records.HostStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The records that give each slot of a stream its address, as few as can be.
 *
 * <p>A slot with the digits d1 d2 d3 d4, the most significant first, is the name d4.d3.d2.d1 below the stream's own. The
 * digits form a tree: a node whose slots all have the same addresses is one wildcard. Where they differ, the node gets a
 * wildcard with the addresses that most of its children have, and each child that has others is written out below it,
 * which hides the wildcard above (RFC 4592, section 3.3.1): so whatever stands at a name holds both families.
 */
final class SlotRecords {

    private static final String DIGITS = "0123456789abcdef";

    private final List<List<Slots.Run>> families = new ArrayList<>();
    private final List<Entry> entries = new ArrayList<>();

    /**
     * One name and the addresses that it has, one for each family.
     *
     * @param name the name relative to the stream's own, empty label excluded, as {@code *.a}
     */
    record Entry(String name, List<Answer> answers) {}

    private SlotRecords(HostStream stream) {
        for (boolean ipv6 : new boolean[] {false, true}) {
            List<Slots.Run> runs = Slots.runs(stream, ipv6);
            if (!runs.isEmpty()) {
                families.add(runs);
            }
        }
    }

    /** The records of a stream; none if it has no answers. */
    static List<Entry> of(HostStream stream) {
        SlotRecords records = new SlotRecords(stream);
        if (!records.families.isEmpty()) {
            if (records.isUniform(0, Slots.COUNT)) {
                records.entries.add(new Entry("*", records.at(0)));
            } else {
                records.split("", 0, Slots.COUNT);
            }
        }
        return records.entries;
    }

    private void split(String node, int from, int size) {
        int part = size / 16;
        List<Answer> usual = usual(from, part);
        if (!usual.isEmpty()) {
            entries.add(new Entry("*" + node, usual));
        }
        for (int digit = 0; digit < 16; digit++) {
            int start = from + digit * part;
            String child = "." + DIGITS.charAt(digit) + node;
            if (!isUniform(start, part)) {
                split(child, start, part);
            } else if (!at(start).equals(usual)) {
                entries.add(new Entry(part == 1 ? child.substring(1) : "*" + child, at(start)));
            }
        }
    }

    /** The addresses that the most children have, the first ones of several; empty if no child is uniform. */
    private List<Answer> usual(int from, int part) {
        Map<List<Answer>, Integer> counts = new HashMap<>();
        List<Answer> usual = List.of();
        int most = 0;
        for (int digit = 0; digit < 16; digit++) {
            int start = from + digit * part;
            if (isUniform(start, part)) {
                counts.merge(at(start), 1, Integer::sum);
            }
        }
        for (int digit = 0; digit < 16; digit++) {
            List<Answer> here = at(from + digit * part);
            if (isUniform(from + digit * part, part) && counts.getOrDefault(here, 0) > most) {
                most = counts.getOrDefault(here, 0);
                usual = here;
            }
        }
        return usual;
    }

    private boolean isUniform(int from, int size) {
        return families.stream().allMatch(runs -> run(runs, from).to() >= from + size);
    }

    private List<Answer> at(int slot) {
        return families.stream().map(runs -> run(runs, slot).answer()).toList();
    }

    private static Slots.Run run(List<Slots.Run> runs, int slot) {
        int low = 0;
        int high = runs.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (runs.get(middle).to() > slot) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return runs.get(low);
    }
}
