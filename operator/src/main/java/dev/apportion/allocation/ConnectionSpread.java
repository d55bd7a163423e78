package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.LeastConnectionsRun.Round;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * The shares that a least-connection scheduler would give the requests of the next time to live of every stream, beginning
 * with the connections that were measured.
 *
 * <p>A record set cannot decide for each request, so the scheduler is played in advance. Streams that may use all their
 * replicas are one run for each class; the others follow by descending rate, each on the k replicas with the fewest
 * connections for their weight. Each run finds what the runs before it have left.
 *
 * <p>Without a limit on continuous allocations a run has a closed form: requests raise the replicas with the fewest
 * connections for their weight to one level, like a fluid; the run itself differs by about a request for each replica. With
 * a limit it is played in parcels, whose number does not depend on the rate, until no replica is new, and the rest is poured.
 * The limit counts parcels: what it leaves to a new replica of many requests, it leaves to it of few.
 */
final class ConnectionSpread {

    /** Parcels for each replica of a run, from which shares are made. */
    private static final int PARCELS = 256;

    /** A run has no fewer parcels than this, or than {@link #FEWEST_PARCELS} for each replica, because all runs are many. */
    private static final int LEAST_MOST_PARCELS = 4096;

    private static final int FEWEST_PARCELS = 4;

    /** All runs together look at replicas so often, a tenth of a second's work; beyond that each has fewer parcels. */
    private static final long WORK = 100_000_000;

    /** A limit so high that a run does not hold so many of its periods is lowered, which changes shares little. */
    private static final int PERIODS = 16;

    /** Counts of requests and connections beyond this are taken for this, so that sums stay finite. */
    private static final double MOST = 1e200;

    /** Counts of requests below this are taken for this, so that something is left of each part of them. */
    private static final double FEWEST_REQUESTS = 1e-100;

    /** Weights below this part of the largest are taken for this, so that quotients stay finite. */
    private static final double LEAST_WEIGHT = 1e-90;

    private final Instance in;
    private final OptionalInt maxContinuousAllocations;
    private final Round round;
    private final double[] weight;
    private final Counts counts;
    private final double[] connections;
    private final double[] ratio;
    private final int mostParcels;

    /**
     * @param weight the weight of each canonical replica, not far above 1
     * @param maxContinuousAllocations the most requests in a row that go to a new replica; empty for no limit
     */
    ConnectionSpread(Instance in, double[] weight, OptionalInt maxContinuousAllocations, Round round) {
        this.in = in;
        this.weight = new double[in.m];
        for (int i = 0; i < in.m; i++) {
            this.weight[i] = Math.max(weight[i], LEAST_WEIGHT);
        }
        this.maxContinuousAllocations = maxContinuousAllocations;
        this.round = round;
        counts = Counts.of(in, this.weight);
        connections = counts.connections.clone();
        ratio = new double[in.m];
        for (int i = 0; i < in.m; i++) {
            ratio[i] = connections[i] / this.weight[i];
        }
        long runs = in.eligibility.classCount();
        for (int j = 0; j < in.rated; j++) {
            runs += in.free(j) ? 0 : 1;
        }
        mostParcels = (int) Math.max(LEAST_MOST_PARCELS, WORK / Math.max(1, runs * in.m));
    }

    /** The pieces of every canonical stream. */
    List<List<Piece>> pieces() {
        List<List<Piece>> pieces = new ArrayList<>(Collections.nCopies(in.n, List.of()));
        runFree(pieces);
        LeastLoaded order = new LeastLoaded(in, ratio, new double[in.m]);
        for (int j = 0; j < in.rated; j++) {
            if (in.limit[j] > 0 && !in.free(j)) {
                int[] replicas = order.take(in.streamClass[j], in.limit[j]);
                pieces.set(j, run(replicas, requests(j)));
                order.putBack(replicas);
            }
        }
        spreadUnrated(pieces);
        return pieces;
    }

    /** What was seen of each replica, in the order of the problem. */
    List<String> because() {
        LeastConnectionsRun start =
                new LeastConnectionsRun(weight, counts.connections, maxContinuousAllocations, round);
        return in.inOrderOfProblem(i -> {
            String seen = counts.text(i);
            return maxContinuousAllocations.isPresent() && start.isNew(i)
                    ? "%s, new: at most %d requests in a row".formatted(seen, maxContinuousAllocations.getAsInt())
                    : seen;
        });
    }

    private double requests(int stream) {
        Stream described = in.stream(stream);
        return Math.clamp(described.rate() * described.ttlSeconds(), FEWEST_REQUESTS, MOST);
    }

    private void runFree(List<List<Piece>> pieces) {
        double[] requests = new double[in.eligibility.classCount()];
        for (int j = 0; j < in.rated; j++) {
            if (in.free(j)) {
                requests[in.streamClass[j]] += requests(j);
            }
        }
        List<List<Piece>> ofClass = new ArrayList<>(Collections.nCopies(requests.length, List.of()));
        for (int c = 0; c < requests.length; c++) {
            if (requests[c] > 0) {
                ofClass.set(c, run(in.eligibleReplicas(c), requests[c]));
            }
        }
        for (int j = 0; j < in.rated; j++) {
            if (in.free(j)) {
                pieces.set(j, ofClass.get(in.streamClass[j]));
            }
        }
    }

    /** Streams without rate bring no requests: they share by weight, and count among themselves as if each were alike. */
    private void spreadUnrated(List<List<Piece>> pieces) {
        double[] nominal = new double[in.m];
        LeastLoaded order = new LeastLoaded(in, nominal, ratio);
        for (int j = in.rated; j < in.n; j++) {
            if (in.limit[j] == 0) {
                continue;
            }
            int[] replicas =
                    in.free(j) ? in.eligibleReplicas(in.streamClass[j]) : order.take(in.streamClass[j], in.limit[j]);
            double[] amounts =
                    Arrays.stream(replicas).mapToDouble(i -> weight[i]).toArray();
            if (!in.free(j)) {
                double sum = Arrays.stream(amounts).sum();
                for (int replica : replicas) {
                    nominal[replica] += 1 / sum;
                }
                order.putBack(replicas);
            }
            pieces.set(j, in.pieces(replicas, amounts, 0, replicas.length));
        }
    }

    /** Runs the requests of one or more streams over replicas, whose connections then are those after the run. */
    private List<Piece> run(int[] replicas, double requests) {
        int[] byName = Arrays.stream(replicas)
                .boxed()
                .sorted(Comparator.comparingInt(in::nameRank))
                .mapToInt(i -> i)
                .toArray();
        int k = byName.length;
        double[] weights = new double[k];
        double[] before = new double[k];
        for (int p = 0; p < k; p++) {
            weights[p] = weight[byName[p]];
            before[p] = connections[byName[p]];
        }
        double[] amounts = maxContinuousAllocations.isPresent()
                ? played(weights, before, requests)
                : poured(weights, before, requests);
        for (int p = 0; p < k; p++) {
            connections[byName[p]] += amounts[p];
            ratio[byName[p]] = connections[byName[p]] / weights[p];
        }
        return in.pieces(byName, amounts, 0, k);
    }

    /** The run with a limit on continuous allocations: in parcels as long as some replica is new, then poured. */
    private double[] played(double[] weights, double[] before, double requests) {
        int k = weights.length;
        int parcels = Math.max(FEWEST_PARCELS * k, Math.min(PARCELS * k, mostParcels));
        LeastConnectionsRun run = new LeastConnectionsRun(weights, before, OptionalInt.of(limit(parcels, k)), round);
        double size = requests / parcels;
        double[] amounts = new double[k];
        int played = 0;
        while (played < parcels && run.hasNew()) {
            amounts[run.allocate(size)] += size;
            played++;
        }
        if (played < parcels) {
            double[] now = new double[k];
            Arrays.setAll(now, run::connections);
            double[] rest = poured(weights, now, requests - played * size);
            for (int p = 0; p < k; p++) {
                amounts[p] += rest[p];
            }
        }
        return amounts;
    }

    /** The limit in parcels: a period is L allocations to a new replica and L − 1 rounds. */
    private int limit(int parcels, int replicas) {
        long roundsLength = LeastConnectionsRun.requestsOfRound(round, replicas);
        long most = Math.max(2, (parcels / PERIODS + roundsLength) / (1 + roundsLength));
        return (int) Math.min(maxContinuousAllocations.orElse(1), most);
    }

    /**
     * The closed form of the run without a limit: the least connections over weight are raised to one level.
     *
     * @return the requests that each replica gets; some amount is greater than zero
     */
    static double[] poured(double[] weights, double[] connections, double requests) {
        int k = weights.length;
        Integer[] order = new Integer[k];
        Arrays.setAll(order, p -> p);
        Arrays.sort(order, Comparator.<Integer>comparingDouble(p -> connections[p] / weights[p]));
        double least = connections[order[0]] / weights[order[0]];
        // above the least level, so that few requests beside many connections do not drown in rounding
        double[] above = new double[k];
        double capacity = 0;
        double filled = requests;
        double level = 0;
        int wet = 0;
        for (int next : order) {
            above[next] = Math.max(0, connections[next] - least * weights[next]);
            if (wet > 0 && level * weights[next] <= above[next]) {
                break;
            }
            capacity += weights[next];
            filled += above[next];
            level = filled / capacity;
            wet++;
        }
        double[] amounts = new double[k];
        for (int w = 0; w < wet; w++) {
            int p = order[w];
            amounts[p] = Math.max(0, level * weights[p] - above[p]);
        }
        return amounts;
    }

    /** The connections that each canonical replica has; where they were not measured, as many as the others for its weight. */
    private static final class Counts {

        private final double[] connections;
        private final boolean[] known;
        private final boolean any;
        private final String unit;

        private Counts(double[] connections, boolean[] known, boolean any, String unit) {
            this.connections = connections;
            this.known = known;
            this.any = any;
            this.unit = unit;
        }

        static Counts of(Instance in, double[] weight) {
            boolean opened = anyHas(in, Sample::connections);
            Function<Sample, OptionalDouble> quantity = opened ? Sample::connections : Sample::inFlight;
            double[] connections = new double[in.m];
            boolean[] known = new boolean[in.m];
            double sum = 0;
            double weights = 0;
            for (int i = 0; i < in.m; i++) {
                OptionalDouble measured = quantity.apply(in.replica(i).measured());
                known[i] = measured.isPresent();
                if (known[i]) {
                    connections[i] = Math.clamp(measured.getAsDouble(), 0, MOST);
                    sum += connections[i];
                    weights += weight[i];
                }
            }
            for (int i = 0; i < in.m; i++) {
                if (!known[i] && weights > 0) {
                    connections[i] = Math.min(sum * (weight[i] / weights), MOST);
                }
            }
            return new Counts(connections, known, weights > 0, opened ? "connections" : "requests in flight");
        }

        private static boolean anyHas(Instance in, Function<Sample, OptionalDouble> quantity) {
            return in.problem.replicas().stream()
                    .map(Replica::measured)
                    .map(quantity)
                    .anyMatch(OptionalDouble::isPresent);
        }

        String text(int replica) {
            if (!any) {
                return "no connections were measured of any replica";
            }
            String number = Rounded.text(connections[replica]);
            return known[replica]
                    ? number + " " + unit
                    : "%s not measured: counts as if it had %s, as many as the others".formatted(unit, number);
        }
    }
}
