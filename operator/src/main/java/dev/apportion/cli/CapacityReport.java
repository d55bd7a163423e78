package dev.apportion.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.simulation.Capacity;
import dev.apportion.simulation.Capacity.Arrangement;
import dev.apportion.simulation.Capacity.Site;
import dev.apportion.simulation.Capacity.Waiting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What {@code apportion capacity} says. */
final class CapacityReport {

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    private static final double MILLIS = 1000;
    private static final double PERCENT = 100;

    private final Capacity capacity;
    private final List<Site> sites;

    /** What may happen, and the sites then. */
    private final Map<String, List<Site>> cases = new LinkedHashMap<>();

    CapacityReport(Capacity capacity, List<Site> sites) {
        this.capacity = capacity;
        this.sites = sites;
        cases.put("now", sites);
        for (int s = 0; s < sites.size(); s++) {
            if (sites.get(s).replicas() > 1) {
                cases.put("without one of " + sites.get(s).name(), Capacity.withoutOneReplica(sites, s));
            }
            if (sites.size() > 1 && sites.get(s).replicas() > 0) {
                cases.put("without " + sites.get(s).name(), Capacity.without(sites, s));
            }
        }
    }

    String table() {
        StringBuilder text = new StringBuilder("Service %s ms, %d at once per replica; target: %s at most %s ms%s%n%n"
                .formatted(
                        number(capacity.size().mean() * MILLIS),
                        capacity.slots(),
                        capacity.target().part().isPresent()
                                ? number(capacity.target().part().getAsDouble() * PERCENT) + "% wait"
                                : "mean wait",
                        number(capacity.target().seconds() * MILLIS),
                        capacity.linkBudget() > 0
                                ? "; link budget %s%s"
                                        .formatted(
                                                number(capacity.linkBudget()), capacity.reclaim() ? ", reclaimed" : "")
                                : ""));
        List<Integer> needed = capacity.needed(Arrangement.ISOLATED, sites);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SITE", "REPLICAS", "RATE", "BUSY", "MEAN WAIT ms", "WAIT LONGER", "NEEDED ALONE"));
        for (int s = 0; s < sites.size(); s++) {
            Site site = sites.get(s);
            Waiting waiting = capacity.alone(site);
            double slots = (double) site.replicas() * capacity.slots();
            rows.add(List.of(
                    site.name(),
                    Integer.toString(site.replicas()),
                    number(site.rate()),
                    slots > 0 ? PlanTable.percent(site.rate() * capacity.size().mean() / slots) : "-",
                    millis(waiting),
                    PlanTable.percent(waiting.longer()),
                    Integer.toString(needed.get(s))));
        }
        text.append(PlanTable.aligned(rows)).append(System.lineSeparator());
        rows.clear();
        List<String> header = new ArrayList<>(List.of("SITES", "REPLICAS NEEDED"));
        cases.keySet().forEach(name -> header.add(name.toUpperCase(Locale.ROOT) + " ms"));
        rows.add(header);
        for (Arrangement arrangement : arrangements()) {
            List<String> row = new ArrayList<>();
            row.add(word(arrangement));
            row.add(Integer.toString(capacity.needed(arrangement, sites).stream()
                    .mapToInt(Integer::intValue)
                    .sum()));
            for (List<Site> then : cases.values()) {
                Waiting waiting = capacity.waiting(arrangement, then);
                row.add(millis(waiting) + (capacity.meets(waiting) ? "" : " !"));
            }
            rows.add(row);
        }
        text.append(PlanTable.aligned(rows));
        text.append("%nMean waits; ! misses the target; endless: more comes than is served.%n".formatted());
        return text.toString();
    }

    /** Sites cannot lend what no link carries. */
    private List<Arrangement> arrangements() {
        return sites.size() > 1 && capacity.linkBudget() >= 1
                ? List.of(Arrangement.values())
                : sites.size() > 1 ? List.of(Arrangement.ISOLATED, Arrangement.CENTRAL) : List.of(Arrangement.ISOLATED);
    }

    private static String word(Arrangement arrangement) {
        return arrangement.name().toLowerCase(Locale.ROOT);
    }

    String json() {
        ObjectNode root = JSON.createObjectNode();
        root.put("serviceTimeMillis", capacity.size().mean() * MILLIS)
                .put("concurrency", capacity.slots())
                .put("targetWaitMillis", capacity.target().seconds() * MILLIS)
                .put("linkBudget", capacity.linkBudget())
                .put("reclaim", capacity.reclaim());
        capacity.target().part().ifPresent(part -> root.put("percent", part * PERCENT));
        ArrayNode rows = root.putArray("sites");
        for (Site site : sites) {
            waiting(
                    rows.addObject()
                            .put("name", site.name())
                            .put("replicas", site.replicas())
                            .put("rate", site.rate()),
                    capacity.alone(site));
        }
        ObjectNode all = root.putObject("arrangements");
        for (Arrangement arrangement : arrangements()) {
            ObjectNode node = all.putObject(word(arrangement));
            ArrayNode needed = node.putArray("replicasNeeded");
            capacity.needed(arrangement, sites).forEach(needed::add);
            ObjectNode waits = node.putObject("cases");
            cases.forEach((name, then) -> waiting(waits.putObject(name), capacity.waiting(arrangement, then)));
        }
        return root.toPrettyString();
    }

    private void waiting(ObjectNode node, Waiting waiting) {
        node.put("meanWaitMillis", Double.isFinite(waiting.mean()) ? waiting.mean() * MILLIS : null)
                .put("waitsLonger", waiting.longer())
                .put("meets", capacity.meets(waiting));
    }

    private static String millis(Waiting waiting) {
        if (!Double.isFinite(waiting.mean())) {
            return "endless";
        }
        return number(waiting.mean() * MILLIS) + (waiting.half() > 0 ? " ±" + number(waiting.half() * MILLIS) : "");
    }

    private static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 1000 || value == Math.rint(value) ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
