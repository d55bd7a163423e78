package dev.apportion.e2e.bed;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.statistics.inference.ChiSquareTest;

/**
 * How often each outcome came among a number of answers: the first address, or else the response code, or {@code NODATA}.
 *
 * @param counts outcome to number, sorted
 */
public record Tally(SortedMap<String, Long> counts) {

    /** The tally of answers to questions of one type. */
    public static Tally of(Stream<Answer> answers, int type) {
        return new Tally(answers.collect(
                Collectors.groupingBy(answer -> outcome(answer, type), TreeMap::new, Collectors.counting())));
    }

    private static String outcome(Answer answer, int type) {
        if (answer.rcode().equals("NOERROR")) {
            return answer.addresses(type).stream().findFirst().orElse("NODATA");
        }
        return answer.rcode();
    }

    /** How many answers had an outcome. */
    public long count(String outcome) {
        return counts.getOrDefault(outcome, 0L);
    }

    public long total() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * The probability that answers drawn by these weights deviate from them at least as much (Pearson's chi-squared test). It is 0 if an
     * outcome came that has no weight, and 1 if there is only one outcome to choose.
     *
     * @param weights outcome to weight; 0: must not come
     */
    public double pValue(Map<String, Integer> weights) {
        SortedMap<String, Integer> possible = new TreeMap<>(weights);
        possible.values().removeIf(weight -> weight == 0);
        if (!possible.keySet().containsAll(counts.keySet())) {
            return 0;
        }
        if (possible.size() == 1) {
            return 1;
        }
        double sum = possible.values().stream().mapToInt(Integer::intValue).sum();
        double[] expected =
                possible.values().stream().mapToDouble(weight -> weight / sum).toArray();
        long[] observed = possible.keySet().stream().mapToLong(this::count).toArray();
        return ChiSquareTest.withDefaults().test(expected, observed).getPValue();
    }
}
