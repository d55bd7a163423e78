package dev.apportion.simulation;

import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Sample;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a setting's DNS server answers at its begin, before anything was measured.
 *
 * @param rows of the populations with the highest rates, these first
 * @param omitted the populations that are not shown
 */
public record Plan(List<Row> rows, int omitted) {

    public Plan {
        rows = List.copyOf(rows);
    }

    /**
     * One address in the answers of a population.
     *
     * @param rate of the population, in requests/s
     * @param weight the integer that is published
     * @param share the part of the population's questions that it decides
     */
    public record Row(String population, double rate, String server, int weight, double share) {}

    /**
     * The plan of a run; empty where no DNS server decides.
     *
     * @param most the populations that are shown
     */
    public static Plan of(Setting setting, long seed, int most) {
        if (!(setting.dispatch() instanceof Dispatch.Dns dns)) {
            return new Plan(List.of(), 0);
        }
        Answering answering = new Answering(setting, Replication.ofRun(dns, seed));
        answering.plan(
                IntStream.of(setting.present(0)).boxed().toList(),
                Collections.nCopies(setting.servers().size(), Sample.NONE),
                Occasion.INTENT);
        List<Population> all = setting.populations();
        List<Integer> shown = IntStream.range(0, all.size())
                .boxed()
                .sorted(Comparator.comparingDouble(p -> -all.get(p).rate()))
                .limit(most)
                .toList();
        List<Row> rows = new ArrayList<>();
        for (int p : shown) {
            int[] servers = answering.servers(p);
            double sum = IntStream.range(0, servers.length)
                    .map(place -> answering.weight(p, place))
                    .sum();
            for (int place = 0; place < servers.length; place++) {
                int weight = answering.weight(p, place);
                rows.add(new Row(
                        all.get(p).name(),
                        all.get(p).rate(),
                        setting.servers().get(servers[place]).name(),
                        weight,
                        weight / sum));
            }
        }
        return new Plan(rows, all.size() - shown.size());
    }
}
