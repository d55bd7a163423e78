package dev.apportion.reconcile;

import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.WeightedRRset;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What clients of a zone's resolvers get.
 *
 * @param resolvers what came through each of them, by address; empty where the zone names none
 */
record ResolverReport(SortedMap<String, Through> resolvers) {

    static final ResolverReport NONE = new ResolverReport(new TreeMap<>());

    /**
     * What came through one resolver.
     *
     * @param silence why it counts as not answering, for people; empty if it answers, or was not asked yet
     * @param hosts the verdicts on hosts, by name; the last one on a host stays while its weights change
     */
    record Through(Optional<String> silence, SortedMap<String, Heard> hosts) {}

    /** What is known of one host through one resolver. */
    sealed interface Heard {

        /** Its answers were counted and judged. */
        record Judged(WeightedRRset set, ShareVerdict verdict) implements Heard {}

        /** It has no address there; question and answer are for people. */
        record Unresolved(String question, String answer) implements Heard {}
    }
}
