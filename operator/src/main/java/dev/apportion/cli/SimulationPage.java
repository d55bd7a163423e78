package dev.apportion.cli;

import dev.apportion.cli.SimulateCommand.Result;
import dev.apportion.simulation.Outcome;
import dev.apportion.simulation.Plan;
import dev.apportion.simulation.Row;
import dev.apportion.simulation.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Simulations as one page of HTML: verdicts, plots, tables, and what DNS was planned to answer. Nothing is loaded from
 * elsewhere, no script runs, and nothing in it says when it was made.
 */
final class SimulationPage {

    /** Populations of a plan that are shown, of the highest rates. */
    private static final int POPULATIONS_SHOWN = 8;

    /** Points whose plans and servers are shown. */
    private static final int POINTS_SHOWN = 60;

    private static final String HEAD = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width">
        <title>{title}</title>
        <style>
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #222; }
        table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
        th, td { text-align: left; padding: .2em .8em .2em 0; border-bottom: 1px solid #ddd; vertical-align: top; }
        td { font-variant-numeric: tabular-nums; }
        figure { margin: 1em 0; }
        figure svg { max-width: 100%; height: auto; }
        pre { white-space: pre-wrap; font-size: 13px; }
        .holds { color: #076b2e; } .refuted { color: #a11; } .other { color: #8a5a00; }
        .stopped { background: #fff1cc; padding: .5em 1em; }
        </style>
        </head>
        <body>
        """;

    private final StringBuilder page = new StringBuilder();
    private int figures;

    private SimulationPage() {}

    /**
     * The page.
     *
     * @param complete whether all that was asked for has been run
     */
    static String of(List<Result> results, boolean complete) {
        return new SimulationPage().text(results, complete);
    }

    private String text(List<Result> results, boolean complete) {
        String title = "Simulation: %s"
                .formatted(String.join(
                        ", ",
                        results.stream().map(result -> result.scenario().name()).toList()));
        page.append(HEAD.replace("{title}", escaped(title)));
        element("h1", title);
        if (!complete) {
            page.append("<p class=\"stopped\">")
                    .append(escaped(SimulationTable.STOPPED))
                    .append("</p>\n");
        }
        if (results.stream().anyMatch(result -> !result.verdicts().isEmpty())) {
            element("h2", "Claims");
            verdicts(results);
        }
        results.forEach(this::result);
        return page.append("</body>\n</html>\n").toString();
    }

    private void verdicts(List<Result> results) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(SimulationTable.VERDICTS);
        StringBuilder exceptions = new StringBuilder();
        for (Result result : results) {
            for (Verdict verdict : result.verdicts()) {
                rows.add(SimulationTable.row(result, verdict));
                exceptions.append(SimulationTable.exceptions(verdict));
            }
        }
        table(rows);
        if (!exceptions.isEmpty()) {
            element("pre", exceptions.toString().strip());
        }
    }

    private void result(Result result) {
        element("h2", result.scenario().name());
        List<String> head = new ArrayList<>(List.of(result.scenario().about()));
        if (!result.scenario().source().isEmpty()) {
            head.add("Source: " + result.scenario().source());
        }
        if (result.scenario().reconstruction()) {
            head.add(SimulationTable.RECONSTRUCTION);
        }
        head.add("%d points, %d seeds each; means of the runs, and the confidence interval of 95 %%."
                .formatted(
                        result.scenario().points().size(),
                        result.scenario().seeds().size()));
        if (!result.isComplete()) {
            head.add(SimulationTable.STOPPED);
        }
        head.stream().filter(line -> !line.isEmpty()).forEach(line -> element("p", line));
        for (Plot plot : Plot.of(result)) {
            figure(plot);
        }
        element("h3", "Measured");
        table(SimulationTable.rows(result));
        List<Row> shown = result.rows().stream().limit(POINTS_SHOWN).toList();
        details("Plan: what DNS answers at the begin", shown, row -> plan(result, row));
        details("Servers: what each of them did", shown, SimulationPage::servers);
        if (shown.size() < result.rows().size()) {
            element(
                    "p",
                    "Plans and servers of %d more points are left out; -o json has all servers."
                            .formatted(result.rows().size() - shown.size()));
        }
    }

    private void figure(Plot plot) {
        figures++;
        String svg = PlotDrawing.svg(plot, "f%d-".formatted(figures));
        String element = svg.substring(svg.indexOf("<svg"))
                .strip()
                .replaceFirst(
                        "<svg",
                        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\""
                                .formatted(
                                        PlotDrawing.WIDTH,
                                        PlotDrawing.HEIGHT,
                                        escaped(plot.title()).replace("$", "")));
        page.append("<figure>\n").append(element).append("\n</figure>\n");
    }

    /** Something of each point that has it. */
    private interface OfPoint {
        List<List<String>> rows(Row row);
    }

    private void details(String title, List<Row> points, OfPoint what) {
        boolean any = false;
        for (Row point : points) {
            List<List<String>> rows = what.rows(point);
            if (rows.size() > 1) {
                if (!any) {
                    page.append("<details><summary>").append(escaped(title)).append("</summary>\n");
                    any = true;
                }
                element("h4", SimulationTable.labels(point.point().labels()));
                table(rows);
            }
        }
        page.append(any ? "</details>\n" : "");
    }

    private static List<List<String>> plan(Result result, Row row) {
        Plan plan = Plan.of(row.point().setting(), result.scenario().seeds().getFirst(), POPULATIONS_SHOWN);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("POPULATION", "RATE", "SERVER", "WEIGHT", "SHARE"));
        for (Plan.Row each : plan.rows()) {
            rows.add(List.of(
                    each.population(),
                    String.format(Locale.ROOT, "%.4g", each.rate()),
                    each.server(),
                    Integer.toString(each.weight()),
                    PlanTable.percent(each.share())));
        }
        if (plan.omitted() > 0) {
            rows.add(List.of("and %d more".formatted(plan.omitted()), "", "", "", ""));
        }
        return rows;
    }

    private static List<List<String>> servers(Row row) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SERVER", "SHARE", "UTILISATION", "DELAY ms"));
        for (Outcome.Serving server : row.servers()) {
            rows.add(List.of(
                    server.server(),
                    PlanTable.percent(server.share()),
                    String.format(Locale.ROOT, "%.3f", server.utilisation()),
                    Double.isNaN(server.delay()) ? "-" : String.format(Locale.ROOT, "%.4g", server.delay() * 1000)));
        }
        return rows;
    }

    private void table(List<List<String>> rows) {
        page.append("<table>\n");
        for (int r = 0; r < rows.size(); r++) {
            page.append("<tr>");
            for (String cell : rows.get(r)) {
                if (r == 0) {
                    page.append("<th>").append(escaped(cell)).append("</th>");
                } else {
                    page.append("<td")
                            .append(mark(cell))
                            .append(">")
                            .append(escaped(cell))
                            .append("</td>");
                }
            }
            page.append("</tr>\n");
        }
        page.append("</table>\n");
    }

    private static String mark(String cell) {
        return switch (cell) {
            case "holds" -> " class=\"holds\"";
            case "refuted" -> " class=\"refuted\"";
            case "holds partly", "holds mostly", "unclear", "not run" -> " class=\"other\"";
            default -> "";
        };
    }

    private void element(String name, String text) {
        page.append('<')
                .append(name)
                .append('>')
                .append(escaped(text))
                .append("</")
                .append(name)
                .append(">\n");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
