package dev.apportion.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.reconcile.Outlook;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.Ref;
import dev.apportion.reconcile.Shift;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What would change of what a cluster publishes, for people and for programs. */
final class OutlookReport {

    private static final double PERCENT = 100;

    private OutlookReport() {}

    static String table(Outlook outlook, List<String> gaps) {
        StringBuilder text = new StringBuilder();
        if (outlook.shifts().isEmpty()) {
            text.append("no change%n".formatted());
        } else {
            text.append(PlanTable.aligned(moves(outlook)))
                    .append(System.lineSeparator())
                    .append(PlanTable.aligned(rows(outlook)))
                    .append(System.lineSeparator())
                    .append("%d streams change, %s of %s requests/s move (%s)%n"
                            .formatted(
                                    outlook.shifts().size(),
                                    PlanTable.decimal(outlook.moved()),
                                    PlanTable.decimal(outlook.rate()),
                                    PlanTable.percent(part(outlook))));
        }
        for (Map.Entry<Ref, String> course : outlook.courses().entrySet()) {
            text.append("ReplicaPool %s: %s%n".formatted(course.getKey(), course.getValue()));
        }
        text.append(PlanTable.problems(outlook.problems()));
        gaps.forEach(gap -> text.append("Note: %s%n".formatted(gap)));
        return text.toString();
    }

    private static double part(Outlook outlook) {
        return outlook.rate() > 0 ? outlook.moved() / outlook.rate() : 0;
    }

    private static List<List<String>> moves(Outlook outlook) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("HOST", "STREAM", "CHANGE", "RATE", "MOVED", "OF IT", "ALSO"));
        for (Shift shift : outlook.shifts()) {
            rows.add(List.of(
                    shift.hostname(),
                    stream(shift),
                    shift.kind().name(),
                    PlanTable.decimal(shift.rate()),
                    PlanTable.decimal(shift.movedRate()),
                    PlanTable.percent(shift.moved()),
                    String.join("; ", shift.notes())));
        }
        return rows;
    }

    private static List<List<String>> rows(Outlook outlook) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("HOST", "STREAM", "ADDRESS", "REPLICA", "WEIGHT", "WAS", "SHARE", "WAS"));
        for (Shift shift : outlook.shifts()) {
            for (Shift.Row row : shift.rows()) {
                rows.add(List.of(
                        shift.hostname(),
                        stream(shift),
                        row.address().toCanonicalString(),
                        row.replica(),
                        row.after()
                                .map(weight -> Integer.toString(weight.weight()))
                                .orElse("-"),
                        row.before()
                                .map(weight -> Integer.toString(weight.weight()))
                                .orElse("-"),
                        row.after()
                                .map(weight -> PlanTable.percent(weight.share()))
                                .orElse("-"),
                        row.before()
                                .map(weight -> PlanTable.percent(weight.share()))
                                .orElse("-")));
            }
        }
        return rows;
    }

    private static String stream(Shift shift) {
        return shift.stream().isEmpty() ? "-" : shift.stream();
    }

    static String json(Outlook outlook, List<String> gaps) {
        ObjectNode root = PlanReport.JSON.createObjectNode();
        root.put("changed", !outlook.shifts().isEmpty())
                .put("rate", PlanReport.number(outlook.rate()))
                .put("movedRate", PlanReport.number(outlook.moved()))
                .put("movedPercent", PlanReport.number(PERCENT * part(outlook)));
        ArrayNode streams = root.putArray("streams");
        outlook.shifts().forEach(shift -> stream(streams.addObject(), shift));
        ArrayNode pools = root.putArray("pools");
        outlook.courses()
                .forEach((pool, course) -> pools.addObject()
                        .put("namespace", pool.namespace())
                        .put("name", pool.name())
                        .put("course", course));
        ArrayNode problems = root.putArray("problems");
        for (Plan.Problem problem : outlook.problems()) {
            PlanReport.problem(problems.addObject(), problem);
        }
        ArrayNode notes = root.putArray("notes");
        gaps.forEach(notes::add);
        return root.toPrettyString();
    }

    private static void stream(ObjectNode node, Shift shift) {
        String[] service = shift.service().split("/", 2);
        node.put("namespace", service[0])
                .put("service", service[1])
                .put("stream", shift.stream().isEmpty() ? null : shift.stream())
                .put("hostname", shift.hostname())
                .put("change", shift.kind().name())
                .put("rate", PlanReport.number(shift.rate()))
                .put("movedRate", PlanReport.number(shift.movedRate()))
                .put("movedPercent", PlanReport.number(PERCENT * shift.moved()));
        ArrayNode answers = node.putArray("answers");
        for (Shift.Row row : shift.rows()) {
            ObjectNode answer = answers.addObject()
                    .put("address", row.address().toCanonicalString())
                    .put("replica", row.replica());
            weight(answer, "before", row.before());
            weight(answer, "after", row.after());
        }
        if (!shift.notes().isEmpty()) {
            ArrayNode notes = node.putArray("notes");
            shift.notes().forEach(notes::add);
        }
    }

    private static void weight(ObjectNode answer, String name, Optional<Shift.Weight> weight) {
        if (weight.isPresent()) {
            answer.putObject(name)
                    .put("weight", weight.get().weight())
                    .put("share", PlanReport.number(weight.get().share()));
        } else {
            answer.putNull(name);
        }
    }
}
