package dev.apportion.simulation;

import dev.apportion.simulation.Outcome.Serving;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a tally says. */
final class Measured {
    private static final double MEDIAN = 0.5;
    private static final double MOST = 0.95;
    private static final double NEARLY_ALL = 0.99;

    private Measured() {}

    static void delays(Tally tally, Map<Metric, Double> values) {
        values.put(Metric.REQUESTS, (double) tally.requests);
        values.put(Metric.DELAY, tally.mean());
        values.put(Metric.DELAY_P50, tally.quantile(MEDIAN));
        values.put(Metric.DELAY_P95, tally.quantile(MOST));
        values.put(Metric.DELAY_P99, tally.quantile(NEARLY_ALL));
        values.put(Metric.DELAY_MAX, tally.requests == 0 ? Double.NaN : tally.max);
        values.put(Metric.WAIT, tally.meanWait());
        values.put(Metric.LOST, (double) tally.lost / (tally.lost + tally.requests));
    }

    static List<Serving> servers(Setting setting, Tally tally, Map<Metric, Double> values) {
        double measured = setting.seconds() - setting.warmUp();
        double[] shares = tally.shares();
        List<Serving> servers = new ArrayList<>();
        double sum = 0;
        double squares = 0;
        double most = 0;
        for (int i = 0; i < shares.length; i++) {
            Server server = setting.servers().get(i);
            double utilisation = tally.workSum[i] / (measured * server.slots());
            servers.add(new Serving(server.name(), shares[i], utilisation, tally.delaySum[i] / tally.served[i]));
            sum += utilisation;
            squares += utilisation * utilisation;
            most = Math.max(most, utilisation);
        }
        double mean = sum / shares.length;
        values.put(Metric.IMBALANCE, most / mean);
        values.put(Metric.LOAD_VARIATION, Math.sqrt(Math.max(0, squares / shares.length - mean * mean)) / mean);
        return servers;
    }
}
