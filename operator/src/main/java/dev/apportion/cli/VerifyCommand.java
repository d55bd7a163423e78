package dev.apportion.cli;

import dev.apportion.cli.NamespacesOptions.Scope;
import dev.apportion.dns.wire.Asker;
import dev.apportion.dns.wire.Draws;
import dev.apportion.dns.wire.Pace;
import dev.apportion.dns.wire.ShareJudgement;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.Verdict;
import dev.apportion.dns.wire.Verification;
import dev.apportion.dns.wire.WeightProbe;
import dev.apportion.dns.wire.WeightedRRset;
import dev.apportion.reconcile.AdmittedZone;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion verify}: whether servers answer as planned, and whether resolvers pass it on. */
@Command(
        name = "verify",
        description =
                "Asks authoritative servers whether they answer exactly as a cluster publishes, or as manifests (-f)"
                    + " are planned, and resolvers whether clients get these shares through them; says what is likely"
                    + " wrong where they do not. Without --server and --resolver it asks those that the zones of the"
                    + " cluster name.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every server and resolver answers as planned",
            "1:one does not, or not at all, or it could not be told",
            "2:bad options, or the input, or the cluster, cannot be read"
        })
final class VerifyCommand implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** What a resolver is asked in a second, at most. */
    private static final int PER_SECOND = 100;

    /** What can be wrong in one answer is wrong in many. */
    private static final int DIFFERENCES_SHOWN = 8;

    @Mixin
    private ManifestOptions manifests = new ManifestOptions();

    @Mixin
    private NamespacesOptions clusters = new NamespacesOptions();

    @Mixin
    private ServerOptions authorities = new ServerOptions();

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

    /**
     * What is to be answered, and by whom.
     *
     * @param servers the authoritative servers of each zone, by its place
     * @param resolvers the resolvers of each zone, by its place
     */
    private record Matter(
            SortedMap<Ref, ZoneRecords> zones,
            Map<Ref, List<ServerName>> servers,
            Map<Ref, List<ServerName>> resolvers) {}

    @Override
    public Integer call() throws UnknownHostException, ManifestException, ClusterException {
        Matter matter = manifests.isGiven() ? ofManifests() : ofCluster();
        for (Map.Entry<Ref, ZoneRecords> zone : matter.zones().entrySet()) {
            for (ServerName server : matter.servers().getOrDefault(zone.getKey(), List.of())) {
                authoritative(zone.getValue(), server, server.resolve());
            }
        }
        WeightProbe probe =
                new WeightProbe(Asker.ofResolvers(TIMEOUT), new Pace(PER_SECOND), RandomGenerator.getDefault());
        for (Map.Entry<Ref, ZoneRecords> zone : matter.zones().entrySet()) {
            for (ServerName resolver : matter.resolvers().getOrDefault(zone.getKey(), List.of())) {
                InetSocketAddress address = resolver.resolve();
                for (Host host : zone.getValue().hosts()) {
                    for (WeightedRRset set : WeightedRRset.of(host)) {
                        through(resolver, address, probe, set, zone.getValue().answers());
                    }
                }
            }
        }
        spec.commandLine().getOut().flush();
        return isAsPlanned ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private Matter ofManifests() throws ManifestException {
        clusters.refuse(spec, "is for a cluster; leave out -f to read one");
        if (authorities.servers().isEmpty() && resolvers.isEmpty()) {
            throw new ManifestException("give at least one --server or --resolver");
        }
        SortedMap<Ref, ZoneRecords> zones = manifests.plan().records(Map.of());
        if (zones.isEmpty()) {
            throw new ManifestException("no DNSZone of the manifests is accepted; apportion plan says why");
        }
        return new Matter(zones, all(zones, authorities.servers()), all(zones, resolvers));
    }

    /** What the statuses say is published; the servers that the zones name are asked unless others are given. */
    private Matter ofCluster() throws ClusterException {
        boolean given = !authorities.servers().isEmpty() || !resolvers.isEmpty();
        try (Cluster cluster = clusters.open()) {
            cluster.onGap(spec.commandLine().getErr()::println);
            Scope scope = clusters.scope(cluster);
            StatusQuo quo = cluster.read(scope.namespaces(), Set.of());
            SortedMap<Ref, ZoneRecords> zones = new TreeMap<>();
            Set<String> unknown = quo.unknown().stream().map(Ref::toString).collect(Collectors.toSet());
            quo.published().forEach((ref, zone) -> {
                List<Host> known = zone.hosts().stream()
                        .filter(host -> !unknown.contains(host.owner()))
                        .toList();
                if (!known.isEmpty()) {
                    zones.put(ref, zone.withHosts(known));
                }
            });
            unknown.forEach(service -> spec.commandLine()
                    .getErr()
                    .println("TrafficService %s is left out: its keys, or long answers, are in no status"
                            .formatted(service)));
            if (zones.isEmpty()) {
                throw new ClusterException(
                        "no TrafficService of %s is published; kubectl get trafficservices %s says why"
                                .formatted(scope.words(), scope.option()));
            }
            return new Matter(
                    zones,
                    given ? all(zones, authorities.servers()) : servers(cluster.withServers(quo), zones.keySet()),
                    given ? all(zones, resolvers) : resolvers(quo, zones.keySet()));
        } finally {
            spec.commandLine().getErr().flush();
        }
    }

    private static Map<Ref, List<ServerName>> all(SortedMap<Ref, ZoneRecords> zones, List<ServerName> servers) {
        return zones.keySet().stream().collect(Collectors.toMap(Function.identity(), zone -> servers));
    }

    private static Map<Ref, List<ServerName>> servers(StatusQuo quo, Set<Ref> zones) throws ClusterException {
        Map<Ref, List<ServerName>> servers = new HashMap<>();
        for (Ref zone : zones) {
            List<ServerName> known = quo.admission().zone(zone).map(quo::servers).orElse(List.of()).stream()
                    .map(ServerName::of)
                    .toList();
            if (known.isEmpty()) {
                throw new ClusterException(
                        "verifyAt of the DNSZone %s names no server that can be found; give one with --server"
                                .formatted(zone));
            }
            servers.put(zone, known);
        }
        return servers;
    }

    private static Map<Ref, List<ServerName>> resolvers(StatusQuo quo, Set<Ref> zones) {
        Map<Ref, List<ServerName>> resolvers = new HashMap<>();
        for (Ref zone : zones) {
            resolvers.put(
                    zone,
                    quo.admission().zone(zone).map(AdmittedZone::resolvers).orElse(List.of()).stream()
                            .map(ServerName::of)
                            .toList());
        }
        return resolvers;
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
                say(
                        manifests.isGiven()
                                ? "  Maybe other manifests are published, or it has not loaded the last files"
                                : "  Maybe it has not loaded the last files; the condition Verified says what the"
                                        + " operator sees");
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
            if (!(verdict instanceof ShareVerdict.Undecided) || round == ShareJudgement.MOST_ROUNDS) {
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
            int count = draws.all().getOrDefault(address, 0);
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
