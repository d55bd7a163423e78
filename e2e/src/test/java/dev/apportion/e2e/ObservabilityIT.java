package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DebianPackage;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Prometheus;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The chart's dashboard and alerts are about what a running operator really exposes: a real Prometheus scrapes it. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ObservabilityIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Path DASHBOARD = Chart.FOLDER.resolve("files/dashboard.json");
    private static final Path ALERTS = Chart.FOLDER.resolve("files/alerts.yaml");
    private static final Path ALERT_CASES = Chart.VALUES.resolveSibling("alerts.yaml");

    private static final Pattern LEGEND = Pattern.compile("\\{\\{ *(\\w+) *}}");
    private static final Pattern LABEL = Pattern.compile("\\$labels\\.(\\w+)");
    private static final Pattern VARIABLE = Pattern.compile("label_values\\((.*), *(\\w+)\\)");

    /** What an alert asks of its value, but not the smallness or greatness within a matcher. */
    private static final Pattern COMPARISON = Pattern.compile(" (==|>|<) [0-9.]+");

    /** A value of a label that only trouble has. */
    private static final Pattern TROUBLE = Pattern.compile("outcome(=\"error\"|!=\"written\")");

    private static final String SILENT = """
        apiVersion: apportion.dev/v1alpha1
        kind: ReplicaPool
        metadata: {name: silent}
        spec:
          sites: [{name: main, endpoints: [{name: a, address: 192.0.2.1}]}]
          load: {prometheus: {series: {requests: requests_total}}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: silent}
        spec: {zoneRef: {name: seen}, hostname: silent.seen.example, poolRef: {name: silent}}
        """;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Prometheus prometheus;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        DebianPackage.PROMETHEUS.orSkip();
        product = Product.start(
                server,
                kubectl,
                folder,
                "--verify-interval",
                "PT0.5S",
                "--watch-audit-interval",
                "PT0.5S",
                "--resolver-interval",
                "PT2S");
        prometheus = Prometheus.scraping(Probes.of(product.operator()).address(), ALERTS);
        product.applyPair("seen");
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficStream
            metadata: {name: seen-near}
            spec: {serviceRef: {name: seen}, clients: {cidrs: [10.1.0.0/16]}, rate: 500m}
            """);
        // CoreDNS itself stands for a resolver.
        product.kubectl(
                "patch",
                "dnszone/seen",
                "--type=merge",
                "-p",
                "{\"spec\":{\"ttlSeconds\":1,\"resolvers\":{\"addresses\":[\"127.0.0.1:%d\"]}}}"
                        .formatted(product.coreDns().port()));
        product.awaitVerified("seen");
        // An Event tells of a service that was ready, and is no more.
        product.kubectl("delete", "replicapool/seen");
        product.awaitCondition("trafficservice/seen", "Ready", "False");
        product.applyPair("seen");
        product.awaitCondition("trafficservice/seen", "Ready", "True");
    }

    @AfterAll
    void stop() throws IOException {
        if (prometheus != null) {
            prometheus.close();
        }
        if (product != null) {
            product.close();
        }
    }

    private static void check(Prometheus prometheus, String expression, Set<String> labels, Map<String, String> wrong) {
        try {
            List<JsonNode> series = prometheus.series(expression);
            if (series.isEmpty()) {
                wrong.put(expression, "gives nothing");
            }
            for (String label : labels) {
                // The implicit stream has no name, and Prometheus takes an empty label for none.
                if (series.stream().noneMatch(found -> found.has(label))) {
                    wrong.put(expression, "has no label " + label);
                }
            }
        } catch (AssertionError e) {
            wrong.put(expression, String.valueOf(e.getMessage()));
        }
    }

    private static Set<String> names(Pattern pattern, String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }

    /** A dashboard's expression as Grafana sends it, with all that can be chosen. */
    private static String chosen(String expression) {
        return expression.replace("$__rate_interval", "1m").replaceAll("\\$(namespace|pool|service)", ".*");
    }

    @Test
    void everyPanelAndVariableOfTheDashboardHasItsSeries() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
        Map<String, Set<String>> expressions = new TreeMap<>();
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                expressions.put(
                        chosen(target.path("expr").asText()),
                        names(LEGEND, target.path("legendFormat").asText()));
            }
        }
        for (JsonNode variable : dashboard.at("/templating/list")) {
            Matcher query = VARIABLE.matcher(chosen(variable.at("/query/query").asText()));
            if (query.matches()) {
                expressions.put(query.group(1), Set.of(query.group(2)));
            }
        }
        assertThat(expressions).hasSizeGreaterThan(35);

        Map<String, String> wrong = new TreeMap<>();
        Awaitility.await("all series").atMost(PATIENCE).untilAsserted(() -> {
            wrong.clear();
            expressions.forEach((expression, labels) -> check(prometheus, expression, labels, wrong));
            assertThat(wrong).isEmpty();
        });
    }

    /** The namespace of a resource's series is that of the resource, not that of the operator. */
    @Test
    void theLabelsOfTheSeriesWin() {
        Awaitility.await("the zone")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(prometheus.series("apportion_zone_programmed"))
                        .extracting(series -> series.path("namespace").asText())
                        .containsExactly(product.namespace()));
        assertThat(prometheus.series("apportion_leader"))
                .extracting(series -> series.path("namespace").asText())
                .containsExactly("operators");
    }

    /** Without its comparison, and where no trouble is chosen, the expression of each alert gives what its texts name. */
    @Test
    void everyAlertIsAboutSeriesThatThereAre() throws IOException {
        Map<String, Set<String>> expressions = new TreeMap<>();
        for (JsonNode alert : alerts()) {
            String always = COMPARISON.matcher(alert.path("expr").asText()).replaceAll(" * 1");
            always = TROUBLE.matcher(always).replaceAll("outcome=~\".+\"").replace("absent(", "(");
            expressions.put(always, names(LABEL, alert.path("annotations").toString()));
        }
        // Some are about a pool that is measured. Of this one nothing is heard, so it is not there for longer than it
        // must.
        product.apply(SILENT);

        Map<String, String> wrong = new TreeMap<>();
        Awaitility.await("all series").atMost(PATIENCE).untilAsserted(() -> {
            wrong.clear();
            expressions.forEach((expression, labels) -> check(prometheus, expression, labels, wrong));
            assertThat(wrong).isEmpty();
        });
        product.kubectl("delete", "trafficservice/silent", "replicapool/silent");
    }

    @Test
    void allIsWellSoNoAlertIsPending() {
        Awaitility.await("the rules have been evaluated and none holds")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(prometheus.rules())
                        .hasSizeGreaterThan(10)
                        .allSatisfy(rule -> assertThat(rule.path("name").asText() + " "
                                        + rule.path("health").asText() + " "
                                        + rule.path("state").asText())
                                .endsWith(" ok inactive")));
    }

    private static List<JsonNode> alerts() throws IOException {
        List<JsonNode> alerts = new ArrayList<>();
        Chart.yaml(ALERTS).path("groups").forEach(group -> group.path("rules").forEach(alerts::add));
        return alerts;
    }

    @Test
    void everyAlertFiresWhenItShallAndNotOtherwise() {
        Path promtool = DebianPackage.PROMTOOL.orSkip();
        for (String[] line : new String[][] {{"check", ALERTS.toString()}, {"test", ALERT_CASES.toString()}}) {
            Command.Result result = Command.of(List.of(promtool.toString(), line[0], "rules", line[1]))
                    .run();
            assertThat(result.exitCode()).as(result.toString()).isZero();
        }
    }

    @Test
    void everyAlertHasACaseInWhichItFiresAndOneInWhichItDoesNot() throws IOException {
        Map<String, Set<Boolean>> cases = new TreeMap<>();
        for (JsonNode test : Chart.yaml(ALERT_CASES).path("tests")) {
            for (JsonNode rule : test.path("alert_rule_test")) {
                cases.computeIfAbsent(rule.path("alertname").asText(), name -> new TreeSet<>())
                        .add(rule.path("exp_alerts").isEmpty());
            }
        }
        Map<String, Set<Boolean>> both = new TreeMap<>();
        alerts().forEach(alert -> both.put(alert.path("alert").asText(), Set.of(true, false)));

        assertThat(cases).isEqualTo(both);
    }
}
