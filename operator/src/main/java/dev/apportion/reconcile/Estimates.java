package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import dev.apportion.load.Reading;
import dev.apportion.load.Track;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is made of measurements: for each replica its sample and the capacity that it turns out to have, and for each stream
 * without a declared rate an estimate of it. Pure.
 *
 * <p>Of capacities {@link Speeds} speaks. Of rates the means count, exponentially weighted, with a half-life as long as an answer
 * is in force ({@link #halfLife}).
 *
 * <p>Rates of streams are estimated from the requests that each replica serves and the shares that each stream's answers
 * have of it: the expectation-maximisation for Poisson counts (Vardi, Journal of the American Statistical Association 91, 1996),
 * from the last estimate on.
 *
 * <p>What differs from the last by less than {@link #DEAD_BAND} stays as it was, so that noise changes nothing.
 *
 * @param busy the means of each process, by its key
 * @param speeds how fast the replicas turned out to be
 * @param adopted the samples and capacities that count, by the name of the replica
 * @param rates the estimated rates, by {@link Demand#key()}
 */
record Estimates(Map<String, Busy> busy, Speeds speeds, Map<String, Adopted> adopted, Map<String, Double> rates) {

    /** Why a replica counts with something else than what is declared: what it counts with, that, and what tells it. */
    static final String ESTIMATED = "estimated %s of %s declared, from %s";

    /** Why a replica counts with what is declared, although something was learned of it. */
    static final String ALL_HOT = "all replicas are hot: what is declared counts";

    static final Estimates NONE = new Estimates(Map.of(), Speeds.NONE, Map.of(), Map.of());

    /** The age at which a measurement counts half, at most. */
    static final Duration HALF_LIFE = Duration.ofSeconds(60);

    /** A mean of fewer measurements is none. */
    private static final int FEWEST = 3;

    /** The load over what is borne from which on a replica is hot. */
    private static final double HOT = 1;

    /** Below this part of it one of the replicas has to be until not all are hot any more. */
    private static final double COOLED = 0.9;

    /** The default capacity of a process, which says how replicas compare and not what they bear, in requests/s. */
    private static final double RELATIVE = 1;

    /** A change of less than this part changes nothing. */
    static final double DEAD_BAND = 0.05;

    private static final double SEEN_PART = 0.01;

    /** Utilisation is counted in hundredths, which makes it as certain as so many requests in flight. */
    private static final double UTILISATION_UNITS = 100;

    /** Rounds of expectation and maximisation for each new measurement; the next one goes on from there. */
    private static final int ROUNDS = 5;

    /** A stream of which nothing arrives has at least this rate, in requests/s: zero would mean that nothing is known. */
    private static final double LEAST_RATE = 0.001;

    Estimates {
        busy = Map.copyOf(busy);
        adopted = Map.copyOf(adopted);
        rates = Map.copyOf(rates);
    }

    /**
     * The exponentially weighted means of one process.
     *
     * @param requests requests/s; empty where they are not measured
     * @param inFlight requests in flight, or the utilisation in hundredths; empty where neither is measured
     * @param variance of the latter around their mean
     * @param weight how many measurements the means are worth
     * @param takenNanos when the last one was taken
     */
    record Busy(OptionalDouble requests, OptionalDouble inFlight, double variance, double weight, long takenNanos) {

        static Busy of(Reading reading) {
            return new Busy(reading.sample().requests(), inFlight(reading), 0, 1, reading.takenNanos());
        }

        private static OptionalDouble inFlight(Reading reading) {
            OptionalDouble used = reading.sample().utilisation();
            return used.isPresent()
                    ? OptionalDouble.of(used.getAsDouble() * UTILISATION_UNITS)
                    : reading.sample().inFlight();
        }

        Busy next(Reading reading, Duration halfLife) {
            long elapsed = reading.takenNanos() - takenNanos;
            if (elapsed <= 0) {
                return this;
            }
            double kept = weight * Math.pow(2, -(double) elapsed / halfLife.toNanos());
            OptionalDouble value = inFlight(reading);
            // West's update of a weighted variance.
            double off = inFlight.isPresent() && value.isPresent() ? value.getAsDouble() - inFlight.getAsDouble() : 0;
            return new Busy(
                    mean(requests, reading.sample().requests(), kept),
                    mean(inFlight, value, kept),
                    kept / (kept + 1) * (variance + off * off / (kept + 1)),
                    kept + 1,
                    reading.takenNanos());
        }

        /** Between what it was and what is measured, never beyond. */
        private static OptionalDouble mean(OptionalDouble mean, OptionalDouble value, double kept) {
            return mean.isEmpty() || value.isEmpty()
                    ? value
                    : OptionalDouble.of((mean.getAsDouble() * kept + value.getAsDouble()) / (kept + 1));
        }
    }

    /**
     * What counts of a replica.
     *
     * @param capacity in requests/s
     * @param because where the capacity comes from; empty if it is the declared one
     */
    record Adopted(Sample sample, double capacity, String because) {}

    /**
     * The age at which a measurement counts half: as long as a changed answer takes to be in force everywhere, because what was
     * before tells of other shares, but of a few measurements at least, and of {@link #HALF_LIFE} at most.
     *
     * @param inForce how long a change takes, from one answer to all
     * @param interval the time between two measurements
     */
    static Duration halfLife(Duration inForce, Duration interval) {
        Duration few = interval.multipliedBy(FEWEST);
        Duration longer = inForce.compareTo(few) > 0 ? inForce : few;
        return longer.compareTo(HALF_LIFE) < 0 ? longer : HALF_LIFE;
    }

    /** With what is known of the speeds of other replicas from elsewhere. */
    Estimates inheriting(Map<String, Double> factors) {
        return factors.isEmpty() ? this : new Estimates(busy, speeds.inheriting(factors), adopted, rates);
    }

    /** The result of one look at measurements. */
    record Judged(Estimates estimates, List<Member> members, List<Demand> demands) {}

    /**
     * Judges what was measured last.
     *
     * @param loads what counts of each process, by {@link Member.Server}
     * @param counted says of the name of a replica whether it has waited long enough for its first measurement
     * @param queried the rates that queries gave, by {@link Demand#key()}; empty where a query gave none that counts
     * @param inForce how long a changed answer takes until everybody has it
     * @param interval the time between two measurements
     * @param before the plan that is in force
     */
    Judged next(
            List<Member> members,
            List<Demand> demands,
            Function<Member.Server, Track.Load> loads,
            Function<Member, Boolean> counted,
            Map<String, OptionalDouble> queried,
            Duration inForce,
            Duration interval,
            Optional<PoolPlan> before) {
        Duration halfLife = halfLife(inForce, interval);
        Map<String, Busy> nextBusy = new HashMap<>();
        Map<String, Total> totals = new TreeMap<>();
        Map<String, Member.Load> from = new HashMap<>();
        Map<String, Integer> behind = behind(members);
        for (Member member : members) {
            if (!member.isReady()) {
                continue;
            }
            Total total = new Total();
            for (Member.Server process : member.processes()) {
                int replicas = behind.getOrDefault(Loads.key(process), 1);
                total.add(process, part(loads.apply(process), replicas), busy, nextBusy, halfLife);
            }
            from.put(member.name(), total.load(counted.apply(member)));
            if (total.measured > 0) {
                totals.put(member.name(), total);
            }
        }
        Speeds nextSpeeds = speeds.next(measured(members, totals, before), inForce);
        boolean hot = allHot(members, totals, before);
        Map<String, Adopted> next = new HashMap<>();
        List<Member> judged = new ArrayList<>();
        for (Member member : members) {
            Member.Load load = from.get(member.name());
            Total total = totals.get(member.name());
            if (load == null) {
                judged.add(member);
            } else if (total == null) {
                judged.add(member.measured(load, Sample.NONE, member.declared()));
            } else {
                Adopted adopts = adopt(
                        member, total, nextSpeeds.of(member.name()), Optional.ofNullable(adopted.get(member.name())));
                next.put(member.name(), adopts);
                judged.add(hot ? hot(member, load, adopts.sample()) : with(member, load, adopts));
            }
        }
        Map<String, Double> nextRates = rates(demands, totals, queried, before);
        return new Judged(
                new Estimates(nextBusy, nextSpeeds, next, nextRates),
                List.copyOf(judged),
                demands.stream().map(demand -> withRate(demand, nextRates)).toList());
    }

    /** Behind how many ready replicas each process is: more than one where the selectors of Services overlap. */
    private static Map<String, Integer> behind(List<Member> members) {
        Map<String, Integer> behind = new HashMap<>();
        members.stream()
                .filter(Member::isReady)
                .flatMap(member -> member.processes().stream())
                .forEach(process -> behind.merge(Loads.key(process), 1, Integer::sum));
        return behind;
    }

    /** What a process does for one of so many replicas; all of it for each would be more than there is. */
    private static Track.Load part(Track.Load load, int replicas) {
        return switch (load) {
            case Track.Load.Measured(Reading reading) -> new Track.Load.Measured(reading.part(replicas));
            case Track.Load.Held(Reading reading, String reason, boolean partly) ->
                new Track.Load.Held(reading.part(replicas), reason, partly);
            case Track.Load.Missing missing -> missing;
        };
    }

    /** Judges where replicas are not measured: the rates that queries gave are all that is known. */
    Judged unmeasured(List<Member> members, List<Demand> demands, Map<String, OptionalDouble> queried) {
        Map<String, Double> next = fromQueries(queried);
        return new Judged(
                new Estimates(Map.of(), Speeds.NONE, Map.of(), next),
                List.copyOf(members),
                demands.stream().map(demand -> withRate(demand, next)).toList());
    }

    private static Member with(Member member, Member.Load load, Adopted adopts) {
        Member measured = member.measured(load, adopts.sample(), adopts.capacity());
        return adopts.because().isEmpty() ? measured : measured.because(adopts.because());
    }

    private static Member hot(Member member, Member.Load load, Sample sample) {
        return member.measured(
                        new Member.Load.Hot(
                                load instanceof Member.Load.Held(String reason, boolean partly) ? reason : ""),
                        sample,
                        member.declared())
                .because(ALL_HOT);
    }

    /**
     * Whether every replica has all that it bears. Where all queues grow, their lengths tell of the past and no more of speed, so
     * who follows them would chase the traffic around.
     */
    private static boolean allHot(List<Member> members, Map<String, Total> totals, Optional<PoolPlan> before) {
        double from = before.filter(PoolPlan::isAllHot).isPresent() ? COOLED : HOT;
        List<Member> ready = members.stream().filter(Member::isReady).toList();
        return !ready.isEmpty()
                && ready.stream().allMatch(member -> {
                    Total total = totals.get(member.name());
                    return total != null && total.heat(member) >= from;
                });
    }

    /** The demands with the rates that were estimated last. */
    List<Demand> withRates(List<Demand> demands) {
        return demands.stream().map(demand -> withRate(demand, rates)).toList();
    }

    private static Demand withRate(Demand demand, Map<String, Double> rates) {
        Double rate = demand.declared() ? null : rates.get(demand.key());
        return rate == null ? demand : demand.estimated(rate);
    }

    /** What is known of all processes of one replica together. */
    private static final class Total {

        private final Map<String, Reading> readings = new TreeMap<>();
        private final List<Busy> means = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();
        private int measured;
        private int renewed;
        private int all;

        void add(
                Member.Server process,
                Track.Load load,
                Map<String, Busy> before,
                Map<String, Busy> next,
                Duration halfLife) {
            all++;
            switch (load) {
                case Track.Load.Measured(Reading reading) -> {
                    add(process, reading, before, next, halfLife);
                    renewed++;
                }
                case Track.Load.Held(Reading reading, String reason, boolean partly) -> {
                    add(process, reading, before, next, halfLife);
                    problems.add(reason);
                    renewed += partly ? 1 : 0;
                }
                case Track.Load.Missing(String reason) -> problems.add(reason);
            }
        }

        private void add(
                Member.Server process,
                Reading reading,
                Map<String, Busy> before,
                Map<String, Busy> next,
                Duration halfLife) {
            String key = Loads.key(process);
            Busy known = before.get(key);
            Busy mean = known == null ? Busy.of(reading) : known.next(reading, halfLife);
            next.put(key, mean);
            readings.put(key, reading);
            means.add(mean);
            measured++;
        }

        Member.Load load(boolean counted) {
            String reason = problems.isEmpty() ? "nothing to be measured" : problems.getFirst();
            if (measured == 0) {
                return new Member.Load.Missing(reason, counted);
            }
            return problems.isEmpty() ? new Member.Load.Measured() : new Member.Load.Held(reason, renewed > 0);
        }

        /** The sum over the processes; those that are silent count as the mean of the others. */
        private OptionalDouble sum(Function<Reading, OptionalDouble> quantity) {
            return sum(readings.values().stream().map(quantity));
        }

        private OptionalDouble sum(Stream<OptionalDouble> values) {
            OptionalDouble mean = mean(values);
            return mean.isEmpty() ? mean : OptionalDouble.of(mean.getAsDouble() * all);
        }

        private static OptionalDouble mean(Stream<OptionalDouble> values) {
            return values.flatMapToDouble(OptionalDouble::stream).average();
        }

        OptionalDouble requests() {
            return sum(means.stream().map(Busy::requests));
        }

        OptionalDouble inFlight() {
            return sum(means.stream().map(Busy::inFlight));
        }

        boolean isUtilisation() {
            return readings.values().iterator().next().sample().utilisation().isPresent();
        }

        /** What it has over what it bears; zero where nobody has said what that is. */
        double heat(Member member) {
            if (isUtilisation()) {
                return inFlight().orElse(0) / UTILISATION_UNITS / all;
            }
            boolean stated = member.declared() > RELATIVE * all;
            return stated ? requests().orElse(0) / member.declared() : 0;
        }

        Sample sample() {
            return new Sample(
                    requests(),
                    sum(reading -> reading.sample().inFlight()),
                    sum(reading -> reading.sample().connections()),
                    sum(reading -> reading.sample().users()),
                    sum(reading -> reading.sample().uniqueUsers()),
                    mean(readings.values().stream()
                            .map(reading -> reading.sample().loadAverage())),
                    mean(readings.values().stream()
                            .map(reading -> reading.sample().utilisation())));
        }
    }

    /** The replicas whose speed is measured. */
    private static List<Speeds.Replica> measured(
            List<Member> members, Map<String, Total> totals, Optional<PoolPlan> before) {
        Map<String, Double> planned = new HashMap<>();
        before.ifPresent(plan -> plan.replicas()
                .forEach(replica -> planned.put(
                        replica.member().name(),
                        replica.load() * replica.member().capacity())));
        List<Speeds.Replica> replicas = new ArrayList<>();
        for (Member member : members) {
            Total total = totals.get(member.name());
            if (total != null) {
                replicas.add(new Speeds.Replica(
                        member.name(),
                        member.declared(),
                        total.all,
                        total.readings,
                        planned.getOrDefault(member.name(), 0.0)));
            }
        }
        return replicas;
    }

    private static Adopted adopt(Member member, Total total, Speeds.Speed speed, Optional<Adopted> before) {
        Sample sample = total.sample();
        Sample last = before.map(Adopted::sample).orElse(Sample.NONE);
        Sample steady = new Sample(
                steady(last.requests(), sample.requests()),
                steady(last.inFlight(), sample.inFlight()),
                steady(last.connections(), sample.connections()),
                steady(last.users(), sample.users()),
                steady(last.uniqueUsers(), sample.uniqueUsers()),
                steady(last.loadAverage(), sample.loadAverage()),
                steadyPart(last.utilisation(), sample.utilisation()));
        double capacity = rounded(member.declared() * speed.factor());
        return new Adopted(
                steady,
                speed.factor() == 1 ? member.declared() : capacity,
                speed.factor() == 1
                        ? ""
                        : ESTIMATED.formatted(
                                Statuses.decimal(capacity),
                                Statuses.decimal(member.declared()),
                                speed.because().isEmpty() ? "what others have in flight" : speed.because()));
    }

    private static OptionalDouble steady(OptionalDouble last, OptionalDouble now) {
        return last.isPresent() && now.isPresent() && within(last.getAsDouble(), now.getAsDouble())
                ? last
                : now.isPresent() ? OptionalDouble.of(rounded(now.getAsDouble())) : now;
    }

    /** Hundredths, which are as fine as anybody wants to see them. */
    private static OptionalDouble steadyPart(OptionalDouble last, OptionalDouble now) {
        return last.isPresent()
                        && now.isPresent()
                        && Math.abs(now.getAsDouble() - last.getAsDouble())
                                <= Math.max(SEEN_PART, DEAD_BAND * last.getAsDouble())
                ? last
                : now.isPresent() ? OptionalDouble.of(Math.round(now.getAsDouble() / SEEN_PART) * SEEN_PART) : now;
    }

    private static boolean within(double last, double now) {
        return Math.abs(now - last) <= DEAD_BAND * last;
    }

    /** Three digits are more than any measurement is good for. */
    static double rounded(double value) {
        return value == 0 ? 0 : Double.parseDouble(String.format(Locale.ROOT, "%.2e", value));
    }

    private Map<String, Double> rates(
            List<Demand> demands,
            Map<String, Total> totals,
            Map<String, OptionalDouble> queried,
            Optional<PoolPlan> before) {
        Map<String, Double> requests = new TreeMap<>();
        totals.forEach((name, total) -> total.requests().ifPresent(rate -> requests.put(name, rate)));
        Map<String, Double> known = fromQueries(queried);
        List<Demand> unknown = demands.stream()
                .filter(demand -> !demand.declared() && !known.containsKey(demand.key()))
                .toList();
        if (requests.isEmpty() || unknown.isEmpty() || before.isEmpty()) {
            for (Demand demand : unknown) {
                Double last = rates.get(demand.key());
                if (last != null && !queried.containsKey(demand.key())) {
                    known.put(demand.key(), last);
                }
            }
            return known;
        }
        Map<String, Map<String, Double>> shares = new HashMap<>();
        before.get().streams().forEach(stream -> shares.put(stream.demand().key(), stream.given()));
        double sum = requests.values().stream().mapToDouble(Double::doubleValue).sum();
        Map<String, Double> estimate = new TreeMap<>();
        for (Demand demand : demands) {
            estimate.put(
                    demand.key(),
                    demand.declared()
                            ? demand.rate()
                            : known.getOrDefault(demand.key(), rates.getOrDefault(demand.key(), sum / unknown.size())));
        }
        for (int round = 0; round < ROUNDS; round++) {
            maximise(estimate, unknown, shares, requests);
        }
        double tail = tail(estimate, unknown, shares, requests);
        Map<String, Double> next = new TreeMap<>(known);
        for (Demand demand : unknown) {
            double now = tail * estimate.getOrDefault(demand.key(), 0.0);
            next.put(demand.key(), adopted(rates.get(demand.key()), now));
        }
        return next;
    }

    private Map<String, Double> fromQueries(Map<String, OptionalDouble> queried) {
        Map<String, Double> known = new TreeMap<>();
        queried.forEach((stream, rate) -> rate.ifPresent(now -> known.put(stream, adopted(rates.get(stream), now))));
        return known;
    }

    /** A rate that differs by noise only stays what it was. */
    private static double adopted(@Nullable Double last, double now) {
        double rate = Math.max(LEAST_RATE, now);
        return last != null && within(last, rate) ? last : rounded(rate);
    }

    /** Requests where no answer sends anybody come from earlier answers: the factor by which they make the rates greater. */
    private static double tail(
            Map<String, Double> estimate,
            List<Demand> unknown,
            Map<String, Map<String, Double>> shares,
            Map<String, Double> requests) {
        double elsewhere = requests.entrySet().stream()
                .filter(entry ->
                        shares.values().stream().noneMatch(parts -> parts.getOrDefault(entry.getKey(), 0.0) > 0))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        double found = unknown.stream()
                .mapToDouble(demand -> estimate.getOrDefault(demand.key(), 0.0))
                .sum();
        return found > 0 ? (found + elsewhere) / found : 1;
    }

    private static void maximise(
            Map<String, Double> estimate,
            List<Demand> unknown,
            Map<String, Map<String, Double>> shares,
            Map<String, Double> requests) {
        Map<String, Double> expected = new HashMap<>();
        shares.forEach((stream, parts) -> parts.forEach(
                (replica, part) -> expected.merge(replica, estimate.getOrDefault(stream, 0.0) * part, Double::sum)));
        for (Demand demand : unknown) {
            double seen = 0;
            double counted = 0;
            for (Map.Entry<String, Double> part :
                    shares.getOrDefault(demand.key(), Map.of()).entrySet()) {
                Double rate = requests.get(part.getKey());
                double all = expected.getOrDefault(part.getKey(), 0.0);
                if (rate != null && part.getValue() > 0) {
                    seen += part.getValue() * (all > 0 ? rate / all : 1);
                    counted += part.getValue();
                }
            }
            if (counted > 0) {
                double factor = seen / counted;
                estimate.merge(demand.key(), 0.0, (now, zero) -> Math.max(LEAST_RATE, now * factor));
            }
        }
    }
}
