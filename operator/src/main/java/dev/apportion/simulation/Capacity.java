package dev.apportion.simulation;

import dev.apportion.allocation.ErlangC;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * How long requests wait at sites with so many replicas, and how many replicas are needed: with a queue at each site, with sites
 * that lend each other slots over a link, and with one queue for all.
 *
 * <p>Isolated and central follow from Erlang's C formula. For other laws of service than the exponential the mean is
 * corrected (Allen and Cunneen), and the tail is taken for exponential with that mean. Sites that lend are simulated
 * ({@link SiteQueues}), with the same seeds each time.
 *
 * @param slots the requests that one replica serves at once
 * @param size the law of the time of service, in seconds
 * @param linkBudget the requests that may be served away from home at once
 * @param reclaim whether a site takes back what is served elsewhere as soon as it has a slot
 */
public record Capacity(int slots, Law size, double linkBudget, boolean reclaim, Target target) {

    private static final int SEEDS = 4;

    /** The requests of one simulated run. */
    private static final double REQUESTS = 400_000;

    private static final double WARM_UP = 0.05;

    /** More replicas of one site are not looked for. */
    private static final int MOST = 1_000_000;

    /**
     * A place with replicas and clients.
     *
     * @param rate the requests/s of its own clients
     */
    public record Site(String name, int replicas, double rate) {

        Site with(int other) {
            return new Site(name, other, rate);
        }
    }

    /**
     * What is wanted.
     *
     * @param seconds the wait until service begins; the mean, if no part is given
     * @param part the part of the requests that shall not wait longer
     */
    public record Target(double seconds, OptionalDouble part) {}

    /** How sites work together. */
    public enum Arrangement {
        ISOLATED,
        SHARED,
        CENTRAL
    }

    /**
     * How requests wait.
     *
     * @param mean until service begins, in seconds; infinite if the queue grows without end
     * @param longer the part of requests that waits longer than the target
     * @param half the half of the confidence interval of the mean; 0 where it was computed
     */
    public record Waiting(double mean, double longer, double half) {

        static final Waiting ENDLESS = new Waiting(Double.POSITIVE_INFINITY, 1, 0);
    }

    /** Whether that is what is wanted. */
    public boolean meets(Waiting waiting) {
        return target.part().isPresent()
                ? waiting.longer() <= 1 - target.part().getAsDouble()
                : waiting.mean() <= target.seconds();
    }

    /** How the requests of a site wait that has nobody to help it. */
    public Waiting alone(Site site) {
        if (site.rate() == 0) {
            return new Waiting(0, 0, 0);
        }
        long servers = (long) site.replicas() * slots;
        if (servers == 0) {
            return Waiting.ENDLESS;
        }
        ErlangC queue = new ErlangC(servers, site.rate(), size.mean());
        if (queue.utilisation() >= 1) {
            return Waiting.ENDLESS;
        }
        double variation = size.secondMoment() / (size.mean() * size.mean()) - 1;
        double factor = (1 + variation) / 2;
        double mean = queue.meanWait() * factor;
        double longer = mean == 0
                ? 0
                : factor == 1
                        ? queue.waitsLongerThan(target.seconds())
                        : queue.waiting() * Math.exp(-target.seconds() * queue.waiting() / mean);
        return new Waiting(mean, longer, 0);
    }

    /** How requests wait, on the mean over all sites. */
    public Waiting waiting(Arrangement arrangement, List<Site> sites) {
        return switch (arrangement) {
            case ISOLATED -> mean(sites.stream().map(this::alone).toList(), sites);
            case CENTRAL -> alone(together(sites));
            case SHARED -> shared(sites);
        };
    }

    private static Waiting mean(List<Waiting> each, List<Site> sites) {
        double rate = sites.stream().mapToDouble(Site::rate).sum();
        double mean = 0;
        double longer = 0;
        for (int s = 0; s < each.size(); s++) {
            if (sites.get(s).rate() > 0) {
                mean += sites.get(s).rate() / rate * each.get(s).mean();
                longer += sites.get(s).rate() / rate * each.get(s).longer();
            }
        }
        return new Waiting(mean, longer, 0);
    }

    private static Site together(List<Site> sites) {
        return new Site(
                "all",
                sites.stream().mapToInt(Site::replicas).sum(),
                sites.stream().mapToDouble(Site::rate).sum());
    }

    private Waiting shared(List<Site> sites) {
        double rate = together(sites).rate();
        if (rate == 0) {
            return new Waiting(0, 0, 0);
        }
        if (isEndless(sites)) {
            return Waiting.ENDLESS;
        }
        double seconds = REQUESTS / rate;
        List<Server> servers = new ArrayList<>();
        List<Population> populations = new ArrayList<>();
        for (Site site : sites) {
            if (site.replicas() > 0) {
                servers.add(new Server(site.name(), site.name(), 1, site.replicas() * slots, Server.Discipline.FIFO));
            }
            populations.add(new Population(site.name(), site.rate(), Optional.of(site.name()), 0));
        }
        Setting setting = new Setting(
                servers,
                populations,
                size,
                0,
                Double.POSITIVE_INFINITY,
                new Resolvers(0, List.of()),
                new Dispatch.GlobalQueue(linkBudget, reclaim, target.seconds()),
                seconds,
                seconds * WARM_UP);
        List<Outcome> outcomes = LongStream.rangeClosed(1, SEEDS)
                .parallel()
                .mapToObj(seed -> Replication.run(setting, seed, () -> false).orElseThrow())
                .toList();
        Interval mean = Interval.of(values(outcomes, Metric.WAIT));
        return new Waiting(
                mean.mean(), Interval.of(values(outcomes, Metric.WAITED)).mean(), mean.half());
    }

    private static double[] values(List<Outcome> outcomes, Metric metric) {
        return outcomes.stream()
                .mapToDouble(outcome -> outcome.values().getOrDefault(metric, Double.NaN))
                .toArray();
    }

    /** Whether more has to be served away from home than the link carries, or than all can serve. */
    private boolean isEndless(List<Site> sites) {
        double away = sites.stream()
                .mapToDouble(site -> Math.max(0, site.rate() * size.mean() - (double) site.replicas() * slots))
                .sum();
        Site all = together(sites);
        return (away > 0 && away >= Math.floor(linkBudget))
                || all.rate() * size.mean() >= (double) all.replicas() * slots;
    }

    /**
     * The replicas that each site needs: the least number in all, spread so that the busiest site is as little busy as can be.
     *
     * @return for each site; for {@link Arrangement#CENTRAL} as if they were spread over the sites
     */
    public List<Integer> needed(Arrangement arrangement, List<Site> sites) {
        return switch (arrangement) {
            case ISOLATED -> sites.stream().map(this::neededAlone).toList();
            case CENTRAL -> spread(neededAlone(together(sites)), sites);
            case SHARED -> {
                List<Integer> most = needed(Arrangement.ISOLATED, sites);
                int high = most.stream().mapToInt(Integer::intValue).sum();
                int low = needed(Arrangement.CENTRAL, sites).stream()
                        .mapToInt(Integer::intValue)
                        .sum();
                while (low < high) {
                    int middle = (low + high) / 2;
                    if (meets(shared(with(sites, spread(middle, sites))))) {
                        high = middle;
                    } else {
                        low = middle + 1;
                    }
                }
                yield spread(high, sites);
            }
        };
    }

    private int neededAlone(Site site) {
        if (site.rate() == 0) {
            return 0;
        }
        int low = (int) Math.min(MOST, Math.floor(site.rate() * size.mean() / slots));
        int high = Math.max(1, low);
        while (high < MOST && !meets(alone(site.with(high)))) {
            high = Math.min(MOST, 2 * high);
        }
        while (low + 1 < high) {
            int middle = (low + high) / 2;
            if (meets(alone(site.with(middle)))) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return high;
    }

    private static List<Site> with(List<Site> sites, List<Integer> replicas) {
        return IntStream.range(0, sites.size())
                .mapToObj(s -> sites.get(s).with(replicas.get(s)))
                .toList();
    }

    /** One replica after the other goes where there is most traffic for each. */
    private static List<Integer> spread(int replicas, List<Site> sites) {
        int[] each = new int[sites.size()];
        for (int r = 0; r < replicas; r++) {
            int next = IntStream.range(0, each.length)
                    .boxed()
                    .max(Comparator.<Integer>comparingDouble(s -> sites.get(s).rate() / (each[s] + 1))
                            .thenComparing(Comparator.reverseOrder()))
                    .orElseThrow();
            each[next]++;
        }
        return IntStream.of(each).boxed().toList();
    }

    /** The sites without one replica of one of them. */
    public static List<Site> withoutOneReplica(List<Site> sites, int site) {
        List<Site> fewer = new ArrayList<>(sites);
        fewer.set(site, sites.get(site).with(Math.max(0, sites.get(site).replicas() - 1)));
        return fewer;
    }

    /** The sites when one of them has lost all its replicas. */
    public static List<Site> without(List<Site> sites, int site) {
        List<Site> fewer = new ArrayList<>(sites);
        fewer.set(site, sites.get(site).with(0));
        return fewer;
    }
}
