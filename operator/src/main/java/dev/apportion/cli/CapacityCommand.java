package dev.apportion.cli;

import dev.apportion.allocation.GlobalQueue;
import dev.apportion.reconcile.Demand;
import dev.apportion.reconcile.Member;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import dev.apportion.simulation.Capacity;
import dev.apportion.simulation.Capacity.Site;
import dev.apportion.simulation.Law;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion capacity}: how many replicas a pool needs, and what happens when some are lost. */
@Command(
        name = "capacity",
        description = {
            "Says how long requests wait for a replica, how many replicas a target needs, and what the loss of a"
                    + " replica or a site does: with a queue at each site, with sites that lend each other slots"
                    + " (GlobalQueue), and with one queue for all.",
            "For example: apportion capacity --site fra=4,30 --site nyc=2,10 --concurrency 10 --service-time-millis"
                    + " 1000 --target-wait-millis 100"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:computed", "1:some manifest is rejected", "2:bad options, or unreadable input"})
final class CapacityCommand implements Callable<Integer> {

    /** The forms of the output. */
    enum Output {
        table,
        json
    }

    private static final double MILLIS = 1000;
    private static final double PERCENT = 100;
    private static final Pattern SITE = Pattern.compile("([^=,]+)=(\\d{1,6}),(\\d{1,9}(?:\\.\\d{1,9})?)");

    /** The laws of the time of service. */
    enum Service {
        exponential,
        fixed
    }

    @Mixin
    private ManifestOptions manifests = new ManifestOptions();

    @Option(names = "--pool", paramLabel = "NAMESPACE/NAME", description = "Which pool, if the manifests have several.")
    private @Nullable String pool;

    @Option(
            names = "--site",
            paramLabel = "NAME=REPLICAS,RATE",
            description = "A site, instead of manifests; once for each. RATE: requests/s of its own clients.")
    private List<String> sites = new ArrayList<>();

    @Option(
            names = "--concurrency",
            paramLabel = "N",
            description = "Requests that one replica serves at once. Default: as the pool says; 1 without one.")
    private @Nullable Integer concurrency;

    @Option(
            names = "--service-time-millis",
            paramLabel = "MS",
            description = "The mean time that one request is served. Default: as the policy GlobalQueue says, else"
                    + " concurrency over capacity.")
    private @Nullable Double serviceTime;

    @Option(
            names = "--service",
            defaultValue = "exponential",
            description = "How times of service vary: ${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
    private Service service = Service.exponential;

    @Option(
            names = "--link-budget",
            paramLabel = "N",
            description =
                    "Requests that may be served away from home at once. Default: as the policy GlobalQueue says; 0"
                            + " without one.")
    private @Nullable Double linkBudget;

    @Option(
            names = "--reclaim",
            description = "Sites take back what is served elsewhere (GWQ+L). Default: as the policy GlobalQueue says.")
    private @Nullable Boolean reclaim;

    @Option(
            names = "--target-wait-millis",
            paramLabel = "MS",
            description = "The wait that is wanted. Default: as the policy GlobalQueue says; without one, the time of"
                    + " service.")
    private @Nullable Double targetWait;

    @Option(
            names = "--percent",
            paramLabel = "P",
            description =
                    "So many percent of requests shall wait no longer than the target. Default: the mean shall not.")
    private @Nullable Double percent;

    @Option(
            names = {"-o", "--output"},
            defaultValue = "table",
            description = "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
    private Output output = Output.table;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    /** The sites and what the policy says of them. */
    private record Basis(
            List<Site> sites, int concurrency, Optional<Double> serviceTime, Optional<GlobalQueue> queue) {}

    /** Options that do not fit together, or manifests without such a pool. */
    private static final class Unfit extends Exception {
        Unfit(String message) {
            super(message);
        }
    }

    @Override
    public Integer call() throws ManifestException {
        PrintWriter err = spec.commandLine().getErr();
        try {
            Basis basis;
            if (manifests.isGiven() != sites.isEmpty()) {
                throw new Unfit("give manifests (-f) or sites (--site), one of the two");
            }
            basis = manifests.isGiven() ? fromManifests() : fromOptions();
            CapacityReport report = new CapacityReport(capacity(basis), basis.sites());
            PrintWriter out = spec.commandLine().getOut();
            switch (output) {
                case table -> out.print(report.table());
                case json -> out.println(report.json());
            }
            out.flush();
            return CommandLine.ExitCode.OK;
        } catch (Unfit e) {
            err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
    }

    private Basis fromOptions() throws Unfit {
        List<Site> read = new ArrayList<>();
        for (String text : sites) {
            Matcher matcher = SITE.matcher(text);
            if (!matcher.matches()) {
                throw new Unfit("--site %s: NAME=REPLICAS,RATE is expected, as in fra=4,30.5".formatted(text));
            }
            if (read.stream().anyMatch(site -> site.name().equals(matcher.group(1)))) {
                throw new Unfit("--site %s: there are two sites of this name".formatted(text));
            }
            read.add(new Site(
                    matcher.group(1), Integer.parseInt(matcher.group(2)), Double.parseDouble(matcher.group(3))));
        }
        return new Basis(read, 1, Optional.empty(), Optional.empty());
    }

    private Basis fromManifests() throws ManifestException, Unfit {
        Plan plan = manifests.plan();
        List<PoolPlan> pools = plan.pools().values().stream()
                .filter(each -> pool == null || each.pool().toString().equals(pool))
                .toList();
        if (pools.size() != 1) {
            throw new Unfit(
                    plan.pools().isEmpty()
                            ? "no ReplicaPool of the manifests is accepted; apportion plan says why"
                            : "choose one with --pool: "
                                    + String.join(
                                            ", ",
                                            plan.pools().keySet().stream()
                                                    .map(String::valueOf)
                                                    .toList()));
        }
        PoolPlan chosen = pools.getFirst();
        Map<String, Integer> replicas = new TreeMap<>();
        Map<String, String> siteOf = new HashMap<>();
        chosen.basis().sites().forEach(site -> replicas.put(site.name(), 0));
        List<Member> ready = chosen.replicas().stream()
                .map(PoolPlan.Replica::member)
                .filter(Member::isReady)
                .toList();
        for (Member member : ready) {
            replicas.merge(member.site(), 1, Integer::sum);
            siteOf.put(member.name(), member.site());
        }
        Map<String, Double> rates = new TreeMap<>();
        for (PoolPlan.Stream stream : chosen.streams()) {
            rates(stream, siteOf).forEach((site, rate) -> rates.merge(site, rate, Double::sum));
        }
        if (ready.isEmpty()) {
            throw new Unfit("no replica of %s is ready".formatted(chosen.pool()));
        }
        int slots = ready.getFirst().concurrency();
        if (concurrency == null && ready.stream().anyMatch(member -> member.concurrency() != slots)) {
            throw new Unfit("the sites have different concurrency; --concurrency says which one counts");
        }
        double capacity = ready.stream().mapToDouble(Member::declared).average().orElseThrow();
        Optional<GlobalQueue> queue =
                chosen.basis().policy() instanceof GlobalQueue policy ? Optional.of(policy) : Optional.empty();
        List<Site> read = replicas.entrySet().stream()
                .map(entry -> new Site(entry.getKey(), entry.getValue(), rates.getOrDefault(entry.getKey(), 0.0)))
                .toList();
        int used = concurrency == null ? slots : concurrency;
        return new Basis(
                read, slots, Optional.of(queue.map(GlobalQueue::serviceTime).orElse(used / capacity)), queue);
    }

    /** A stream counts where it is at home; without a home, where its answers are. */
    private static Map<String, Double> rates(PoolPlan.Stream stream, Map<String, String> siteOf) {
        Demand demand = stream.demand();
        if (demand.home().isPresent()) {
            return Map.of(demand.home().get(), demand.rate());
        }
        Map<String, Double> rates = new HashMap<>();
        double shares =
                stream.answers().stream().mapToDouble(PoolPlan.Row::share).sum();
        for (PoolPlan.Row row : stream.answers()) {
            String site = siteOf.getOrDefault(row.replica().split(",", 2)[0], "");
            rates.merge(site, demand.rate() * row.share() / shares, Double::sum);
        }
        return rates;
    }

    private Capacity capacity(Basis basis) throws Unfit {
        double seconds = serviceTime == null
                ? basis.serviceTime()
                        .orElseThrow(() -> new Unfit("--service-time-millis is required without manifests"))
                : serviceTime / MILLIS;
        double wait = targetWait == null
                ? basis.queue()
                        .map(GlobalQueue::targetWait)
                        .filter(target -> target > 0)
                        .orElse(seconds)
                : targetWait / MILLIS;
        int slots = concurrency == null ? basis.concurrency() : concurrency;
        double budget =
                linkBudget == null ? basis.queue().map(GlobalQueue::linkBudget).orElse(0.0) : linkBudget;
        require(seconds > 0 && seconds <= 1e6, "--service-time-millis must be above 0");
        require(wait > 0 && wait <= 1e6, "--target-wait-millis must be above 0");
        require(slots > 0 && slots <= 1_000_000, "--concurrency must be from 1 to 1000000");
        require(budget >= 0, "--link-budget must not be below 0");
        require(percent == null || (percent > 0 && percent < PERCENT), "--percent must be between 0 and 100");
        double busy = basis.sites().stream().mapToDouble(Site::rate).sum() * seconds;
        require(busy > 0, "some site must have a rate");
        require(busy <= 1e5, "more than 100000 requests would be served at once");
        return new Capacity(
                slots,
                service == Service.fixed ? new Law.Fixed(seconds) : new Law.Exponential(seconds),
                budget,
                reclaim == null ? basis.queue().map(GlobalQueue::reclaim).orElse(false) : reclaim,
                new Capacity.Target(
                        wait, percent == null ? OptionalDouble.empty() : OptionalDouble.of(percent / PERCENT)));
    }

    private static void require(boolean condition, String message) throws Unfit {
        if (!condition) {
            throw new Unfit(message);
        }
    }
}
