package dev.apportion.reconcile;

import dev.apportion.load.Reading;
import dev.apportion.reconcile.Estimates.Busy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * How fast replicas turn out to be, against what was declared of them. Pure.
 *
 * <p>A replica's mean requests in flight are its rate times the time that a request takes (Little's law), so a replica that has
 * more of them for its rate than the others of its pool is slower than it was declared: one of more capacity serves more
 * requests at once, but none of them slower. The use of a resource goes with the rate over the capacity. The declared capacity is
 * the prior, or what another operator had learned: it counts as much as {@value #PRIOR} requests that were seen in flight. Only proportions are learned: the
 * capacities add up to what was declared.
 *
 * <p>The time that a request takes depends on the traffic that follows from all this, the more so the longer the queues, and
 * everything that is done shows late. So this goes step by step. A step is taken where a replica is off by more than chance
 * explains; after it nothing counts that was measured before everybody has the new answers. A step goes a part of the way, which is halved
 * whenever the direction changes, as it does where the last one went too far or chance rules, and grows again while it stays: H. Kesten, Accelerated stochastic
 * approximation, Annals of Mathematical Statistics 29 (1958). Who has turned once is
 * looked at for longer before the next step.
 *
 * @param trials what was measured of each process since the last step is in force, by its key
 * @param known what is known of replicas, by their names
 */
record Speeds(Map<String, Trial> trials, Map<String, Speed> known) {

    static final Speeds NONE = new Speeds(Map.of(), Map.of());

    /** How many requests in flight have to be seen before they count as much as the declaration. */
    static final double PRIOR = 10;

    /** Nobody errs more than this about a capacity; a measurement that says so errs itself. */
    static final double MOST_FACTOR = 4;

    /** What differs by less is not worth a change. */
    private static final double DEAD_BAND = Math.log1p(0.05);

    /** Standard errors that chance hardly exceeds, although many replicas are looked at many times. */
    private static final double CERTAINTY = 3.5;

    /** The same of measurements within a short time, which are less independent of each other, as queues are. */
    private static final double QUICK_CERTAINTY = 4;

    /** What measurements have to be worth, in measurements, before a step is taken by them. */
    private static final double FEW = 2.5;

    /** The same where steps have gone to and fro. */
    private static final double MANY = 15;

    /** The part of replicas that have to be measured so often. */
    private static final double QUORUM = 0.75;

    /** The part of the way that a step goes: at first and at most, and at least. */
    private static final double BOLD = 0.7;

    private static final double CAUTIOUS = 0.05;

    private static final double GROWTH = 1.25;

    /** A step changes a capacity by no more than this factor. */
    private static final double LONGEST_STEP = Math.log(1.5);

    /** A change that is large is to be seen soon, and a small one surely. */
    private static final Duration QUICK = Duration.ofMinutes(1);

    private static final Duration STEADY = Duration.ofMinutes(10);

    Speeds {
        trials = Map.copyOf(trials);
        known = Map.copyOf(known);
    }

    /**
     * What is known of a replica.
     *
     * @param factor its capacity over the declared one
     * @param prior what that is taken for as long as hardly anything was measured: 1, unless it was learned before
     * @param direction of the last step: 1, -1, or 0 before the first
     * @param gain the part of the way that it went
     * @param turned whether the direction has ever changed
     * @param from measurements count from here on, in nanoseconds of the monotonic clock
     * @param because what the last step was taken by; empty before the first
     */
    record Speed(double factor, double prior, int direction, double gain, boolean turned, long from, String because) {

        static final Speed DECLARED = new Speed(1, 1, 0, BOLD, false, Long.MIN_VALUE, "");

        /** @param way the logarithm of what it is off */
        Speed step(double way, String evidence) {
            int next = way > 0 ? 1 : -1;
            boolean turns = direction != 0 && next != direction;
            double part = direction == 0 ? BOLD : Math.clamp(gain * (turns ? 0.5 : GROWTH), CAUTIOUS, BOLD);
            double change = Math.exp(Math.clamp(part * way, -LONGEST_STEP, LONGEST_STEP));
            return new Speed(factor * change, prior, next, part, turned || turns, from, evidence);
        }

        /** A first step goes a part of the way on purpose, so for the next one that way it takes half the certainty. */
        private double goesOn(double way) {
            return !turned && direction != 0 && way > 0 == direction > 0 ? 0.5 : 1;
        }

        Speed from(long other) {
            return new Speed(factor, prior, direction, gain, turned, other, because);
        }

        Speed times(double scale) {
            return new Speed(factor * scale, prior, direction, gain, turned, from, because);
        }
    }

    /** Means of one process: one that forgets soon, and one that does not. */
    record Trial(Busy quick, Busy steady) {

        static Trial of(Reading reading) {
            return new Trial(Busy.of(reading), Busy.of(reading));
        }

        Trial next(Reading reading) {
            return new Trial(quick.next(reading, QUICK), steady.next(reading, STEADY));
        }
    }

    /**
     * A replica that is measured.
     *
     * @param declared in requests/s
     * @param processes how many are behind it
     * @param readings the last reading of those that are measured, by their keys
     * @param planned the rate that it was given, in requests/s; counts where requests are not measured
     */
    record Replica(String name, double declared, int processes, Map<String, Reading> readings, double planned) {}

    /** What all measurements of a replica together say. */
    private record Evidence(
            Replica replica, double rate, double inFlight, double variance, double weight, boolean utilisation) {

        /** What in flight is proportional to. */
        double expected() {
            return utilisation ? rate / replica.declared() : rate;
        }

        double time() {
            return inFlight / expected();
        }

        /** @param prior over that of a typical replica */
        double factor(double typicalTime, double prior) {
            double usual = typicalTime * expected();
            return Math.clamp(
                    (usual * weight + PRIOR * prior) / (inFlight * weight + PRIOR), 1 / MOST_FACTOR, MOST_FACTOR);
        }

        /** The standard error of the logarithm: counts are Poisson's, or worse. */
        double error() {
            return Math.sqrt(Math.max(inFlight, variance) * weight + PRIOR) / (inFlight * weight + PRIOR);
        }

        String words() {
            return String.format(
                    Locale.ROOT, "%.3g %s at %.3g requests/s", inFlight, utilisation ? "% used" : "in flight", rate);
        }
    }

    /** What is known of a replica; the declaration where nothing is. */
    Speed of(String name) {
        return known.getOrDefault(name, Speed.DECLARED);
    }

    /**
     * With what is known of others from elsewhere: factors over what is declared, by the names of replicas. It rests on more than a
     * few measurements, so they are looked at for as long as those who have turned.
     */
    Speeds inheriting(Map<String, Double> factors) {
        Map<String, Speed> all = new HashMap<>(known);
        factors.forEach((name, factor) -> all.putIfAbsent(
                name, new Speed(factor, factor, 0, BOLD, true, Long.MIN_VALUE, "what was published before")));
        return new Speeds(trials, all);
    }

    /** What is known of replicas: their capacities over the declared ones, by their names. */
    Map<String, Double> factors() {
        Map<String, Double> factors = new HashMap<>();
        known.forEach((name, speed) -> factors.put(name, speed.factor()));
        return factors;
    }

    /**
     * After one more look. Replicas that are not among these are forgotten.
     *
     * @param inForce how long a changed answer takes until everybody has it
     */
    Speeds next(List<Replica> replicas, Duration inForce) {
        Map<String, Trial> nextTrials = new HashMap<>();
        Map<String, Speed> speeds = new TreeMap<>();
        List<Evidence> quick = new ArrayList<>();
        List<Evidence> steady = new ArrayList<>();
        long now = Long.MIN_VALUE;
        for (Replica replica : replicas) {
            Speed speed = of(replica.name());
            speeds.put(replica.name(), speed);
            List<Trial> means = new ArrayList<>();
            boolean utilisation = false;
            for (Map.Entry<String, Reading> entry : replica.readings().entrySet()) {
                Reading reading = entry.getValue();
                utilisation |= reading.sample().utilisation().isPresent();
                now = Math.max(now, reading.takenNanos());
                if (reading.takenNanos() >= speed.from()) {
                    Trial before = trials.get(entry.getKey());
                    Trial mean = before == null ? Trial.of(reading) : before.next(reading);
                    nextTrials.put(entry.getKey(), mean);
                    means.add(mean);
                }
            }
            evidence(replica, means.stream().map(Trial::quick).toList(), utilisation)
                    .ifPresent(quick::add);
            evidence(replica, means.stream().map(Trial::steady).toList(), utilisation)
                    .ifPresent(steady::add);
        }
        Map<String, Speed> stepped = steps(
                steady, evidence -> of(evidence.replica().name()).turned() ? MANY : FEW, CERTAINTY, replicas.size());
        Map<String, Speed> sooner = steps(
                quick,
                evidence -> of(evidence.replica().name()).turned() ? Double.POSITIVE_INFINITY : FEW,
                QUICK_CERTAINTY,
                replicas.size());
        sooner.forEach(stepped::putIfAbsent);
        if (stepped.isEmpty()) {
            return new Speeds(nextTrials, speeds);
        }
        long from = now + inForce.toNanos();
        for (Replica replica : replicas) {
            Speed speed = stepped.get(replica.name());
            if (speed != null) {
                speeds.put(replica.name(), speed.from(from));
                nextTrials.keySet().removeAll(replica.readings().keySet());
            }
        }
        return new Speeds(nextTrials, scaled(replicas, speeds));
    }

    /** Only proportions were learned: the capacities are made to add up to what was declared. */
    private static Map<String, Speed> scaled(List<Replica> replicas, Map<String, Speed> speeds) {
        double declared = 0;
        double learned = 0;
        for (Replica replica : replicas) {
            declared += replica.declared();
            learned += replica.declared()
                    * speeds.getOrDefault(replica.name(), Speed.DECLARED).factor();
        }
        double scale = declared / learned;
        Map<String, Speed> scaled = new TreeMap<>();
        for (Replica replica : replicas) {
            scaled.put(
                    replica.name(),
                    speeds.getOrDefault(replica.name(), Speed.DECLARED).times(scale));
        }
        return scaled;
    }

    /** Processes that are silent count as the mean of the others. */
    private static Optional<Evidence> evidence(Replica replica, List<Busy> means, boolean utilisation) {
        OptionalDouble inFlight = mean(means, Busy::inFlight);
        OptionalDouble requests = mean(means, Busy::requests);
        double rate = requests.isPresent() ? requests.getAsDouble() * replica.processes() : replica.planned();
        if (inFlight.isEmpty() || rate <= 0) {
            return Optional.empty();
        }
        return Optional.of(new Evidence(
                replica,
                rate,
                inFlight.getAsDouble() * replica.processes(),
                means.stream().mapToDouble(Busy::variance).average().orElse(0) * replica.processes(),
                means.stream().mapToDouble(Busy::weight).average().orElse(0),
                utilisation));
    }

    private static OptionalDouble mean(List<Busy> means, Function<Busy, OptionalDouble> quantity) {
        return means.stream()
                .map(quantity)
                .flatMapToDouble(OptionalDouble::stream)
                .average();
    }

    /**
     * The steps that are due, by the names of replicas.
     *
     * @param needed what measurements of a replica have to be worth before it takes a step
     * @param all how many replicas there are
     */
    private Map<String, Speed> steps(
            List<Evidence> measured, ToDoubleFunction<Evidence> needed, double certainty, int all) {
        List<Evidence> sure =
                measured.stream().filter(evidence -> evidence.weight() >= FEW).toList();
        Map<String, Speed> steps = new TreeMap<>();
        if (sure.isEmpty() || sure.size() < QUORUM * all) {
            return steps;
        }
        double typical =
                median(sure.stream().mapToDouble(Evidence::time).sorted().toArray());
        double usual = median(sure, Speed::factor);
        double usualPrior = median(sure, Speed::prior);
        for (Evidence evidence : sure) {
            String name = evidence.replica().name();
            double way = Math.log(evidence.factor(typical, of(name).prior() / usualPrior) * usual / of(name).factor());
            if (evidence.weight() >= needed.applyAsDouble(evidence)
                    && Math.abs(way) > Math.max(DEAD_BAND, of(name).goesOn(way) * certainty * evidence.error())) {
                steps.put(name, of(name).step(way, evidence.words()));
            }
        }
        return steps;
    }

    private double median(List<Evidence> measured, ToDoubleFunction<Speed> of) {
        return median(measured.stream()
                .mapToDouble(evidence -> of.applyAsDouble(of(evidence.replica().name())))
                .sorted()
                .toArray());
    }

    private static double median(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
