package dev.apportion.cli;

import dev.apportion.cli.SimulateCommand.Result;
import dev.apportion.simulation.Interval;
import dev.apportion.simulation.Metric;
import dev.apportion.simulation.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One quantity of a simulation, as it is drawn: against what the sweep varies last as a number, a series for each combination
 * of the rest. What makes too many series makes plots of its own.
 *
 * @param name of its files
 * @param title for people
 * @param metric the quantity
 * @param xName what is varied along the axis; empty if nothing is
 * @param numbers whether that are numbers, or else names
 * @param xs its values
 * @param series by name, the measures by value; a value that was not run, or of which nothing is known, is absent
 */
record Plot(
        String name,
        String title,
        Metric metric,
        String xName,
        boolean numbers,
        List<String> xs,
        Map<String, Map<String, Interval>> series) {

    /** More can hardly be told apart. */
    private static final int MOST_SERIES = 12;

    private static final String NUMBER = "-?[0-9]+(\\.[0-9]+)?";

    /** Why plots cannot be drawn here, with advice; empty if they can. The class that draws cannot even be loaded without AWT. */
    static Optional<String> hindrance() {
        if (ModuleLayer.boot().findModule("java.desktop").isEmpty()) {
            return Optional.of(
                    "plots need the module java.desktop, which this Java runtime lacks, as that of the container"
                            + " image does; take the packaged program, or -o json");
        }
        return PlotDrawing.hindrance();
    }

    /** Plots of all quantities that a scenario shows. */
    static List<Plot> of(Result result) {
        Map<String, Set<String>> varied = varied(result.rows());
        String x = "";
        for (Map.Entry<String, Set<String>> dimension : varied.entrySet()) {
            if (x.isEmpty() || areNumbers(dimension.getValue())) {
                x = dimension.getKey();
            }
        }
        String along = x;
        List<String> inside = new ArrayList<>();
        List<String> outside = new ArrayList<>();
        int count = 1;
        for (Map.Entry<String, Set<String>> dimension : varied.entrySet()) {
            if (!dimension.getKey().equals(along)) {
                int more = count * dimension.getValue().size();
                boolean fits = more <= MOST_SERIES;
                (fits ? inside : outside).add(dimension.getKey());
                count = fits ? more : count;
            }
        }
        Map<String, List<Row>> parts = result.rows().stream()
                .collect(Collectors.groupingBy(row -> labels(row, outside), LinkedHashMap::new, Collectors.toList()));
        List<Plot> plots = new ArrayList<>();
        for (Metric metric : result.scenario().show()) {
            parts.forEach((part, rows) -> plot(result.scenario().name(), metric, part, rows, along, varied, inside)
                    .ifPresent(plots::add));
        }
        return plots;
    }

    private static Map<String, Set<String>> varied(List<Row> rows) {
        Map<String, Set<String>> varied = new LinkedHashMap<>();
        for (Row row : rows) {
            row.point()
                    .labels()
                    .forEach((name, value) -> varied.computeIfAbsent(name, key -> new LinkedHashSet<>())
                            .add(value));
        }
        varied.values().removeIf(values -> values.size() < 2);
        return varied;
    }

    private static boolean areNumbers(Set<String> values) {
        return values.stream().allMatch(value -> value.matches(NUMBER));
    }

    private static String labels(Row row, List<String> names) {
        return names.stream()
                .map(name -> "%s %s".formatted(name, row.point().labels().get(name)))
                .collect(Collectors.joining(", "));
    }

    private static Optional<Plot> plot(
            String scenario,
            Metric metric,
            String part,
            List<Row> rows,
            String along,
            Map<String, Set<String>> varied,
            List<String> inside) {
        Map<String, Map<String, Interval>> series = new LinkedHashMap<>();
        for (Row row : rows) {
            Interval interval = row.interval(metric);
            if (Double.isFinite(interval.mean())) {
                String name = inside.isEmpty() ? metric.id() : labels(row, inside);
                series.computeIfAbsent(name, key -> new LinkedHashMap<>())
                        .put(row.point().labels().getOrDefault(along, ""), interval);
            }
        }
        if (series.isEmpty()) {
            return Optional.empty();
        }
        Set<String> xs = varied.getOrDefault(along, Set.of(""));
        String title = "%s, %s%s%s"
                .formatted(
                        scenario,
                        metric.meaning(),
                        metric.unit().equals("s") ? ", ms" : "",
                        part.isEmpty() ? "" : "; " + part);
        String name = "%s-%s%s"
                .formatted(scenario, metric.id(), part.isEmpty() ? "" : "-" + part)
                .replaceAll("[^A-Za-z0-9.+_-]+", "-");
        return Optional.of(
                new Plot(name, title, metric, along, areNumbers(xs) && xs.size() > 1, List.copyOf(xs), series));
    }
}
