package dev.apportion.cli;

import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A plan as a table for people. */
final class PlanTable {

    private static final String COLUMN_GAP = "  ";

    private PlanTable() {}

    static String text(Plan plan) {
        StringBuilder text = new StringBuilder();
        for (PoolPlan pool : plan.pools().values()) {
            text.append("ReplicaPool %s: %s, %d of %d replicas ready, makespan %s, lower bound %s, gap %s%n"
                    .formatted(
                            pool.pool(),
                            pool.policy(),
                            pool.ready(),
                            pool.replicas().size(),
                            decimal(pool.makespan()),
                            decimal(pool.lowerBound()),
                            percent(pool.optimalityGap())));
            text.append(aligned(rows(pool)));
            if (pool.replicas().stream().anyMatch(replica -> !replica.because().isEmpty())) {
                text.append(System.lineSeparator()).append(aligned(reasons(pool)));
            }
            text.append(System.lineSeparator());
        }
        if (!plan.endpoints().isEmpty()) {
            text.append("DNSEndpoints (-o endpoints shows them): ")
                    .append(plan.endpoints().values().stream()
                            .map(endpoint -> endpoint.getMetadata().getNamespace() + "/"
                                    + endpoint.getMetadata().getName())
                            .collect(Collectors.joining(", ")))
                    .append(System.lineSeparator());
        }
        return text.append(problems(plan.problems())).toString();
    }

    /** What hinders resources; empty where nothing does. */
    static String problems(List<Plan.Problem> problems) {
        StringBuilder text = new StringBuilder();
        if (!problems.isEmpty()) {
            text.append("Problems:").append(System.lineSeparator());
            for (Plan.Problem problem : problems) {
                text.append("  %s %s: %s, %s: %s%n"
                        .formatted(
                                problem.kind(),
                                problem.resource(),
                                problem.finding().type(),
                                problem.finding().reason(),
                                problem.finding().message()));
            }
        }
        return text.toString();
    }

    private static List<List<String>> rows(PoolPlan pool) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("HOST", "STREAM", "RATE", "ADDRESS", "REPLICA", "WEIGHT", "SHARE"));
        for (PoolPlan.Stream stream : pool.streams()) {
            String name = stream.demand().stream().isEmpty() ? "-" : stream.demand().stream();
            String rate = decimal(stream.demand().rate());
            if (stream.answers().isEmpty()) {
                rows.add(List.of(stream.demand().hostname(), name, rate, "-", "-", "-", "-"));
            }
            for (PoolPlan.Row row : stream.answers()) {
                rows.add(List.of(
                        stream.demand().hostname(),
                        name,
                        rate,
                        row.address().toCanonicalString(),
                        row.replica(),
                        Integer.toString(row.weight()),
                        percent(row.share())));
            }
        }
        return rows;
    }

    /** What the policy saw in each replica. */
    private static List<List<String>> reasons(PoolPlan pool) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("REPLICA", "CAPACITY", "LOAD", "BECAUSE"));
        for (PoolPlan.Replica replica : pool.replicas()) {
            rows.add(List.of(
                    replica.member().name(),
                    decimal(replica.member().capacity()),
                    decimal(replica.load()),
                    replica.because().isEmpty() ? replica.member().state().name() : replica.because()));
        }
        return rows;
    }

    /** Rows of equal length, in columns as wide as they need to be. */
    static String aligned(List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int c = 0; c < columns; c++) {
                widths[c] = Math.max(widths[c], row.get(c).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int c = 0; c < columns; c++) {
                line.append(row.get(c))
                        .append(" ".repeat(widths[c] - row.get(c).length()))
                        .append(COLUMN_GAP);
            }
            text.append(line.toString().stripTrailing()).append(System.lineSeparator());
        }
        return text.toString();
    }

    static String decimal(double value) {
        return String.format(Locale.ROOT, "%.4g", value);
    }

    static String percent(double part) {
        return String.format(Locale.ROOT, "%.2f%%", part * 100);
    }
}
