package dev.apportion.cli;

import dev.apportion.cli.SimulateCommand.Result;
import dev.apportion.simulation.Interval;
import dev.apportion.simulation.Metric;
import dev.apportion.simulation.Row;
import dev.apportion.simulation.Verdict;
import dev.apportion.simulation.Verdict.Holds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Simulations as tables for people. */
final class SimulationTable {

    /** Cases in which a claim does not hold that are named. */
    private static final int CASES_SHOWN = 6;

    static final String RECONSTRUCTION =
            "A reconstruction: the source gives no table of results; the numbers are ours.";

    static final String STOPPED = "Stopped: only a part of the runs has ended.";

    static final List<String> VERDICTS = List.of("SCENARIO", "VERDICT", "HOLDS", "UNCLEAR", "REFUTED", "CLAIM");

    private static final double MILLIS = 1000;

    private SimulationTable() {}

    static String text(Result result) {
        StringBuilder text = new StringBuilder(head(result));
        text.append(PlanTable.aligned(rows(result)));
        if (!result.verdicts().isEmpty()) {
            text.append(System.lineSeparator()).append(verdicts(List.of(result)));
        }
        return text.append(System.lineSeparator()).toString();
    }

    /** A header, and a row for each point. */
    static List<List<String>> rows(Result result) {
        List<List<String>> rows = new ArrayList<>();
        List<String> header = new ArrayList<>();
        result.rows().getFirst().point().labels().keySet().forEach(name -> header.add(name.toUpperCase(Locale.ROOT)));
        for (Metric metric : result.scenario().show()) {
            header.add(metric.id().toUpperCase(Locale.ROOT) + (metric.unit().equals("s") ? " ms" : ""));
        }
        rows.add(header);
        for (Row row : result.rows()) {
            List<String> line = new ArrayList<>(row.point().labels().values());
            for (Metric metric : result.scenario().show()) {
                line.add(cell(row.interval(metric), metric));
            }
            rows.add(line);
        }
        return rows;
    }

    private static String head(Result result) {
        StringBuilder text = new StringBuilder("%s: %d points, %d seeds each%n"
                .formatted(
                        result.scenario().name(),
                        result.scenario().points().size(),
                        result.scenario().seeds().size()));
        if (!result.scenario().about().isEmpty()) {
            text.append(result.scenario().about()).append(System.lineSeparator());
        }
        if (!result.scenario().source().isEmpty()) {
            text.append("Source: %s%n".formatted(result.scenario().source()));
        }
        if (result.scenario().reconstruction()) {
            text.append(RECONSTRUCTION).append(System.lineSeparator());
        }
        if (!result.isComplete()) {
            text.append(STOPPED).append(System.lineSeparator());
        }
        return text.append("Means of the runs, ± half the width of the confidence interval of 95 %%.%n%n".formatted())
                .toString();
    }

    private static String cell(Interval interval, Metric metric) {
        double scale = metric.unit().equals("s") ? MILLIS : 1;
        if (Double.isNaN(interval.mean())) {
            return "-";
        }
        String mean = number(interval.mean() * scale);
        return Double.isInfinite(interval.half()) ? mean : mean + " ±" + number(interval.half() * scale);
    }

    /** Four digits that matter, without an exponent where it can be read without. */
    private static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.01 || size == 0 ? 3 : 5;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** All verdicts on claims. */
    static String verdicts(List<Result> results) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(VERDICTS);
        StringBuilder others = new StringBuilder();
        for (Result result : results) {
            for (Verdict verdict : result.verdicts()) {
                rows.add(row(result, verdict));
                others.append(exceptions(verdict));
            }
        }
        return PlanTable.aligned(rows) + others;
    }

    /** A row under {@link #VERDICTS}. */
    static List<String> row(Result result, Verdict verdict) {
        return List.of(
                result.scenario().name(),
                word(verdict),
                Long.toString(verdict.count(Holds.YES)),
                Long.toString(verdict.count(Holds.UNCLEAR)),
                Long.toString(verdict.count(Holds.NO)),
                verdict.claim().says());
    }

    static String word(Verdict verdict) {
        if (verdict.cases().isEmpty()) {
            return "not run";
        }
        if (verdict.holds()) {
            return "holds";
        }
        if (verdict.fails()) {
            return verdict.count(Holds.YES) > 0 ? "holds partly" : "refuted";
        }
        return verdict.count(Holds.YES) > 0 ? "holds mostly" : "unclear";
    }

    /** Where a claim does not hold. */
    static String exceptions(Verdict verdict) {
        List<Verdict.Case> others = verdict.cases().stream()
                .filter(each -> each.holds() != Holds.YES)
                .sorted((a, b) -> b.holds().compareTo(a.holds()))
                .toList();
        if (others.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(
                "%n\"%s\" is not shown at:%n".formatted(verdict.claim().says()));
        others.stream()
                .limit(CASES_SHOWN)
                .forEach(each -> text.append("  %s: %s, %s%n"
                        .formatted(
                                labels(each.labels()),
                                each.measured(),
                                each.holds() == Holds.NO ? "refuted" : "unclear")));
        if (others.size() > CASES_SHOWN) {
            text.append("  and %d more%n".formatted(others.size() - CASES_SHOWN));
        }
        return text.toString();
    }

    static String labels(Map<String, String> labels) {
        return labels.isEmpty()
                ? "all"
                : labels.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining(", "));
    }
}
