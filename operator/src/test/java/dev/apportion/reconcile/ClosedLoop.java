package dev.apportion.reconcile;

import dev.apportion.load.Quantity;
import dev.apportion.load.Readout;
import dev.apportion.load.Series;
import dev.apportion.load.Track;
import dev.apportion.records.Answer;
import dev.apportion.records.Answers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The whole loop in virtual time: the shipping estimates, decisions and integers, between resolvers that keep the answers that they
 * drew and replicas with queues.
 *
 * <p>Requests of each resolver come at random (Poisson). A replica serves up to {@link #WORKERS} requests at once, each for an
 * exponential time; others wait in its queue, and whoever finds {@link #MOST_WAITING} there goes away. A resolver draws an address by the
 * published weights and keeps it for the time to live, every tenth one for three times as long. A change of answers is
 * served after {@link #RELOAD}. Replicas are scraped every ten seconds.
 */
final class ClosedLoop {

    static final double CAPACITY = 100;

    private static final int WORKERS = 16;
    private static final int MOST_WAITING = 500;
    private static final double STEP = 0.1;
    private static final double RELOAD = 2;
    private static final int INTERVAL = 10;
    private static final int RESOLVERS = 2000;
    private static final int STUBBORN = 3;

    private final int ttl;
    private final SplittableRandom random;
    private final AdmittedPool pool;
    private final List<Replica> replicas = new ArrayList<>();
    private final double[] part = new double[RESOLVERS];
    private final int[] at = new int[RESOLVERS];
    private final PriorityQueue<Expiry> expiries = new PriorityQueue<>();
    private int published;
    private Map<String, List<Answer>> found = Map.of();
    private Control control = Control.NEW;
    private Map<String, Double> served = Map.of();
    private final List<Pending> pending = new ArrayList<>();
    private double time;
    private double again = Double.POSITIVE_INFINITY;
    private double nextScrape;

    /** Requests/s of all resolvers together. */
    double rate;

    /** What the clocks of the replicas are off, in seconds. */
    double clockOff;

    /** The standard deviation of the logarithm of what every gauge is off. */
    double noise;

    /** A replica that serves. */
    final class Replica {
        final String name;
        double speed = 1;
        boolean alive = true;
        private double traffic;
        private int inside;
        private double completed;
        private Track track = Track.NEW;

        Replica(String name) {
            this.name = name;
        }

        private void step() {
            int arrivals = poisson(rate * traffic * STEP);
            double perWorker = speed * CAPACITY / WORKERS;
            int departures = Math.min(inside, poisson(Math.min(inside, WORKERS) * perWorker * STEP));
            inside = Math.min(inside - departures + arrivals, MOST_WAITING);
            completed += departures;
        }

        private void scrape() {
            double gauge = inside * Math.exp(noise * gauss());
            track = track.next(
                    new Readout.Values(
                            Map.of(Quantity.REQUESTS, completed, Quantity.IN_FLIGHT, gauge),
                            nanos(),
                            Math.round((time + clockOff) * 1000)),
                    series());
        }
    }

    private record Expiry(double time, int resolver) implements Comparable<Expiry> {
        @Override
        public int compareTo(Expiry other) {
            return Double.compare(time, other.time);
        }
    }

    private record Pending(double time, Map<String, Double> shares) {}

    ClosedLoop(int ttl, int count, double rate, long seed) {
        this.ttl = ttl;
        this.rate = rate;
        this.random = new SplittableRandom(seed);
        this.pool = ControlTest.measuredPool();
        double sum = 0;
        for (int r = 0; r < RESOLVERS; r++) {
            // As many large ones as there are in public: Zipf's law, flattened.
            part[r] = 1 / Math.sqrt(r + 1.0);
            sum += part[r];
        }
        for (int r = 0; r < RESOLVERS; r++) {
            part[r] /= sum;
            at[r] = -1;
        }
        for (int i = 0; i < count; i++) {
            add();
        }
        look();
        served = shares();
        pending.clear();
        published = 0;
        for (int r = 0; r < RESOLVERS; r++) {
            draw(r);
            expiries.add(new Expiry(random.nextDouble() * ttl, r));
        }
    }

    private static Series series() {
        return new Series(Map.of(Quantity.REQUESTS, "r_total", Quantity.IN_FLIGHT, "f"));
    }

    List<Replica> replicas() {
        return replicas;
    }

    /** How many times other answers were published. */
    int published() {
        return published;
    }

    /** What is published. */
    Map<String, Double> shares() {
        return pending.isEmpty() ? served : pending.getLast().shares();
    }

    Replica add() {
        Replica added = new Replica("r%02d".formatted(replicas.size()));
        replicas.add(added);
        return added;
    }

    /** The operator ends, and another one begins: it knows what is published, and nothing else. */
    void restart() {
        found = Map.of(demand().key(), answers());
        control = Control.NEW;
        replicas.forEach(replica -> replica.track = Track.NEW);
        look();
    }

    private List<Answer> answers() {
        return control.plan().orElseThrow().streams().getFirst().answers().stream()
                .map(row -> new Answer(row.address(), row.replica(), row.weight()))
                .toList();
    }

    /** Lets some time go by, in seconds. */
    void run(double seconds) {
        double end = time + seconds;
        while (time < end) {
            time += STEP;
            while (!pending.isEmpty() && pending.getFirst().time() <= time) {
                served = pending.removeFirst().shares();
            }
            for (Expiry next = expiries.peek(); next != null && next.time() <= time; next = expiries.peek()) {
                expiries.poll();
                draw(next.resolver());
                int keeps = next.resolver() % 10 == 9 ? STUBBORN * ttl : ttl;
                expiries.add(new Expiry(next.time() + keeps, next.resolver()));
            }
            replicas.forEach(Replica::step);
            if (time >= nextScrape) {
                nextScrape += INTERVAL;
                replicas.stream().filter(replica -> replica.alive).forEach(Replica::scrape);
                look();
            } else if (time >= again) {
                look();
            }
        }
    }

    private void draw(int resolver) {
        if (at[resolver] >= 0) {
            replicas.get(at[resolver]).traffic -= part[resolver];
        }
        double left = random.nextDouble();
        int drawn = 0;
        for (int i = 0; i < replicas.size(); i++) {
            double share = served.getOrDefault(replicas.get(i).name, 0.0);
            if (share > 0) {
                drawn = i;
                left -= share;
                if (left < 0) {
                    break;
                }
            }
        }
        at[resolver] = drawn;
        replicas.get(drawn).traffic += part[resolver];
    }

    /** Something has happened, or it is time. */
    void look() {
        Map<String, Track> tracks = new HashMap<>();
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < replicas.size(); i++) {
            Replica replica = replicas.get(i);
            if (replica.alive) {
                members.add(EstimatesTest.member(replica.name, CAPACITY, i + 1));
                tracks.put(replica.name, replica.track);
            }
        }
        Duration longest = Duration.ofSeconds(ttl);
        control = control.next(new Control.Seen(
                pool,
                members,
                List.of(demand()),
                longest,
                found,
                false,
                process -> tracks.getOrDefault(process.name(), Track.NEW)
                        .at(nanos(), pool.load().orElseThrow().staleAfter()),
                Map.of(),
                Optional.empty(),
                Duration.ofSeconds(30),
                nanos()));
        again = control.again(pool, longest, Duration.ofSeconds(30), nanos())
                .map(wait -> time + wait.toNanos() / 1e9)
                .orElse(Double.POSITIVE_INFINITY);
        Map<String, Double> planned = planned();
        if (!planned.equals(shares())) {
            published++;
            pending.add(new Pending(time + RELOAD, planned));
        }
    }

    private Map<String, Double> planned() {
        Map<String, Double> shares = new HashMap<>();
        control.plan()
                .orElseThrow()
                .streams()
                .getFirst()
                .answers()
                .forEach(row -> shares.merge(row.replica(), row.share(), Double::sum));
        return Map.copyOf(shares);
    }

    private Demand demand() {
        return new Demand(
                new Ref("web", "shop"),
                "",
                "",
                "shop.example.org",
                1,
                false,
                OptionalInt.empty(),
                Answers.Single,
                ttl,
                Set.of(),
                Optional.empty(),
                List.of());
    }

    private long nanos() {
        return Math.round(time * 1e9);
    }

    private double gauss() {
        return random.nextGaussian();
    }

    /** Knuth's method; means are small here. */
    private int poisson(double mean) {
        double limit = Math.exp(-mean);
        int count = -1;
        for (double product = 1; product > limit; count++) {
            product *= random.nextDouble();
        }
        return Math.max(0, count);
    }
}
