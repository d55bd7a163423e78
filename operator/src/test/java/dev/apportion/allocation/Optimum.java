package dev.apportion.allocation;

import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The least makespan of a tiny problem, by trying every choice of replicas for every stream. For a choice, the least makespan
 * is the largest quotient, over sets of streams, of their rates and the capacity of the replicas that they have together.
 */
final class Optimum {

    private final Problem problem;
    private final List<Integer> streams = new ArrayList<>();
    private final List<List<Integer>> choices = new ArrayList<>();
    private double least = Double.POSITIVE_INFINITY;

    private Optimum(Problem problem) {
        this.problem = problem;
        for (int j = 0; j < problem.streams().size(); j++) {
            Stream stream = problem.streams().get(j);
            int eligible = 0;
            for (int i = 0; i < problem.replicas().size(); i++) {
                Replica replica = problem.replicas().get(i);
                if (stream.sites().isEmpty() || stream.sites().contains(replica.site())) {
                    eligible |= 1 << i;
                }
            }
            int k = Math.min(stream.maxReplicas(), Integer.bitCount(eligible));
            List<Integer> sets = new ArrayList<>();
            for (int set = 1; set < 1 << problem.replicas().size(); set++) {
                if ((set & ~eligible) == 0 && Integer.bitCount(set) == k) {
                    sets.add(set);
                }
            }
            if (!sets.isEmpty()) {
                streams.add(j);
                choices.add(sets);
            }
        }
    }

    static double makespan(Problem problem) {
        Optimum optimum = new Optimum(problem);
        optimum.choose(0, new int[optimum.streams.size()]);
        return optimum.least;
    }

    private void choose(int at, int[] chosen) {
        if (at == chosen.length) {
            least = Math.min(least, makespan(chosen));
            return;
        }
        for (int set : choices.get(at)) {
            chosen[at] = set;
            choose(at + 1, chosen);
        }
    }

    private double makespan(int[] chosen) {
        return makespan(problem, streams, chosen);
    }

    /**
     * The least makespan where it is chosen which replicas each stream uses.
     *
     * @param chosen the replicas of each stream of the problem, as bits
     */
    static double ofChoice(Problem problem, int[] chosen) {
        return makespan(problem, IntStream.range(0, chosen.length).boxed().toList(), chosen);
    }

    private static double makespan(Problem problem, List<Integer> streams, int[] chosen) {
        double makespan = 0;
        for (int some = 1; some < 1 << chosen.length; some++) {
            int union = 0;
            double rate = 0;
            for (int s = 0; s < chosen.length; s++) {
                if ((some >> s & 1) != 0) {
                    union |= chosen[s];
                    rate += problem.streams().get(streams.get(s)).rate();
                }
            }
            double capacity = 0;
            for (int i = 0; i < problem.replicas().size(); i++) {
                capacity += (union >> i & 1) != 0 ? problem.replicas().get(i).capacity() : 0;
            }
            makespan = Math.max(makespan, rate / capacity);
        }
        return makespan;
    }
}
