package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Replicas rated by their users and their load average; the lowest rating is the best. With TOT users, UNIQ distinct ones,
 * LOAD the load average times 100, W the weight of a user and U the users of a unit of load, a rating is
 *
 * <pre>UNIQ · W + LOAD · U + (TOT − UNIQ) · W / 5</pre>
 *
 * <p>Where users were not counted, connections stand for them; where distinct users were not, all users are distinct. A
 * quantity that was measured of no replica counts nothing. A replica that lacks one that others have is silent, and rated
 * 10000.
 *
 * <p>Each stream whose answer does not name all its eligible replicas adds the dispatch penalty to the ratings of those that
 * it names, so that the streams after it, of lower rates, do not all storm the best one.
 *
 * <p>Source: dlbDNS, for the formula and the rating of silent servers; lbcd, for the penalty. Shares are ours.
 *
 * @param weightPerUser W; finite and not negative
 * @param usersPerLoadUnit U; finite and not negative
 * @param dispatchPenalty what one answer adds to ratings; finite and not negative
 */
public record Rating(Mode mode, double weightPerUser, double usersPerLoadUnit, double dispatchPenalty)
        implements Policy {

    /** How ratings decide. */
    public enum Mode {
        /** A stream has one replica, the best one. */
        BEST,
        /** A stream has the k best replicas, each with a weight of 1 over what its rating is after one more answer. */
        WEIGHTED
    }

    /** The rating of a silent replica. */
    private static final double SILENT = 10_000;

    /** Users beyond the first that are the same person weigh this much less. */
    private static final double REPEATED = 5;

    /** Load averages are counted in hundredths. */
    private static final double LOAD_UNITS = 100;

    /** Ratings beyond this are taken for this, so that sums stay finite. */
    private static final double MOST = 1e100;

    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        boolean users = problem.replicas().stream().anyMatch(replica -> Rated.knowsUsers(replica.measured()));
        boolean load = problem.replicas().stream()
                .anyMatch(replica -> replica.measured().loadAverage().isPresent());
        List<Rated> rated = new ArrayList<>();
        for (int i = 0; i < in.m; i++) {
            rated.add(rate(in.replica(i).measured(), users, load));
        }
        double[] ratings = rated.stream().mapToDouble(Rated::rating).toArray();
        double answer = Math.max(1, dispatchPenalty);
        int most = switch (mode) {
            case BEST -> 1;
            case WEIGHTED -> in.m;
        };
        List<List<Piece>> pieces =
                new ScoreSpread(in, ratings, rating -> 1 / (rating + answer), dispatchPenalty, most).pieces();
        return in.allocation(pieces::get, measure.level(), measure.bound())
                .because(in.inOrderOfProblem(i -> rated.get(i).because()));
    }

    private record Rated(double rating, String because) {

        static boolean knowsUsers(Sample sample) {
            return sample.users().isPresent()
                    || sample.connections().isPresent()
                    || sample.uniqueUsers().isPresent();
        }
    }

    private Rated rate(Sample sample, boolean users, boolean load) {
        List<String> lacking = new ArrayList<>();
        if (users && !Rated.knowsUsers(sample)) {
            lacking.add("users");
        }
        if (load && sample.loadAverage().isEmpty()) {
            lacking.add("load average");
        }
        if (!lacking.isEmpty() || (!users && !load)) {
            return new Rated(
                    SILENT,
                    "rating %s: silent, %s not measured"
                            .formatted(
                                    Rounded.text(SILENT),
                                    lacking.isEmpty() ? "users and load average" : String.join(" and ", lacking)));
        }
        List<String> seen = new ArrayList<>();
        double rating = 0;
        if (users) {
            OptionalDouble counted = sample.users().isPresent() ? sample.users() : sample.connections();
            double distinct = sample.uniqueUsers().orElse(counted.orElse(0));
            double total = Math.max(distinct, counted.orElse(distinct));
            rating += distinct * weightPerUser + (total - distinct) * (weightPerUser / REPEATED);
            counted.ifPresent(
                    count -> seen.add(Rounded.text(count) + (sample.users().isPresent() ? " users" : " connections")));
            sample.uniqueUsers().ifPresent(count -> seen.add(Rounded.text(count) + " distinct"));
        }
        if (load) {
            double average = sample.loadAverage().orElse(0);
            rating += usersPerLoadUnit * average * LOAD_UNITS;
            seen.add("load average " + Rounded.text(average));
        }
        rating = Math.min(rating, MOST);
        return new Rated(rating, "rating %s: %s".formatted(Rounded.text(rating), String.join(", ", seen)));
    }
}
