package dev.apportion.reconcile;

import dev.apportion.dns.wire.Draws;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.WeightedRRset;
import dev.apportion.reconcile.ResolverReport.Heard;
import dev.apportion.reconcile.ResolverReport.Through;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import inet.ipaddr.IPAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Says whether clients behind a zone's resolvers get the published weights. Pure. */
final class ResolverFindings {

    /** How many ways of failing a message shows before it only counts. */
    private static final int SHOWN = 4;

    private static final String TYPE = Finding.WEIGHTS_HONORED;

    private ResolverFindings() {}

    /** {@code WeightsHonored} of a zone. */
    static Finding ofZone(AdmittedZone zone, ZoneStanding standing, ResolverReport report) {
        return of(zone, standing.records().hosts(), report);
    }

    /**
     * {@code WeightsHonored} of a service.
     *
     * @param part what its zone says of it
     */
    static Finding ofService(Optional<AdmittedZone> zone, Optional<ZoneStanding.Part> part, ResolverReport report) {
        if (zone.isEmpty()) {
            return pending();
        }
        return of(zone.get(), part.flatMap(ZoneStanding.Part::host).stream().toList(), report);
    }

    private static Finding of(AdmittedZone zone, List<Host> hosts, ResolverReport report) {
        if (zone.resolvers().isEmpty()) {
            return Finding.unknown(TYPE, "NoResolvers", "spec.resolvers of the DNSZone names none to ask through");
        }
        if (hosts.isEmpty()) {
            return Finding.unknown(TYPE, "NotPublished", "nothing is published that could be asked for");
        }
        List<String> weighted = hosts.stream()
                .filter(host -> !WeightedRRset.of(host).isEmpty())
                .map(Host::name)
                .toList();
        if (weighted.isEmpty()) {
            return Finding.yes(TYPE, TYPE, "there is one address only, or none: nothing to weigh");
        }
        SortedMap<String, Through> resolvers = new TreeMap<>();
        for (InetSocketAddress resolver : zone.resolvers()) {
            String name = DnsServers.text(resolver);
            resolvers.put(name, report.resolvers().getOrDefault(name, new Through(Optional.empty(), new TreeMap<>())));
        }
        return violation(zone, weighted, resolvers)
                .or(() -> silence(resolvers))
                .or(() -> unresolved(weighted, resolvers))
                .orElseGet(() -> honoured(weighted, resolvers));
    }

    /** One way of not honouring weights; the order is that of importance. */
    private enum Violation {
        ResolverShuffles(
                "reorders the addresses, so that their weights are lost", "maybe set spec.coreDNS.answers to Single"),
        ProviderIgnoresWeights(
                "gets answers that are not drawn by the weights", "maybe the servers that answer know no weights"),
        ResolverPins(
                "gives everybody behind it one and the same answer",
                "this evens out over many resolvers, not behind one that all clients share: maybe forward the domain"
                        + " there without a cache, or set a shorter ttlSeconds");

        final String what;
        final String advice;

        Violation(String what, String advice) {
            this.what = what;
            this.advice = advice;
        }

        static Optional<Violation> of(ShareVerdict verdict, Answers answers) {
            return switch (verdict) {
                case ShareVerdict.Fit fit -> Optional.empty();
                case ShareVerdict.Undecided undecided -> Optional.empty();
                case ShareVerdict.Pinned pinned -> Optional.of(ResolverPins);
                case ShareVerdict.Even even -> Optional.of(lost(answers));
                case ShareVerdict.Other other -> Optional.of(lost(answers));
            };
        }

        private static Violation lost(Answers answers) {
            return switch (answers) {
                case List -> ResolverShuffles;
                case Single, Drawn -> ProviderIgnoresWeights;
            };
        }
    }

    private record Case(Violation violation, String resolver, Heard.Judged judged) {}

    private static Optional<Finding> violation(
            AdmittedZone zone, List<String> hosts, SortedMap<String, Through> resolvers) {
        List<Case> cases = new ArrayList<>();
        for (String host : hosts) {
            resolvers.forEach((resolver, through) -> {
                if (through.hosts().get(host) instanceof Heard.Judged judged) {
                    Violation.of(judged.verdict(), zone.answers())
                            .ifPresent(violation -> cases.add(new Case(violation, resolver, judged)));
                }
            });
        }
        if (cases.isEmpty()) {
            return Optional.empty();
        }
        cases.sort(Comparator.comparing(Case::violation));
        String shown = cases.stream().limit(SHOWN).map(ResolverFindings::text).collect(Collectors.joining("; "));
        String more = cases.size() > SHOWN ? "; and %d more".formatted(cases.size() - SHOWN) : "";
        String advice =
                cases.stream().map(found -> found.violation().advice).distinct().collect(Collectors.joining("; "));
        return Optional.of(Finding.no(
                TYPE, cases.getFirst().violation().name(), "%s%s. %s".formatted(shown, more, upper(advice))));
    }

    private static String upper(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    private static String text(Case found) {
        WeightedRRset set = found.judged().set();
        return "%s %s: %s"
                .formatted(
                        found.resolver(),
                        found.violation().what,
                        counts(set, found.judged().verdict()));
    }

    private static String counts(WeightedRRset set, ShareVerdict verdict) {
        Draws draws = verdict.draws();
        if (verdict instanceof ShareVerdict.Pinned(Draws same, boolean everyName) && !everyName) {
            return "for %s, %d of %d questions that were repeated at once had the same answer as before, not about %d"
                    .formatted(
                            set.host(), same.agreed(), same.repeated(), Math.round(set.agreement() * same.repeated()));
        }
        int total = draws.size();
        String rows = set.weights().keySet().stream()
                .limit(SHOWN)
                .map(address -> "%s %d times, not about %d"
                        .formatted(
                                address.toCanonicalString(),
                                count(draws, address),
                                Math.round(set.share(address) * total)))
                .collect(Collectors.joining(", "));
        int more = set.weights().size() - SHOWN;
        return "of %d answers for %s, %s%s%s"
                .formatted(
                        total,
                        set.host(),
                        verdict instanceof ShareVerdict.Even ? "about equally many have each address first: " : "",
                        rows,
                        more > 0 ? " and %d more addresses".formatted(more) : "");
    }

    private static int count(Draws draws, IPAddress address) {
        return draws.all().getOrDefault(address, 0);
    }

    private static Optional<Finding> silence(SortedMap<String, Through> resolvers) {
        List<String> silent = new ArrayList<>();
        resolvers.forEach((resolver, through) -> through.silence()
                .ifPresent(reason -> silent.add("%s does not answer: %s".formatted(resolver, reason))));
        return silent.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.unknown(TYPE, "ResolverSilent", String.join("; ", silent)));
    }

    private static Optional<Finding> unresolved(List<String> hosts, SortedMap<String, Through> resolvers) {
        List<String> found = new ArrayList<>();
        for (String host : hosts) {
            resolvers.forEach((resolver, through) -> {
                if (through.hosts().get(host) instanceof Heard.Unresolved(String question, String answer)) {
                    found.add("%s answers %s to %s".formatted(resolver, answer, question));
                }
            });
        }
        return found.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.unknown(
                        TYPE,
                        "NotResolved",
                        found.stream().limit(SHOWN).collect(Collectors.joining("; "))
                                + ". Maybe it does not ask the servers of this zone"));
    }

    private static Finding honoured(List<String> hosts, SortedMap<String, Through> resolvers) {
        long judged = hosts.stream()
                .filter(host -> resolvers.values().stream()
                        .allMatch(through -> through.hosts().get(host) instanceof Heard.Judged(var set, var verdict)
                                && verdict instanceof ShareVerdict.Fit))
                .count();
        if (judged == 0) {
            return pending();
        }
        return Finding.yes(
                TYPE,
                TYPE,
                "clients get the published shares of %s through %s"
                        .formatted(
                                hosts.size() == 1
                                        ? hosts.getFirst()
                                        : judged == hosts.size()
                                                ? "all %d hosts".formatted(hosts.size())
                                                : "the hosts that have been asked for",
                                String.join(", ", resolvers.keySet())));
    }

    private static Finding pending() {
        return Finding.unknown(TYPE, Findings.PENDING, "the resolvers are being asked");
    }
}
