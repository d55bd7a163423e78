package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.apportion.allocation.Rating;
import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec.PolicyType;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import dev.apportion.reconcile.ClusterState;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.StatusQuo;
import dev.apportion.simulation.Dispatch;
import dev.apportion.simulation.Point;
import dev.apportion.simulation.Population;
import dev.apportion.simulation.Scenario;
import dev.apportion.simulation.Server;
import dev.apportion.simulation.Setting;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Of what statuses say a scenario is made that the simulation takes. */
class PoolScenarioTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Ref SHOP = new Ref("web", "shop");
    private static final PoolScenario.WhatIf NOTHING =
            new PoolScenario.WhatIf(List.of(), List.of(), List.of(), List.of());

    /** Of the replica b half of what is declared was learned, c does not serve, and d stands by. */
    private static final String CLUSTER = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: zone, namespace: web, generation: 1}
        spec: {domain: example.org, coreDNS: {answers: Single}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: shop, namespace: web, generation: 3}
        spec:
          sites:
          - {name: fra, service: {name: shop}, capacity: 100, concurrency: 5}
          - {name: spare, priority: 1, endpoints: [{name: d, address: 192.0.2.9, capacity: 500}]}
          policy: {type: Rating, rating: {mode: Best}}
        status:
          observedGeneration: 3
          replicas: {total: 4, ready: 3, warming: 0, draining: 0, silent: 0}
          makespan: "0.8"
          average: "0.8"
          lowerBound: "0.8"
          optimalityGap: "0"
          rows:
          - {name: a, address: 10.0.0.1, site: fra, state: Ready, capacity: "100", measured: "53% of what it requests; since 2024-01-01T00:00:00Z", load: "0.8", level: "0.8", share: "0.6667", because: capacity of the site}
          - {name: b, address: 10.0.0.2, site: fra, state: Ready, capacity: "50", load: "0.8", level: "0.8", share: "0.3333", because: "capacity of the site; estimated 50 of 100 declared, from what others have in flight"}
          - {name: c, address: "", site: fra, state: NotReady, capacity: "100", load: "0", level: "0", share: "0", because: capacity of the site}
          - {name: d, address: 192.0.2.9, site: spare, state: Ready, capacity: "500", load: "0", level: "0", share: "0", because: capacity declared}
          conditions: []
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: shop, namespace: web, generation: 1}
        spec: {zoneRef: {name: zone}, hostname: shop.example.org, poolRef: {name: shop}, ttlSeconds: 20}
        status: {rate: "30", answers: [{address: 10.0.0.1, replica: a, weight: 256, share: "1"}], conditions: []}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficStream
        metadata: {name: eu, namespace: web, generation: 1}
        spec: {serviceRef: {name: shop}, clients: {cidrs: [10.1.0.0/16]}, rate: 90, home: fra}
        status: {rate: "90", answers: [{address: 10.0.0.1, replica: a, weight: 256, share: "1"}], conditions: []}
        """;

    /** What is in force in it. */
    static StatusQuo quo() throws IOException {
        List<DNSZone> zones = new ArrayList<>();
        List<ReplicaPool> pools = new ArrayList<>();
        List<TrafficService> services = new ArrayList<>();
        List<TrafficStream> streams = new ArrayList<>();
        try (MappingIterator<JsonNode> read =
                new YAMLMapper().readerFor(JsonNode.class).readValues(CLUSTER)) {
            for (JsonNode document : read.readAll()) {
                switch (document.path("kind").asText()) {
                    case "DNSZone" -> zones.add(JSON.treeToValue(document, DNSZone.class));
                    case "ReplicaPool" -> pools.add(JSON.treeToValue(document, ReplicaPool.class));
                    case "TrafficService" -> services.add(JSON.treeToValue(document, TrafficService.class));
                    default -> streams.add(JSON.treeToValue(document, TrafficStream.class));
                }
            }
        }
        return StatusQuo.of(new ClusterState(zones, pools, services, streams, Instant.parse("2024-01-01T00:00:00Z")));
    }

    private static Scenario scenario(PoolScenario.WhatIf whatIf)
            throws IOException, ClusterException, ScenarioException {
        PoolScenario.Written written = PoolScenario.of(quo(), SHOP, whatIf);
        return Scenarios.parse("scenario.yaml", written.yaml(), false, OptionalInt.empty());
    }

    @Test
    void whatWasLearnedAndMeasuredIsSimulated() throws IOException, ClusterException, ScenarioException {
        Scenario scenario = scenario(NOTHING);
        Setting setting = scenario.points().getFirst().setting();

        assertThat(scenario.name()).isEqualTo("pool web/shop");
        assertThat(scenario.points()).hasSize(1);
        assertThat(setting.servers())
                .extracting(
                        Server::name,
                        server -> Math.round(server.capacity(setting.size().mean())),
                        Server::slots)
                .containsExactly(tuple("a", 100L, 5), tuple("b", 50L, 5));
        assertThat(setting.populations().stream().collect(Collectors.toMap(Population::name, Population::rate)))
                .isEqualTo(Map.of("shop everyone else", 30.0, "eu", 90.0));
        assertThat(setting.populations())
                .filteredOn(population -> population.name().equals("eu"))
                .allSatisfy(population -> assertThat(population.home()).contains("fra"));
        assertThat(setting.utilisation()).isCloseTo(0.8, within(1e-4));
        Dispatch.Dns dns = (Dispatch.Dns) setting.dispatch();
        assertThat(dns.policy()).isInstanceOf(Rating.class);
        assertThat(dns.ttl()).isEqualTo(20);
        assertThat(dns.maxReplicas()).isEqualTo(2);
        assertThat(dns.replan()).hasValue(22);
        assertThat(dns.tolerance().actAbove()).isEqualTo(0.1);
    }

    @Test
    void eachWhatIfIsBesideHowItIsNow() throws IOException, ClusterException, ScenarioException {
        Scenario scenario = scenario(new PoolScenario.WhatIf(
                List.of("1", "b"), List.of(1), List.of(2.0), List.of(PolicyType.KSplittable, PolicyType.Rating)));

        assertThat(scenario.points()).hasSize(3 * 2 * 2 * 2);
        assertThat(scenario.points())
                .extracting(Point::labels)
                .contains(
                        Map.of("servers", "now", "populations", "now", "maxReplicas", "2", "policy", "Rating, now"),
                        Map.of(
                                "servers",
                                "without a",
                                "populations",
                                "rates x 2",
                                "maxReplicas",
                                "1",
                                "policy",
                                "KSplittable"));
        Setting worst = scenario.points().stream()
                .filter(point -> point.labels().containsValue("without b"))
                .findFirst()
                .orElseThrow()
                .setting();
        assertThat(worst.servers().getLast().absence())
                .hasValueSatisfying(absence -> assertThat(absence.from()).isEqualTo(worst.warmUp()));
    }

    @Test
    void whatIsGuessedOrLeftOutIsSaid() throws IOException, ClusterException {
        assertThat(PoolScenario.of(
                                quo(), SHOP, new PoolScenario.WhatIf(List.of("a"), List.of(), List.of(1.5), List.of()))
                        .notes())
                .containsExactly(
                        "replicas that stand by, of sites with a higher priority, are left out",
                        "180.0 requests/s come, and the replicas bear 150.0: queues grow for as long as it is so",
                        "without a 120.0 requests/s come, and the replicas bear 50.00: queues grow for as long as it"
                                + " is so",
                        "guessed are 10 resolvers for each stream, exponential times of service of 0.07500 s in the"
                                + " mean, and 5.000 s until a loss is known; --write-scenario writes all of it to be"
                                + " edited");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "web/other | | there is no ReplicaPool web/other; the namespace has shop",
                "web/shop | z | --lose z: no serving replica of ReplicaPool web/shop has the name \"z\"; it has a, b",
                "web/shop | d | --lose d: no serving replica of ReplicaPool web/shop has the name \"d\"; it has a, b",
                "web/shop | 2 | --lose 2: that are all 2 replicas that serve, and nobody would be left"
            })
    void whatCannotBeIsSaidInOneLine(String pool, @Nullable String lose, String message) throws IOException {
        StatusQuo quo = quo();
        PoolScenario.WhatIf whatIf =
                new PoolScenario.WhatIf(lose == null ? List.of() : List.of(lose), List.of(), List.of(), List.of());

        assertThatThrownBy(() -> PoolScenario.of(quo, new Ref("web", pool.substring(4)), whatIf))
                .isInstanceOf(ClusterException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource({"--lose, a", "--k, 2", "--rate-factor, 2", "--policy, Rating", "--write-scenario, x", "--context, c"})
    void whatIfsAreOfPools(String option, String value) {
        Run run = Run.of("simulate", "--all-claims", option, value);

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).isEqualTo(option + " is for --from-pool only" + System.lineSeparator());
    }
}
