package dev.apportion.simulation;

import dev.apportion.allocation.ErlangC;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AliasMethodDiscreteSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * Sites with a queue each, which lend each other slots: isolated, GWQ, GWQ+L, or one central server. Source: Tay and Pang, IEEE
 * TKDE 12(3), 2000; which site lends, and the order of the scan, are a reconstruction.
 *
 * <p>The queue is scanned first come, first served: a free slot at home is taken; if there is none, one of the site with the
 * most free slots, while fewer requests are served remotely than the links carry. With reclaim, a site that gets a free slot
 * brings home a request of its own, whose slot is then the free one.
 */
final class SiteQueues {

    private static final int PATIENCE = 1 << 16;

    private final Setting setting;
    private final Chance chance;
    private final Tally tally;
    private final boolean central;
    private final boolean reclaim;
    private final double budget;
    private final double target;
    private final int[] homeOf;
    private final int[] idle;
    private final int[] slots;
    private final int[] siteOfServer;
    private final Deque<Job> waiting = new ArrayDeque<>();
    private final int[] waitingAt;
    private final MinHeap ends = new MinHeap();
    private Job[] jobs = new Job[16];
    private int[] unused = new int[16];
    private int unusedCount;
    private int known;
    private int remote;
    private long served;
    private long servedRemotely;
    private long waitedLonger;

    /** A request. */
    private static final class Job {
        final int home;
        final double arrived;
        final double size;
        final double extra;
        int at;

        Job(int home, double arrived, double size, double extra) {
            this.home = home;
            this.arrived = arrived;
            this.size = size;
            this.extra = extra;
        }
    }

    SiteQueues(Setting setting, Dispatch.GlobalQueue queue, long seed) {
        this(setting, seed, false, queue.linkBudget(), queue.reclaim(), queue.target());
    }

    SiteQueues(Setting setting, Dispatch.Central ignored, long seed) {
        this(setting, seed, true, 0, false, 0);
    }

    private SiteQueues(Setting setting, long seed, boolean central, double budget, boolean reclaim, double target) {
        this.target = target;
        this.setting = setting;
        this.central = central;
        this.budget = budget;
        this.reclaim = reclaim;
        chance = Chance.of(seed);
        List<String> sites = Stream.concat(
                        setting.servers().stream().map(Server::site),
                        setting.populations().stream().flatMap(each -> each.home().stream()))
                .distinct()
                .sorted()
                .toList();
        Map<String, Integer> numbers = new HashMap<>();
        sites.forEach(site -> numbers.put(site, central ? 0 : numbers.size()));
        int count = central ? 1 : sites.size();
        idle = new int[count];
        siteOfServer = new int[setting.servers().size()];
        for (int i = 0; i < siteOfServer.length; i++) {
            siteOfServer[i] = numbers.getOrDefault(setting.servers().get(i).site(), 0);
            idle[siteOfServer[i]] += setting.servers().get(i).slots();
        }
        slots = idle.clone();
        waitingAt = new int[count];
        homeOf = setting.populations().stream()
                .mapToInt(population -> numbers.getOrDefault(population.home().orElse(sites.getFirst()), 0))
                .toArray();
        tally = new Tally(count, setting.warmUp());
    }

    Optional<Outcome> run(BooleanSupplier stop) {
        Rhythm.Arrivals times = setting.rhythm().begin(setting.rate(), chance.arrivals());
        SharedStateDiscreteSampler population = AliasMethodDiscreteSampler.of(
                (UniformRandomProvider) chance.arrivals()::nextLong,
                setting.populations().stream().mapToDouble(Population::rate).toArray());
        double time = times.after(0);
        for (int requests = 1; time < setting.seconds(); requests++) {
            end(time);
            int from = times.population(population::sample);
            double size = setting.size().draw(chance.sizes());
            Job job = new Job(
                    homeOf[from], time, size, setting.populations().get(from).delay() + size / setting.bandwidth());
            if (!start(job, time)) {
                waiting.add(job);
                waitingAt[job.home]++;
            }
            if (requests == PATIENCE) {
                requests = 0;
                if (stop.getAsBoolean()) {
                    return Optional.empty();
                }
            }
            time = times.after(time);
        }
        end(Double.POSITIVE_INFINITY);
        return Optional.of(outcome());
    }

    /** Takes a slot for a request if there is one that it may have. */
    private boolean start(Job job, double time) {
        int site = -1;
        if (idle[job.home] > 0) {
            site = job.home;
        } else if (remote + 1 <= budget) {
            for (int s = 0; s < idle.length; s++) {
                if (idle[s] > 0 && (site < 0 || idle[s] > idle[site])) {
                    site = s;
                }
            }
        }
        if (site < 0) {
            return false;
        }
        idle[site]--;
        job.at = site;
        boolean away = site != job.home;
        remote += away ? 1 : 0;
        double speed = setting.servers().getFirst().speed();
        double end = time + job.size / speed;
        ends.add(end, put(job));
        double extra = job.extra + (away ? setting.remoteDelay() : 0);
        if (tally.counts(job.arrived)) {
            served++;
            servedRemotely += away ? 1 : 0;
            waitedLonger += time - job.arrived > target ? 1 : 0;
        }
        tally.served(site, job.arrived, end - job.arrived + extra, time - job.arrived, job.size / speed);
        return true;
    }

    private int put(Job job) {
        if (unusedCount == 0 && known == jobs.length) {
            jobs = Arrays.copyOf(jobs, 2 * known);
            unused = Arrays.copyOf(unused, 2 * known);
        }
        int place = unusedCount > 0 ? unused[--unusedCount] : known++;
        jobs[place] = job;
        return place;
    }

    /** Ends what is served until then. */
    private void end(double time) {
        while (ends.size() > 0 && ends.key() <= time) {
            double now = ends.key();
            int place = (int) ends.value();
            ends.remove();
            Job job = jobs[place];
            unused[unusedCount++] = place;
            jobs[place] = DONE;
            idle[job.at]++;
            remote -= job.at == job.home ? 0 : 1;
            if (reclaim) {
                bringHome(job.at);
            }
            scan(now);
        }
    }

    private static final Job DONE = new Job(-1, 0, 0, 0);

    /** While a site has a free slot and a request of its own runs elsewhere, it comes home, and frees that slot. */
    private void bringHome(int freed) {
        int site = freed;
        while (remote > 0 && idle[site] > 0) {
            Job away = awayFrom(site);
            if (away == DONE) {
                return;
            }
            int before = away.at;
            away.at = site;
            idle[site]--;
            idle[before]++;
            remote--;
            site = before;
        }
    }

    /** A request that a site has running elsewhere: the one that came first. */
    private Job awayFrom(int site) {
        Job first = DONE;
        for (int i = 0; i < known; i++) {
            Job job = jobs[i];
            if (job.home == site && job.at != site && (first == DONE || job.arrived < first.arrived)) {
                first = job;
            }
        }
        return first;
    }

    private void scan(double time) {
        int free = Arrays.stream(idle).sum();
        if (free == 0 || waiting.isEmpty()) {
            return;
        }
        for (Iterator<Job> queue = waiting.iterator(); queue.hasNext() && free > 0; ) {
            Job job = queue.next();
            if (start(job, time)) {
                queue.remove();
                waitingAt[job.home]--;
                free--;
            } else if (remote + 1 > budget && nobodyWaitsAtHome()) {
                return;
            }
        }
    }

    private boolean nobodyWaitsAtHome() {
        for (int s = 0; s < idle.length; s++) {
            if (idle[s] > 0 && waitingAt[s] > 0) {
                return false;
            }
        }
        return true;
    }

    private Outcome outcome() {
        EnumMap<Metric, Double> values = new EnumMap<>(Metric.class);
        Measured.delays(tally, values);
        values.put(Metric.REMOTE, served == 0 ? Double.NaN : (double) servedRemotely / served);
        values.put(Metric.WAITED, served == 0 ? Double.NaN : (double) waitedLonger / served);
        double service = setting.size().mean() / setting.servers().getFirst().speed();
        if (central || budget < 1) {
            values.put(Metric.WAIT_MODEL, model(service));
        }
        double measured = setting.seconds() - setting.warmUp();
        double[] shares = tally.shares();
        List<Outcome.Serving> rows = new ArrayList<>();
        double most = 0;
        double sum = 0;
        for (int s = 0; s < slots.length; s++) {
            double utilisation = slots[s] == 0 ? 0 : tally.workSum[s] / (measured * slots[s]);
            most = Math.max(most, utilisation);
            sum += utilisation;
            rows.add(new Outcome.Serving(
                    central ? "central" : "site-" + s, shares[s], utilisation, tally.delaySum[s] / tally.served[s]));
        }
        values.put(Metric.IMBALANCE, most * slots.length / sum);
        return new Outcome(values, rows);
    }

    /** The mean wait over all sites by Erlang's formula, for service times of any law (Allen and Cunneen). */
    private double model(double service) {
        double[] rates = new double[slots.length];
        for (int p = 0; p < homeOf.length; p++) {
            rates[homeOf[p]] += setting.populations().get(p).rate();
        }
        double variation = Math.sqrt(Math.max(
                0,
                setting.size().secondMoment()
                                / (setting.size().mean() * setting.size().mean())
                        - 1));
        double sum = 0;
        for (int s = 0; s < slots.length; s++) {
            double wait = new ErlangC(slots[s], rates[s], service).meanWait(1, variation);
            sum += rates[s] == 0 ? 0 : rates[s] * wait;
        }
        return sum / setting.rate();
    }
}
