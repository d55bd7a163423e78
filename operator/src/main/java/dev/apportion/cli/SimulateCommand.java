package dev.apportion.cli;

import dev.apportion.simulation.Row;
import dev.apportion.simulation.Scenario;
import dev.apportion.simulation.Sweep;
import dev.apportion.simulation.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apportion simulate}: what a policy would do to the delays that clients see. */
@Command(
        name = "simulate",
        description = "Simulates clients, resolvers that cache, and servers with queues, under the policies that the"
                + " operator has; and judges the claims of the scenario.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no claim is refuted, or it was stopped by a signal",
            "1:some claim is refuted, or output cannot be written",
            "2:bad options, or a scenario, or the cluster, cannot be read"
        })
final class SimulateCommand implements Callable<Integer> {

    /** The experiments that the program has in it, in the order of the science. */
    static final List<String> PUBLISHED =
            List.of("k-splittable", "zipf-zones", "improved-wlc", "global-queue", "dlbdns");

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The forms of the output. */
    enum Output {
        table,
        csv,
        json
    }

    @Parameters(arity = "0..*", paramLabel = "SCENARIO", description = "YAML files; examples/simulation has some.")
    private List<Path> files = new ArrayList<>();

    @Option(
            names = "--all-claims",
            description = "Run the published experiments, which are part of the program, and end with all verdicts.")
    private boolean allClaims;

    @Mixin
    private PoolScenarioOptions fromPool = new PoolScenarioOptions();

    @Option(names = "--small", description = "The quick variant of each scenario.")
    private boolean small;

    @Option(names = "--seeds", paramLabel = "N", description = "So many seeds instead of what the scenario says.")
    private @Nullable Integer seeds;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Runs at once; it changes nothing of the output. Default: one for each processor.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(
            names = {"-o", "--output"},
            defaultValue = "table",
            description =
                    "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}. csv has a line for each run, json the servers"
                            + " too.")
    private Output output = Output.table;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description =
                    "Also write one page of HTML with verdicts, plots, tables and plans, which needs nothing else.")
    private @Nullable Path report;

    @Option(
            names = "--plots",
            paramLabel = "DIR",
            description = "Also write a plot of each quantity that is shown, as PNG and as SVG.")
    private @Nullable Path plots;

    @Option(
            names = "--progress",
            negatable = true,
            description = "Show how far it is, on standard error. Default: on a terminal.")
    private boolean progress = ProgressBar.isSeen();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    /** A scenario and what came of it. */
    record Result(Scenario scenario, List<Row> rows, List<Verdict> verdicts) {

        /** The runs that have ended. */
        int ended() {
            return rows.stream().mapToInt(row -> row.outcomes().size()).sum();
        }

        /** Whether every run has ended. */
        boolean isComplete() {
            return ended() == scenario.runs();
        }
    }

    private static boolean isComplete(List<Scenario> scenarios, List<Result> results) {
        return results.size() == scenarios.size() && results.stream().allMatch(Result::isComplete);
    }

    @Override
    public Integer call() throws InterruptedException, ClusterException {
        List<Scenario> scenarios;
        try {
            scenarios = scenarios();
        } catch (ScenarioException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        if (threads < 1) {
            spec.commandLine().getErr().println("--threads must be at least 1");
            return CommandLine.ExitCode.USAGE;
        }
        Optional<String> hindrance = report == null && plots == null ? Optional.empty() : Plot.hindrance();
        if (hindrance.isPresent()) {
            spec.commandLine().getErr().println(hindrance.get());
            return CommandLine.ExitCode.USAGE;
        }
        AtomicBoolean stop = new AtomicBoolean();
        List<Result> results = new ArrayList<>();
        PrintWriter out = spec.commandLine().getOut();
        try (Termination termination = new Termination(PATIENCE, () -> stop.set(true))) {
            for (Scenario scenario : scenarios) {
                if (!termination.isAsked()) {
                    Result result = run(scenario, stop);
                    results.add(result);
                    if (output == Output.table) {
                        out.print(SimulationTable.text(result));
                        out.flush();
                    }
                }
            }
            switch (output) {
                case csv -> out.print(SimulationReport.csv(results));
                case json -> out.println(SimulationReport.json(results, isComplete(scenarios, results)));
                case table -> {
                    if (scenarios.size() > 1) {
                        out.print(SimulationTable.verdicts(results));
                    }
                }
            }
            out.flush();
            files(scenarios, results);
            if (!isComplete(scenarios, results)) {
                spec.commandLine()
                        .getErr()
                        .println("stopped: %d of %d runs have ended, and are in the output"
                                .formatted(
                                        results.stream().mapToInt(Result::ended).sum(),
                                        scenarios.stream()
                                                .mapToInt(Scenario::runs)
                                                .sum()));
            }
        } catch (IOException e) {
            spec.commandLine().getErr().println("output cannot be written: " + e);
            return CommandLine.ExitCode.SOFTWARE;
        }
        boolean refuted =
                results.stream().flatMap(result -> result.verdicts().stream()).anyMatch(Verdict::fails);
        return refuted ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }

    private void files(List<Scenario> scenarios, List<Result> results) throws IOException {
        if (plots != null) {
            Files.createDirectories(plots);
            for (Result result : results) {
                for (Plot plot : Plot.of(result)) {
                    Files.write(plots.resolve(plot.name() + ".png"), PlotDrawing.png(plot));
                    Files.writeString(plots.resolve(plot.name() + ".svg"), PlotDrawing.svg(plot, ""));
                }
            }
        }
        if (report != null) {
            Files.writeString(report, SimulationPage.of(results, isComplete(scenarios, results)));
        }
    }

    private List<Scenario> scenarios() throws ScenarioException, ClusterException {
        if ((files.isEmpty() ? 0 : 1) + (allClaims ? 1 : 0) + (fromPool.isGiven() ? 1 : 0) != 1) {
            throw new ScenarioException("give scenarios, --all-claims or --from-pool, one of the three");
        }
        if (!fromPool.isGiven() && fromPool.needless() != null) {
            throw new ScenarioException(fromPool.needless() + " is for --from-pool only");
        }
        OptionalInt count = seeds == null ? OptionalInt.empty() : OptionalInt.of(seeds);
        List<Scenario> scenarios = new ArrayList<>();
        for (Path file : files) {
            scenarios.add(Scenarios.read(file, small, count));
        }
        if (fromPool.isGiven()) {
            scenarios.add(fromPool.scenario(small, count, spec.commandLine().getErr()::println));
        }
        for (String name : allClaims ? PUBLISHED : List.<String>of()) {
            scenarios.add(Scenarios.parse(name + ".yaml", published(name), small, count));
        }
        return scenarios;
    }

    private static String published(String name) {
        try (InputStream in = SimulateCommand.class.getResourceAsStream("/simulation/" + name + ".yaml")) {
            if (in == null) {
                throw new IllegalStateException("The experiment %s is not part of this program".formatted(name));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("The experiment %s cannot be read".formatted(name), e);
        }
    }

    private Result run(Scenario scenario, AtomicBoolean stop) throws InterruptedException {
        double all = scenario.points().stream()
                        .mapToDouble(point -> point.setting().requests())
                        .sum()
                * scenario.seeds().size();
        try (ProgressBar bar =
                new ProgressBar(progress ? spec.commandLine().getErr() : null, scenario.name(), scenario.runs(), all)) {
            List<Row> rows = Sweep.run(scenario.points(), scenario.seeds(), threads, stop::get, bar::done);
            List<Verdict> verdicts =
                    scenario.claims().stream().map(claim -> claim.judge(rows)).toList();
            return new Result(scenario, rows, verdicts);
        }
    }
}
