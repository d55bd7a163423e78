package dev.apportion.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.cli.SimulateCommand.Result;
import dev.apportion.simulation.Interval;
import dev.apportion.simulation.Metric;
import dev.apportion.simulation.Outcome;
import dev.apportion.simulation.Row;
import dev.apportion.simulation.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.csv.CSVFormat;

/** Simulations for programs: the same bytes for the same scenario and seeds. */
final class SimulationReport {

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private SimulationReport() {}

    /** A line for each run, in the order of points and seeds (RFC 4180, but with the line ends of Unix). */
    static String csv(List<Result> results) {
        Set<String> names = new LinkedHashSet<>();
        results.forEach(result ->
                result.rows().forEach(row -> names.addAll(row.point().labels().keySet())));
        StringBuilder text = new StringBuilder();
        CSVFormat format = CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();
        List<String> header = new ArrayList<>(List.of("scenario"));
        header.addAll(names);
        header.add("seed");
        Arrays.stream(Metric.values()).map(Metric::id).forEach(header::add);
        text.append(format.format(header.toArray())).append('\n');
        for (Result result : results) {
            for (Row row : result.rows()) {
                row.outcomes().forEach((seed, outcome) -> {
                    List<String> line =
                            new ArrayList<>(List.of(result.scenario().name()));
                    names.forEach(name -> line.add(row.point().labels().getOrDefault(name, "")));
                    line.add(Long.toString(seed));
                    for (Metric metric : Metric.values()) {
                        Double value = outcome.values().get(metric);
                        line.add(value == null ? "" : Double.toString(value));
                    }
                    text.append(format.format(line.toArray())).append('\n');
                });
            }
        }
        return text.toString();
    }

    /** @param complete whether all that was asked for has been run */
    static String json(List<Result> results, boolean complete) {
        ObjectNode root = JSON.createObjectNode();
        root.put("complete", complete);
        ArrayNode scenarios = root.putArray("scenarios");
        for (Result result : results) {
            ObjectNode scenario = scenarios.addObject();
            scenario.put("name", result.scenario().name())
                    .put("source", result.scenario().source())
                    .put("reconstruction", result.scenario().reconstruction())
                    .put("complete", result.isComplete());
            ArrayNode seeds = scenario.putArray("seeds");
            result.scenario().seeds().forEach(seeds::add);
            ArrayNode points = scenario.putArray("points");
            result.rows().forEach(row -> point(points.addObject(), row));
            ArrayNode claims = scenario.putArray("claims");
            result.verdicts().forEach(verdict -> claim(claims.addObject(), verdict));
        }
        return root.toPrettyString();
    }

    private static void point(ObjectNode node, Row row) {
        labels(node.putObject("labels"), row.point().labels());
        ObjectNode metrics = node.putObject("metrics");
        for (Metric metric : Metric.values()) {
            Interval interval = row.interval(metric);
            if (!Double.isNaN(interval.mean())) {
                ObjectNode value = metrics.putObject(metric.id());
                value.put("unit", metric.unit()).put("mean", interval.mean());
                value.put("half", Double.isInfinite(interval.half()) ? null : interval.half());
                ArrayNode runs = value.putArray("runs");
                for (double run : row.values(metric)) {
                    runs.add(Double.isNaN(run) ? null : run);
                }
            }
        }
        ArrayNode servers = node.putArray("servers");
        for (Outcome.Serving server : row.servers()) {
            servers.addObject()
                    .put("name", server.server())
                    .put("share", server.share())
                    .put("utilisation", server.utilisation())
                    .put("delay", Double.isNaN(server.delay()) ? null : server.delay());
        }
    }

    private static void claim(ObjectNode node, Verdict verdict) {
        node.put("says", verdict.claim().says()).put("verdict", SimulationTable.word(verdict));
        ArrayNode cases = node.putArray("cases");
        for (Verdict.Case each : verdict.cases()) {
            ObjectNode row = cases.addObject();
            labels(row.putObject("labels"), each.labels());
            row.put("measured", each.measured()).put("holds", each.holds().name());
        }
    }

    private static void labels(ObjectNode node, Map<String, String> labels) {
        labels.forEach(node::put);
    }
}
