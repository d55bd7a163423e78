package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.dns.Shards;
import dev.apportion.dns.wire.Draws;
import dev.apportion.dns.wire.ShareVerdict;
import dev.apportion.dns.wire.WeightedRRset;
import dev.apportion.reconcile.ResolverReport.Heard;
import dev.apportion.reconcile.ResolverReport.Through;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ResolverFindingsTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final Ref SHOP = new Ref("web", "shop");
    private static final String ONE = "10.96.0.10:53";
    private static final String OTHER = "[2001:db8::53]:5353";
    private static final String ASKED = Setting.ZONE.replace(
            "coreDNS: {}", "coreDNS: {}, resolvers: {addresses: ['10.96.0.10:53', '[2001:db8::53]:5353']}");
    private static final String TWO = Setting.pool(
            "shop",
            "{name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: 3}, {name: b, address: 192.0.2.2,"
                    + " capacity: 1}]}");

    /** A zone with two hosts. */
    private record World(Plan plan) {

        static World of(String zone, String pool) {
            return new World(Setting.of(
                            zone,
                            pool,
                            Setting.service("shop", "shop.example.org"),
                            Setting.service("cart", "cart.example.org"))
                    .plan());
        }

        AdmittedZone zone() {
            return Objects.requireNonNull(plan.admission().zones().get(ZONE))
                    .value()
                    .orElseThrow();
        }

        ZoneStanding standing() {
            return new ZoneStanding(Objects.requireNonNull(plan.zones().get(ZONE)), new Shards(8), new TreeMap<>());
        }

        Finding ofZone(ResolverReport report) {
            return ResolverFindings.ofZone(zone(), standing(), report);
        }

        Finding ofService(ResolverReport report) {
            return ResolverFindings.ofService(Optional.of(zone()), standing().part(SHOP), report);
        }
    }

    private static final World WORLD = World.of(ASKED, TWO);

    private static Finding ofZone(ResolverReport report) {
        return WORLD.ofZone(report);
    }

    private static Finding ofService(ResolverReport report) {
        return WORLD.ofService(report);
    }

    private static WeightedRRset set(String host) {
        return WORLD.standing().records().hosts().stream()
                .filter(found -> found.name().equals(host + ".example.org"))
                .flatMap(found -> WeightedRRset.of(found).stream())
                .findFirst()
                .orElseThrow();
    }

    /** 100 of each of the two, each twice for each name. */
    private static Draws equal() {
        return new Draws(set("shop").weights().keySet().stream()
                .flatMap(address -> Collections.nCopies(50, List.of(address, address)).stream())
                .toList());
    }

    private static Heard judged(String host, ShareVerdict verdict) {
        return new Heard.Judged(set(host), verdict);
    }

    private static Heard fit(String host) {
        return judged(host, new ShareVerdict.Fit(equal()));
    }

    private static Through answers(Map<String, Heard> hosts) {
        SortedMap<String, Heard> byName = new TreeMap<>();
        hosts.forEach((host, heard) -> byName.put(host + ".example.org", heard));
        return new Through(Optional.empty(), byName);
    }

    private static ResolverReport report(Through one, Through other) {
        return new ResolverReport(new TreeMap<>(Map.of(ONE, one, OTHER, other)));
    }

    private static void says(Finding finding, Finding.Status status, String reason, String... words) {
        assertThat(finding).extracting(Finding::status, Finding::reason).containsExactly(status, reason);
        assertThat(finding.type()).isEqualTo("WeightsHonored");
        for (String word : words) {
            assertThat(finding.message()).contains(word);
        }
    }

    @Test
    void sharesThatFitThroughEveryResolverAreHonoured() {
        Through all = answers(Map.of("shop", fit("shop"), "cart", fit("cart")));
        Through some = answers(Map.of("shop", fit("shop")));

        says(ofZone(report(all, all)), Finding.Status.True, "WeightsHonored", "all 2 hosts", ONE, OTHER);
        says(ofZone(report(some, all)), Finding.Status.True, "WeightsHonored", "have been asked for", ONE, OTHER);
        says(ofService(report(some, all)), Finding.Status.True, "WeightsHonored", "shop.example.org", ONE, OTHER);
    }

    @Test
    void nothingIsSaidBeforeEveryResolverHasBeenAsked() {
        Through none = answers(Map.of());
        Through undecided = answers(Map.of("shop", judged("shop", new ShareVerdict.Undecided(equal()))));
        Through fit = answers(Map.of("shop", fit("shop")));

        says(ofZone(ResolverReport.NONE), Finding.Status.Unknown, "Pending");
        says(ofZone(report(fit, none)), Finding.Status.Unknown, "Pending");
        says(ofService(report(fit, undecided)), Finding.Status.Unknown, "Pending");
        says(
                ofService(report(answers(Map.of("cart", fit("cart"))), answers(Map.of("cart", fit("cart"))))),
                Finding.Status.Unknown,
                "Pending");
    }

    @Test
    void equalSharesAreTheResolversFaultWithListAndTheProvidersWithSingle() {
        Through fit = answers(Map.of("shop", fit("shop"), "cart", fit("cart")));
        Through even = answers(Map.of("shop", judged("shop", new ShareVerdict.Even(equal())), "cart", fit("cart")));
        World list = World.of(ASKED.replace("coreDNS: {}", "coreDNS: {answers: List}"), TWO);

        says(
                ofZone(report(even, fit)),
                Finding.Status.False,
                "ProviderIgnoresWeights",
                ONE,
                "of 200 answers for shop.example.org",
                "192.0.2.1 100 times, not about 150",
                "192.0.2.2 100 times, not about 50");
        says(
                list.ofService(report(fit, even)),
                Finding.Status.False,
                "ResolverShuffles",
                OTHER,
                "shop.example.org",
                "192.0.2.1 100 times, not about 150",
                "Maybe set spec.coreDNS.answers to Single");
        assertThat(list.ofService(report(fit, even)).message()).doesNotContain(ONE);
    }

    @Test
    void whatConcernsAnotherHostConcernsTheZoneOnly() {
        Through bad = answers(Map.of("shop", fit("shop"), "cart", judged("cart", new ShareVerdict.Other(equal()))));

        says(ofService(report(bad, bad)), Finding.Status.True, "WeightsHonored");
        says(ofZone(report(bad, bad)), Finding.Status.False, "ProviderIgnoresWeights", "cart.example.org");
    }

    @Test
    void aCacheIsSaidToPin() {
        Through pinned = answers(Map.of("shop", judged("shop", new ShareVerdict.Pinned(equal(), false))));
        Through always = answers(Map.of("shop", judged("shop", new ShareVerdict.Pinned(equal(), true))));

        says(
                ofService(report(pinned, pinned)),
                Finding.Status.False,
                "ResolverPins",
                ONE,
                OTHER,
                "100 of 100 questions that were repeated",
                "without a cache");
        says(ofService(report(always, pinned)), Finding.Status.False, "ResolverPins", "192.0.2.1 100 times");
    }

    @Test
    void whatIsWrongCountsBeforeWhoIsSilentAndThatBeforeWhatIsRight() {
        Through silent = new Through(Optional.of("no response within 2000 ms"), new TreeMap<>());
        Through lost = answers(Map.of("shop", new Heard.Unresolved("x.shop.example.org A", "NXDOMAIN")));
        Through even = answers(Map.of("shop", judged("shop", new ShareVerdict.Even(equal()))));
        Through fit = answers(Map.of("shop", fit("shop")));

        says(ofZone(report(fit, silent)), Finding.Status.Unknown, "ResolverSilent", OTHER, "2000 ms");
        says(ofService(report(fit, silent)), Finding.Status.Unknown, "ResolverSilent", OTHER);
        says(ofZone(report(even, silent)), Finding.Status.False, "ProviderIgnoresWeights");
        says(
                ofService(report(lost, fit)),
                Finding.Status.Unknown,
                "NotResolved",
                ONE + " answers NXDOMAIN to x.shop.example.org A");
    }

    @Test
    void withoutResolversHostsOrWeightsThereIsNothingToJudge() {
        World unasked = World.of(Setting.ZONE, TWO);
        World single = World.of(ASKED, Setting.pool("shop", "{name: m, endpoints: [{name: a, address: 192.0.2.1}]}"));
        World empty = World.of(ASKED, Setting.pool("other", "{name: m}"));

        says(unasked.ofZone(ResolverReport.NONE), Finding.Status.Unknown, "NoResolvers");
        says(unasked.ofService(ResolverReport.NONE), Finding.Status.Unknown, "NoResolvers");
        says(single.ofZone(ResolverReport.NONE), Finding.Status.True, "WeightsHonored", "nothing to weigh");
        says(empty.ofZone(ResolverReport.NONE), Finding.Status.Unknown, "NotPublished");
        says(
                ResolverFindings.ofService(Optional.of(empty.zone()), Optional.empty(), ResolverReport.NONE),
                Finding.Status.Unknown,
                "NotPublished");
    }

    @Test
    void aMessageShowsSomeCasesAndCountsTheRest() {
        List<String> services = new ArrayList<>(List.of(ASKED, TWO));
        SortedMap<String, Heard> hosts = new TreeMap<>();
        for (int i = 0; i < 20; i++) {
            services.add(Setting.service("s" + i, "s" + i + ".example.org"));
            hosts.put("s" + i + ".example.org", judged("shop", new ShareVerdict.Even(equal())));
        }
        Plan many = Setting.of(services.toArray(String[]::new)).plan();
        Through even = new Through(Optional.empty(), hosts);

        Finding finding = ResolverFindings.ofZone(
                Objects.requireNonNull(many.admission().zones().get(ZONE))
                        .value()
                        .orElseThrow(),
                new ZoneStanding(Objects.requireNonNull(many.zones().get(ZONE)), new Shards(8), new TreeMap<>()),
                report(even, even));

        says(finding, Finding.Status.False, "ProviderIgnoresWeights", "and 36 more");
        assertThat(finding.message()).hasSizeLessThan(2000);
    }
}
