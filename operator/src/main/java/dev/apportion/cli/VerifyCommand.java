package dev.apportion.cli;

import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Draws;
import dev.apportion.dns.wire.Pace;
import dev.apportion.dns.wire.ShareJudgement;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.dns.wire.Verification;
import dev.apportion.dns.wire.WeightProbe;
import dev.apportion.dns.wire.WeightedRRset;
import dev.apportion.reconcile.Plan;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion verify}: whether servers answer as planned, and whether resolvers pass it on. */
@Command(
        name = "verify",
        description =
                "Asks authoritative servers whether they answer exactly as the manifests are planned, and resolvers"
                    + " whether clients get the planned shares through them; says what is likely wrong where they do"
                    + " not.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every server and resolver answers as planned",
            "1:one does not, or not at all, or it could not be told",
            "2:bad options, or unreadable input"
        })
final class VerifyCommand implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** What a resolver is asked in a second, at most. */
    private static final int PER_SECOND = 100;

    /** What can be wrong in one answer is wrong in many. */
    private static final int DIFFERENCES_SHOWN = 8;

    /** Rounds of questions until a doubt counts as such. */
    private static final int ROUNDS = 5;

    @Option(
            names = {"-f", "--filename"},
            required = true,
            arity = "1..*",
            paramLabel = "PATH",
            description = "Manifests, or folders of them, as for plan.")
    private List<Path> paths = new ArrayList<>();

    @Option(
            names = "--server",
            paramLabel = "HOST[:PORT]",
            converter = ServerName.Converter.class,
            description = "An authoritative server of the zones; once for each.")
    private List<ServerName> servers = new ArrayList<>();

    @Option(
            names = "--resolver",
            paramLabel = "HOST[:PORT]",
            converter = ServerName.Converter.class,
            description = "A resolver that clients use; once for each.")
    private List<ServerName> resolvers = new ArrayList<>();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    private boolean isAsPlanned = true;

    @Override
    public Integer call() throws UnknownHostException {
        PrintWriter err = spec.commandLine().getErr();
        if (servers.isEmpty() && resolvers.isEmpty()) {
            err.println("give at least one --server or --resolver");
            return CommandLine.ExitCode.USAGE;
        }
        List<ZoneRecords> zones;
        try {
            zones = List.copyOf(Plan.of(Manifests.read(paths), zone -> Optional.empty())
                    .records(Map.of())
                    .values());
        } catch (ManifestException e) {
            err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        if (zones.isEmpty()) {
            err.println("no DNSZone of the manifests is accepted; apportion plan says why");
            return CommandLine.ExitCode.USAGE;
        }
        for (ServerName server : servers) {
            InetSocketAddress address = server.resolve();
            zones.forEach(zone -> authoritative(zone, server, address));
        }
        WeightProbe probe =
                new WeightProbe(Asker.ofResolvers(TIMEOUT), new Pace(PER_SECOND), RandomGenerator.getDefault());
        for (ServerName resolver : resolvers) {
            InetSocketAddress address = resolver.resolve();
            for (ZoneRecords zone : zones) {
                for (Host host : zone.hosts()) {
                    for (WeightedRRset set : WeightedRRset.of(host)) {
                        through(resolver, address, probe, set, zone.answers());
                    }
                }
            }
        }
        spec.commandLine().getOut().flush();
        return isAsPlanned ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    /** The ids of queries are chosen, so that no chance is left. */
    private void authoritative(ZoneRecords zone, ServerName server, InetSocketAddress address) {
        Set<String> hosts = zone.hosts().stream().map(Host::name).collect(Collectors.toSet());
        switch (Verification.of(zone, Map.of(), hosts, 0, 0).ask(new Asker(TIMEOUT), address)) {
            case Verdict.Verified(int questions) ->
                say("%s answers %s as planned: %d hosts, %d questions"
                        .formatted(server, zone.domain(), hosts.size(), questions));
            case Verdict.Silent(String reason) -> complain("%s does not answer: %s".formatted(server, reason));
            case Verdict.IgnoresWeights(List<Verdict.Difference> differences) -> {
                complain("%s answers the addresses of %s as planned, but does not draw them by their weights"
                        .formatted(server, zone.domain()));
                show(differences);
            }
            case Verdict.Lags(List<Verdict.Difference> differences) -> {
                complain("%s does not answer %s as planned: %d answers are others"
                        .formatted(server, zone.domain(), differences.size()));
                show(differences);
                say("  Maybe other manifests are published, or it has not loaded the last files");
            }
        }
    }

    private void show(List<Verdict.Difference> differences) {
        differences.stream()
                .limit(DIFFERENCES_SHOWN)
                .forEach(difference -> say("  %s: planned %s, answered %s"
                        .formatted(difference.question(), difference.expected(), difference.observed())));
        if (differences.size() > DIFFERENCES_SHOWN) {
            say("  and %d more".formatted(differences.size() - DIFFERENCES_SHOWN));
        }
    }

    private void through(
            ServerName resolver, InetSocketAddress address, WeightProbe probe, WeightedRRset set, Answers answers) {
        String what = "%s, stream %s".formatted(set.host(), set.label());
        Draws draws = Draws.NONE;
        for (int round = 1; ; round++) {
            switch (probe.ask(address, set, answers, () -> true)) {
                case WeightProbe.Outcome.Counted(Draws more) -> draws = draws.plus(more);
                case WeightProbe.Outcome.Silent(String reason) -> {
                    complain("%s does not answer: %s".formatted(resolver, reason));
                    return;
                }
                case WeightProbe.Outcome.Unresolved(String question, String answer) -> {
                    complain("%s answers %s to %s. Maybe it does not ask the servers of this zone"
                            .formatted(resolver, answer, question));
                    return;
                }
                case WeightProbe.Outcome.Abandoned abandoned -> {
                    complain("%s was not asked to the end".formatted(resolver));
                    return;
                }
            }
            ShareVerdict verdict = ShareJudgement.judge(set, draws);
            if (!(verdict instanceof ShareVerdict.Undecided) || round == ROUNDS) {
                judge(resolver, what, set, verdict, answers);
                return;
            }
        }
    }

    private void judge(ServerName resolver, String what, WeightedRRset set, ShareVerdict verdict, Answers answers) {
        switch (verdict) {
            case ShareVerdict.Fit fit ->
                say("through %s clients get the planned shares of %s".formatted(resolver, what));
            case ShareVerdict.Undecided undecided ->
                complain("through %s: %s could not be told".formatted(resolver, what));
            case ShareVerdict.Pinned pinned ->
                complain(
                        "%s pins %s: it answers again what it has in its cache. Let it not cache this domain, or shorten"
                                        .formatted(resolver, what)
                                + " ttlSeconds");
            case ShareVerdict.Even even -> lost(resolver, what, answers);
            case ShareVerdict.Other other -> lost(resolver, what, answers);
        }
        counts(set, verdict.draws());
    }

    private void lost(ServerName resolver, String what, Answers answers) {
        complain(
                switch (answers) {
                    case List ->
                        "%s shuffles the answers of %s, so that weights are lost. Answers of a Single address survive it"
                                .formatted(resolver, what);
                    case Single, Drawn ->
                        "through %s the shares of %s are others. Maybe it asks servers that do not draw by weight, or have other"
                                        .formatted(resolver, what)
                                + " manifests";
                });
    }

    private void counts(WeightedRRset set, Draws draws) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("  ADDRESS", "PLANNED", "FIRST", "OF " + draws.size()));
        for (IPAddress address : set.weights().keySet()) {
            int count =
                    draws.firsts().getOrDefault(address, 0) + draws.repeats().getOrDefault(address, 0);
            rows.add(List.of(
                    "  " + address.toCanonicalString(),
                    PlanTable.percent(set.share(address)),
                    PlanTable.percent((double) count / Math.max(1, draws.size())),
                    Integer.toString(count)));
        }
        spec.commandLine().getOut().print(PlanTable.aligned(rows));
    }

    private void complain(String text) {
        isAsPlanned = false;
        say(text);
    }

    private void say(String text) {
        spec.commandLine().getOut().println(text);
    }
}
